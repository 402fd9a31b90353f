"""Displaced files: hard links in the archive folder to the files that a transcript replaced.

A program that has a transcript open continues to write to the old file after it was replaced, and
an outcome that another one replaces is in no archive. The name tells where late lines begin:

    displaced-3f9c2a1b7d04.5120     the transcript took over the first 5,120 bytes; what follows
                                    was written late
    displaced-3f9c2a1b7d04.5120.80.900
                                    the next 80 bytes are being added to the transcript, which
                                    had 900 bytes before
    displaced-3f9c2a1b7d04          the only copy of a state, or the input of a run that was killed
                                    before or after it replaced that
"""

import itertools
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from compactctl.errors import ArchiveError, CompactctlError
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.records import dataclass
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.archive_file import raw_lines
from compactctl.store.archive.growth import find_growth, matching_states
from compactctl.store.archive.names import DISPLACED
from compactctl.store.archive.parquet import open_regular
from compactctl.store.files.content import (
    can_follow,
    canonical_suffix,
    ends_mid_line,
    last_byte_and_rest,
    read_first,
    suffix_after,
)
from compactctl.store.files.filesystem import FileSystem, sync_folder
from compactctl.store.files.limits import READ_LIMITS
from compactctl.store.files.source import digest_of, split_lines

_NAME = re.compile(
    rf"{DISPLACED}(?P<operation>[\w-]+?)(?:-\d+)?"
    r"(?:\.(?P<size>\d+)(?:\.(?P<count>\d+)\.(?P<offset>\d+))?)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """Late bytes on their way to a transcript of ``offset`` bytes: ``count`` of them."""

    count: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplacedFile:
    """What the name of a displaced file tells.

    ``size`` are the bytes that the transcript took over, None if the name does not tell.
    """

    path: Path
    operation: str
    size: int | None = None
    taking: Taking | None = None

    @classmethod
    def at(cls, path: Path) -> Self | None:
        """Read a name; None if it is not that of a displaced file."""
        match = _NAME.fullmatch(path.name)
        if match is None:
            return None
        size, count = match["size"], match["count"]
        return cls(
            path=path,
            operation=match["operation"],
            size=None if size is None else int(size),
            taking=Taking(count=int(count), offset=int(match["offset"])) if count else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LateBytes:
    """What was written to a displaced file after the transcript took over its first ``size`` bytes.

    ``data`` is None if a program has changed what stood there before, so that nothing can be told,
    and empty if a killed run has taken in all. ``continues_line`` means that it begins with the
    rest of a line.
    """

    file: DisplacedFile
    size: int
    data: bytes | None
    continues_line: bool = False

    def block(self, count: int | None = None, *, is_mid_line: bool) -> bytes:
        """Return the first of the late bytes, by default all, as they follow the transcript.

        ``is_mid_line`` means that its last line is not terminated.
        """
        data = (self.data or b"")[:count]
        if self.continues_line and is_mid_line:
            return data
        lines = data.lstrip(b"\r\n")
        return b"\n" + lines if is_mid_line and lines else lines


def displaced_files(links: Iterable[Path]) -> tuple[DisplacedFile, ...]:
    """Return what the names of displaced files tell."""
    return tuple(filter(None, map(DisplacedFile.at, links)))


def displaced_name(path: Path, folder: Path, operation: str, *numbers: int) -> Path:
    """Return the link for the file at ``path``: an unused name, or the link it already has.

    ``numbers`` follow the operation in the name.
    """
    end = "".join(f".{number}" for number in numbers)
    names = itertools.chain(
        (f"{DISPLACED}{operation}{end}",),
        (f"{DISPLACED}{operation}-{number}{end}" for number in itertools.count(2)),
    )
    links = (folder / name for name in names)
    return next(link for link in links if not link.exists() or link.samefile(path))


def keep_displaced(fs: FileSystem, path: Path, link: Path) -> None:
    """Give the file at ``path`` a second, durable name, unless it has it already."""
    if not link.exists():
        fs.link(path, link)
    sync_folder(fs, link.parent)


def count_archive_links(path: Path, folder: Path) -> int:
    """Return how many hard links of the file at ``path`` are displaced files of this folder."""
    return sum(1 for link in folder.glob(f"{DISPLACED}*") if _is_same(link, path))


def displaced_state(links: Iterable[Path], state: Digest) -> bytes | None:
    """Read a state from the first displaced file that begins with it; None if none does."""
    for link in links:
        with suppress(OSError, ArchiveError), open_regular(link) as stream:
            data = b"".join(read_first(stream, state.n_bytes))
            if digest_of(data) == state:
                return data
    return None


def end_of_lineage(archive: Archive) -> tuple[bytes, ...]:
    """Return the lines of a lineage as a transcript of another one replaced it.

    Without a displaced file that grew from one of its outcomes, they are those before its newest
    operation. Raises ArchiveError and IntegrityError.
    """
    links = [(_modified(link), link) for link in archive.root.contents.displaced]
    for _, link in sorted(links, reverse=True):
        with suppress(ArchiveError):
            data = read_displaced(link)
            if find_growth((data,), archive.outcomes) is not None:
                return split_lines(data)
    return tuple(raw_lines(archive.readable[-1][0].path, archive.limits))


def _modified(link: Path) -> int:
    with suppress(OSError):
        return link.lstat().st_mtime_ns
    return 0


def read_displaced(link: Path) -> bytes:
    """Read a displaced file.

    Raises ArchiveError for what compactctl does not put there: a symbolic link, a pipe, a device,
    or more than is read of a transcript.
    """
    try:
        with open_regular(link) as stream:
            data = b"".join(read_first(stream, READ_LIMITS.max_bytes + 1))
    except OSError as error:
        why = error.strerror or error
        raise ArchiveError(f"{link}: cannot be read ({why}); move it out of the folder") from error
    if len(data) > READ_LIMITS.max_bytes:
        raise ArchiveError(f"{link}: is too large to be read; move it out of the folder")
    return data


def late_bytes(archive: Archive, transcript: Path, lines: Sequence[bytes]) -> Iterator[LateBytes]:
    """Yield what was written late to the files that the operations of a lineage replaced.

    ``lines`` are those of the transcript at that path; nothing was written late for one that grew
    from no state of the lineage. A file counts if its operation took place: it led to the
    transcript, or to a state that is archived. Raises as ``read_displaced``.
    """
    if find_growth(lines, archive.outcomes) is None:
        return
    for file, operation in changed_since(archive, transcript):
        late = _late(archive, file, operation, lines)
        if late is not None:
            yield late


def changed_since(archive: Archive, transcript: Path) -> Iterator[tuple[DisplacedFile, Operation]]:
    """Yield the replaced files whose size changed since, by its name or by their operation."""
    operations = {operation.id: operation for operation in archive.operations}
    names_by_inode: dict[tuple[int, int], list[DisplacedFile]] = {}
    for file in displaced_files(archive.root.contents.displaced):
        if file.operation in operations and not _is_same(file.path, transcript):
            with suppress(FileNotFoundError):
                info = file.path.lstat()
                names_by_inode.setdefault((info.st_dev, info.st_ino), []).append(file)
    for names in names_by_inode.values():
        file = max(names, key=lambda name: name.size or 0)
        operation, info = operations[OperationId(file.operation)], file.path.lstat()
        n_known = operation.before.n_bytes if file.size is None else file.size
        if not stat.S_ISREG(info.st_mode) or info.st_size != n_known:
            yield file, operation


def _late(
    archive: Archive, file: DisplacedFile, operation: Operation, lines: Sequence[bytes]
) -> LateBytes | None:
    size = operation.before.n_bytes if file.size is None else file.size
    data = read_displaced(file.path)
    befores = {earlier.before for earlier in archive.operations}
    if not matching_states((data,), befores) or operation.records is not None:
        return None if file.size is None else LateBytes(file=file, size=size, data=None)
    following = _following(archive, operation, lines)
    if following is None:
        return None
    if file.size is None:
        size += _n_carried(data[size:], data[:size], following)
    if file.taking is not None:
        size += n_taken(file.taking, data[size:], lines)
    late = data[size:]
    if not (late or file.taking):
        return None
    is_mid_line = ends_mid_line(data[:size])
    continues_line = not can_follow(late, is_mid_line=is_mid_line)
    return LateBytes(file=file, size=size, data=late, continues_line=continues_line)


def _following(archive: Archive, operation: Operation, lines: Sequence[bytes]) -> bytes | None:
    """Return what followed the outcome of an operation in the next state that is archived.

    The transcript is the last of them. None if no state begins with the outcome.
    """
    files = [file for file, _ in archive.readable]
    newest = max(file.number for file in files if file.id == operation.id)
    later = (raw_lines(file.path, archive.limits) for file in files if file.number > newest)
    for state in (*later, lines):
        with suppress(CompactctlError):
            data = b"".join(state)
            if matching_states((data,), (operation.after,)):
                end, rest = last_byte_and_rest((data,), operation.after.n_bytes)
                return suffix_after(
                    canonical_suffix(rest, is_mid_line=ends_mid_line(end)), is_mid_line=False
                )
    return None


def _n_carried(tail: bytes, before: bytes, following: bytes) -> int:
    """Return the bytes of the tail that were copied behind the outcome, which end at a line end.

    displaced file: state before, A, B, C      transcript: outcome, A, B, X      ->  A, B
    """
    n_end = len(tail) - len(tail.lstrip(b"\r\n")) if ends_mid_line(before) else 0
    pairs = zip(split_lines(tail[n_end:]), split_lines(following), strict=False)
    carried = itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)
    return n_end + sum(len(line) for line, _ in carried)


def n_taken(taking: Taking, late: bytes, lines: Sequence[bytes]) -> int:
    """Return how many of the bytes that a killed run was adding are in the transcript.

    They are all there, or the transcript ends with the first of them.
    """
    _, rest = last_byte_and_rest(lines, taking.offset)
    block = late[: taking.count]
    if block.lstrip(b"\r\n") in rest:
        return len(block)
    begun = rest.lstrip(b"\r\n")
    skipped = len(block) - len(block.lstrip(b"\r\n"))
    return skipped + len(begun) if begun and block[skipped:].startswith(begun) else 0


def _is_same(link: Path, path: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(link.lstat(), path.stat())
    return False
