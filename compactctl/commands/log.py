"""The history of a transcript's compactions."""

from dataclasses import dataclass
from pathlib import Path

from compactctl.commands.inline import InlineOperation, inline_operations
from compactctl.commands.reading import parse, split
from compactctl.model.operation import Operation
from compactctl.pipeline.edit_text import load_edits, sizes_from_rows, stages_from_rows
from compactctl.store.archive import read_rows
from compactctl.store.chain import chain_of
from compactctl.store.history import Archive, archive_folder
from compactctl.store.lines import open_input


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The messages one summary, marker or set of rewritten records stands for.

    ``tokens`` is the size they had before.
    """

    id: str
    stage: str
    messages: int
    tokens: int
    in_effect: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One operation, its groups, and whether it is in effect now."""

    number: int
    operation: Operation
    groups: tuple[Group, ...]
    in_effect: bool
    archive_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogResult:
    """The operations behind a transcript, oldest first; inline ones have no archive.

    ``missing`` is set when records carry compactctl's tags, and what they stand for is in an
    archive that is not there.
    """

    path: str
    layout: str
    entries: tuple[LogEntry, ...] = ()
    inline: tuple[InlineOperation, ...] = ()
    appended: int = 0
    missing: bool = False


def log(path: str) -> LogResult:
    """Tell the history of a transcript. Raises ArchiveError, IntegrityError, ChangedError."""
    source = open_input(path)
    archive = Archive(archive_folder(source.path)) if source.path else None
    if archive is None or not archive.operations:
        lines, chosen = split(source.data, path, None)
        transcript = parse(lines, chosen)
        inline = inline_operations(lines, transcript)
        tags = (message.tags for message in transcript.messages)
        tagged = any(each.operation or each.through for each in tags)
        return LogResult(path=path, layout="inline", inline=inline, missing=tagged and not inline)
    _, suffix = archive.current(source.data)
    effective = {operation.id for operation in chain_of(archive, source.data)}
    entries = tuple(
        LogEntry(
            number=file.number,
            operation=operation,
            groups=_groups(file.path, in_effect=operation.id in effective),
            in_effect=operation.id in effective,
            archive_bytes=file.path.stat().st_size,
        )
        for file, operation in zip(archive.files, archive.operations, strict=True)
    )
    return LogResult(path=path, layout="split", entries=entries, appended=len(suffix))


def _groups(path: Path, *, in_effect: bool) -> tuple[Group, ...]:
    edits = load_edits(row["edits"] for row in read_rows(path, ("edits",)))
    stages = stages_from_rows(edits)
    return tuple(
        Group(
            id=name,
            stage=stages[name],
            messages=len(sizes),
            tokens=sum(sizes.values()),
            in_effect=in_effect,
        )
        for name, sizes in sizes_from_rows(edits).items()
    )
