"""Truncate: hide the oldest messages behind a marker, keep the first exchange and the newest."""

from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import cut_points
from compactctl.history.stand_ins import is_marker
from compactctl.history.turns import leading_system_count
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Message
from compactctl.model.numbers import exact
from compactctl.model.operation import neurolink_schema
from compactctl.records import Record
from compactctl.stages.support.stage import Stage, option, skip_within_target
from compactctl.stages.support.truncation import (
    HidePlanner,
    Marker,
    hide_range,
    protected_tail_start,
)
from compactctl.tokens.meter import Meter

NAME = "truncate"
MarkerRole = Literal["user", "system"]
# NeuroLink hides between a tenth and nine tenths of the messages when it chooses the share. In its
# code, it hides the largest share if three of them miss the target.
_MIN_SHARE, _MAX_SHARE = 0.1, 0.9
_TRIES, _LARGEST_SHARE = 3, 0.95


class TruncateOptions(Record):
    """How to truncate; the defaults are those of NeuroLink."""

    fraction: float = option(
        0.5,
        "Share of the messages after the first exchange to hide without a target (0 to 1).",
    )
    at_least: bool = option(
        False,
        "With a target, hide at least ``fraction``, as NeuroLink always does, instead of only "
        "what the target needs.",
    )
    even: bool = option(
        True,
        "Round the number of hidden messages down to an even one, so that prompts and answers "
        "alternate.",
    )
    margin: float = option(
        0.0,
        "With a target, hide at least the share of messages by which the context exceeds it, "
        "plus this margin (in all 0.1 to 0.9), so that the next compaction is due later; 0 "
        "hides only what the target needs. NeuroLink adds 0.15.",
    )
    step: float = option(
        0.0,
        "With ``margin``, hide only that share, then this much more at a time, as NeuroLink's code "
        "does (0.25), instead of exactly what the target needs; 0 is off.",
    )
    keep_first: int = option(
        2,
        "Number of messages of the first exchange to keep, not counting system and injected ones.",
    )
    marker: str = option(
        "[Earlier messages truncated: {count} messages hidden to reduce context]",
        "Text that replaces the hidden messages; ``{count}`` is their number.",
    )
    marker_role: MarkerRole = option(
        "user",
        "Role of the marker, in formats that allow system messages among the others; elsewhere "
        "it is a user message.",
    )


def propose(
    view: ConversationView, meter: Meter, options: TruncateOptions
) -> Proposal | SkippedStage:
    """Propose to hide the oldest messages: until the target fits, or without one a fraction."""
    planner = HidePlanner(view, meter, _marker(options))
    start = _first_exchange(view.messages, options.keep_first)
    tail = protected_tail_start(view)
    ends = [cut for cut in cut_points(view.messages) if start < cut <= tail]
    if not ends:
        reason = f"only {len(view.messages)} messages, all in the first exchange or the newest"
        return SkippedStage(stage=NAME, reason=reason, detail="see --truncate-keep-first")
    if view.target is not None:
        end = _end_for_target(planner, start, ends, view.target, options)
    else:
        end = _end_for_fraction(planner, start, ends, options)
    if isinstance(end, SkippedStage):
        return end
    return hide_range(planner, start, end, options)


def _marker(options: TruncateOptions) -> Marker:
    return Marker(
        stage=NAME,
        prefix="truncation",
        template=options.marker,
        reason="among the oldest messages after the first exchange",
        role=options.marker_role,
    )


def _first_exchange(messages: tuple[Message, ...], keep: int) -> int:
    """Return the index after the first exchange, a cut point."""
    front = leading_system_count(messages)
    exchange = [
        index
        for index, message in enumerate(messages[front:], front)
        if not (message.role == "system" or message.origin.is_injected or message.origin.is_summary)
        and not is_marker(message)
    ]
    end = exchange[:keep][-1] + 1 if exchange[:keep] else front
    return min(cut for cut in cut_points(messages) if cut >= end)


def _end_for_target(
    planner: HidePlanner, start: int, ends: list[int], target: int, options: TruncateOptions
) -> int | SkippedStage:
    if planner.total <= target:
        return skip_within_target(NAME, target)
    over = (planner.total - target) / planner.total
    margin_share = min(_MAX_SHARE, max(_MIN_SHARE, over + options.margin))
    if options.step:
        return _end_by_steps(planner, start, ends, margin_share, options)
    end = _even_end(planner, start, ends, planner.fitting_end(start, ends, target), options)
    shares = [options.fraction] if options.at_least else []
    if options.margin:
        shares.append(margin_share)
    min_ends = (_end_of_share(planner, start, ends, share, even=options.even) for share in shares)
    return max(end, *(min_end or start for min_end in min_ends), start)


def _end_by_steps(
    planner: HidePlanner, start: int, ends: list[int], share: float, options: TruncateOptions
) -> int | SkippedStage:
    """Return the end of the first share that reaches the target, else that of the largest."""
    for number in range(_TRIES):
        next_share = min(_LARGEST_SHARE, share + number * options.step)
        end = _end_of_share(planner, start, ends, next_share, even=options.even)
        if end is None:
            break
        if planner.fits(planner.hideable_ids(start, end)):
            return end
    # An odd number is better than none.
    largest = (
        _end_of_share(planner, start, ends, _LARGEST_SHARE, even=even)
        for even in (options.even, False)
    )
    return next(filter(None, largest), _too_few(_LARGEST_SHARE))


def _even_end(
    planner: HidePlanner, start: int, ends: list[int], fitting: int | None, options: TruncateOptions
) -> int:
    """Return the first of ``ends`` from ``fitting`` on that hides an even number of messages.

    If none does, or ``even`` is off, return ``fitting``. If nothing fits (None), return the last
    even end, or the last end at all.
    """
    end = ends[-1] if fitting is None else fitting
    even_ends = [cut for cut in ends if len(planner.hideable_ids(start, cut)) % 2 == 0]
    if not options.even or not even_ends:
        return end
    last_even = even_ends[-1] if fitting is None else fitting
    return next((cut for cut in even_ends if cut >= end), last_even)


def _end_of_share(
    planner: HidePlanner, start: int, ends: list[int], share: float, *, even: bool
) -> int | None:
    """Return the last of ``ends`` that hides at most this share of the messages, None if none."""
    count = int((len(planner.view.messages) - start) * exact(share))
    count -= count % 2 if even else 0
    return max((cut for cut in ends if cut <= start + count), default=None)


def _end_for_fraction(
    planner: HidePlanner, start: int, ends: list[int], options: TruncateOptions
) -> int | SkippedStage:
    if planner.has_nothing_new():
        return SkippedStage(stage=NAME, reason="nothing was added since the last truncation")
    end = _end_of_share(planner, start, ends, options.fraction, even=options.even)
    return _too_few(options.fraction) if end is None else end


def _too_few(share: float) -> SkippedStage:
    reason = f"{share:.0%} of the messages after the first exchange are too few"
    return SkippedStage(stage=NAME, reason=reason, detail="raise it with --truncate-fraction")


STAGE = Stage(
    name=NAME,
    title="hide the oldest messages behind a marker, keep the first exchange and the newest",
    options=TruncateOptions,
    propose=propose,
    example=TruncateOptions(fraction=0.8, keep_first=1),
    foreign_schemas=(
        neurolink_schema("TruncationResult", truncated="applied", messagesRemoved="hidden"),
    ),
)
