"""Recursive: replace all but the newest messages with a question and a summary as its answer."""

from collections.abc import Sequence

from compactctl.errors import UsageError
from compactctl.history.conversation_view import ConversationView
from compactctl.history.recent import Snap, event_indices, newest_events_start, window_start
from compactctl.history.stand_ins import SUMMARY_QUESTION
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Message
from compactctl.model.summary import SummaryRequest
from compactctl.records import Record, replace
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
from compactctl.summaries.document.labels import previous_summary
from compactctl.tokens.meter import Meter

NAME = "recursive"
PREFIX = "[Summary of the conversation so far]:\n\n"


class RecursiveOptions(Record):
    """How to summarize all but the newest events; the defaults are those of Spring AI Session."""

    keep_events: int = option(
        10,
        "Number of the newest messages to keep, at least 1; the system prompt, summaries and "
        "markers do not count.",
    )
    overlap: int = option(
        2,
        "Number of kept messages to show a model as what comes next, fewer than "
        "``keep_events``. The built-in summarizer does not use them.",
    )
    snap: Snap = option(
        "forward",
        'If the cut falls inside a turn, move it to the next turn ("forward"), to the start of '
        'that turn ("back"), or not at all ("none"). Tool pairs stay together.',
    )
    min_keep_turns: int = option(
        1,
        "Number of the newest turns to keep, however many messages they have; 0 lets the "
        "summary reach into the newest turn.",
    )
    shadow: str = option(
        SUMMARY_QUESTION,
        "Question that the summary answers; if empty, the summary is one user message. In "
        "session files of coding agents it always is.",
    )
    summary_tokens: int = option(
        0,
        "Maximum size of the summary in tokens; 0 chooses one from the size of what it "
        "replaces. Never more than half of that.",
    )
    instructions: str = option(
        "", "Extra instructions for a model or command that writes the summary."
    )

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
    proposal = condense(view, meter, hidden, summary, spec)
    if isinstance(proposal, SkippedStage):
        return proposal
    earlier = sum(message.origin.is_summary for message in hidden)
    return replace(proposal, figures={"summariesHidden": earlier}) if earlier else proposal


def _end_of_older(view: ConversationView, options: RecursiveOptions) -> int:
    start = newest_events_start(view.messages, options.keep_events)
    end = window_start(view.messages, start, options.snap, options.min_keep_turns)
    return min(end, protected_tail_start(view))


def _refusal(
    view: ConversationView, hidden: Sequence[Message], options: RecursiveOptions
) -> SkippedStage | None:
    count = len(event_indices(view.messages))
    if count <= options.keep_events:
        reason = f"there are no more than the {options.keep_events:,} messages to keep"
        return SkippedStage(
            stage=NAME, reason=reason, detail="lower it with --recursive-keep-events"
        )
    detail = "see --recursive-snap and --recursive-min-keep-turns"
    return skip_if_nothing_older(
        NAME, view, hidden, detail, "messages that can be hidden are older"
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
    title="replace all but the newest messages with a question and a summary as its answer",
    options=RecursiveOptions,
    propose=propose,
    example=RecursiveOptions(keep_events=3, snap="none", min_keep_turns=0),
    keeps_lasting_words=True,
)
