"""Collapse: hide whole turns in the middle of the conversation behind a marker."""

from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import cut_points
from compactctl.history.turns import find_steps, find_turns
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.operation import ForeignSchema
from compactctl.records import Record
from compactctl.stages.support.stage import Stage, option, skip_within_target
from compactctl.stages.support.truncation import HidePlanner, Marker, hide_range
from compactctl.tokens.meter import Meter

NAME = "collapse"
CollapseUnit = Literal["turns", "steps"]


class CollapseOptions(Record):
    """How to collapse; the defaults are those of agent-code."""

    unit: CollapseUnit = option(
        "turns",
        "Hide whole turns, or single steps (a model call with its results), which also works in "
        "a session with one prompt. The first step includes its prompt.",
    )
    keep_first: int = option(1, "Number of turns or steps to keep at the start.")
    groups: int = option(
        0,
        "Number of turns or steps to hide without a target, oldest first; 0 hides all but those "
        "at the start and the last.",
    )
    marker: str = option(
        "[Earlier messages collapsed to fit context window]",
        "Text that replaces the hidden messages; ``{count}`` is their number.",
    )


def propose(
    view: ConversationView, meter: Meter, options: CollapseOptions
) -> Proposal | SkippedStage:
    """Propose to hide turns between the first and the last, oldest first, down to the target."""
    start, *ends = _unit_starts(view, options)[options.keep_first :] or [0]
    if not ends:
        return _nothing_between(options)
    planner = HidePlanner(view, meter, _marker(options))
    if view.target is not None:
        if planner.total <= view.target:
            return skip_within_target(NAME, view.target)
        end = planner.fitting_end(start, ends, view.target) or ends[-1]
    elif planner.has_nothing_new():
        return SkippedStage(stage=NAME, reason="nothing was added since the last collapse")
    else:
        end = ends[: options.groups or None][-1]
    return hide_range(planner, start, end, options)


def _nothing_between(options: CollapseOptions) -> SkippedStage:
    unit, first = options.unit.removesuffix("s"), "the first"
    if options.keep_first != 1:
        first = f"the first {options.keep_first:,}" if options.keep_first else "the start"
    detail = "--collapse-unit steps" if unit == "turn" else "--stages truncate"
    return SkippedStage(
        stage=NAME,
        reason=f"no {unit} between {first} and the last",
        detail=f"{detail} also works inside of turns",
    )


def _marker(options: CollapseOptions) -> Marker:
    return Marker(
        stage=NAME,
        prefix="collapse",
        template=options.marker,
        reason=f"in a {options.unit.removesuffix('s')} between the first and the last",
    )


def _unit_starts(view: ConversationView, options: CollapseOptions) -> list[int]:
    """Return the indices where turns or steps start that are cut points; the first one is 0."""
    cuts = set(cut_points(view.messages))
    turn_ranges = find_turns(view.messages)
    starts = {turn.start for turn in turn_ranges}
    if options.unit == "steps":
        step_starts = [step[0] for step in find_steps(view.messages)]
        starts.update(
            start for turn in turn_ranges for start in [c for c in step_starts if c in turn][1:]
        )
    return sorted({0, *(starts & cuts)})


STAGE = Stage(
    name=NAME,
    title="hide whole turns in the middle of the conversation behind a marker",
    options=CollapseOptions,
    propose=propose,
    foreign_schemas=(
        ForeignSchema(
            system="agent-code",
            source="agent-code, services/context_collapse.rs: CollapseResult",
            fields={"snipped_count": "hidden", "tokens_freed": "tokensSaved"},
        ),
    ),
)
