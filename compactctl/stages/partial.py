"""Partial: replace the oldest half of the older messages with a summary."""

from compactctl.history.conversation_view import ConversationView
from compactctl.history.turns import leading_system_count
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.records import Record
from compactctl.stages.support.condensation import (
    CondenseSpec,
    SummaryFormat,
    condense,
    end_of_older,
    hideable_before,
    last_cut,
    skip_if_nothing_older,
    summary_request,
    write_summary,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter

NAME = "partial"
LABEL = "[Earlier conversation summary — {count} messages compacted]\n\n"


class PartialOptions(Record):
    """How to summarize a part; the defaults are those of Codebuddy."""

    keep_recent: int = option(
        4, "Number of the newest messages to leave out when the older half is chosen."
    )
    summary_tokens: int = option(
        0,
        "Maximum size of the summary in tokens; 0 chooses one from the size of what it "
        "replaces. Never more than half of that.",
    )


def propose(
    view: ConversationView, meter: Meter, options: PartialOptions
) -> Proposal | SkippedStage:
    """Propose to hide the older half of the older messages behind a summary."""
    front = leading_system_count(view.messages)
    end = end_of_older(view, options.keep_recent)
    hidden = hideable_before(view, last_cut(view, front + (end - front) // 2))
    refusal = skip_if_nothing_older(
        NAME, view, hidden, "see --partial-keep-recent and --keep-turns"
    )
    if refusal:
        return refusal
    shape = SummaryFormat(prefix=LABEL)
    request = summary_request(view, meter, hidden, shape, options.summary_tokens)
    reason = "in the older half of the messages before the newest"
    spec = CondenseSpec(stage=NAME, options=options, format=shape, reason=reason)
    return condense(view, meter, hidden, write_summary(view, request, meter), spec)


STAGE = Stage(
    name=NAME,
    title="replace the oldest half of the older messages with a summary",
    options=PartialOptions,
    propose=propose,
    example=PartialOptions(keep_recent=2),
    keeps_lasting_words=True,
    codebuddy_tier=3,
)
