"""Summarize: replace older messages with a summary, keep the newest."""

import math
from collections.abc import Sequence
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.protection import hideable
from compactctl.history.stand_ins import is_stand_in
from compactctl.history.turns import leading_system_count
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Message, ReasoningPart, TextPart
from compactctl.model.numbers import exact
from compactctl.model.operation import neurolink_schema
from compactctl.model.summary import Summary
from compactctl.records import Record, replace
from compactctl.stages.support.condensation import (
    MIN_HIDDEN,
    CondenseSpec,
    SummaryFormat,
    condense,
    end_of_older,
    hideable_before,
    originals_of,
    skip_if_nothing_new,
    skip_if_too_few,
    summary_request,
    summary_room,
    words_with_rest,
    write_summary,
)
from compactctl.stages.support.cutting import shorten
from compactctl.stages.support.stage import Stage, option
from compactctl.stages.support.truncation import (
    messages_without,
    protected_tail_start,
    tail_start,
)
from compactctl.summaries.document.labels import previous_summary
from compactctl.summaries.extract.budget import MIN_USEFUL, summary_budget
from compactctl.summaries.extract.items import OMISSION
from compactctl.tokens.meter import Meter

NAME = "summarize"
LABEL = "[Previous conversation summary]:"
BLANK_LINE = "\n\n"
PREFIX = f"{LABEL}{BLANK_LINE}"
# Keeps ceil(0.1 x 30) at 3 although 0.1 x 30 is 3.0000000000000004.
_ROUNDING = 1e-9
# Attempts to fit the summary and the newest messages into the target.
_ROUNDS = 3


class SummarizeOptions(Record):
    """How to summarize; the defaults are those of NeuroLink."""

    keep_ratio: float = option(0.3, "Share of the messages to keep, newest first (0 to 1).")
    keep_unit: Literal["messages", "target"] = option(
        "messages",
        "What ``keep_ratio`` is a share of: the number of messages, or the tokens of the target, "
        "if there is one, as in NeuroLink's code.",
    )
    keep_min: int = option(4, "Minimum number of messages to keep.")
    keep_tokens: int = option(
        0,
        "Keep the newest messages that fit in this many tokens, instead of ``keep_ratio``; 0 is "
        "off. With ``keep_texts``, keep at least this many tokens.",
    )
    keep_texts: int = option(
        0,
        "Keep at least this many messages with text, and all messages between and after them, "
        "instead of ``keep_ratio``; 0 is off. agent-code keeps 5, and at least 10,000 tokens.",
    )
    keep_tokens_max: int = option(
        0,
        "With ``keep_texts``, keep no more messages beyond this many tokens, 40,000 in "
        "agent-code; 0 means no limit.",
    )
    fill: bool = option(
        False,
        "With a target, keep as many of the newest messages as fit, more or fewer than the "
        "options above say; otherwise a target can only lower their number.",
    )
    min_messages: int = option(4, "Do nothing if there are no more messages than this.")
    min_older: int = option(
        MIN_HIDDEN, "Do nothing if fewer messages than this are older than those to keep."
    )
    summary_tokens: int = option(
        0,
        "Maximum size of the summary in tokens; 0 chooses one from the size of what it "
        "replaces. Never more than half of that.",
    )
    role: Literal["user", "system"] = option(
        "user",
        "Role of the summary, in formats that allow system messages among the others; elsewhere "
        "it is a user message.",
    )
    prefix: str = option(
        LABEL,
        "First line of the summary; {count} is the number of messages it replaces.",
    )
    suffix: str = option("", "Text at the end of the summary.")
    template: Literal["nine", "ten", "eight", "six"] = option(
        "nine",
        'Sections of the summary: "nine" (NeuroLink), "ten" (NeuroLink, with constraints), '
        '"eight" (VS Code Copilot Chat) or "six" (agent-code).',
    )
    instructions: str = option(
        "", "Extra instructions for a model or command that writes the summary."
    )
    overlap: int = option(2, "Number of kept messages to show a model as what comes next.")
    keep_reasoning: bool = option(
        False,
        "If the kept messages contain no reasoning of the assistant, keep the newest response "
        "before them that does. VS Code Copilot Chat moves it behind the summary for Claude.",
    )
    archive_hint: bool = option(
        False, "End the summary with the location of the originals and the command that shows them."
    )


