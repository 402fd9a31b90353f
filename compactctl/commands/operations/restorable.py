"""Which past states of a transcript can be restored, from where, and which are lost."""

from collections.abc import Container, Iterable, Iterator
from contextlib import suppress

from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.periods import Period, Reached, state_after
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.commands.operations.timeline import Chain, OperationTimeline
from compactctl.errors import ArchiveError, CompactctlError, IntegrityError
from compactctl.model.operation import Digest, OperationId
from compactctl.records import Record
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.displaced import (
    displaced_files,
    displaced_state,
    ends_of,
    read_displaced,
)
from compactctl.store.archive.growth import find_growth, known_state_in


class LostState(Record):
    """A state that cannot be restored, and why; ``operation`` led to it, if that is known."""

    why: str
    operation: OperationId | None = None


def reach(history: OperationHistory, chain: Chain, after: OperationStep | None = None) -> Reached:
    """Return the state with exactly these compactions in effect, and what was added since.

    It is the end of the newest period with this chain, if possible one that grew from the outcome
    of the step ``after``. Periods that another appended rewind began do not count, as they still
    hold what it undid. Raises ArchiveError if no such state was kept.
    """
    reached = _find_state(history, chain, after)
    if reached is None:
        raise _not_archived(history, chain)
    return reached


def _find_state(
    history: OperationHistory, chain: Chain, after: OperationStep | None
) -> Reached | None:
    """Return a state as ``reach`` does, None if it was not kept."""
    timeline = history.timeline
    in_time = timeline.periods_with(chain)
    exact = [
        index for index in reversed(in_time) if timeline.periods[index].appended_by in (None, after)
    ]
    if after is not None:
        for index in exact:
            if _has_grown(timeline.periods[index], after):
                return timeline.reached(index)
        displaced = _displaced_after(history, after)
        if displaced is not None:
            return displaced
    if not in_time:
        return _displaced_with(history, chain)
    return timeline.reached(exact[0] if exact else in_time[0])


def _has_grown(period: Period, step: OperationStep) -> bool:
    """Return whether the end of a period grew from the outcome of a step."""
    return find_growth(period.end, (state_after(step),)) is not None


def _displaced_with(history: OperationHistory, chain: Chain) -> Reached | None:
    """Return the newest such outcome that only a displaced file holds."""
    steps = _steps_to(history.timeline, chain)
    displaced = (_displaced_after(history, step) for step in reversed(steps))
    return next((reached for reached in displaced if reached is not None), None)


def _displaced_after(history: OperationHistory, step: OperationStep) -> Reached | None:
    """Return the outcome of a step that a displaced file holds."""
    state = _displaced_with_growth(history.archive, step)
    state = state or displaced_state(history.displaced, step.after)
    if state is None:
        return None
    return Reached(base=(state,), later=history.timeline.periods_since(step))


def _displaced_with_growth(archive: Archive | None, step: OperationStep) -> bytes | None:
    """Return the newest only copy of a state that others continued after a step."""
    for link in ends_of(archive) if archive else ():
        data = read_displaced(link)
        if find_growth((data,), (state_after(step),)) is not None:
            return data
    return None


def _steps_to(timeline: OperationTimeline, chain: Chain) -> tuple[OperationStep, ...]:
    """Return the steps after which exactly these compactions were in effect, oldest first."""
    return tuple(moment.step for moment in timeline.moments if moment.after == chain)


def _not_archived(history: OperationHistory, chain: Chain) -> ArchiveError:
    """Return the error for a state that was not kept."""
    steps = _steps_to(history.timeline, chain)
    if steps:
        where = history.archive.folder if history.archive else history.where
        return ArchiveError(
            f"{where}: the state after operation {steps[-1].id} was not archived; choose another "
            "operation"
        )
    why = next((lost.why for lost in lost_states(history)), "")
    return ArchiveError(
        f"{history.where}: the first state is lost: {why}; undo one compaction at a time without "
        "--all"
    )


def read_outcome(history: OperationHistory, step: OperationStep) -> bytes:
    """Return the state right after a step; of a document that its client rewrote, its records.

    Raises ArchiveError if it was not kept.
    """
    chain, outcome = history.timeline.moment_of(step).after, state_after(step)
    for period in history.timeline.periods:
        if period.chain == chain:
            state = known_state_in(period.end, outcome)
            if state is not None:
                return state
    displaced = _displaced_with(history, chain)
    if displaced is None:
        raise _not_archived(history, chain)
    return b"".join(displaced.base)


