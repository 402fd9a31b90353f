"""Window: keep the newest messages, turns or tokens, hide the rest behind a marker."""

from collections.abc import Mapping
from typing import Literal

from compactctl.errors import UsageError
from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import cut_points
from compactctl.history.recent import (
    Snap,
    event_indices,
    newest_events_start,
    newest_tokens_start,
    newest_turns_start,
    window_start,
)
from compactctl.history.stand_ins import is_marker
from compactctl.history.turns import turn_starts
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.records import Record
from compactctl.stages.support.stage import Stage, option
from compactctl.stages.support.truncation import (
    HidePlanner,
    Marker,
    hide_range,
    protected_tail_start,
)
from compactctl.tokens.meter import Meter

NAME = "window"
WindowUnit = Literal["events", "turns", "tokens"]
# The defaults of maxEvents, maxTurns and maxTokens in Spring AI Session.
_DEFAULT_SIZES: Mapping[WindowUnit, int] = {"events": 20, "turns": 10, "tokens": 4_000}


class WindowOptions(Record):
    """How much to keep; the defaults are those of Spring AI Session."""

    unit: WindowUnit = option(
        "events",
        'Unit of ``max``. "events" are messages; the system prompt, summaries and markers are '
        'kept and do not count. "turns" also keeps everything before the first turn. "tokens" '
        "keeps as many of the newest messages as fit beside the summaries.",
    )
    max: int = option(0, "How much to keep; 0 means 20 events, 10 turns or 4,000 tokens.")
    snap: Snap = option(
        "forward",
        'If the window begins inside a turn, move its start to the next turn ("forward"), to '
        'the start of that turn ("back"), or not at all ("none"). Tool pairs stay together.',
    )
    min_keep_turns: int = option(
        1,
        "Number of the newest turns to keep even if they exceed the window; 0 lets it begin "
        "inside the newest turn.",
    )
    marker: str = option(
        "[{count} earlier messages are outside of the window]",
        "Text that replaces the hidden messages; ``{count}`` is their number.",
    )

    def __post_init__(self) -> None:
        """Raise UsageError for a size below zero."""
        if self.max < 0 or self.min_keep_turns < 0:
            raise UsageError("--window-max and --window-min-keep-turns must not be negative")

    @property
    def size(self) -> int:
        """The size of the window, in ``unit``."""
        return self.max or _DEFAULT_SIZES[self.unit]


def propose(
    view: ConversationView, meter: Meter, options: WindowOptions
) -> Proposal | SkippedStage:
    """Propose to hide what is older than the window, whatever the target."""
    size = _measure(view, meter, options.unit)
    if size <= options.size:
        reason = f"the window holds {options.size:,} {options.unit}, the conversation has {size:,}"
        return SkippedStage(stage=NAME, reason=reason, detail="lower it with --window-max")
    planner = HidePlanner(view, meter, _marker(options))
    start, end = _bounds(view, meter, options)
    if not planner.hideable_ids(start, end):
        return SkippedStage(
            stage=NAME,
            reason="no message before the window can be hidden",
            detail="see --window-snap and --window-min-keep-turns",
        )
    return hide_range(planner, start, end, options)


def _marker(options: WindowOptions) -> Marker:
    return Marker(
        stage=NAME,
        prefix="window",
        template=options.marker,
        reason=f"before the window of {options.size:,} {options.unit}",
    )


def _measure(view: ConversationView, meter: Meter, unit: WindowUnit) -> int:
    """Return the size of the conversation in ``unit``."""
    if unit == "turns":
        return len(turn_starts(view.messages))
    indices = event_indices(view.messages)
    if unit == "events":
        return len(indices)
    return _summary_tokens(view, meter) + meter.total(view.messages[index] for index in indices)


def _summary_tokens(view: ConversationView, meter: Meter) -> int:
    """Return the tokens of the summaries; markers are free, or every run would hide more."""
    return meter.total(m for m in view.messages if m.origin.is_summary and not is_marker(m))


def _bounds(view: ConversationView, meter: Meter, options: WindowOptions) -> tuple[int, int]:
    """Return the start and end of the range to hide, both cut points."""
    index = _window_index(view, meter, options)
    end = window_start(view.messages, index, options.snap, options.min_keep_turns)
    return _first_hideable(view, options.unit), min(end, protected_tail_start(view))


def _window_index(view: ConversationView, meter: Meter, options: WindowOptions) -> int:
    match options.unit:
        case "events":
            return newest_events_start(view.messages, options.size)
        case "turns":
            return newest_turns_start(view.messages, options.size)
        case "tokens":
            budget = options.size - _summary_tokens(view, meter)
            return newest_tokens_start(view.messages, budget, meter)


def _first_hideable(view: ConversationView, unit: WindowUnit) -> int:
    """Return the start of the range: a window of turns keeps what precedes the first turn."""
    if unit != "turns":
        return 0
    first = turn_starts(view.messages)[0]
    return min(cut for cut in cut_points(view.messages) if cut >= first)


STAGE = Stage(
    name=NAME,
    title="keep the newest messages, turns or tokens, hide the rest behind a marker",
    options=WindowOptions,
    propose=propose,
    example=WindowOptions(max=3, snap="none", min_keep_turns=0),
)