def propose(
    view: ConversationView, meter: Meter, options: SummarizeOptions
) -> Proposal | SkippedStage:
    """Propose to hide all but the newest messages behind a summary of their originals."""
    hidden = _select_older(view, meter, options)
    if options.keep_reasoning:
        hidden = _without_newest_reasoning(view, hidden)
    refusal = _refusal(view, hidden, options) or _skip_if_minimal(view, hidden, meter, options)
    if refusal:
        return refusal
    summary = _summary(view, hidden, meter, options)
    if options.archive_hint:
        summary = _with_hint(summary, view.summary_inputs.archive_hint)
    spec = CondenseSpec(stage=NAME, options=options, format=_summary_format(options))
    return condense(view, meter, hidden, summary, spec)


def _select_older(
    view: ConversationView, meter: Meter, options: SummarizeOptions
) -> tuple[Message, ...]:
    """Return the messages to summarize: those older than the ones to keep.

    With a target, keep at most as many as fit beside the summary, so that no later stage has to
    remove messages without a summary; with ``fill``, keep as many as fit.
    """
    hidden = hideable_before(view, end_of_older(view, _keep_count(view, meter, options)))
    if view.target is None:
        return hidden
    tail = protected_tail_start(view)
    hideable_tokens = meter.total(hideable_before(view, tail))
    fixed_tokens = meter.total(view.messages[:tail]) - hideable_tokens
    # The more is hidden, the more of the user's words the summary has to hold.
    for attempt in range(_ROUNDS):
        reserved = _reserved_tokens(view, hidden, meter, options)
        remaining = meter.total(view.messages) - meter.total(hidden)
        if remaining + reserved <= view.target and (attempt or not options.fill):
            break
        start = tail_start(view, meter, view.target - reserved - fixed_tokens)
        hidden = hideable_before(view, start)
    return hidden


