"""Undoes compactions by the transcript's client, whose originals are still in the transcript."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from compactctl.commands.client_sessions.compactions import (
    ClientCompaction,
    compactions_of,
    tagged_groups,
)
from compactctl.commands.client_sessions.native import (
    CannotAppendError,
    before_interrupted_append,
    check_not_open,
    check_read_as,
    check_supported,
    rules_of,
    undo_needs_while_open,
    version_of,
    with_block,
    without_superseded_records,
)
from compactctl.commands.client_sessions.new_session import (
    check_outside_stores,
    load_fork,
    new_session,
)
from compactctl.commands.client_sessions.places import current_state
from compactctl.commands.client_sessions.undo import ClientUndo, undo_compactions
from compactctl.commands.client_sessions.write import (
    Destination,
    Written,
    append_to,
    earlier_deposits,
    write,
)
from compactctl.commands.operations.history import OperationHistory, history_behind
from compactctl.commands.reading.transcript import TranscriptFile, is_in_database, load, loaded_from
from compactctl.commands.rewind.result import RewindOptions, RewindResult
from compactctl.errors import NotUnderstoodError, UsageError
from compactctl.model.operation import StateChange
from compactctl.pipeline.archive_rows import removal_rows
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content, last_byte_and_rest
from compactctl.store.files.source import STANDARD_STREAM, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A transcript as read, and the compactions to undo in it.

    ``options`` name the new session, if one is to be written. ``whole`` is the session to append
    to, None if the output goes elsewhere; ``note`` is a note on its client.
    """

    options: RewindOptions
    source: Source
    history: OperationHistory
    loaded: TranscriptFile
    whole: TranscriptFile | None
    compactions: tuple[ClientCompaction, ...]
    note: str = ""

    @property
    def place(self) -> Destination:
        path, output = self.options.input.path, self.options.output
        target = output.fork.path if output.fork else Path(output.path or path)
        return Destination(path=path, target=target, output=output)


def undo_by_client(options: RewindOptions) -> RewindResult:
    """Undo the client's newest compaction in effect, or those that ``all``, ``to``, ``group`` name.

    The result is a new session if the transcript is one in its client's store; otherwise ``output``
    names the place, which may be in place or appended to the session. It is archived.

    Raises as reading does, UsageError if there is nothing to undo or no output is named,
    IntegrityError if a hidden message would still not be sent, and as publishing does.
    """
    try:
        return _undo(options)
    except CannotAppendError as error:
        if new_session(options.input.path, "whole") is None:
            raise
        result = _undo(replace(options, output=replace(options.output, layout="split")))
        note = f"{error.reason}: a new session is written"
        return replace(result, warnings=(*result.warnings, note))


def is_tagged_by_client(options: RewindOptions, source: Source) -> bool:
    """Tell whether ``group`` is one that a client tagged, which is in no archive."""
    if not options.group or options.group.encode() not in b"".join(source.lines):
        return False
    return options.group in groups_by_client(options, source)


def groups_by_client(options: RewindOptions, source: Source) -> tuple[str, ...]:
    """Return the groups that a client tagged; none if the transcript is not understood."""
    with suppress(NotUnderstoodError):
        loaded = loaded_from(source, options.input.path)
        return tuple(group.id for group in tagged_groups(loaded.transcript))
    return ()


def _undo(options: RewindOptions) -> RewindResult:
    job = _job(options)
    if not job.compactions:
        return _result(job, Content.from_chunks(job.source.lines))
    undone = _undone(job)
    result = _result(job, undone.content, undone)
    if options.check:
        return result
    if options.output.path == STANDARD_STREAM:
        return replace(result, written=Written(output=STANDARD_STREAM), data=undone.content.chunks)
    return _published(job, undone, result)


def _job(options: RewindOptions) -> _Job:
    options = _with_place(options)
    if options.output.fork is not None:
        source, history, loaded = load_fork(options.input, options.output.fork)
    else:
        loaded = load(options.input)
        source, history = loaded.source, history_behind(loaded)
    whole, note = loaded if options.output.layout == "native" else None, ""
    if whole is not None:
        loaded, note = _appendable(options, whole, history)
    return _Job(
        options=options,
        source=source,
        history=history,
        loaded=loaded,
        whole=whole,
        compactions=_wanted(options, compactions_of(current_state(loaded))),
        note=note,
    )


def _with_place(options: RewindOptions) -> RewindOptions:
    """Add the new session to write to the options, if no other place is named.

    Raises UsageError if there is no place.
    """
    path, output = options.input.path, options.output
    if output.layout == "native":
        _check_appended(options)
        return options
    if output.in_place and output.path is not None:
        raise UsageError("--in-place and --output contradict each other; choose one")
    if output.in_place or options.check or output.path == STANDARD_STREAM:
        return options
    if output.path is not None:
        check_outside_stores(path, Path(output.path), named=True)
        return options
    fork = None if path == STANDARD_STREAM else new_session(path, "whole")
    if fork is None:
        raise UsageError(
            f"{path}: what its client compacted is undone in another file, which -o names, or in "
            "this one with --in-place"
        )
    return replace(options, output=replace(output, fork=fork))


