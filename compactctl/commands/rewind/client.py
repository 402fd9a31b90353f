"""Undo compactions by the transcript's client, which leaves the originals in the transcript."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from compactctl.clients.databases import is_in_database
from compactctl.commands.client_sessions.accepted import check_accepted
from compactctl.commands.client_sessions.compactions import compactions_of, tagged_groups
from compactctl.commands.client_sessions.native import (
    CannotAppendError,
    before_interrupted_append,
    check_not_open,
    check_read_as,
    check_supported,
    rules_of,
    undo_option,
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
from compactctl.commands.client_sessions.repeats import without_repeats
from compactctl.commands.client_sessions.undo import ClientUndo, undo_compactions
from compactctl.commands.client_sessions.write import (
    Destination,
    Written,
    append_to,
    earlier_deposits,
    write,
)
from compactctl.commands.operations.find_history import history_behind
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.reading.transcript import TranscriptFile, load, loaded_from
from compactctl.commands.rewind.result import RewindOptions, RewindResult
from compactctl.errors import NotUnderstoodError, UsageError
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.operation import StateChange
from compactctl.pipeline.archive_rows import removal_rows
from compactctl.records import Record, replace
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content, last_byte_and_rest
from compactctl.store.files.source import STANDARD_STREAM, Source


class _UndoJob(Record):
    """A transcript as read, and the compactions to undo in it.

    ``options`` name the new session, if one is to be written. ``lines`` are those that were read;
    ``loaded`` is without what its client repeated. ``session`` is the complete session to append
    to, None if the output goes elsewhere; ``note`` is a note on its client.
    """

    options: RewindOptions
    source: Source
    history: OperationHistory
    lines: Sequence[bytes]
    loaded: TranscriptFile
    session: TranscriptFile | None
    compactions: tuple[ClientCompaction, ...]
    note: str = ""

    @property
    def destination(self) -> Destination:
        path, output = self.options.input.path, self.options.output
        target = output.fork.path if output.fork else Path(output.path or path)
        return Destination(path=path, target=target, output=output)


def undo_by_client(options: RewindOptions) -> RewindResult:
    """Undo the client's newest compaction in effect, or those that ``all``, ``to``, ``group`` name.

    The result is a new session if the transcript is one in its client's store; otherwise ``output``
    names where it goes: to another file, in place, or appended to the session. The state before is
    archived.

    Raises as reading does, UsageError if there is nothing to undo or no output is named,
    IntegrityError if a hidden message would still not be sent, and as publishing does.
    """
    try:
        return _undo(options)
    except CannotAppendError as error:
        if new_session(options.input.path, "whole") is None:
            raise
        result = _undo(replace(options, output=replace(options.output, layout="split")))
        notes = (f"{error.reason}: a new session is written",) if result.moved else ()
        return replace(result, warnings=(*result.warnings, *notes))


def is_tagged_by_client(options: RewindOptions, source: Source) -> bool:
    """Return whether ``group`` was tagged by a client, so that no archive has it."""
    if options.group is None:
        return False
    # An argument may have bytes that are not UTF-8.
    if options.group.encode("utf-8", "surrogateescape") not in b"".join(source.lines):
        return False
    return options.group in groups_by_client(options, source)


def groups_by_client(options: RewindOptions, source: Source) -> tuple[str, ...]:
    """Return the groups that a client tagged; none if no format recognizes the transcript."""
    with suppress(NotUnderstoodError):
        loaded = loaded_from(source, options.input.path)
        return tuple(group.id for group in tagged_groups(loaded.transcript))
    return ()


def compacted_by(source: Source, path: str) -> str:
    """Return the client whose compactions are in effect in a transcript; "" for none."""
    with suppress(NotUnderstoodError):
        compactions = compactions_of(current_state(loaded_from(source, path)))
        return next((one.client for one in compactions if one.in_effect), "")
    return ""


def _undo(options: RewindOptions) -> RewindResult:
    job = _load_job(options)
    if not job.compactions:
        return _result(job, Content.from_chunks(job.source.lines))
    undo = _client_undo(job)
    result = _result(job, undo.content, undo)
    if options.check:
        return result
    if options.output.path == STANDARD_STREAM:
        return replace(result, written=Written(output=STANDARD_STREAM), data=undo.content.chunks)
    return _publish(job, undo, result)


def _load_job(options: RewindOptions) -> _UndoJob:
    options = _with_new_session(options)
    if options.output.fork is not None:
        source, history, loaded = load_fork(options.input, options.output.fork)
    else:
        loaded = load(options.input)
        source, history = loaded.source, history_behind(loaded)
    session, note = loaded if options.output.layout == "native" else None, ""
    if session is not None:
        loaded, note = _check_appendable(options, session, history)
    lines, loaded = loaded.lines, without_repeats(loaded)
    return _UndoJob(
        options=options,
        source=source,
        history=history,
        lines=lines,
        loaded=loaded,
        session=session,
        compactions=_compactions_to_undo(options, compactions_of(current_state(loaded))),
        note=note,
    )


def _with_new_session(options: RewindOptions) -> RewindOptions:
    """Add the new session to write to the options, if they name no other output.

    Raises UsageError if there is no output.
    """
    path, output = options.input.path, options.output
    if output.layout == "native":
        _check_native_options(options)
        return options
    if output.in_place and output.path is not None:
        raise UsageError("--in-place and --output cannot be used together")
    if output.in_place or options.check or output.path == STANDARD_STREAM:
        return options
    if output.path is not None:
        check_outside_stores(path, Path(output.path), named=True)
        return options
    fork = None if path == STANDARD_STREAM else new_session(path, "whole")
    if fork is None:
        raise UsageError(
            f"{path}: to undo the client's compaction, name an output file with -o, or use "
            "--in-place"
        )
    return replace(options, output=replace(output, fork=fork))


def _check_native_options(options: RewindOptions) -> None:
    """Raise UsageError for options that contradict --native, and for an input other than a file."""
    others = {"--in-place": options.output.in_place, "--output": options.output.path is not None}
    conflict = next((name for name, is_set in others.items() if is_set), None)
    if conflict is not None:
        raise UsageError(f"--native and {conflict} cannot be used together")
    if options.input.path == STANDARD_STREAM or is_in_database(options.input.path):
        raise UsageError(f"{options.input.path}: --native appends to a file; leave it out")


def _check_appendable(
    options: RewindOptions, loaded: TranscriptFile, history: OperationHistory
) -> tuple[TranscriptFile, str]:
    """Return a session without superseded records, and a note on its client.

    Raises CannotAppendError and UsageError as ``check_supported`` and ``check_not_open`` do.
    """
    rules = rules_of(loaded)
    version = version_of(loaded.transcript, rules)
    note = check_supported(options.input.path, rules, version, force=options.output.force)
    check_not_open(
        options.input.path,
        rules,
        version,
        while_open=options.output.may_be_open,
        way="leave out --native",
    )
    if before_interrupted_append(history) is not None:
        raise UsageError(
            f"{options.input.path}: ends with an incomplete append from a killed run; remove it "
            "with compactctl rewind first"
        )
    return without_superseded_records(loaded), note


def _compactions_to_undo(
    options: RewindOptions, compactions: Sequence[ClientCompaction]
) -> tuple[ClientCompaction, ...]:
    """Return the compactions to undo; UsageError if ``to`` names none, or several."""
    if options.group is not None:
        return tuple(compaction for compaction in compactions if options.group in compaction.groups)
    if options.to is not None:
        ids = [compaction.id for compaction in compactions if compaction.id.startswith(options.to)]
        if len(ids) == 1:
            index = [compaction.id for compaction in compactions].index(ids[0])
            return tuple(compactions[index + 1 :])
        raise UsageError(
            f"{options.to!r}: not a compaction by this transcript's client; see compactctl log"
        )
    return (
        tuple(compactions)
        if options.all
        else tuple(compaction for compaction in compactions if compaction.in_effect)[-1:]
    )


def _result(job: _UndoJob, content: Content, undo: ClientUndo | None = None) -> RewindResult:
    chain = tuple(step.id for step in job.history.chain)
    notes = (job.note,) if job.note and job.compactions else ()
    transcript = job.loaded.transcript
    return RewindResult(
        options=job.options,
        layout="split" if job.session is None else "native",
        change=StateChange(before=job.source.digest, after=content.digest),
        undone=tuple(compaction.id for compaction in reversed(job.compactions)),
        in_effect=chain,
        by_client=undo.compactions if undo else (),
        warnings=(*transcript.warnings, *job.history.warnings, *notes),
    )


def _client_undo(job: _UndoJob) -> ClientUndo:
    if job.session is not None:
        return _appended_undo(job.session, job.loaded, job.compactions, job.history)
    chain = job.history.chain
    head = chain[-1].id if chain else None
    is_new = job.options.output.fork is not None
    undo = undo_compactions(job.loaded, job.compactions, head, job.lines, leaves_out_refused=is_new)
    if is_new:
        records = (record for record in undo.loaded.transcript.refused if record.is_sent)
        check_accepted(job.options.input.path, records)
    return undo


def _appended_undo(
    session: TranscriptFile,
    loaded: TranscriptFile,
    compactions: tuple[ClientCompaction, ...],
    history: OperationHistory,
) -> ClientUndo:
    """Return ``session`` with records that undo compactions in ``loaded``.

    ``loaded`` is the session without superseded records.

    Raises CannotAppendError if the client would then send other messages.
    """
    head = history.chain[-1].id if history.chain else None
    undo = undo_compactions(loaded, compactions, head, loaded.lines)
    operation = undo.undo_deposit.operation
    new_lines = with_block(session, undo.loaded.lines, operation.id)
    check_read_as(session, undo.loaded.transcript, new_lines)
    content = Content.from_chunks(new_lines)
    record = replace(operation, after=content.digest, appended=True)
    deposit = ArchiveDraft(record, removal_rows(session.lines, new_lines))
    return replace(undo, content=content, undo_deposit=deposit)


def _publish(job: _UndoJob, undo: ClientUndo, result: RewindResult) -> RewindResult:
    if job.session is not None:
        written = _append_to_session(job.options, job.session, undo)
    else:
        deposits = [*earlier_deposits(job.destination, job.source, job.history), undo.undo_deposit]
        written = write(job.destination, job.source, undo.content, deposits)
    return replace(result, written=written, warnings=(*result.warnings, *written.warnings))


def _append_to_session(
    options: RewindOptions, session: TranscriptFile, undo: ClientUndo
) -> Written:
    """Append to the session what undoes its compactions. Raises as ``append_to`` does."""
    destination = Destination(path=options.input.path, target=Path(options.input.path))
    _, block = last_byte_and_rest(undo.content.chunks, session.source.digest.n_bytes)
    option = undo_option(session, closed=options.output.closed)
    written = append_to(destination, session.source, block, [undo.undo_deposit])
    return replace(written, undo_option=option)
