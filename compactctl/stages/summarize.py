"""Summarize: put a summary in place of older messages, keep the newest as they are."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compactctl.history.pairs import cut_points
from compactctl.history.protection import hideable
from compactctl.history.standins import is_newest, is_stand_in, newest_id
from compactctl.history.turns import leading_system
from compactctl.history.view import View
from compactctl.model.edit import Hide, Insert, Proposal, Skipped
from compactctl.model.message import Message, MessageId, Synthetic
from compactctl.stages.hiding import insertion_point, newest_start
from compactctl.stages.stage import Stage, group_id
from compactctl.summaries import offline
from compactctl.tokens.meter import Meter

NAME = "summarize"
PREFIX = "[Previous conversation summary]:\n\n"
# One message is its own best summary; agent-code refuses below two as well.
FEWEST_HIDDEN = 2
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
    text = options.text.strip() or _written(view, hidden, meter, options)
    tokens, replaced = meter.text(PREFIX + text), meter.total(hidden)
    if not text or tokens >= replaced:
        reason = f"a summary would be no smaller than the {replaced:,} tokens it replaces"
        return Skipped(stage=NAME, reason=reason, detail="keep fewer messages as they are")
    return _proposal(view, hidden, options, PREFIX + text, tokens)


def _refusal(
    messages: Sequence[Message], hidden: Sequence[Message], options: SummarizeOptions
) -> Skipped | None:
    count = len(messages) - leading_system(messages)
    if count <= options.min_messages:
        reason = f"only {count} messages, a summary needs more than {options.min_messages}"
        return Skipped(stage=NAME, reason=reason, detail="lower it with --summarize-min-messages")
    if _nothing_new(messages):
        return Skipped(stage=NAME, reason="nothing was added since the last summary")
    if sum(not is_stand_in(message) for message in hidden) < FEWEST_HIDDEN:
        return Skipped(
            stage=NAME,
            reason=f"fewer than {FEWEST_HIDDEN} messages are older than those to keep",
            detail="see --summarize-keep-ratio, --summarize-keep-min and --keep-turns",
        )
    return None


def _nothing_new(messages: Sequence[Message]) -> bool:
    summaries = [m for m in messages if m.synthetic and m.summary]
    return bool(summaries) and is_newest(messages, summaries[-1].tags.through)


def _hidden(view: View, meter: Meter, options: SummarizeOptions) -> tuple[Message, ...]:
    messages = view.messages
    limit = min(len(messages) - _kept(messages, meter, options), newest_start(view))
    end = max((cut for cut in cut_points(messages) if cut <= limit), default=0)
    ids = set(hideable(view, (message.id for message in messages[:end])))
    return tuple(message for message in messages if message.id in ids)


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


def _written(view: View, hidden: Sequence[Message], meter: Meter, options: SummarizeOptions) -> str:
    source = tuple(_originals(view, hidden))
    budget = options.summary_tokens or offline.summary_budget(meter.total(source))
    # A summary that is more than half of what it replaces saves too little to be worth its loss.
    budget = min(budget, meter.total(hidden) // 2)
    return offline.summarize(source, budget=budget, count=meter.text, cwd=view.cwd)


def _originals(view: View, messages: Sequence[Message]) -> Iterator[Message]:
    """Put the originals in place of our earlier summaries, and nothing in place of markers."""
    for message in messages:
        if message.id in view.originals:
            yield from _originals(view, view.originals[message.id])
        elif not (is_stand_in(message) and not message.summary):
            yield message


def _proposal(
    view: View, hidden: Sequence[Message], options: SummarizeOptions, text: str, tokens: int
) -> Proposal:
    ids = tuple(message.id for message in hidden)
    group = group_id(NAME, options, ids)
    summary = Synthetic(
        id=MessageId(f"summary-{group}"),
        kind="summary",
        role="user",
        text=text,
        group=group,
        through=newest_id(view.messages),
        details={
            "summarizesFrom": ids[0],
            "summarizesTo": ids[-1],
            "messages": len(ids),
            "tokens": tokens,
        },
    )
    insert = Insert(before=insertion_point(view.messages, ids[0]), message=summary)
    hide = Hide(ids=ids, group=group, kind="condense", reason="older than the messages kept")
    note = f"messages summarized: {len(ids):,}, in {tokens:,} tokens"
    return Proposal(stage=NAME, edits=(insert, hide), notes=(note,))


STAGE = Stage(name=NAME, options=SummarizeOptions, propose=propose)
