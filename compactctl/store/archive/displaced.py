"""Displaced files: hard links in the archive folder that keep the files that were replaced.

A program that has a transcript open continues to write to the old file after it was replaced. The
link also keeps the outcome of a compaction that another one replaces: archives hold only the state
before it.
"""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from compactctl.errors import ArchiveError
from compactctl.model.operation import Digest, Operation
from compactctl.store.archive.parquet import open_regular
from compactctl.store.files.content import (
    Content,
    can_follow,
    canonical_suffix,
    read_first,
    suffix_after,
)
from compactctl.store.files.filesystem import FileSystem, sync_folder
from compactctl.store.files.limits import READ_LIMITS
from compactctl.store.files.source import digest_of, split_lines

PREFIX = "displaced-"


def displaced_name(path: Path, folder: Path, operation: str) -> Path:
    """Return the link for the file at ``path``: an unused name, or the link it already has."""
    links = _links(folder, operation)
    return next(link for link in links if not link.exists() or link.samefile(path))


def keep_displaced(fs: FileSystem, path: Path, link: Path) -> None:
    """Give the file at ``path`` a second, durable name, unless it has it already."""
    if not link.exists():
        fs.link(path, link)
    sync_folder(fs, link.parent)


def count_archive_links(path: Path, folder: Path) -> int:
    """Return how many hard links of the file at ``path`` are displaced files of this folder."""
    return sum(1 for link in folder.glob(f"{PREFIX}*") if link.samefile(path))


def lines_written_late(folder: Path, operation: Operation, suffix: bytes) -> tuple[bytes, ...]:
    """Return the lines written to the file displaced by ``operation`` but not to the transcript.

    ``suffix`` are the lines after the operation's outcome in the current transcript. It begins with
    the lines that were copied from the displaced file:

        displaced file: state before, A, B, C      transcript: outcome, A, B, X      ->  C

    A displaced file counts only if it begins with the state before the operation and its last line
    was not continued; several operations published at once have only one such file. Raises
    ArchiveError for what compactctl does not put there: a symbolic link, a pipe, a device, or more
    than is read of a transcript.
    """
    late_lines: list[bytes] = []
    for link in itertools.takewhile(Path.exists, _links(folder, operation.id)):
        before, tail = _read(link, operation)
        if before.digest == operation.before and can_follow(tail, is_mid_line=before.ends_mid_line):
            lines = suffix_after(
                canonical_suffix(tail, is_mid_line=before.ends_mid_line), is_mid_line=False
            )
            late_lines += _after_common_prefix(split_lines(lines), split_lines(suffix))
    return tuple(late_lines)


def displaced_files(folder: Path) -> tuple[Path, ...]:
    """Return the displaced files in an archive folder, sorted by name; it need not exist."""
    return tuple(sorted(folder.glob(f"{PREFIX}*")))


def displaced_state(links: Iterable[Path], state: Digest) -> bytes | None:
    """Read a state from the first displaced file that begins with it; None if none does."""
    for link in links:
        with suppress(OSError, ArchiveError), open_regular(link) as stream:
            data = b"".join(read_first(stream, state.n_bytes))
            if digest_of(data) == state:
                return data
    return None


def _read(link: Path, operation: Operation) -> tuple[Content, bytes]:
    """Read what may be the state before an operation; if it is, also what follows it."""
    try:
        stream = open_regular(link)
    except OSError as error:
        why = error.strerror or error
        raise ArchiveError(f"{link}: cannot be read ({why}); move it out of the folder") from error
    with stream:
        before = Content.from_chunks(read_first(stream, operation.before.n_bytes))
        max_bytes = READ_LIMITS.max_bytes + 1 if before.digest == operation.before else 0
        tail = b"".join(read_first(stream, max_bytes))
    if len(tail) > READ_LIMITS.max_bytes:
        raise ArchiveError(f"{link}: is too large to be read; move it out of the folder")
    return before, tail


def _links(folder: Path, operation: str) -> Iterator[Path]:
    """Yield the names for an operation's displaced files, as it may be carried out repeatedly."""
    yield folder / f"{PREFIX}{operation}"
    yield from (folder / f"{PREFIX}{operation}-{number}" for number in itertools.count(2))


def _after_common_prefix(lines: tuple[bytes, ...], carried: tuple[bytes, ...]) -> tuple[bytes, ...]:
    pairs = zip(lines, carried, strict=False)
    n_common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return lines[n_common:]
