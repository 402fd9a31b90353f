"""Recursive: put a question and its answer, a summary, in place of all but the newest events."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compactctl.errors import UsageError
from compactctl.history.conversation_view import ConversationView
from compactctl.history.recent import Snap, event_indices, newest_events_start, window_start
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Message
from compactctl.model.summary import SummaryRequest
from compactctl.stages.support.condensation import (
    CondenseSpec,
    SummaryFormat,
    condense,
    hideable_before,
    skip_if_nothing_older,
    summary_request,
    write_summary,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.stages.support.truncation import protected_tail_start
from compactctl.summaries.document.earlier_summary import previous_summary
from compactctl.tokens.meter import Meter

NAME = "recursive"
PREFIX = "[Summary of the conversation so far]:\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveOptions:
    """How to summarize all but the newest events; the defaults are those of Spring AI Session."""

    keep_events: int = option(
        10,
        "How many of the newest messages to keep as they are, at least 1; the system prompt, "
        "summaries and markers do not count.",
    )
    overlap: int = option(
        2,
        "How many of the first messages kept the summarizer is shown as what comes next; fewer "
        "than ``keep_events``. The built-in summarizer does not need them.",
    )
    snap: Snap = option(
        "forward",
        'Where what is kept begins if that is inside of a turn: "forward" at the next turn, "back" '
        'at the start of that turn, "none" right there. Tool pairs stay whole.',
    )
    min_keep_turns: int = option(
        1,
        "Newest turns that stay even when they have more messages; 0 lets the summary reach into "
        "the newest turn.",
    )
    shadow: str = option(
        "Summarize the conversation we had so far.",
        "The question that the summary answers; empty for one user message. In formats whose "
        "records of the assistant only the client can write it is one user message too.",
    )
    summary_tokens: int = option(
        0,
        "Tokens the summary may have; 0 chooses by the size of what it stands for. It never gets "
        "more than half of the tokens it replaces.",
    )
    instructions: str = option("", "What a summary by a model or a command is to heed.")

    def __post_init__(self) -> None:
        """Raise UsageError for numbers that are out of range."""
        if self.keep_events < 1:
            raise UsageError("--recursive-keep-events must be at least 1")
        if not 0 <= self.overlap < self.keep_events:
            raise UsageError(
                f"--recursive-overlap {self.overlap} must be less than the {self.keep_events} "
                "messages of --recursive-keep-events, and not negative"
            )
        if self.min_keep_turns < 0 or self.summary_tokens < 0:
            raise UsageError(
                "--recursive-min-keep-turns and --recursive-summary-tokens must not be negative"
            )


def propose(
    view: ConversationView, meter: Meter, options: RecursiveOptions
) -> Proposal | SkippedStage:
    """Propose to hide all but the newest events behind a summary of their originals."""
    end = _end_of_older(view, options)
    hidden = hideable_before(view, end)
    refusal = _refusal(view, hidden, options)
    if refusal:
        return refusal
    summary = write_summary(view, _request(view, hidden, end, meter, options), meter)
    if not (summary.text.strip() or summary.note):
        reason = f"the summary of {len(hidden):,} messages is empty, so they stay"
        return SkippedStage(stage=NAME, reason=reason)
    spec = CondenseSpec(stage=NAME, options=options, format=_summary_format(view, options))
    return condense(view, meter, hidden, summary, spec)


def _end_of_older(view: ConversationView, options: RecursiveOptions) -> int:
    start = newest_events_start(view.messages, options.keep_events)
    end = window_start(view.messages, start, options.snap, options.min_keep_turns)
    return min(end, protected_tail_start(view))


def _refusal(
    view: ConversationView, hidden: Sequence[Message], options: RecursiveOptions
) -> SkippedStage | None:
    count = len(event_indices(view.messages))
    if count <= options.keep_events:
        reason = f"no more than the {options.keep_events:,} messages to keep are there"
        return SkippedStage(
            stage=NAME, reason=reason, detail="lower it with --recursive-keep-events"
        )
    detail = "see --recursive-snap and --recursive-min-keep-turns"
    return skip_if_nothing_older(
        NAME, view, hidden, detail, "messages that may be hidden are older"
    )


def _request(
    view: ConversationView,
    hidden: Sequence[Message],
    end: int,
    meter: Meter,
    options: RecursiveOptions,
) -> SummaryRequest:
    request = summary_request(
        view, meter, hidden, _summary_format(view, options), options.summary_tokens
    )
    lookahead = [index for index in event_indices(view.messages) if index >= end][: options.overlap]
    return replace(
        request,
        previous=previous_summary(request.messages),
        lookahead=tuple(view.messages[index] for index in lookahead),
        instructions=options.instructions,
    )


def _summary_format(view: ConversationView, options: RecursiveOptions) -> SummaryFormat:
    if view.can_write_assistant and options.shadow:
        return SummaryFormat(prefix="", prompt=options.shadow)
    return SummaryFormat(prefix=PREFIX)


STAGE = Stage(
    name=NAME,
    title="put a question and its answer, a summary, in place of all but the newest events",
    options=RecursiveOptions,
    propose=propose,
    example=RecursiveOptions(keep_events=3, snap="none", min_keep_turns=0),
    keeps_lasting_words=True,
)
