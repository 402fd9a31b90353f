"""Shows a transcript: what the model sees, what is hidden from it, or both."""

from dataclasses import dataclass
from typing import Literal

from compactctl.commands.reading import Loaded, load, parse
from compactctl.model.message import Message
from compactctl.model.operation import ArchivedLine
from compactctl.pipeline.interleave import Shown, interleave
from compactctl.store.archive import archived_lines
from compactctl.store.chain import chain_of
from compactctl.store.history import Archive, archive_folder

What = Literal["effective", "archived", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewedMessage:
    """A message to be read, and the line it stands on.

    ``hidden_by`` is the group that hides it, None when it is visible.
    """

    message: Message
    line: Shown
    hidden_by: str | None = None
    stage: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewResult:
    """What to show: raw lines in the transcript's own format, and the messages on them.

    After a search, ``found`` is how many messages there are on all its pages, and ``before`` how
    many on earlier pages.
    """

    path: str
    what: What
    lines: tuple[Shown, ...]
    messages: tuple[ViewedMessage, ...]
    found: int | None = None
    before: int = 0


def view(path: str, what: What = "effective", format_name: str | None = None) -> ViewResult:
    """Show a transcript. Raises as reading does, and ArchiveError for a damaged archive."""
    loaded = load(path, format_name)
    if what == "effective":
        return _effective(loaded, path)
    lines = _all_lines(loaded)
    messages = _messages(loaded, lines)
    if what == "archived":
        lines = tuple(line for line in lines if line.hidden_by is not None)
        messages = tuple(viewed for viewed in messages if viewed.hidden_by is not None)
    return ViewResult(path=path, what=what, lines=lines, messages=messages)


def _effective(loaded: Loaded, path: str) -> ViewResult:
    messages = loaded.transcript.effective
    lines = {message.line: Shown(loaded.lines[message.line]) for message in messages}
    return ViewResult(
        path=path,
        what="effective",
        lines=tuple(lines.values()),
        messages=tuple(ViewedMessage(message=m, line=lines[m.line]) for m in messages),
    )


def _all_lines(loaded: Loaded) -> tuple[Shown, ...]:
    path = loaded.source.path
    archive = Archive(archive_folder(path)) if path else None
    chain = chain_of(archive, loaded.source.data) if archive else ()
    if archive is None or not chain:
        return _inline_lines(loaded)
    rows = [tuple(archived_lines(archive.file_of(operation.id))) for operation in chain]
    states = [_raw(each) for each in rows[1:]] + [loaded.lines]
    return interleave(list(zip(rows, states, strict=True)))


def _raw(rows: tuple[ArchivedLine, ...]) -> tuple[bytes, ...]:
    return tuple(row.raw for row in rows)


def _inline_lines(loaded: Loaded) -> tuple[Shown, ...]:
    shown = {message.id for message in loaded.transcript.effective}
    hidden = {
        message.line: message.tags.parents[0]
        for message in loaded.transcript.messages
        if message.tags.parents and message.id not in shown
    }
    return tuple(Shown(line, hidden.get(index)) for index, line in enumerate(loaded.lines))


def _messages(loaded: Loaded, lines: tuple[Shown, ...]) -> tuple[ViewedMessage, ...]:
    transcript = parse(tuple(line.data for line in lines), loaded.format)
    return tuple(
        ViewedMessage(
            message=message,
            line=lines[message.line],
            hidden_by=lines[message.line].hidden_by,
            stage=lines[message.line].stage,
        )
        for message in transcript.messages
    )