def is_kept(history: OperationHistory, step: ArchivedStep) -> bool:
    """Return whether the state after a step can be restored; reads other archives for it."""
    chain, outcome = history.timeline.moment_of(step).after, state_after(step)
    try:
        reached = _find_state(history, chain, step)
        if reached is None:
            return False
        if find_growth(reached.base, (outcome,)) is not None:
            return True
        # A rewind carries over what others had added.
        return find_growth(reached.content.chunks, (outcome,)) is not None
    except (ArchiveError, IntegrityError):
        return False


def lost_states(history: OperationHistory) -> tuple[LostState, ...]:
    """Return the states that cannot be restored, as far as the metadata of the archives shows.

    Lines in an archive may be damaged, too; ``verify`` reads them all. Raises as
    ``OperationHistory.timeline`` does.
    """
    without_archive = tuple(_without_archive(history.archive))
    return (
        *(without_archive or _without_operation(history)),
        *_edited_inside(history.timeline),
        *_not_kept(history),
        *written_anew(history),
    )


def lost_before_newest(history: OperationHistory) -> tuple[LostState, ...]:
    """Return the lost states of a transcript that was edited since its newest operation.

    The outcome of that operation is not among them: it is what was edited.
    """
    if not history.archived:
        return ()
    newest = history.archived[-1].id
    return tuple(s for s in lost_states(history.before_newest) if s.operation != newest)


def doubtful_outcomes(
    history: OperationHistory, lost: Iterable[LostState], outcomes: Container[Digest] = ()
) -> Iterator[LostState]:
    """Yield the outcomes that no file holds, and that may never have been written.

    ``lost`` are the lost states of the history, ``outcomes`` those that some file is known to hold.
    Reads other archives, as ``is_kept`` does.
    """
    lost_ids = {state.operation for state in lost}
    for step in history.archived:
        is_found = step.operation.after in outcomes or is_kept(history, step)
        if step.id not in lost_ids and not is_found:
            why = f"operation {step.id}: its outcome was never written here, or was replaced"
            yield LostState(operation=step.id, why=why)


def _without_archive(archive: Archive | None) -> Iterator[LostState]:
    """Yield the states before operations whose archive is missing or cannot be read."""
    if archive is None:
        return
    for error in archive.damaged:
        yield LostState(why=str(error))
    if archive.missing:
        names = ", ".join(f"{number:04}" for number in archive.missing)
        yield LostState(
            why=f"{archive.folder}: has no archive {names}; put it back to restore the state before"
        )


def _without_operation(history: OperationHistory) -> Iterator[LostState]:
    """Yield the operations that known ones build upon and that are in no archive."""
    steps = history.timeline.steps
    named = {name for step in steps for name in (step.parent, step.head)}
    named |= {*history.timeline.in_effect}
    for operation in sorted(filter(None, named - {step.id for step in steps})):
        yield LostState(
            operation=operation,
            why=f"{history.where}: builds upon operation {operation}, whose archive is not here; "
            "put it back beside the transcript to restore what was before",
        )


def _edited_inside(timeline: OperationTimeline) -> Iterator[LostState]:
    """Yield the steps inside the transcript whose originals were edited."""
    for step in timeline.inside.values():
        try:
            step.rows()
        except CompactctlError as error:
            yield LostState(operation=step.parent, why=str(error))


def _not_kept(history: OperationHistory) -> Iterator[LostState]:
    """Yield the outcomes that were there and are in no file now.

    They were there if others build upon them, or if they replaced a file.
    """
    builders = [step for step in history.archived if not step.is_rewind]
    files = displaced_files(history.displaced)
    replaced = {file.operation for file in files if file.size is not None}
    for step in history.archived:
        upon = any(step.id in (s.parent, s.head) for s in builders if s.id != step.id)
        if (upon or step.id in replaced) and not is_kept(history, step):
            yield LostState(
                operation=step.id, why=f"operation {step.id}: the state after it was not kept"
            )


def written_anew(history: OperationHistory) -> tuple[LostState, ...]:
    """Return the replaced files that a program wrote anew since, so that no lines can be told."""
    what = "was written anew after it was replaced; look at it, and move it out of the folder"
    with suppress(ArchiveError):
        files = [late.file.path for late in history.late if late.data is None]
        return tuple(LostState(why=f"{path}: {what}") for path in files)
    return ()