def _reserved_tokens(
    view: ConversationView, hidden: Sequence[Message], meter: Meter, options: SummarizeOptions
) -> int:
    """Return the tokens of the target that the summary of the ``hidden`` messages may have."""
    reserved = min(_summary_tokens(view, hidden, meter, options), (view.target or 0) // 2)
    if view.summary_inputs.summary:
        return reserved
    kept_messages = messages_without(view.messages, hidden)
    return max(reserved, words_with_rest(view, meter, kept_messages, originals_of(view, hidden)))


def _without_newest_reasoning(
    view: ConversationView, hidden: tuple[Message, ...]
) -> tuple[Message, ...]:
    """Leave out the response with the newest reasoning, and the results of its calls."""
    ids = {message.id for message in hidden}
    newest = next((m for m in reversed(view.messages) if _has_reasoning(m)), None)
    if newest is None or newest.id not in ids:
        return hidden
    remaining = set(hideable(view, ids - {newest.id}))
    return tuple(message for message in hidden if message.id in remaining)


def _has_reasoning(message: Message) -> bool:
    return any(isinstance(part, ReasoningPart) for part in message.parts)


def _summary_tokens(
    view: ConversationView, hidden: Sequence[Message], meter: Meter, options: SummarizeOptions
) -> int:
    """Return the size of the summary: of the finished one, else the most it will have."""
    if view.summary_inputs.summary:
        return _summary_format(options).tokens(view.summary_inputs.summary, len(hidden), meter)
    return options.summary_tokens or summary_budget(meter.total(originals_of(view, hidden)))


def _summary_format(options: SummarizeOptions) -> SummaryFormat:
    prefix = f"{options.prefix}{BLANK_LINE}" if options.prefix else ""
    return SummaryFormat(prefix=prefix, role=options.role, suffix=options.suffix)


def _summary(
    view: ConversationView, hidden: Sequence[Message], meter: Meter, options: SummarizeOptions
) -> Summary:
    text = view.summary_inputs.summary.strip()
    if text:
        return Summary(text=text, writer="file")
    request = summary_request(view, meter, hidden, _summary_format(options), options.summary_tokens)
    request = replace(
        request,
        template=options.template,
        template_text=view.summary_inputs.template,
        previous=previous_summary(request.messages),
        lookahead=_lookahead(view, hidden, options.overlap),
        instructions=options.instructions,
    )
    if len(request.messages) >= MIN_HIDDEN:
        return write_summary(view, request, meter)
    # A single request that is quoted whole, or up to what is always quoted, would be no smaller.
    summary = write_summary(view, replace(request, words_room=request.budget // 2), meter)
    mark = OMISSION.strip()
    return replace(summary, text=shorten(summary.text, request.budget, meter.text_uncached, mark))


def _lookahead(
    view: ConversationView, hidden: Sequence[Message], count: int
) -> tuple[Message, ...]:
    last_hidden = view.messages.index(hidden[-1])
    return view.messages[last_hidden + 1 : last_hidden + 1 + count]


def _with_hint(summary: Summary, hint: str) -> Summary:
    if not (hint and summary.text):
        return summary
    return replace(summary, text=f"{summary.text}{BLANK_LINE}{hint}")


def _refusal(
    view: ConversationView, hidden: Sequence[Message], options: SummarizeOptions
) -> SkippedStage | None:
    count = len(view.messages) - leading_system_count(view.messages)
    if count <= options.min_messages:
        reason = f"only {count} messages, a summary needs more than {options.min_messages}"
        return SkippedStage(
            stage=NAME, reason=reason, detail="lower it with --summarize-min-messages"
        )
    detail = "see --summarize-keep-ratio, --summarize-keep-min and --keep-turns"
    # For a smaller target, summarize again from the originals, even without new messages.
    source = originals_of(view, hidden)
    if view.target is not None and not any(map(is_stand_in, source)):
        return skip_if_too_few(NAME, source, detail, at_least=options.min_older)
    return skip_if_nothing_new(NAME, view) or skip_if_too_few(
        NAME, hidden, detail, at_least=options.min_older
    )


def _skip_if_minimal(
    view: ConversationView, hidden: Sequence[Message], meter: Meter, options: SummarizeOptions
) -> SkippedStage | None:
    """Do not rewrite a summary that already has the minimum length, however small the target."""
    hint = view.summary_inputs.archive_hint if options.archive_hint else ""
    overhead = _summary_format(options).tokens(
        f"\n\n{hint}", len(originals_of(view, hidden)), meter
    )
    if not all(map(is_stand_in, hidden)) or meter.total(hidden) > MIN_USEFUL + overhead:
        return None
    if summary_room(view, meter, messages_without(view.messages, hidden), overhead) < MIN_USEFUL:
        return None
    reason = "the summary is already as short as is useful"
    return SkippedStage(stage=NAME, reason=reason, detail="add a stage, or keep fewer messages")


def _keep_count(view: ConversationView, meter: Meter, options: SummarizeOptions) -> int:
    body = view.messages[leading_system_count(view.messages) :]
    if options.keep_texts:
        return max(options.keep_min, _keep_count_by_texts(body, meter, options))
    max_tokens = options.keep_tokens
    if options.keep_unit == "target" and view.target is not None:
        max_tokens = max_tokens or int(view.target * exact(options.keep_ratio))
    if not max_tokens:
        return max(options.keep_min, math.ceil(len(body) * options.keep_ratio - _ROUNDING))
    tokens = count = 0
    for message in reversed(body):
        tokens += meter.message(message)
        if tokens > max_tokens:
            break
        count += 1
    return max(options.keep_min, count)


def _keep_count_by_texts(
    messages: Sequence[Message], meter: Meter, options: SummarizeOptions
) -> int:
    """Count the newest messages until both minimums are met, or ``keep_tokens_max`` is reached."""
    texts = tokens = count = 0
    for message in reversed(messages):
        has_enough = texts >= options.keep_texts and tokens >= options.keep_tokens
        if has_enough or 0 < options.keep_tokens_max <= tokens:
            break
        texts += any(isinstance(part, TextPart) and part.text.strip() for part in message.parts)
        tokens += meter.message(message)
        count += 1
    return count


STAGE = Stage(
    name=NAME,
    title="replace older messages with a summary, keep the newest",
    options=SummarizeOptions,
    propose=propose,
    example=SummarizeOptions(keep_min=2, min_messages=2),
    keeps_lasting_words=True,
    foreign_schemas=(neurolink_schema("SummarizeResult", summarized="applied"),),
)
