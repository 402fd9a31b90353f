"""Undoes what was appended to a session, and does it again: by appending, or by cutting it off."""

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
    """Tell whether an operation appended records and left everything before them alone."""
    return isinstance(step, ArchivedStep) and step.operation.appended


def leads_over_appended(history: OperationHistory, target: Sequence[OperationStep]) -> bool:
    """Tell whether all that the way to ``target`` undoes or does again was appended.

    UsageError where only some of it was: it is known by records, what is below it by digests.
    """
    here, there = ({step.id for step in chain} for chain in (history.chain, target))
    steps = {step.id: step for step in (*history.chain, *target)}
    found = {is_appended(steps[name]) for name in here ^ there}
    if found == {True, False}:
        raise UsageError(
            f"{history.where}: some of what would be undone was appended and some was not; "
            "go there one step after another, with compactctl rewind"
        )
    return found == {True}


def target_over_appended(
    options: RewindOptions,
    source: Source,
    history: OperationHistory,
    target: Sequence[OperationStep],
    *,
    apart: bool,
) -> RewindTarget:
    """Return how a session comes to read as it does with ``target`` in effect.

    What was appended is cut off where it is the end of the file and no client has the session open.
    Where it goes to another file, ``apart``, it is left out of that.

    UsageError where that is unknown, and where appending would not do.
    """
    whole = loaded_from(source, options.input.path)
    wanted = _exact(tuple(_wanted(whole.lines, history, target)), history, target)
    chain = tuple(step.id for step in target)
    content, carried = Content.from_chunks(wanted), _carried(whole.lines, history, target)
    if apart or options.check or _is_cut_off(options, whole, wanted):
        return RewindTarget(content=content, chain=chain, carried=carried)
    way = "write another file with -o"
    rules = rules_of(whole)
    version = version_of(whole.transcript, rules)
    check_not_open(
        options.input.path, rules, version, while_open=options.output.while_open, way=way
    )
    name = _name(source, content, chain)
    block = b"".join(records_to_append(whole, wanted, name))
    now = Content.from_chunks((*whole.lines, block))
    check_read_as(whole, parse(wanted, whole.format), split_lines(b"".join(now.chunks)))
    operation = rewind_operation(
        source.digest, now.digest, history.chain, chain[-1] if chain else None, name
    )
    return RewindTarget(
        content=now,
        chain=chain,
        carried=carried,
        deposits=(ArchiveDraft(operation, rewind_rows(source.lines)),),
        block=block,
        undo_while_open=undo_needs_while_open(whole),
    )


def without_appended(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines that nothing was appended with."""
    return (line for line in lines if operation_of_line(line) is None)


def _wanted(
    lines: Sequence[bytes], history: OperationHistory, target: Sequence[OperationStep]
) -> Iterator[bytes]:
    """Yield the session's own lines, and where they were then what each of ``target`` appended."""
    own = tuple(without_appended(lines))
    at = 0
    for step in filter(is_appended, target):
        end = sum(1 for _ in without_appended(step.before()))
        yield from own[at:end]
        state = split_lines(step.outcome(history.data))
        yield from (line for line in state if operation_of_line(line) == step.id)
        at = end
    yield from own[at:]


def _exact(
    wanted: Sequence[bytes], history: OperationHistory, target: Sequence[OperationStep]
) -> Sequence[bytes]:
    """Return the lines without the line end that only what was appended had needed."""
    kept = {step.id for step in target}
    undone = next((step for step in history.chain if step.id not in kept), None)
    if isinstance(undone, ArchivedStep) and wanted:
        bare = (*wanted[:-1], wanted[-1].removesuffix(b"\n"))
        return bare if digest_of(bare) == undone.operation.before else wanted
    return wanted


def _carried(
    lines: Sequence[bytes], history: OperationHistory, target: Sequence[OperationStep]
) -> int:
    """Return the bytes that were appended by others since the first of what is left or done."""
    common = {step.id for step in target} & {step.id for step in history.chain}
    moved = (step for step in (*history.chain, *target) if step.id not in common)
    before = tuple(without_appended(next(moved).before()))
    return sum(map(len, without_appended(lines))) - sum(map(len, before))


def _is_cut_off(options: RewindOptions, whole: TranscriptFile, wanted: Sequence[bytes]) -> bool:
    """Tell whether what was appended is the end of a session that no client has open."""
    if not b"".join(whole.lines).startswith(b"".join(wanted)):
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


def _name(source: Source, wanted: Content, chain: Sequence[OperationId]) -> OperationId:
    content = "\n".join(("append", source.digest.sha256, wanted.digest.sha256, *chain))
    return OperationId(hashlib.sha256(content.encode()).hexdigest()[:12])
