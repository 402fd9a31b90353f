"""Restores earlier states of a transcript, byte for byte."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from glob import escape
from pathlib import Path

from compactctl.commands.client_sessions.native import before_interrupted_append
from compactctl.commands.client_sessions.new_session import check_outside_stores
from compactctl.commands.client_sessions.write import Destination, Written, append_to
from compactctl.commands.operations.history import (
    OperationHistory,
    archive_advice,
    history_of,
    read_appended,
    read_appended_since,
)
from compactctl.commands.operations.steps import OperationStep
from compactctl.commands.reading.transcript import is_tagged
from compactctl.commands.rewind.appended import (
    is_appended,
    leads_over_appended,
    target_over_appended,
    without_appended,
)
from compactctl.commands.rewind.client import groups_by_client, is_tagged_by_client, undo_by_client
from compactctl.commands.rewind.group import undo_group
from compactctl.commands.rewind.result import (
    KeptBytes,
    RewindOptions,
    RewindResult,
    RewindTarget,
    rewind_operation,
)
from compactctl.commands.rewind.rewritten import write_originals
from compactctl.errors import ArchiveError, ChangedError, MissingArchiveError, UsageError
from compactctl.model.operation import Digest, StateChange
from compactctl.model.tags import APPENDED_BYTES
from compactctl.pipeline.archive_rows import rewind_rows
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.archive.displaced import lines_written_late
from compactctl.store.files.content import (
    ChunksAndTail,
    Content,
    canonical_suffix,
    ends_mid_line,
    last_byte_and_rest,
    suffix_after,
)
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import STANDARD_STREAM, Source, open_input, split_lines
from compactctl.store.publish.overwrite import is_same_place
from compactctl.store.publish.publish import publish, write_output

__all__ = ["RewindOptions", "RewindResult", "rewind"]


def rewind(options: RewindOptions) -> RewindResult:
    """Rewind a transcript.

    Raises ArchiveError, IntegrityError, ChangedError, UsageError, and NotUnderstoodError if the
    input is not a transcript.
    """
    _check_options(options)
    if options.client:
        return undo_by_client(options)
    source = open_input(options.input.path, options.input.limits)
    if is_tagged_by_client(options, source):
        return undo_by_client(options)
    if options.output.in_place or options.output.layout == "native":
        name = "--in-place" if options.output.in_place else "--native"
        raise UsageError(f"{name} needs --client, or a group that a client tagged")
    try:
        history, late = _with_late(_history(options, source))
    except (ChangedError, MissingArchiveError) as error:
        return write_originals(options, source, error)
    if not history.steps:
        return _nothing_known(options, source)
    if options.all:
        history.require_first_state()
    interrupted = before_interrupted_append(history)
    if interrupted is not None:
        chain = tuple(step.id for step in history.chain)
        target = RewindTarget(content=Content.from_chunks((interrupted,)), chain=chain)
        return _finish(options, source, history, target, 0)
    target_chain = _chain_wanted(options, history)
    if target_chain is not None and leads_over_appended(history, target_chain):
        to_other_file = _place(options) is not None
        target = target_over_appended(
            options, source, history, target_chain, to_other_file=to_other_file
        )
        return _finish(options, source, history, target, 0)
    return _finish(options, source, history, _target(options, history), late)


def _history(options: RewindOptions, source: Source) -> OperationHistory:
    """Return the history; only that inside the transcript if its state is in no archive."""
    history = history_of(source, options.input.path, folder=options.archive)
    try:
        _ = history.current
    except ChangedError:
        inside = OperationHistory(None, source.lines, options.input.path)
        if not inside.steps:
            raise
        return inside
    return history


def _nothing_known(options: RewindOptions, source: Source) -> RewindResult:
    """Return that there is nothing to undo; ArchiveError if there is, but not how."""
    problem = _no_way_back(source, options.input.path)
    groups = groups_by_client(options, source) if options.group else ()
    if groups and not problem:
        raise UsageError(f"no group {options.group!r} is in effect; there are {', '.join(groups)}")
    if problem or options.to or options.group:
        text = f"{options.input.path}: no archive beside it and no compaction in it"
        raise ArchiveError(problem or text)
    content = Content.from_chunks(source.lines)
    return RewindResult(
        options=options,
        layout="split",
        change=StateChange(before=source.digest, after=source.digest),
        undone=(),
        in_effect=(),
        data=content.chunks if _place(options) == STANDARD_STREAM else None,
        was_compacted=False,
    )


def _with_late(history: OperationHistory) -> tuple[OperationHistory, int]:
    """Add what a program wrote to the old file after it was replaced; also return its size."""
    archive, current = history.archive, history.current
    if archive is None or current is None:
        return history, 0
    end, suffix = last_byte_and_rest(history.lines, current.after.n_bytes)
    carry = canonical_suffix(suffix, is_mid_line=ends_mid_line(end))
    late = b"".join(
        lines_written_late(archive.folder, current, suffix_after(carry, is_mid_line=False))
    )
    if not late:
        return history, 0
    more = suffix_after(
        canonical_suffix(late, is_mid_line=False), is_mid_line=ends_mid_line(history.data)
    )
    return OperationHistory(archive, split_lines(history.data + more), history.where), len(late)


def _check_options(options: RewindOptions) -> None:
    chosen = [name for name in ("to", "group", "all") if getattr(options, name)]
    if options.client and options.group:
        chosen = ["client", "group"]
    if len(chosen) > 1:
        names = " and ".join(f"--{name}" for name in chosen)
        raise UsageError(f"{names} cannot be used together")
    if options.output.in_place and not (options.client or options.group):
        raise UsageError("--in-place needs --client; other rewinds are in place anyway")


def _chain_wanted(
    options: RewindOptions, history: OperationHistory
) -> Sequence[OperationStep] | None:
    """Return the operations to be in effect, None if a single group is undone."""
    chain = history.chain
    if options.group:
        if any(map(is_appended, chain)):
            raise UsageError(
                f"{options.input.path}: groups of an appended compaction cannot be restored "
                "alone; rewind all of it and compact again"
            )
        return None
    if options.to:
        return history.chain_to(_step_named(history.steps, options.to))
    return () if options.all else chain[:-1]


def _target(options: RewindOptions, history: OperationHistory) -> RewindTarget:
    if options.group:
        return undo_group(options.group, history)
    if options.to:
        return _go_to(options.to, history)
    return _undo(options, history)


def _undo(options: RewindOptions, history: OperationHistory) -> RewindTarget:
    chain = history.chain
    if not chain:
        return RewindTarget(content=Content.from_chunks(history.lines), chain=())
    step = chain[0] if options.all else chain[-1]
    return _before(step, history)


def _before(step: OperationStep, history: OperationHistory) -> RewindTarget:
    """Return the state before a step in effect, plus what was appended since."""
    chain = history.chain[: history.chain.index(step)]
    return _target_with_suffix(step.before, read_appended(history, step), chain)


def _go_to(name: str, history: OperationHistory) -> RewindTarget:
    step, chain = _step_named(history.steps, name), history.chain
    ids = [step.id for step in chain]
    if step.id not in ids:
        state = step.outcome(history.data)
        return _target_with_suffix(
            lambda: (state,), read_appended_since(history, step), history.chain_to(step)
        )
    following = chain[ids.index(step.id) + 1 :]
    if not following:
        return RewindTarget(content=Content.from_chunks(history.lines), chain=tuple(ids))
    return _before(following[0], history)


def _target_with_suffix(
    state: Callable[[], Iterable[bytes]], carry: bytes, chain: Sequence[OperationStep]
) -> RewindTarget:
    content = Content.from_chunks(ChunksAndTail(state))
    more = suffix_after(carry, is_mid_line=content.ends_mid_line)
    if APPENDED_BYTES in more:
        # Appended records that were undone again belong to another state.
        more = b"".join(without_appended(split_lines(more)))
    if more:
        content = Content.from_chunks(ChunksAndTail(state, more))
    return RewindTarget(content=content, chain=tuple(step.id for step in chain), carried=len(more))


def _step_named(steps: Sequence[OperationStep], name: str) -> OperationStep:
    steps_by_id = {step.id: step for step in steps if step.id.startswith(name)}
    if len(steps_by_id) == 1:
        return next(iter(steps_by_id.values()))
    names = ", ".join(steps_by_id or dict.fromkeys(step.id for step in steps))
    problem = "is ambiguous" if steps_by_id else "is not an operation of this transcript"
    raise UsageError(f"{name!r} {problem}; there are {names} (see compactctl log)")


def _finish(
    options: RewindOptions,
    source: Source,
    history: OperationHistory,
    target: RewindTarget,
    late: int,
) -> RewindResult:
    ids = tuple(step.id for step in history.chain)
    place = _place(options)
    if place is not None and place != STANDARD_STREAM:
        check_outside_stores(options.input.path, Path(place), named=True)
    result = RewindResult(
        options=options,
        layout=_layout(history, target),
        change=StateChange(before=source.digest, after=target.content.digest),
        undone=tuple(name for name in reversed(ids) if name not in target.chain),
        in_effect=target.chain,
        appended=KeptBytes(carried=target.carried, late=late),
        data=target.content.chunks if place == STANDARD_STREAM else None,
        warnings=history.warnings,
    )
    if options.check:
        return result
    if place is not None:
        restorable = {source.digest, *history.states}
        warnings = _write_target(options, place, source, target, restorable)
        left_behind = _left_behind(history, target)
        warnings = (*result.warnings, *left_behind, *warnings)
        return replace(result, written=Written(output=place), warnings=warnings)
    return _publish(source, history, target, result) if result.moved else result


def _layout(history: OperationHistory, target: RewindTarget) -> str:
    if target.block is not None:
        return "native"
    return "split" if history.archived else "inline"


def _write_target(
    options: RewindOptions,
    place: str,
    source: Source,
    target: RewindTarget,
    restorable: Collection[Digest],
) -> tuple[str, ...]:
    """Write a state to another file, unless it goes to a pipe; return the warnings."""
    if place == STANDARD_STREAM:
        return ()
    return write_output(
        FileSystem(),
        Path(place),
        target.content,
        restorable=restorable,
        force=options.output.force,
        origin=source.path,
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
    what = "the restored state is still compacted, and a pipe takes no archive"
    return (f"{what}: earlier operations stay in {history.archive.folder}",)


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
        drafts=[*_adopted(options, history), *_recorded(source, history, target)],
        content=target.content,
        force=options.output.force,
    )
    return replace(
        result,
        written=Written(output=options.input.path, carried_lines=published.growth.lines),
        redo_options=_redo_options(history),
        warnings=(*result.warnings, *published.warnings),
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
    written = append_to(
        place, source, block, target.deposits, undo_while_open=target.undo_while_open
    )
    return replace(
        result,
        written=replace(written, archive=None),
        redo_options=_redo_options(history) + (" --while-open" if target.undo_while_open else ""),
        warnings=(*result.warnings, *written.warnings),
    )


def _redo_options(history: OperationHistory) -> str:
    return f"--to {history.chain[-1].id}" if history.chain else "--all"


def _recorded(
    source: Source, history: OperationHistory, target: RewindTarget
) -> Sequence[ArchiveDraft]:
    return target.deposits or (_rewind_record(source, history, target),)


def _adopted(options: RewindOptions, history: OperationHistory) -> list[ArchiveDraft]:
    """Return the operations of an archive elsewhere, which are copied to the default location."""
    if history.is_in_place_of(Path(options.input.path)):
        return []
    return [ArchiveDraft(step.operation, step.rows()) for step in history.archived]


def _rewind_record(source: Source, history: OperationHistory, target: RewindTarget) -> ArchiveDraft:
    head = target.chain[-1] if target.chain else None
    operation = rewind_operation(source.digest, target.content.digest, history.chain, head)
    return ArchiveDraft(operation, rewind_rows(source.lines))


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
