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
    """Return the indices of events: all messages but the system prompt, summaries and markers."""
    system_count = leading_system_count(messages)
    return tuple(
        index
        for index, message in enumerate(messages)
        if index >= system_count and not (message.origin.is_summary or is_marker(message))
    )


def newest_events_start(messages: Sequence[Message], count: int) -> int:
    """Return where the newest ``count`` (at least 1) events begin; 0 if there are no older ones."""
    indices = event_indices(messages)
    return indices[-count] if len(indices) > count else 0


def newest_tokens_start(messages: Sequence[Message], budget: int, meter: Meter) -> int:
    """Return where the newest events begin that fit in ``budget`` tokens together.

    The first one that does not fit ends them; ``len(messages)`` if the newest does not fit.
    """
    start = len(messages)
    for index in reversed(event_indices(messages)):
        budget -= meter.message(messages[index])
        if budget < 0:
            return start
        start = index
    return 0


def newest_turns_start(messages: Sequence[Message], count: int) -> int:
    """Return where the newest ``count`` turns begin; 0 if there are fewer."""
    starts = turn_starts(messages)
    if count == 0:
        return len(messages)
    return starts[-count] if len(starts) >= count else 0


def snap_to_turn(messages: Sequence[Message], index: int, snap: Snap) -> int:
    """Move ``index`` to the start of a turn: the next one ("forward") or the one before ("back").

    If there is none, that is ``len(messages)`` or 0. "none" returns ``index``.
    """
    starts = turn_starts(messages)
    if snap == "forward":
        return next((start for start in starts if start >= index), len(messages))
    if snap == "back":
        return max((start for start in starts if start <= index), default=0)
    return index


def window_start(messages: Sequence[Message], index: int, snap: Snap, min_turns: int) -> int:
    """Return the cut point at which a window begins that should begin at ``index``.

    It is moved back until the window holds the newest ``min_turns`` turns and splits no tool pair.
    """
    limit = min(snap_to_turn(messages, index, snap), newest_turns_start(messages, min_turns))
    return max(cut for cut in cut_points(messages) if cut <= limit)
