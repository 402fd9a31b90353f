"""Restores earlier states of a transcript, byte for byte."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from glob import escape
from pathlib import Path

from compactctl.clients.databases import is_in_database
from compactctl.clients.fork import ForkedLines
from compactctl.clients.stores import resume_command
from compactctl.commands.client_sessions.native import before_interrupted_append
from compactctl.commands.client_sessions.new_session import (
    check_outside_stores,
    deposits_under,
    imported_note,
    new_session,
)
from compactctl.commands.client_sessions.write import Destination, Written, append_to, write
from compactctl.commands.copies import stored_original
from compactctl.commands.operations.find_history import archive_advice, history_of, other_histories
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.restorable import is_kept, reach, written_anew
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.commands.operations.timeline import OperationTimeline
from compactctl.commands.reading.transcript import is_tagged, open_transcript
from compactctl.commands.rewind.appended import (
    in_session,
    leads_over_appended,
    require_closed,
)
from compactctl.commands.rewind.client import (
    compacted_by,
    groups_by_client,
    is_tagged_by_client,
    undo_by_client,
)
from compactctl.commands.rewind.group import undo_group
from compactctl.commands.rewind.result import (
    KeptBytes,
    RewindOptions,
    RewindResult,
    RewindTarget,
    rewind_operation,
)
from compactctl.errors import (
    ArchiveError,
    ChangedError,
    CompactctlError,
    IntegrityError,
    UsageError,
)
from compactctl.model.operation import OperationId, StateChange
from compactctl.pipeline.archive_rows import rewind_rows
from compactctl.records import Record, replace
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.archive.names import STATE_DIGITS
from compactctl.store.files.content import ChunksAndTail, Content, FileChunks, last_line_of
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import STANDARD_STREAM, Source, digest_of, split_lines
from compactctl.store.publish.late_lines import take_in
from compactctl.store.publish.overwrite import is_same_place
from compactctl.store.publish.publish import publish, write_output

__all__ = ["RewindOptions", "RewindResult", "rewind"]

_DIGEST = re.compile("[0-9a-f]{64}")


class _NamedState(Record, kw_only=False):
    """A state that the user named, by the compactions in effect in it.

    ``after`` is the operation that led to it, as several states may have the same in effect.
    ``copy`` are its bytes if it was named by its digest.
    """

    chain: tuple[OperationId, ...]
    after: OperationStep | None = None
    copy: Iterable[bytes] | None = None


def rewind(options: RewindOptions) -> RewindResult:
    """Rewind a transcript.

    Raises ArchiveError, IntegrityError, ChangedError, UsageError, and NotUnderstoodError if the
    input is not a transcript.
    """
    _check_options(options)
    if options.client:
        return undo_by_client(options)
    n_late = _take_in(options)
    source = open_transcript(options.input.path, options.input.limits)
    if is_tagged_by_client(options, source):
        return undo_by_client(options)
    if options.output.in_place or options.output.layout == "native":
        name = "--in-place" if options.output.in_place else "--native"
        raise UsageError(f"{name} needs --client, or a group that a client tagged")
    try:
        current = _history(options, source)
        history, late = _with_late(options, current)
    except (ArchiveError, ChangedError, IntegrityError) as error:
        return _write_archived(options, source, error)
    if not history.timeline.steps:
        _check_never_compacted(options, source)
    target, notes = _target(options, source, history), (s.why for s in written_anew(current))
    result = _finish(options, source, history, target, n_late + late, *notes)
    if result.moved or result.was_compacted:
        return result
    return replace(result, compacted_by=compacted_by(source, options.input.path))


def _take_in(options: RewindOptions) -> int:
    """Add what was written late to a transcript that is rewound in place; return the bytes."""
    if not _is_in_place(options):
        return 0
    return take_in(FileSystem(), Path(options.input.path), options.archive)


def _is_in_place(options: RewindOptions) -> bool:
    """Return whether the transcript itself is written."""
    is_elsewhere = options.check or _place(options) is not None
    return not (is_elsewhere or is_in_database(options.input.path))


def _history(options: RewindOptions, source: Source) -> OperationHistory:
    """Return the history; if the state is in no archive, that inside the transcript alone."""
    history = history_of(source, options.input.path, folder=options.archive)
    try:
        _ = history.timeline.current
    except ChangedError:
        inside = OperationHistory(None, source.lines, options.input.path)
        if {step.id for step in inside.timeline.steps} <= {step.id for step in history.archived}:
            raise
        return inside
    return history


def _write_archived(options: RewindOptions, source: Source, error: CompactctlError) -> RewindResult:
    """Write an archived state of a transcript that is itself in no known state.

    Messages added since the newest operation are not in it. Raises an error like ``error`` unless
    another file is named for the output.
    """
    try:
        history = history_of(source, options.input.path, folder=options.archive)
        history = _other_history(options, history.before_newest) or history
    except CompactctlError:
        raise error from None
    compactions = [step for step in history.archived if not step.is_rewind]
    if options.group is not None or not compactions:
        raise error
    place = _place(options)
    if history.archive is not None and history.archive.others and options.to is None:
        raise type(error)(f"{error}; name a state with --to (see {history.archive.root.folder})")
    is_named = options.all or options.to is not None
    if not (isinstance(error, ChangedError) or (is_named and place)):
        raise type(error)(f"{error}; --all -o FILE writes the first state without it") from error
    if place is None:
        raise ChangedError(f"{error}; -o FILE writes the originals, without messages added since")
    archived, late = _with_late(options, history.before_newest)
    try:
        state = (
            _state_asked(options, archived)
            if is_named
            else _NamedState(archived.timeline.moment_of(compactions[-1]).before)
        )
    except UsageError:
        raise error from None
    target = _reached(options, archived, state)
    note = f"{options.input.path}: messages added since the compaction are not in these originals"
    return _finish(options, source, archived, target, late, note)


def _check_never_compacted(options: RewindOptions, source: Source) -> None:
    """Raise ArchiveError if something cannot be undone, UsageError for an unknown group."""
    problem = _no_way_back(source, options.input.path)
    groups = groups_by_client(options, source) if options.group is not None else ()
    if groups and not problem:
        raise UsageError(f"no group {options.group!r} is in effect; there are {', '.join(groups)}")
    if problem or options.to is not None or options.group is not None:
        text = f"{options.input.path}: no archive beside it and no compaction in it"
        raise ArchiveError(problem or text)


def _with_late(options: RewindOptions, history: OperationHistory) -> tuple[OperationHistory, int]:
    """Add what programs wrote to replaced files, as if it were in the transcript; also its size.

    A transcript that is written has it already.
    """
    if _is_in_place(options):
        return history, 0
    data = history.data
    for late in history.late:
        data += late.block(last_line_of((data,)))
    lines, n_bytes = split_lines(data), len(data) - len(history.data)
    return OperationHistory(history.archive, lines, history.where), n_bytes


def _check_options(options: RewindOptions) -> None:
    is_named = {
        "to": options.to is not None, "group": options.group is not None, "all": options.all,
    }  # fmt: skip
    chosen = [name for name, is_chosen in is_named.items() if is_chosen]
    if options.client and options.group is not None:
        chosen = ["client", "group"]
    if len(chosen) > 1:
        names = " and ".join(f"--{name}" for name in chosen)
        raise UsageError(f"{names} cannot be used together")
    if options.output.in_place and not (options.client or options.group is not None):
        raise UsageError("--in-place needs --client; other rewinds are in place anyway")


def _target(options: RewindOptions, source: Source, history: OperationHistory) -> RewindTarget:
    """Return the state to go to, and how the transcript gets there.

    Raises ArchiveError if it was not kept, UsageError and ChangedError if it cannot be restored.
    """
    interrupted = before_interrupted_append(history)
    if interrupted is not None:
        return RewindTarget(
            content=Content.from_chunks((interrupted,)), chain=history.timeline.in_effect
        )
    if options.group is not None:
        if _place(options) is None and any(step.is_appended for step in history.chain):
            require_closed(options, source)
        return undo_group(options.group, history)
    other = _other_history(options, history)
    if other is not None and options.to is not None:
        return replace(_reached(options, other, _state_named(options.to, other)), other=other)
    state = _state_asked(options, history)
    target = _reached(options, history, state)
    is_elsewhere = _place(options) is not None or target.content.digest == source.digest
    if not is_elsewhere and leads_over_appended(history, state.chain):
        return in_session(options, source, history, target)
    return target


def _reached(options: RewindOptions, history: OperationHistory, state: _NamedState) -> RewindTarget:
    """Return a state, with what was added since.

    What was added and is lost is only left out if another file is written.
    """
    if state.copy is not None:
        return RewindTarget(content=Content.from_chunks(state.copy), chain=state.chain)
    reached = reach(history, state.chain, state.after)
    if reached.losses and _place(options) is None:
        raise reached.losses[0]
    return RewindTarget(
        content=reached.content,
        chain=state.chain,
        carried=reached.n_added,
        notes=tuple(f"what was added since may not be in it: {loss}" for loss in reached.losses),
    )


def _state_asked(options: RewindOptions, history: OperationHistory) -> _NamedState:
    if options.to is not None:
        return _state_named(options.to, history)
    return _NamedState(() if options.all else history.timeline.in_effect[:-1])


def _other_history(options: RewindOptions, history: OperationHistory) -> OperationHistory | None:
    """Return a history that the transcript replaced, and that ``to`` names a state of."""
    if options.to is None or _named(options.to, history):
        return None
    for other in other_histories(history):
        with suppress(CompactctlError):
            if _named(options.to, other):
                return other
    return None


def _state_named(name: str, history: OperationHistory) -> _NamedState:
    """Return the state of this name.

    Raises UsageError if there is none, or more than one, and ArchiveError if it is lost.
    """
    named = _named(name, history)
    if len(named) == 1:
        (state,) = named.values()
        if isinstance(state.after, ArchivedStep) and not is_kept(history, state.after):
            raise ArchiveError(
                f"{history.where}: the state after operation {state.after.id} was not kept; choose "
                "another operation"
            )
        return state
    problem = "is ambiguous" if named else "is not an operation of this transcript"
    names = ", ".join(named or _states_by_name(history))
    raise UsageError(f"{name!r} {problem}; there are {names} (see compactctl log)")


def _named(name: str, history: OperationHistory) -> dict[str, _NamedState]:
    """Return the states whose names begin so; a digest may be in full."""
    if not name:
        return {}
    short = name[:STATE_DIGITS] if _DIGEST.fullmatch(name) else name
    states = _states_by_name(history)
    return {key: state for key, state in states.items() if key.startswith(short)}


def _states_by_name(history: OperationHistory) -> dict[str, _NamedState]:
    """Return all states.

    They are named by the operations that led to them, also if only others name these, and by the
    first digits of their digest.
    """
    by_digest = _named_by_digest(history) if history.archived else {}
    return by_digest | _named_by_operation(history.timeline)


def _named_by_operation(timeline: OperationTimeline) -> dict[str, _NamedState]:
    states: dict[str, _NamedState] = {
        period.chain[-1]: _NamedState(period.chain) for period in timeline.periods if period.chain
    }
    for moment in timeline.moments:
        states[moment.step.id] = _NamedState(moment.after, moment.step)
    return states


def _named_by_digest(history: OperationHistory) -> dict[str, _NamedState]:
    timeline = history.timeline
    first = timeline.moment_of(history.archived[0]).before
    chains = {moment.step.id: moment.after for moment in timeline.moments}
    # What was added to an outcome since is carried over.
    states = {
        step.operation.after.sha256[:STATE_DIGITS]: _NamedState(chains[step.id], step)
        for step in history.archived
    }
    for replaced in history.replaced:
        chain = chains[replaced.operation] if replaced.operation else first
        states[replaced.name] = _NamedState(chain, copy=FileChunks(replaced.path))
    for step in history.archived:
        name = step.before_digest.sha256[:STATE_DIGITS]
        chain = timeline.moment_of(step).before
        states[name] = _NamedState(chain, copy=ChunksAndTail(step.before))
    # What was added to the first state is carried over, too.
    return states | {history.first_state: _NamedState(first)}


def _finish(
    options: RewindOptions,
    source: Source,
    history: OperationHistory,
    target: RewindTarget,
    late: int,
    *notes: str,
) -> RewindResult:
    place = _place(options)
    if place is not None and place != STANDARD_STREAM:
        check_outside_stores(options.input.path, Path(place), named=True)
    result = RewindResult(
        options=options,
        layout=_layout(history, target),
        change=StateChange(before=source.digest, after=target.content.digest),
        undone=tuple(
            name for name in reversed(history.timeline.in_effect) if name not in target.chain
        ),
        in_effect=target.chain,
        is_redone=not {*target.chain} <= {*history.timeline.in_effect},
        appended=KeptBytes(carried=target.carried, late=late),
        data=target.content.chunks if place == STANDARD_STREAM else None,
        was_compacted=bool(history.timeline.steps),
        warnings=(*notes, *target.notes, *history.warnings),
    )
    if options.check:
        return result
    if place is not None:
        archive = history.archive or Archive(archive_folder(Path(place)))
        warnings = _write_target(options, place, target, (source, archive))
        left_behind = _left_behind(target.other or history, target)
        warnings = (*result.warnings, *left_behind, *warnings)
        return replace(result, written=Written(output=place), warnings=warnings)
    if not result.moved:
        return result
    if is_in_database(options.input.path):
        return _write_session(source, history, target, result)
    return _publish(source, history, target, result)


def _layout(history: OperationHistory, target: RewindTarget) -> str:
    if target.block is not None:
        return "native"
    return "split" if history.archived or not history.timeline.steps else "inline"


def _write_target(
    options: RewindOptions,
    place: str,
    target: RewindTarget,
    state_of: tuple[Source, Archive],
) -> tuple[str, ...]:
    """Write a state to another file, unless it goes to a pipe; return the warnings."""
    if place == STANDARD_STREAM:
        return ()
    return write_output(
        FileSystem(),
        Path(place),
        target.content,
        state_of=state_of,
        force=options.output.force,
    )


def _place(options: RewindOptions) -> str | None:
    """Return where the restored state goes, None for the transcript itself."""
    if options.input.path == STANDARD_STREAM:
        return options.output.path or STANDARD_STREAM
    if options.output.path is None or is_same_place(options.input.path, options.output.path):
        return None
    return options.output.path


def _left_behind(history: OperationHistory, target: RewindTarget) -> tuple[str, ...]:
    """Return the warning that a state which is still compacted is written without its archive."""
    if history.archive is None or not (history.archived and target.chain):
        return ()
    folder = history.archive.folder
    return (f"the restored state is still compacted; what undoes that stays in {folder}",)


def _publish(
    source: Source, history: OperationHistory, target: RewindTarget, result: RewindResult
) -> RewindResult:
    if target.block is not None:
        return _appended(source, history, target, result, target.block)
    options = result.options
    published = publish(
        FileSystem(),
        source=source,
        target=Path(options.input.path),
        drafts=[*_adopted(options, target.other or history), *_recorded(source, history, target)],
        content=target.content,
        force=options.output.force,
        lineage=_other_folder(options, target),
    )
    original = None if target.chain else stored_original(options.input.path)
    return replace(
        result,
        written=Written(
            output=options.input.path,
            carried_lines=published.growth.lines,
            continue_with=None if original is None else resume_command(original),
        ),
        same_as=None if original is None else original.id,
        redo_options=_redo_options(history, target),
        warnings=(*result.warnings, *published.warnings, *imported_note(options.input.path)),
    )


def _write_session(
    source: Source, history: OperationHistory, target: RewindTarget, result: RewindResult
) -> RewindResult:
    """Write the restored state as a new session, because that of the client is only read."""
    options = result.options
    fork = new_session(options.input.path, "compacted" if target.chain else "whole")
    if fork is None:
        raise UsageError(f"{options.input.path}: a subagent's session; name a file with -o")
    before = ForkedLines(source.lines, fork)
    after = Content.from_chunks(tuple(ForkedLines(tuple(target.content.chunks), fork)))
    head = target.chain[-1] if target.chain else None
    operation = rewind_operation(history, digest_of(before), after, head)
    written = write(
        Destination(
            path=options.input.path,
            target=fork.path,
            output=replace(options.output, fork=fork),
        ),
        source,
        after,
        [
            *deposits_under(fork, history, history.archived),
            ArchiveDraft(operation, rewind_rows(before)),
        ],
    )
    return replace(
        result,
        change=replace(result.change, after=after.digest),
        written=written,
        redo_options=_redo_options(history, target),
        warnings=(*result.warnings, *written.warnings),
    )


def _appended(
    source: Source,
    history: OperationHistory,
    target: RewindTarget,
    result: RewindResult,
    block: bytes,
) -> RewindResult:
    path = result.options.input.path
    place = Destination(path=path, target=Path(path))
    written = append_to(place, source, block, target.deposits)
    return replace(
        result,
        written=replace(written, archive=None, undo_option=target.undo_option),
        redo_options=" ".join(filter(None, (_redo_options(history, target), target.undo_option))),
        warnings=(*result.warnings, *written.warnings),
    )


def _redo_options(history: OperationHistory, target: RewindTarget) -> str:
    if history.chain:
        return f"--to {history.chain[-1].id}"
    return f"--to {history.first_state}" if target.other else "--all"


def _recorded(
    source: Source, history: OperationHistory, target: RewindTarget
) -> Sequence[ArchiveDraft]:
    return target.deposits or (_rewind_record(source, history, target),)


def _adopted(options: RewindOptions, history: OperationHistory) -> list[ArchiveDraft]:
    """Return the operations of an archive elsewhere, which are copied to the default location.

    Raises UsageError if other operations are there.
    """
    path = Path(options.input.path)
    if history.is_in_place_of(path):
        return []
    present = Archive(archive_folder(path))
    if {file.id for file in present.files} - {step.id for step in history.archived}:
        raise UsageError(
            f"{path}: has an archive of its own, and {options.archive} is that of another "
            "transcript; name another file with -o"
        )
    return [ArchiveDraft(step.operation, step.rows()) for step in history.archived]


def _rewind_record(source: Source, history: OperationHistory, target: RewindTarget) -> ArchiveDraft:
    """Return the record of the way to a state, in the history that the state belongs to."""
    head = target.chain[-1] if target.chain else None
    if target.other is not None:
        history = target.other
        source = replace(source, lines=history.lines, digest=digest_of(history.lines))
    operation = rewind_operation(history, source.digest, target.content, head)
    return ArchiveDraft(operation, rewind_rows(source.lines))


def _other_folder(options: RewindOptions, target: RewindTarget) -> Path | None:
    """Return where the archives of another first state are, if they are not copied elsewhere."""
    other = target.other
    if other is None or other.archive is None or not other.is_in_place_of(Path(options.input.path)):
        return None
    return other.archive.folder


def _no_way_back(source: Source, path: str) -> str:
    """Return why a transcript without a history cannot be rewound, "" if it was never compacted."""
    if is_tagged(source.lines, path):
        way = archive_advice(source, path)
        return f"{path}: archive not found; {way}"
    transcript = Path(path)
    candidates = sorted(
        path.name
        for path in transcript.parent.glob(
            f"{escape(transcript.stem)}.compacted*{escape(transcript.suffix)}"
        )
        if path.is_file()
    )
    if not candidates:
        return ""
    text = f"{path}: no archive beside it and no compaction in it"
    return f"{text}; did you mean {candidates[-1]}?"
