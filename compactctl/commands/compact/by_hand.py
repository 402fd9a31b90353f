"""A range of messages hidden by hand, checked, measured and undone like what a stage hides."""

from dataclasses import dataclass, replace

from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.planning.plan import PlanOptions, StageSettings
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.stages.span import NAME

_BETWEEN = ".."


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOptions:
    """The ``FROM..TO`` to hide, and the summary that is to stand for it, None for a marker.

    With ``widen`` whole tool pairs are hidden where FROM or TO is inside of some.
    """

    messages: str
    summary: str | None = None
    widen: bool = False


def tag(options: CompactOptions, wanted: HandOptions) -> CompactResult:
    """Hide a range of messages.

    Raises as ``compact`` does, and UsageError for a range that may not be hidden.
    """
    first, between, last = wanted.messages.partition(_BETWEEN)
    if not (between and first and last):
        raise UsageError(f"{wanted.messages!r} is not a range; write it as FROM..TO, as in 3..9")
    if wanted.summary is not None and not wanted.summary.strip():
        raise UsageError("the summary is empty; say what the messages were about")
    summary = (wanted.summary or "").strip()
    settings: StageSettings = {
        NAME: {"first": first, "last": last, "summary": summary, "widen": wanted.widen}
    }
    recipe = replace(
        options.recipe,
        plan=PlanOptions(stages=(NAME,), settings=settings),
        protect=ProtectOptions(keep_turns=0),
    )
    result = compact(replace(options, recipe=recipe))
    if not result.compacted:
        why = result.stages[0].detail.replace("--span-widen", "--widen")
        raise UsageError(f"{options.input.path}: {why}")
    return result
