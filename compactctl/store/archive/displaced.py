"""The files that operations displace, kept so that nothing in them is lost.

A program that has a transcript open goes on writing to the old file after another has taken its
place. A second name in the archive folder keeps that file. So it does where a compaction takes the
place of an earlier one, of which archives hold the state before and nothing the outcome.
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
    """Return the name for the file at ``path``: a free one, or the one it already has."""
    links = _links(folder, operation)
    return next(link for link in links if not link.exists() or link.samefile(path))


def keep_displaced(fs: FileSystem, path: Path, link: Path) -> None:
    """Keep the file at ``path`` under a second, durable name."""
    if not link.exists():
        fs.link(path, link)
    sync_folder(fs, link.parent)


def count_archive_links(path: Path, folder: Path) -> int:
    """Return how many names the archive folder itself gives to the file at ``path``."""
    return sum(1 for link in folder.glob(f"{PREFIX}*") if link.samefile(path))


def lines_written_late(folder: Path, operation: Operation, suffix: bytes) -> tuple[bytes, ...]:
    """Return what was written to the file displaced by ``operation`` and is not in the transcript.

    ``suffix`` are the lines after the operation's outcome in the transcript now. Those at their
    start that the displaced file has too were carried over. A file that does not begin with the
    state before the operation, as when several were published at once, tells nothing, nor does
    one in which that state's unterminated last line was continued. ArchiveError for what
    compactctl does not put there: a link, a pipe, a device, more than is read of a transcript.
    """
    found: list[bytes] = []
    for link in itertools.takewhile(Path.exists, _links(folder, operation.id)):
        before, rest = _read(link, operation)
        if before.digest == operation.before and can_follow(rest, is_mid_line=before.ends_mid_line):
            lines = suffix_after(
                canonical_suffix(rest, is_mid_line=before.ends_mid_line), is_mid_line=False
            )
            found += _after_common_prefix(split_lines(lines), split_lines(suffix))
    return tuple(found)


def displaced_files(folder: Path) -> tuple[Path, ...]:
    """Return the displaced files in an archive folder, which need not exist, by their names."""
    return tuple(sorted(folder.glob(f"{PREFIX}*")))


def displaced_state(links: Iterable[Path], state: Digest) -> bytes | None:
    """Return a state that one of these displaced files begins with, None where none does."""
    for link in links:
        with suppress(OSError, ArchiveError), open_regular(link) as stream:
            found = b"".join(read_first(stream, state.n_bytes))
            if digest_of(found) == state:
                return found
    return None


def _read(link: Path, operation: Operation) -> tuple[Content, bytes]:
    """Return the beginning that may be the state before an operation, and what follows it."""
    try:
        stream = open_regular(link)
    except OSError as error:
        why = error.strerror or error
        raise ArchiveError(f"{link}: cannot be read ({why}); move it out of the folder") from error
    with stream:
        before = Content.from_chunks(read_first(stream, operation.before.n_bytes))
        most = READ_LIMITS.max_bytes + 1 if before.digest == operation.before else 0
        rest = b"".join(read_first(stream, most))
    if len(rest) > READ_LIMITS.max_bytes:
        raise ArchiveError(f"{link}: is too large to be read; move it out of the folder")
    return before, rest


def _links(folder: Path, operation: str) -> Iterator[Path]:
    """Yield the names for one operation's displaced files: it may take place more than once."""
    yield folder / f"{PREFIX}{operation}"
    yield from (folder / f"{PREFIX}{operation}-{number}" for number in itertools.count(2))


def _after_common_prefix(lines: tuple[bytes, ...], carried: tuple[bytes, ...]) -> tuple[bytes, ...]:
    pairs = zip(lines, carried, strict=False)
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return lines[same:]
