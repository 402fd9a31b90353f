"""Restores originals if the transcript is in no archived state, as when its client rewrote it."""

import hashlib
from collections import Counter
from pathlib import Path

from compactctl.commands.client_sessions.new_session import check_outside_stores
from compactctl.commands.client_sessions.write import Written
from compactctl.commands.operations.history import OperationHistory, history_of
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.commands.reading.transcript import loaded_from, parse
from compactctl.commands.rewind.result import RewindOptions, RewindResult
from compactctl.errors import ChangedError, CompactctlError, MissingArchiveError, NotUnderstoodError
from compactctl.formats.registry import format_named
from compactctl.model.message import Message
from compactctl.model.operation import StateChange
from compactctl.store.files.content import ChunksAndTail, Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import STANDARD_STREAM, Source, digest_of
from compactctl.store.publish.overwrite import is_same_place
from compactctl.store.publish.publish import write_output
from compactctl.tokens.meter import part_texts


def write_originals(
    options: RewindOptions, source: Source, error: ChangedError | MissingArchiveError
) -> RewindResult:
    """Write the archived originals to the named output.

    They are those of the newest compaction, or of the first with ``all``. If an archive is missing,
    only the latter are known. If no output is named, raises an error like ``error`` with advice.
    Also raises as writing does.
    """
    history = history_of(source, options.input.path, folder=options.archive)
    step = _newest_compaction(history)
    if step is None or options.to or options.group:
        raise error
    if options.all and history.missing_archives:
        raise history.no_first_state() from error
    output = options.output.path
    if isinstance(error, MissingArchiveError) and not (options.all and output):
        raise MissingArchiveError(f"{error}; --all -o FILE writes the first state without it")
    if output is None or (output != STANDARD_STREAM and is_same_place(options.input.path, output)):
        raise ChangedError(_error_text(options, source, step, error)) from error
    content = Content.from_chunks(
        ChunksAndTail((history.archived[0] if options.all else step).before)
    )
    result = RewindResult(
        options=options,
        layout="split",
        change=StateChange(before=source.digest, after=content.digest),
        undone=(step.id,),
        in_effect=(),
        warnings=(
            f"{options.input.path}: messages added since the compaction are not in these originals",
            *history.warnings,
        ),
        written=None if options.check else Written(output=output),
        data=content.chunks if output == STANDARD_STREAM else None,
    )
    if not options.check and output != STANDARD_STREAM:
        check_outside_stores(options.input.path, Path(output), named=True)
        write_output(
            FileSystem(),
            Path(output),
            content,
            restorable=history.states,
            force=options.output.force,
            origin=source.path,
        )
    return result


def _newest_compaction(history: OperationHistory) -> ArchivedStep | None:
    """Return the newest archived operation that removed anything, None if there is none."""
    compactions = [step for step in history.archived if step.operation.kind != "rewind"]
    return compactions[-1] if compactions else None


def _error_text(
    options: RewindOptions, source: Source, step: ArchivedStep, error: CompactctlError
) -> str:
    advice = "-o FILE writes the originals, without messages added since"
    if not _was_rewritten(source, options.input.path, step):
        return f"{error}; {advice}"
    return (
        f"{options.input.path}: everything that operation {step.id} left is still in it, but its "
        f"client has rewritten the file, so it cannot be rewound in place; {advice}"
    )


def _was_rewritten(source: Source, path: str, step: ArchivedStep) -> bool:
    """Return whether all messages that an operation kept are in the transcript, but rewritten.

    A message is still there if a record has its id, or the same content: clients give new ids to
    records of older versions, and reorder the fields of others. If the transcript begins with the
    very bytes before or after the operation, it was not rewritten.
    """
    states = (step.operation.before, step.operation.after)
    if any(digest_of(source.data[: state.n_bytes]) == state for state in states):
        return False
    rows = tuple(step.rows())
    kept_lines = {row for row, line in enumerate(rows) if line.fate == "kept"}
    before = parse((line.raw for line in rows), format_named(step.format))
    try:
        current = loaded_from(source, path, step.format).transcript
    except NotUnderstoodError:
        return False
    ids = {message.id for message in current.messages}
    contents = Counter(_content_digest(message) for message in current.messages)
    kept_messages = [message for message in before.messages if message.line in kept_lines]
    missing_contents = Counter(
        _content_digest(message) for message in kept_messages if message.id not in ids
    )
    return bool(kept_messages) and missing_contents <= contents


def _content_digest(message: Message) -> bytes:
    digest = hashlib.sha256(message.role.encode())
    for part in message.parts:
        for text in part_texts(part):
            digest.update(text.encode("utf-8", "surrogatepass"))
            digest.update(b"\0")
    return digest.digest()