def _check_appended(options: RewindOptions) -> None:
    """Raise UsageError for options that contradict --native, and for an input other than a file."""
    others = {"--in-place": options.output.in_place, "--output": options.output.path is not None}
    named = next((name for name, is_set in others.items() if is_set), None)
    if named is not None:
        raise UsageError(f"--native and {named} contradict each other; choose one")
    if options.input.path == STANDARD_STREAM or is_in_database(options.input.path):
        raise UsageError(f"{options.input.path}: --native appends to a file; leave it out")


def _appendable(
    options: RewindOptions, loaded: TranscriptFile, history: OperationHistory
) -> tuple[TranscriptFile, str]:
    """Return a session without superseded records, and a note on its client.

    Raises CannotAppendError and UsageError as ``check_supported`` and ``check_not_open`` do.
    """
    rules = rules_of(loaded)
    version = version_of(loaded.transcript, rules)
    note = check_supported(options.input.path, rules, version, force=options.output.force)
    way = "leave out --native"
    check_not_open(
        options.input.path, rules, version, while_open=options.output.while_open, way=way
    )
    if before_interrupted_append(history) is not None:
        raise UsageError(
            f"{options.input.path}: ends in a part of what a run that was killed has appended; "
            "take that away with compactctl rewind first"
        )
    return without_superseded_records(loaded), note


def _wanted(
    options: RewindOptions, compactions: Sequence[ClientCompaction]
) -> tuple[ClientCompaction, ...]:
    """Return the compactions to undo; UsageError if ``to`` names none, or several."""
    if options.group:
        return tuple(compaction for compaction in compactions if options.group in compaction.groups)
    if options.to:
        ids = [compaction.id for compaction in compactions if compaction.id.startswith(options.to)]
        if len(ids) == 1:
            index = [compaction.id for compaction in compactions].index(ids[0])
            return tuple(compactions[index + 1 :])
        raise UsageError(
            f"{options.to!r} is not one compaction by the client of this transcript; see "
            "compactctl log"
        )
    return (
        tuple(compactions)
        if options.all
        else tuple(compaction for compaction in compactions if compaction.in_effect)[-1:]
    )


def _result(job: _Job, content: Content, undone: ClientUndo | None = None) -> RewindResult:
    chain = tuple(step.id for step in job.history.chain)
    notes = (job.note,) if job.note and job.compactions else ()
    return RewindResult(
        options=job.options,
        layout="split" if job.whole is None else "native",
        change=StateChange(before=job.source.digest, after=content.digest),
        undone=tuple(compaction.id for compaction in reversed(job.compactions)),
        in_effect=chain,
        by_client=undone.compactions if undone else (),
        warnings=(*job.loaded.transcript.warnings, *job.history.warnings, *notes),
    )


def _undone(job: _Job) -> ClientUndo:
    if job.whole is not None:
        return _undone_behind(job.whole, job.loaded, job.compactions, job.history)
    chain = job.history.chain
    return undo_compactions(job.loaded, job.compactions, chain[-1].id if chain else None)


def _undone_behind(
    whole: TranscriptFile,
    loaded: TranscriptFile,
    compactions: tuple[ClientCompaction, ...],
    history: OperationHistory,
) -> ClientUndo:
    """Append to ``whole`` what undoes compactions in ``loaded``, its version for appending.

    Raises CannotAppendError if its client would send something else then.
    """
    undone = undo_compactions(loaded, compactions, history.chain[-1].id if history.chain else None)
    operation = undone.undo_deposit.operation
    new = with_block(whole, undone.loaded.lines, operation.id)
    check_read_as(whole, undone.loaded.transcript, new)
    content = Content.from_chunks(new)
    record = replace(operation, after=content.digest, appended=True)
    deposit = ArchiveDraft(record, removal_rows(whole.lines, new))
    return replace(undone, content=content, undo_deposit=deposit)


def _published(job: _Job, undone: ClientUndo, result: RewindResult) -> RewindResult:
    if job.whole is not None:
        written = _append_undone(job.options, job.whole, undone)
    else:
        deposits = [*earlier_deposits(job.place, job.source, job.history), undone.undo_deposit]
        written = write(job.place, job.source, undone.content, deposits)
    return replace(result, written=written, warnings=(*result.warnings, *written.warnings))


def _append_undone(options: RewindOptions, whole: TranscriptFile, undone: ClientUndo) -> Written:
    """Append to the session what undoes its compactions. Raises as ``append_to`` does."""
    place = Destination(path=options.input.path, target=Path(options.input.path))
    _, block = last_byte_and_rest(undone.content.chunks, whole.source.digest.n_bytes)
    undo_while_open = undo_needs_while_open(whole)
    return append_to(
        place, whole.source, block, [undone.undo_deposit], undo_while_open=undo_while_open
    )
