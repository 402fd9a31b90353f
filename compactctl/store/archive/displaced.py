"""Displaced files: hard links in the archive folder to the files that a transcript replaced.

A program that has a transcript open continues to write to the old file after it was replaced, and
an outcome that another one replaces is in no archive. The name tells where late lines begin:

    displaced-3f9c2a1b7d04.5120     the transcript took over the first 5,120 bytes; what follows
                                    was written late
    displaced-3f9c2a1b7d04.5120.80.900
                                    the next 80 bytes are being added to the transcript, which
                                    had 900 bytes before
    displaced-3f9c2a1b7d04          the input of a run that was killed before or after it replaced
                                    that; or, with the name of a first state, the end of a lineage
                                    or another file that is the only copy of a state of it
"""

import itertools
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from compactctl.errors import ArchiveError, CompactctlError
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.records import Record
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.archive_file import raw_lines
from compactctl.store.archive.growth import KnownState, find_growth, matching_states
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
from compactctl.store.files.filesystem import FileSystem, is_folder, sync_folder
from compactctl.store.files.limits import READ_LIMITS
from compactctl.store.files.locks import can_detect_writers, has_writer
from compactctl.store.files.source import digest_of, split_lines

_NAME = re.compile(
    rf"{DISPLACED}(?P<operation>[\w-]+?)(?:-(?P<number>\d+))?"
    r"(?:\.(?P<size>\d+)(?:\.(?P<count>\d+)\.(?P<offset>\d+))?)?",
    re.ASCII,
)


class Taking(Record):
    """An addition of ``count`` late bytes to a transcript, which had ``offset`` bytes before."""

    count: int
    offset: int


class DisplacedFile(Record):
    """What the name of a displaced file tells.

    ``operation`` may be the name of a first state. ``number`` counts the files of one operation,
    ``size`` are the bytes that the transcript took over, None if the name does not tell.
    """

    path: Path
    operation: str
    number: int = 1
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
            number=int(match["number"] or 1),
            size=None if size is None else int(size),
            taking=Taking(count=int(count), offset=int(match["offset"])) if count else None,
        )


class LateBytes(Record):
    """What was written to a displaced file after the transcript took over its first ``size`` bytes.

    ``data`` ends with a line end as long as a program may be writing more. It is None if a program
    has changed what stood there before, so that nothing can be told, and empty if a killed run has
    added all. ``begun`` is the beginning of the line that ``data`` goes on with, empty if it begins
    with a new one.
    """

    file: DisplacedFile
    size: int
    data: bytes | None
    begun: bytes = b""

    def block(self, last_line: bytes) -> bytes:
        """Return the late bytes as whole lines that follow a transcript.

        ``last_line`` is its unterminated last line, empty if there is none.
        """
        data = self.data or b""
        end = b"" if data.endswith(b"\n") or not data else b"\n"
        if self.begun and self.begun == last_line:
            return data + end
        lines = data.lstrip(b"\r\n")
        return (b"\n" if lines and last_line else b"") + lines + end


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
    links = folder.glob(f"{DISPLACED}*") if is_folder(folder) else ()
    return sum(1 for link in links if _is_same(link, path))


def displaced_state(links: Iterable[Path], state: Digest) -> bytes | None:
    """Read a state from the first displaced file that begins with it; None if none does."""
    for link in links:
        with suppress(OSError, ArchiveError), open_regular(link) as stream:
            data = b"".join(read_first(stream, state.n_bytes))
            if digest_of(data) == state:
                return data
    return None


def end_of_lineage(archive: Archive, transcript: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the lines of a lineage as another one replaced it.

    If its newest outcome is that of the other one, too, they are the ``transcript``. If no file
    holds it, they are those before that operation; there are none if its archives are missing.
    Raises ArchiveError and IntegrityError.
    """
    if not archive.readable:
        return ()
    file, newest = archive.readable[-1]
    ends = ends_of(archive)
    end = split_lines(read_displaced(ends[0])) if ends else ()
    if find_growth(end, (KnownState.after(newest),)):
        return end
    if matching_states(transcript, (newest.after,)):
        return tuple(transcript)
    return end or tuple(raw_lines(file.path, archive.limits))


def ends_of(archive: Archive) -> tuple[Path, ...]:
    """Return the displaced files that are the only copies of states of a lineage, newest first."""
    files = displaced_files(archive.root.contents.displaced)
    ends = [file for file in files if file.operation == archive.first_state]
    return tuple(file.path for file in sorted(ends, key=lambda file: -file.number))


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

    ``lines`` are those of the transcript at that path. A file counts if its operation took place:
    its name says so, or it led to the transcript, or to a state that is archived. Raises as
    ``read_displaced``.
    """
    for names in changed_since(archive, transcript):
        late = (_late(archive, file, operation, lines) for file, operation in names)
        yield from itertools.islice(filter(None, late), 1)


def changed_since(
    archive: Archive, transcript: Path
) -> Iterator[list[tuple[DisplacedFile, Operation]]]:
    """Yield the names of each replaced file whose size may have changed since.

    The name that tells most comes first. Where none tells that the file was replaced, runs may have
    been killed before that.
    """
    operations = {operation.id: operation for operation in archive.operations}
    infos: dict[tuple[int, int], os.stat_result] = {}
    names_by_inode: dict[tuple[int, int], list[tuple[DisplacedFile, Operation]]] = defaultdict(list)
    for file in displaced_files(archive.root.contents.displaced):
        operation = operations.get(OperationId(file.operation))
        if operation is not None and not _is_same(file.path, transcript):
            with suppress(FileNotFoundError):
                info = file.path.lstat()
                if file.size is not None or info.st_size != operation.before.n_bytes:
                    inode = info.st_dev, info.st_ino
                    infos[inode] = info
                    names_by_inode[inode].append((file, operation))
    for inode, names in names_by_inode.items():
        names.sort(key=lambda name: name[0].size or 0, reverse=True)
        is_regular = stat.S_ISREG(infos[inode].st_mode)
        if not is_regular or infos[inode].st_size != names[0][0].size:
            yield names


def _late(
    archive: Archive, file: DisplacedFile, operation: Operation, lines: Sequence[bytes]
) -> LateBytes | None:
    data, size = read_displaced(file.path), file.size
    befores = {earlier.before for earlier in archive.operations}
    if not matching_states((data,), befores) or operation.records is not None:
        return None if size is None else LateBytes(file=file, size=size, data=None)
    if size is None:
        size = _n_taken_over(archive, operation, data, lines)
        if size is None:
            return None
    if file.taking is not None:
        size += _n_taken(file.taking, data[size:], lines)
    late = data[size:]
    if not can_detect_writers() or has_writer(file.path):
        late = late[: late.rfind(b"\n") + 1]
    if not (late or file.taking):
        return None
    begun = data[:size].rpartition(b"\n")[2]
    is_continued = not can_follow(late, is_mid_line=bool(begun))
    return LateBytes(file=file, size=size, data=late, begun=begun if is_continued else b"")


def _n_taken_over(
    archive: Archive, operation: Operation, data: bytes, lines: Sequence[bytes]
) -> int | None:
    """Return how much of a file that an operation may have replaced the transcript took over.

    None if the operation did not take place, as far as the next states tell.
    """
    following = _following(archive, operation, lines)
    if following is None:
        return None
    size = operation.before.n_bytes
    return size + _n_carried(data[size:], data[:size], following)


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


def _n_taken(taking: Taking, late: bytes, lines: Sequence[bytes]) -> int:
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
