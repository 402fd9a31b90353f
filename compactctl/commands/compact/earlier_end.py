"""Ends a transcript at an earlier line, as it was when that was written."""

from collections.abc import Iterator

from compactctl.commands.client_sessions.undo import undo_operation
from compactctl.commands.compact.draft import CompactInput
from compactctl.commands.compact.result import EarlierEnd
from compactctl.commands.reading.transcript import parse
from compactctl.errors import UsageError
from compactctl.history.references import messages_named
from compactctl.model.operation import OF_END
from compactctl.pipeline.archive_rows import removal_rows
from compactctl.pipeline.layout import NewFile, NewLine
from compactctl.records import replace
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content


def ended_at(read: CompactInput, name: str, path: str) -> CompactInput:
    """Return the input as it was when a message was written, so that a client continues there.

    ``name`` is a line (158), a reference (L158) or an id; ``path`` names the file in errors. What
    follows is archived. Raises UsageError if there is no such message, or if no client would send
    it even then.
    """
    file = read.file
    if file.transcript.is_document:
        raise UsageError(f"{path}: one document; --from needs a session in lines")
    messages = file.transcript.messages
    lines = {messages[index].line for index in messages_named(messages, name)}
    if len(lines) != 1:
        raise UsageError(
            f"{path}: no message {name!r}; write a line (158), a reference (L158) or an id; "
            "compactctl view --archived lists what is not sent"
        )
    (end,) = lines
    new = NewFile(file.lines, _lines_until(end, read))
    content = Content.from_chunks(new)
    transcript = parse(content.chunks, file.format)
    main = (message for message in transcript.history if not message.origin.is_subagent)
    if not any(message.line == end for message in main):
        raise UsageError(
            f"{path}: line {end + 1:,} would not be sent, as of a subagent; name another message"
        )
    operation = undo_operation(file, content, read.parent, f"{OF_END} {end + 1:,}")
    source = replace(file.source, lines=tuple(new), digest=content.digest)
    return replace(
        read,
        file=replace(file, source=source, transcript=transcript),
        end=EarlierEnd(line=end, left_out=sum(message.line > end for message in messages)),
        changes=(ArchiveDraft(operation, removal_rows(file.lines, new, operation.id)),),
    )


def _lines_until(end: int, read: CompactInput) -> Iterator[NewLine]:
    """Yield the lines up to the last one, and those that a new session adds to the file."""
    n_stored = len(read.source.lines)
    for index, line in enumerate(read.file.lines):
        if index <= end or index >= n_stored:
            yield NewLine(line, index)
