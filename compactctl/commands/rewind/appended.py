"""Undoes and redoes native appends to a session: by appending, or by cutting off its end."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from compactctl.commands.client_sessions.native import (
    check_not_open,
    check_read_as,
    operation_of_line,
    records_to_append,
    rules_of,
    undo_needs_while_open,
    version_of,
)
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.commands.reading.transcript import TranscriptFile, loaded_from, parse
from compactctl.commands.rewind.result import RewindOptions, RewindTarget, rewind_operation
from compactctl.errors import UsageError
from compactctl.formats.registry import native_append_of
from compactctl.model.operation import OperationId
from compactctl.pipeline.archive_rows import rewind_rows
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content
from compactctl.store.files.source import Source, digest_of, split_lines


def is_appended(step: OperationStep) -> bool:
    """Return whether an operation appended records and changed nothing before them."""
    return isinstance(step, ArchivedStep) and step.operation.appended


def leads_over_appended(history: OperationHistory, target: Sequence[OperationStep]) -> bool:
    """Return whether everything undone or redone on the way to ``target`` was appended.

    Raises UsageError if only some was: appends are undone by their records, others by digests.
    """
    current_ids, target_ids = ({step.id for step in chain} for chain in (history.chain, target))
    steps = {step.id: step for step in (*history.chain, *target)}
    kinds = {is_appended(steps[step_id]) for step_id in current_ids ^ target_ids}
    if kinds == {True, False}:
        raise UsageError(
            f"{history.where}: some of these operations were appended and some were not; "
            "undo one at a time with compactctl rewind"
        )
    return kinds == {True}


def target_over_appended(
    options: RewindOptions,
    source: Source,
    history: OperationHistory,
    target: Sequence[OperationStep],
    *,
    to_other_file: bool,
) -> RewindTarget:
    """Return how the session gets to read as it did with ``target`` in effect.

    Appended records are cut off if they end the file and no client has the session open, or if the
    result goes ``to_other_file``. Otherwise, records are appended that undo or redo them. Raises
    UsageError if it is unknown whether the session is open, or if appending cannot do it.
    """
    whole = loaded_from(source, options.input.path)
    target_lines = _exact(tuple(_target_lines(whole.lines, history, target)), history, target)
    chain = tuple(step.id for step in target)
    content, carried = Content.from_chunks(target_lines), _carried(whole.lines, history, target)
    if to_other_file or options.check or _is_cut_off(options, whole, target_lines):
        return RewindTarget(content=content, chain=chain, carried=carried)
    advice = "write another file with -o"
    rules = rules_of(whole)
    version = version_of(whole.transcript, rules)
    check_not_open(
        options.input.path, rules, version, while_open=options.output.while_open, way=advice
    )
    name = _name(source, content, chain)
    block = b"".join(records_to_append(whole, target_lines, name))
    current = Content.from_chunks((*whole.lines, block))
    check_read_as(whole, parse(target_lines, whole.format), split_lines(b"".join(current.chunks)))
    operation = rewind_operation(
        source.digest, current.digest, history.chain, chain[-1] if chain else None, name
    )
    return RewindTarget(
        content=current,
        chain=chain,
        carried=carried,
        deposits=(ArchiveDraft(operation, rewind_rows(source.lines)),),
        block=block,
        undo_while_open=undo_needs_while_open(whole),
    )


def without_appended(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines that no operation appended."""
    return (line for line in lines if operation_of_line(line) is None)


def _target_lines(
    lines: Sequence[bytes], history: OperationHistory, target: Sequence[OperationStep]
) -> Iterator[bytes]:
    """Yield the client's lines, and in their places what each step of ``target`` appended."""
    client_lines = tuple(without_appended(lines))
    pos = 0
    for step in filter(is_appended, target):
        end = sum(1 for _ in without_appended(step.before()))
        yield from client_lines[pos:end]
        state = split_lines(step.outcome(history.data))
        yield from (line for line in state if operation_of_line(line) == step.id)
        pos = end
    yield from client_lines[pos:]


def _exact(
    lines: Sequence[bytes], history: OperationHistory, target: Sequence[OperationStep]
) -> Sequence[bytes]:
    """Drop the line end that was only added to append to an unterminated last line."""
    target_ids = {step.id for step in target}
    undone = next((step for step in history.chain if step.id not in target_ids), None)
    if isinstance(undone, ArchivedStep) and lines:
        bare = (*lines[:-1], lines[-1].removesuffix(b"\n"))
        return bare if digest_of(bare) == undone.operation.before else lines
    return lines


def _carried(
    lines: Sequence[bytes], history: OperationHistory, target: Sequence[OperationStep]
) -> int:
    """Return the bytes that others appended since the first step that is undone or redone."""
    common = {step.id for step in target} & {step.id for step in history.chain}
    differing = (step for step in (*history.chain, *target) if step.id not in common)
    before = tuple(without_appended(next(differing).before()))
    return sum(map(len, without_appended(lines))) - sum(map(len, before))


def _is_cut_off(
    options: RewindOptions, whole: TranscriptFile, target_lines: Sequence[bytes]
) -> bool:
    """Return whether the appended records end a session that no client has open."""
    if not b"".join(whole.lines).startswith(b"".join(target_lines)):
        return False
    rules = native_append_of(whole.format.name)
    if rules is None:
        return True
    try:
        check_not_open(
            options.input.path, rules, version_of(whole.transcript, rules), while_open=False, way=""
        )
    except UsageError:
        return False
    return True


def _name(source: Source, target: Content, chain: Sequence[OperationId]) -> OperationId:
    content = "\n".join(("append", source.digest.sha256, target.digest.sha256, *chain))
    return OperationId(hashlib.sha256(content.encode()).hexdigest()[:12])
