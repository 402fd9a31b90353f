"""Compacts a session to what its client needs, so that it can go on."""

from dataclasses import dataclass
from pathlib import Path

from compactctl.commands.compact.compact import CompactOptions, CompactResult, compact
from compactctl.commands.forking.new_session import continued_with
from compactctl.commands.forking.written import OutputOptions
from compactctl.commands.loading.load import InputOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.rescue.earlier import earlier_rescue
from compactctl.profiles.overflow.overflow import Overflow
from compactctl.sessions.session import Session
from compactctl.tokens.budget import TargetSize


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueOptions:
    """Which session, what its client said, and where the outcome goes.

    ``path`` is the session, ``overflow`` what the error says where one is given, ``target`` the
    size to reach instead of the usual one. ``output`` is another file to write. With ``native`` the
    session is appended to, with ``while_open`` also while its client has it open.
    """

    input: InputOptions
    overflow: Overflow | None = None
    target: TargetSize | None = None
    output: str | None = None
    in_place: bool = False
    native: bool = False
    while_open: bool = False
    force: bool = False
    redo: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueResult:
    """What was done, and the command that goes on with the session, None where there is none.

    ``earlier`` is the new session that an earlier rescue made of this one as it still is; nothing
    was written then, and ``compacted`` is what that one comes to. ``uncounted`` are the tokens that
    the client's error says were sent, beyond those that are counted: nothing here takes them out.
    """

    compacted: CompactResult
    continue_with: str | None
    earlier: Session | None = None
    uncounted: int = 0

    @property
    def tokens_before(self) -> int:
        """What the next request was, by the higher of the two figures."""
        return self.compacted.largest_before + self.uncounted

    @property
    def tokens_after(self) -> int:
        """What the next request is, with what the error counts and the transcript does not hold."""
        return self.compacted.largest_after + self.uncounted


def rescue(options: RescueOptions) -> RescueResult:
    """Compact as ``compact`` does without options, and tell how to go on; raises as that does.

    A second new session of one that has not changed is only made with options that ask for it.
    """
    plain = RescueOptions(input=options.input, dry_run=options.dry_run)
    earlier = earlier_rescue(options.input.path, options.input.limits) if options == plain else None
    result = compact(
        CompactOptions(
            input=options.input,
            recipe=Recipe(plan=PlanOptions(overflow=options.overflow, target=options.target)),
            output=OutputOptions(
                path=options.output,
                in_place=options.in_place,
                layout="native" if options.native else "split",
                while_open=options.while_open,
                force=options.force,
                dry_run=options.dry_run or earlier is not None,
            ),
            redo=options.redo,
        )
    )
    if earlier is not None:
        place, model = str(earlier.entry.path), result.measure.long_window_model
        way_on = continued_with(place, None, model=model)
    elif result.written is not None:
        way_on = result.written.continue_with
    else:
        model = result.measure.long_window_model
        way_on = (
            None
            if options.dry_run
            else continued_with(str(Path(options.input.path)), None, model=model)
        )
    sent = options.overflow.actual if options.overflow else None
    return RescueResult(
        compacted=result,
        continue_with=way_on,
        earlier=earlier,
        uncounted=max(0, (sent or 0) - result.largest_before),
    )
