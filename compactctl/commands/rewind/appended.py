"""Undoes and redoes native appends in a session: by cutting off its end, or by appending more."""

import hashlib
from collections.abc import Sequence

from compactctl.commands.client_sessions.native import (
    check_not_open,
    check_read_as,
    open_error,
    records_to_append,
    rules_of,
    undo_option,
    version_of,
)
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.reading.transcript import TranscriptFile, loaded_from, parse
from compactctl.commands.rewind.result import RewindOptions, RewindTarget, rewind_operation
from compactctl.model.operation import OperationId
from compactctl.pipeline.archive_rows import rewind_rows
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content
from compactctl.store.files.source import Source, split_lines

# What to do instead of closing a session.
_WAY = "write another file with -o"


def leads_over_appended(history: OperationHistory, chain: Sequence[OperationId]) -> bool:
    """Return whether everything undone or redone on the way to ``chain`` was appended."""
    differing = {*history.timeline.in_effect} ^ {*chain}
    appended = {step.id for step in history.timeline.steps if step.is_appended}
    return differing <= appended if differing else bool(appended)


def in_session(
    options: RewindOptions, source: Source, history: OperationHistory, target: RewindTarget
) -> RewindTarget:
    """Return how an appended-to session gets to read as ``target`` does.

    Appended records are cut off if they end the file and no client has the session open. Otherwise,
    records are appended that undo or redo them. Raises UsageError if it is unknown whether the
    session is open, or if appending cannot do it.
    """
    whole = loaded_from(source, options.input.path)
    if _can_be_cut_off(options, whole, target.content):
        return target
    if target.chain == history.timeline.in_effect:
        return RewindTarget(content=source.content, chain=target.chain)
    _require_closed(options, whole)
    target_lines = split_lines(b"".join(target.content.chunks))
    name = _name(source, target)
    block = b"".join(records_to_append(whole, target_lines, name))
    current = Content.from_chunks((*whole.lines, block))
    check_read_as(whole, parse(target_lines, whole.format), split_lines(b"".join(current.chunks)))
    head = target.chain[-1] if target.chain else None
    operation = rewind_operation(history, source.digest, current, head, name)
    return RewindTarget(
        content=current,
        chain=target.chain,
        carried=target.carried,
        deposits=(ArchiveDraft(operation, rewind_rows(source.lines)),),
        block=block,
        undo_option=undo_option(whole, closed=options.output.closed),
    )


def require_closed(options: RewindOptions, source: Source) -> None:
    """Raise UsageError if a client has a session open, or if that is unknown."""
    _require_closed(options, loaded_from(source, options.input.path))


def _require_closed(options: RewindOptions, whole: TranscriptFile) -> None:
    rules = rules_of(whole)
    if not options.check:
        check_not_open(
            options.input.path,
            rules,
            version_of(whole.transcript, rules),
            while_open=options.output.may_be_open,
            way=_WAY,
        )


def _can_be_cut_off(options: RewindOptions, whole: TranscriptFile, target: Content) -> bool:
    """Return whether the session begins with the target and no client has it open."""
    if not b"".join(whole.lines).startswith(b"".join(target.chunks)):
        return False
    rules = whole.format.native_append()
    if rules is None or options.output.closed:
        return True
    version = version_of(whole.transcript, rules)
    return open_error(options.input.path, rules, version, _WAY) is None


def _name(source: Source, target: RewindTarget) -> OperationId:
    states = (source.digest.sha256, target.content.digest.sha256)
    content = "\n".join(("append", *states, *target.chain))
    return OperationId(hashlib.sha256(content.encode()).hexdigest()[:12])
