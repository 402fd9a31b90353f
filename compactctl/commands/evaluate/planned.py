"""A plan that stands in a file, held against what its session went on to need."""

from dataclasses import dataclass
from itertools import islice

from compactctl.commands.loading.load import InputOptions, load, parse
from compactctl.commands.planning.carry_out import carry_out, check_input
from compactctl.commands.planning.plan_file import PlanFile
from compactctl.commands.sizing.measure import MeasureOptions, measure
from compactctl.errors import UsageError
from compactctl.model.edit import Edit
from compactctl.model.message import MessageId
from compactctl.model.transcript import Transcript
from compactctl.store.files.lines import digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSession:
    """A session that has gone on since a plan was made, and the edits of the plan.

    ``newest`` is the newest message that there was then.
    """

    transcript: Transcript
    edits: tuple[Edit, ...]
    newest: MessageId


def planned_session(
    session: InputOptions, plan: PlanFile, options: MeasureOptions
) -> PlannedSession:
    """Read what a plan was made for the beginning of.

    Raises as ``load`` and ``carry_out`` do, ChangedError where it does not begin like that, and
    UsageError where it has not gone on.
    """
    loaded = load(session)
    known = tuple(islice(loaded.lines, plan.input.n_lines))
    if loaded.source.digest == plan.input:
        raise UsageError(
            f"{session.path}: has not gone on since the plan was made, so nothing tells what it "
            "needs; make the plan of its beginning, as of head -n 500"
        )
    if digest_of(known) != plan.input:
        check_input(plan, loaded.source.digest, session.path)
    if plan.redo:
        raise UsageError(
            f"{session.path}: the plan undoes what the client compacted, and what was needed "
            "followed on that; make a plan without --redo"
        )
    then = parse(known, loaded.format)
    edits = carry_out(then, plan, measure(then, options)).edits
    newest = then.effective[-1].id
    return PlannedSession(transcript=loaded.transcript, edits=edits, newest=newest)
