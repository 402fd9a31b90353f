"""Where the newest events, tokens or turns of a conversation begin."""

from collections.abc import Sequence
from typing import Literal

from compactctl.history.pairs import cut_points
from compactctl.history.stand_ins import is_marker
from compactctl.history.turns import leading_system_count, turn_starts
from compactctl.model.message import Message
from compactctl.tokens.meter import Meter

Snap = Literal["forward", "back", "none"]


def event_indices(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the indices of what counts as an event: no system prompt, summary or marker."""
    front = leading_system_count(messages)
    return tuple(
        index
        for index, message in enumerate(messages)
        if index >= front and not (message.origin.is_summary or is_marker(message))
    )


def newest_events_start(messages: Sequence[Message], count: int) -> int:
    """Return where the newest ``count`` (at least 1) events begin, 0 when there are no more."""
    found = event_indices(messages)
    return found[-count] if len(found) > count else 0


def newest_tokens_start(messages: Sequence[Message], budget: int, meter: Meter) -> int:
    """Return where the newest events begin that fit in ``budget`` tokens together.

    The first that does not fit ends them; the number of messages when the newest does not fit.
    """
    start = len(messages)
    for index in reversed(event_indices(messages)):
        budget -= meter.message(messages[index])
        if budget < 0:
            return start
        start = index
    return 0


def newest_turns_start(messages: Sequence[Message], count: int) -> int:
    """Return where the newest ``count`` turns begin, 0 when there are fewer."""
    starts = turn_starts(messages)
    if count == 0:
        return len(messages)
    return starts[-count] if len(starts) >= count else 0


def snap_to_turn(messages: Sequence[Message], index: int, snap: Snap) -> int:
    """Return the start of a turn: the first from ``index`` on, or the newest up to it.

    Where there is none, that is the number of messages, or 0.
    """
    starts = turn_starts(messages)
    if snap == "forward":
        return next((start for start in starts if start >= index), len(messages))
    if snap == "back":
        return max((start for start in starts if start <= index), default=0)
    return index


def window_start(messages: Sequence[Message], index: int, snap: Snap, min_turns: int) -> int:
    """Return the cut point where a window begins that should begin at index ``index``.

    It holds the newest ``min_turns`` turns whole, and no tool pair reaches into it.
    """
    limit = min(snap_to_turn(messages, index, snap), newest_turns_start(messages, min_turns))
    return max(cut for cut in cut_points(messages) if cut <= limit)
