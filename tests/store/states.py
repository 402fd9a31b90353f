"""Operations between two states of a transcript, made the short way."""

import hashlib
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from compactctl.model.operation import ArchivedLine, Operation, OperationId, StageRecord
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.archive_file import restore
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.archive.growth import Growth
from compactctl.store.files.content import Content, canonical_suffix
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import Source, digest_of, open_input, split_lines
from compactctl.store.publish.publish import Published, publish

BEFORE = b'{"n":0}\r\n{"bulk":"%s"}\n\n{"nul":"\x00"}\n{"n":1}\n' % (b"x" * 500)
AFTER = b'{"n":0}\r\n{"n":1}\n'
MORE = b'{"n":2}\n'


def appended(lines: bytes, *, is_mid_line: bool = False) -> Growth:
    """Return the growth of a state to which lines were appended."""
    return Growth(suffix=canonical_suffix(lines, is_mid_line=is_mid_line))


def state_before(archive: Archive, operation: OperationId) -> bytes:
    """Return the state before an operation, as its newest archive restores it."""
    newest = [file.path for file in archive.files if file.id == operation][-1]
    return restore(newest)


def operation(  # noqa: PLR0913
    before: bytes,
    after: bytes,
    *,
    parent: str | None = None,
    head: str | None = None,
    kind: Literal["compact", "rewind"] = "compact",
    name: str = "",
    recorded_at: str = "2026-03-01T10:00:00Z",
) -> Operation:
    """Return an operation with an id derived from its states."""
    content = b"\0".join((before, after, name.encode()))
    own = OperationId(hashlib.sha256(content).hexdigest()[:12])
    record = StageRecord(
        name="prune",
        options={"tools": ("read", "grep"), "min_savings": 20_000, "ratio": 0.5, "cwd": None},
        outcome="applied",
        tokens_before=90,
        tokens_after=20,
    )
    return Operation(
        id=own,
        parent=OperationId(parent) if parent else None,
        head=own if kind == "compact" else OperationId(head) if head else None,
        kind=kind,
        before=digest_of(before),
        after=digest_of(after),
        format="claude-code",
        counter="o200k",
        stages=(record,),
        recorded_at=recorded_at,
    )


def rows(before: bytes, after: bytes) -> list[ArchivedLine]:
    """Return the archived lines of a state of which ``after`` keeps some lines."""
    kept = {line: index for index, line in enumerate(split_lines(after))}
    return [
        ArchivedLine(
            raw=line,
            fate="kept" if line in kept else "hidden",
            after_line=kept.get(line),
            tokens=len(line) // 4,
        )
        for line in split_lines(before)
    ]


def step(  # noqa: PLR0913
    path: Path,
    after: bytes,
    *,
    target: Path | None = None,
    source: Source | None = None,
    fs: FileSystem | None = None,
    force: bool = False,
    **fields: Any,
) -> tuple[Operation, Published]:
    """Publish ``after`` as the outcome of one operation on the transcript at ``path``."""
    source = source or open_input(path)
    each = operation(source.data, after, **fields)
    published = publish(
        fs or FileSystem(),
        source=source,
        target=target or path,
        drafts=[ArchiveDraft(each, rows(source.data, after))],
        content=Content.from_chunks((after,)),
        force=force,
    )
    return each, published


def archive_of(path: Path) -> Archive:
    """Return the archive of the transcript at ``path``."""
    return Archive(archive_folder(path))


def names_below(folder: Path) -> set[str]:
    """Return the relative names of all files and folders below ``folder``."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@contextmanager
def a_folder() -> Iterator[Path]:
    """Give a folder for one example of a property."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


def mode(path: Path) -> int:
    """Return the permission bits of a file."""
    return stat.S_IMODE(path.stat().st_mode)
