"""Compacts a session to what its client needs, so that it can go on."""

from dataclasses import dataclass
from pathlib import Path

from compactctl.commands.compact.compact import CompactOptions, CompactResult, compact
from compactctl.commands.forking.new_session import continued_with
from compactctl.commands.planning.plan import PlanOptions
from compactctl.profiles.overflow.overflow import Overflow
from compactctl.store.files.limits import READ_LIMITS, ReadLimits
from compactctl.tokens.budget import TargetSize


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueOptions:
    """Which session, what its client said, and where the outcome goes.

    ``path`` is the session, ``overflow`` what the error says where one is given, ``target`` the
    size to reach instead of the usual one. ``output`` is another file to write. With ``native`` the
    session is appended to, with ``while_open`` also while its client has it open.
    """

    path: str
    overflow: Overflow | None = None
    target: TargetSize | None = None
    output: str | None = None
    in_place: bool = False
    native: bool = False
    while_open: bool = False
    force: bool = False
    redo: bool = False
    dry_run: bool = False
    limits: ReadLimits = READ_LIMITS


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueResult:
    """What was done, and the command that goes on with the session, None where there is none."""

    compacted: CompactResult
    continue_with: str | None


def rescue(options: RescueOptions) -> RescueResult:
    """Compact as ``compact`` does without options, and tell how to go on; raises as that does."""
    result = compact(
        CompactOptions(
            path=options.path,
            limits=options.limits,
            plan=PlanOptions(overflow=options.overflow, target=options.target),
            output=options.output,
            in_place=options.in_place,
            layout="native" if options.native else "split",
            while_open=options.while_open,
            force=options.force,
            redo=options.redo,
            dry_run=options.dry_run,
        )
    )
    if result.written is not None:
        way_on = result.written.continue_with
    else:
        model = result.measure.long_window_model
        way_on = (
            None if options.dry_run else continued_with(str(Path(options.path)), None, model=model)
        )
    return RescueResult(compacted=result, continue_with=way_on)
