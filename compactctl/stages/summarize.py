"""Summarize: put a summary in place of older messages, keep the newest as they are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from compactctl.history.pairs import cut_points
from compactctl.history.turns import leading_system
from compactctl.history.view import View
from compactctl.model.edit import Proposal, Skipped
from compactctl.model.message import Message
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.stages.condensing import (
    FEWEST_HIDDEN,
    Condensing,
    Shape,
    budget_for,
    condense,
    nothing_new,
    older,
    originals,
    too_few,
    write,
)
from compactctl.stages.hiding import newest_start
from compactctl.stages.stage import Stage
from compactctl.tokens.meter import Meter

NAME = "summarize"
PREFIX = "[Previous conversation summary]:\n\n"
# Keeps ceil(0.1 x 30) at 3 although 0.1 x 30 is 3.0000000000000004.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizeOptions:
    """How to summarize; the defaults are those of NeuroLink.

    Attributes:
        keep_ratio: part of the messages to keep as they are, the newest ones (0 to 1).
        keep_min: keep at least this many messages.
        keep_tokens: keep as many of the newest messages as fit in so many tokens instead of
            ``keep_ratio``; 0 is off.
        min_messages: do nothing unless there are more messages than this.
        summary_tokens: tokens the summary may have; 0 chooses by the size of what it stands for.
            It never gets more than half of the tokens it replaces.
        text: the summary's text, when it was written elsewhere; empty for the built-in one.
    """

    keep_ratio: float = 0.3
    keep_min: int = 4
    keep_tokens: int = 0
    min_messages: int = 4
    summary_tokens: int = 0
    text: str = ""


def propose(view: View, meter: Meter, options: SummarizeOptions) -> Proposal | Skipped:
    """Propose to hide all but the newest messages behind a summary of their originals."""
    hidden = _hidden(view, meter, options)
    refusal = _refusal(view.messages, hidden, options)
    if refusal:
        return refusal
    summary = _summary(view, hidden, meter, options)
    how = Condensing(stage=NAME, options=options, shape=Shape(prefix=PREFIX))
    return condense(view, meter, hidden, summary, how)


def _summary(
    view: View, hidden: Sequence[Message], meter: Meter, options: SummarizeOptions
) -> Summary:
    if options.text.strip():
        return Summary(text=options.text.strip(), source="file")
    source = originals(view, hidden)
    budget = budget_for(meter.total(hidden), meter.total(source), options.summary_tokens)
    return write(view, SummaryRequest(messages=source, budget=budget, cwd=view.cwd), meter)


def _refusal(
    messages: Sequence[Message], hidden: Sequence[Message], options: SummarizeOptions
) -> Skipped | None:
    count = len(messages) - leading_system(messages)
    if count <= options.min_messages:
        reason = f"only {count} messages, a summary needs more than {options.min_messages}"
        return Skipped(stage=NAME, reason=reason, detail="lower it with --summarize-min-messages")
    if nothing_new(messages):
        return Skipped(stage=NAME, reason="nothing was added since the last summary")
    if too_few(hidden):
        return Skipped(
            stage=NAME,
            reason=f"fewer than {FEWEST_HIDDEN} messages are older than those to keep",
            detail="see --summarize-keep-ratio, --summarize-keep-min and --keep-turns",
        )
    return None


def _hidden(view: View, meter: Meter, options: SummarizeOptions) -> tuple[Message, ...]:
    messages = view.messages
    limit = min(len(messages) - _kept(messages, meter, options), newest_start(view))
    end = max((cut for cut in cut_points(messages) if cut <= limit), default=0)
    return older(view, end)


def _kept(messages: Sequence[Message], meter: Meter, options: SummarizeOptions) -> int:
    body = messages[leading_system(messages) :]
    if not options.keep_tokens:
        return max(options.keep_min, math.ceil(len(body) * options.keep_ratio - _ROUNDING))
    tokens = count = 0
    for message in reversed(body):
        tokens += meter.message(message)
        if tokens > options.keep_tokens:
            break
        count += 1
    return max(options.keep_min, count)


STAGE = Stage(name=NAME, options=SummarizeOptions, propose=propose)
