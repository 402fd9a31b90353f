"""A compaction between the stages' outcome and what is to be written."""

from dataclasses import dataclass
from typing import Any

from compactctl.commands.by_client.undo import Undone
from compactctl.commands.compact.audits import SummaryAudit
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.loading.load import Loaded
from compactctl.commands.loading.recorded_format import format_field
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.planning.plan import Plan
from compactctl.commands.planning.run_stages import PlanOutcome
from compactctl.commands.sizing.answered import with_plausible_usage
from compactctl.commands.sizing.measure import Measure
from compactctl.commands.sizing.window import shown_by_requests
from compactctl.history.standins import newest_id
from compactctl.model.counts import Restated
from compactctl.model.operation import OperationId


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionJob:
    """What was asked for, what was read, and what the stages came to.

    ``redone`` are the client's compactions that were undone first.
    ``restated`` are the counts by which a client is to measure its context from now on. ``whole``
    is the session as it was read where records are to be appended to it, ``loaded`` that without
    what does not count any more.
    """

    options: CompactOptions
    loaded: Loaded
    history: OperationHistory
    measured: Measure
    plan: Plan
    outcome: PlanOutcome
    audits: tuple[SummaryAudit, ...]
    restated: Restated | None
    redone: Undone | None = None
    whole: Loaded | None = None

    @property
    def parent(self) -> OperationId | None:
        """The operation before this one."""
        if self.redone is not None:
            return self.redone.archive[0].id
        chain = self.history.chain
        return chain[-1].id if chain else None

    @property
    def own_fields(self) -> dict[str, Any]:
        """What lets later measurements tell what requests held at this point."""
        outcome = self.outcome
        newest, model = newest_id(outcome.before), self.loaded.transcript.model
        is_named = any(message.model for message in outcome.after)
        measured = self.measured
        shown = with_plausible_usage(self.loaded.transcript, measured.model, measured.framed)
        told = {
            "through": newest,
            "unseen": outcome.request_after.unseen,
            "model": None if is_named else model,
            "answered": shown_by_requests(shown, measured.model),
        }
        known = {name: value for name, value in told.items() if value}
        return known | format_field(self.loaded.format.name)
