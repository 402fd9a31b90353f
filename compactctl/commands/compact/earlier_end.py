"""Ends a transcript at an earlier line, as it was when that was written."""

from collections.abc import Iterator
from typing import NamedTuple

from compactctl.commands.client_sessions.undo import removal_operation
from compactctl.commands.compact.draft import CompactInput
from compactctl.commands.compact.result import EarlierEnd
from compactctl.commands.reading.transcript import parse
from compactctl.errors import UsageError
from compactctl.history.references import messages_named
from compactctl.model.transcript import Transcript
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
    # Notes behind a message may say that the client continues from it.
    next_line = min((m.line for m in messages if m.line > end), default=len(file.lines))
    versions = (_Version.of(read, last) for last in dict.fromkeys((end, next_line - 1)))
    version = next((version for version in versions if version.sends(end)), None)
    if version is None:
        raise UsageError(
            f"{path}: line {end + 1:,} would not be sent even if it were the last; name another "
            "message"
        )
    new, content = version.new, version.content
    detail = f"after line {end + 1:,}"
    operation = removal_operation("end", file, content, read.parent, detail)
    source = replace(file.source, lines=tuple(new), digest=content.digest)
    return replace(
        read,
        file=replace(file, source=source, transcript=version.transcript),
        end=EarlierEnd(line=end, left_out=sum(message.line > end for message in messages)),
        changes=(ArchiveDraft(operation, removal_rows(file.lines, new, operation.id)),),
    )


class _Version(NamedTuple):
    """A file without its end, and what it holds."""

    new: NewFile
    content: Content
    transcript: Transcript

    @classmethod
    def of(cls, read: CompactInput, last: int) -> "_Version":
        """Return the file up to the line of that index."""
        new = NewFile(read.file.lines, _lines_until(last, read))
        content = Content.from_chunks(new)
        return cls(new, content, parse(content.chunks, read.file.format))

    def sends(self, line: int) -> bool:
        """Whether the next request holds the message on a line, which is not of a subagent."""
        main = (message for message in self.transcript.history if not message.origin.is_subagent)
        return any(message.line == line for message in main)


def _lines_until(end: int, read: CompactInput) -> Iterator[NewLine]:
    """Yield the lines up to the last one, and those that a new session adds to the file."""
    n_stored = len(read.source.lines)
    for index, line in enumerate(read.file.lines):
        if index <= end or index >= n_stored:
            yield NewLine(line, index)
