"""Compactions by compactctl, with their originals from the archive or from the file itself."""

from collections.abc import Iterable
from itertools import chain

from compactctl.commands.audit.found import OWN, FoundCompaction
from compactctl.commands.by_client.moments import moments
from compactctl.commands.by_client.states import PastState, sent
from compactctl.commands.operations.steps import ArchivedStep, OperationStep


def by_compactctl(
    step: OperationStep, past: Iterable[PastState], state: PastState
) -> FoundCompaction:
    """Return what a step did that led from the last of the ``past`` states to this one."""
    past = tuple(past)
    before, outcome = past[-1].transcript, state.outcome or state.transcript
    left = {message.id for message in outcome.messages}
    following = moments(state.transcript, outcome.n_lines)
    end = following[0].first if following else state.transcript.n_lines
    later = (m for m in state.transcript.messages if m.id not in left and m.line < end)
    later = (message for message in later if not message.aside)
    written = (m.line for m in outcome.effective if m.synthetic)
    said = chain.from_iterable(each.transcript.messages for each in past)
    return FoundCompaction(
        writer=OWN,
        line=min(written, default=0),
        before=sent(before),
        after=sent(outcome),
        later=tuple(later),
        source=tuple({message.id: message for message in said}.values()),
        operation=step.id,
        stages=_stages(step),
    )


def _stages(step: OperationStep) -> tuple[str, ...]:
    if not isinstance(step, ArchivedStep):
        return ()
    return tuple(record.name for record in step.operation.stages if record.outcome == "applied")
