"""Proves that the steps behind a transcript hold together, whatever layout they are in."""

from collections.abc import Collection, Iterator

from compactctl.commands.loading.load import Loaded
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.inline import inline_operations, missing_archive_text
from compactctl.commands.operations.steps import ArchivedStep, InlineStep
from compactctl.commands.verify.archives import ProvenArchives
from compactctl.commands.verify.finding import Finding
from compactctl.errors import ChangedError, CompactctlError, MissingArchiveError
from compactctl.model.operation import Operation
from compactctl.store.archive.displaced import late_lines
from compactctl.store.archive.known_states import beginnings
from compactctl.store.archive.names import archive_folder


def prove_history(
    loaded: Loaded, history: OperationHistory, archives: ProvenArchives
) -> Iterator[Finding]:
    """Yield what is wrong with the way from the transcript back to its first state.

    ``archives`` are the transcript's, all of them proven.
    """
    try:
        steps, _ = history.steps, history.chain
    except (ChangedError, MissingArchiveError) as error:
        lost = tuple(_without_archive(loaded, {each.id for each in archives.operations}))
        whole = "every state in the archive can be restored" if archives.operations else ""
        text = f"{error}; {whole}" if whole else str(error)
        yield from lost or [Finding(severity="changed", text=text)]
        return
    except CompactctlError as error:
        yield Finding(severity="damaged", text=str(error))
        return
    known = {step.id for step in steps}
    lost = tuple(_without_archive(loaded, known))
    if not (steps or lost):
        yield _nothing_to_restore(loaded)
    yield from _inline_steps(steps)
    yield from _parents(history, known)
    yield from lost
    yield from _outcomes(loaded, archives)
    yield from _late(history)


def lost_operations(loaded: Loaded, archives: ProvenArchives) -> Iterator[Finding]:
    """Yield the operations that the transcript names and that have no archive of any name."""
    names = {operation.id for operation in archives.operations}
    names |= {operation.id for operation in inline_operations(loaded.lines, loaded.transcript)}
    yield from _without_archive(loaded, names)


def _inline_steps(steps: Collection[object]) -> Iterator[Finding]:
    """Take back every step whose originals stand in a transcript, and compare digests."""
    for step in steps:
        if isinstance(step, InlineStep):
            try:
                sum(map(len, step.before()))
            except CompactctlError as error:
                yield Finding(severity="damaged", text=str(error))


def _parents(history: OperationHistory, known: Collection[str]) -> Iterator[Finding]:
    found = {step.parent for step in history.steps if step.parent is not None}
    heads = {s.operation.head for s in history.steps if isinstance(s, ArchivedStep)}
    for name in sorted({*found, *filter(None, heads)} - {*known}):
        text = (
            f"{history.where}: builds upon operation {name}, whose archive is not here; put it "
            "back beside the transcript to restore what was before"
        )
        yield Finding(severity="damaged", text=text)


def _nothing_to_restore(loaded: Loaded) -> Finding:
    """Return the finding for a compacted transcript with no operation behind it."""
    path = loaded.source.path
    folder = archive_folder(path) if path is not None else "it"
    text = f"{path}: was compacted, but its archive is not here; put {folder} back"
    return Finding(severity="damaged", text=text)


def _without_archive(loaded: Loaded, known: Collection[str]) -> Iterator[Finding]:
    """Yield the operations that records of the transcript name and nothing can take back."""
    named = {m.tags.operation for m in loaded.transcript.messages if m.tags.operation}
    missing = named - {*known}
    if missing:
        text = missing_archive_text(loaded.source.path, missing)
        yield Finding(severity="damaged", text=text)


def _outcomes(loaded: Loaded, archives: ProvenArchives) -> Iterator[Finding]:
    """Yield where the transcript is not in the newest state, and which outcomes are not kept."""
    states = {state for each in archives.operations for state in (each.before, each.after)}
    now = beginnings(loaded.lines, states)
    newest = archives.operations[-1] if archives.operations else None
    # One that did not come through leaves the transcript in the state before it.
    if newest and now.isdisjoint({newest.before, newest.after}):
        yield _changed(loaded, newest)
    for operation in archives.operations:
        if operation.after not in archives.kept | now:
            yield _not_kept(operation, archives)


def _changed(loaded: Loaded, operation: Operation) -> Finding:
    """Tell that the transcript is neither in the state after the newest operation nor before it."""
    text = (
        f"{loaded.source.path}: was edited since operation {operation.id}, or put back from a "
        "backup; every state in the archive can be restored"
    )
    return Finding(severity="changed", text=text)


def _not_kept(operation: Operation, archives: ProvenArchives) -> Finding:
    others = [each for each in archives.operations if each.id != operation.id]
    if any(operation.id in (each.parent, each.head) for each in others):
        text = f"operation {operation.id}: the state after it is kept nowhere"
        return Finding(severity="damaged", text=text)
    text = f"operation {operation.id}: its outcome was never written here, or was replaced"
    return Finding(severity="note", text=text)


def _late(history: OperationHistory) -> Iterator[Finding]:
    archive, current = history.archive, history.current
    if archive is None or current is None:
        return
    try:
        lines = late_lines(archive.folder, current, history.data[current.after.n_bytes :])
    except CompactctlError as error:
        yield Finding(severity="unknown", text=str(error))
        return
    if lines:
        what = "1 line was" if len(lines) == 1 else f"{len(lines):,} lines were"
        text = f"{what} written to the file that was replaced; the next rewind brings them back"
        yield Finding(severity="note", text=text)
