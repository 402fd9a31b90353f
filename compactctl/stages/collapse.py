"""Collapse: hide whole turns from the middle of the conversation behind a marker."""

from dataclasses import dataclass

from compactctl.history.pairs import cut_points
from compactctl.history.turns import turns
from compactctl.history.view import View
from compactctl.model.edit import Proposal, Skipped
from compactctl.stages.hiding import Hiding, Marker, hide_range
from compactctl.stages.stage import Stage
from compactctl.tokens.meter import Meter

NAME = "collapse"
_FEWEST_BOUNDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CollapseOptions:
    """How to collapse; the marker is that of agent-code.

    Attributes:
        groups: how many turns to hide when there is no target, oldest first; 0 hides every turn
            but the first and the last.
        marker: what stands in place of the hidden messages; ``{count}`` is their number.
    """

    groups: int = 0
    marker: str = "[Earlier messages collapsed to fit context window]"


def propose(view: View, meter: Meter, options: CollapseOptions) -> Proposal | Skipped:
    """Propose to hide turns between the first and the last, oldest first, down to the target."""
    bounds = _bounds(view)
    if len(bounds) < _FEWEST_BOUNDS:
        return Skipped(
            stage=NAME,
            reason="there is no turn between the first and the last",
            detail="--stages truncate also works inside of turns",
        )
    hiding = Hiding(view, meter, _marker(options))
    start, ends = bounds[0], bounds[1:]
    if view.target is not None:
        if hiding.total <= view.target:
            reason = f"already within the target of {view.target:,} tokens"
            return Skipped(stage=NAME, reason=reason)
        end = hiding.fitting_end(start, ends, view.target) or ends[-1]
    elif hiding.nothing_new():
        return Skipped(stage=NAME, reason="nothing was added since the last collapse")
    else:
        end = ends[: options.groups or None][-1]
    return hide_range(hiding, start, end, options)


def _marker(options: CollapseOptions) -> Marker:
    return Marker(
        stage=NAME,
        prefix="collapse",
        template=options.marker,
        reason="in a turn between the first and the last",
    )


def _bounds(view: View) -> list[int]:
    """Return where the second and later turns start, if no tool pair reaches across."""
    cuts = set(cut_points(view.messages))
    return [turn.start for turn in turns(view.messages)[1:] if turn.start in cuts]


STAGE = Stage(name=NAME, options=CollapseOptions, propose=propose)
