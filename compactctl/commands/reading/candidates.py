"""Finds the transcripts in a folder that a command without FILE may have meant."""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from compactctl.commands.reading.discover import TRANSCRIPTS, is_compacted_name
from compactctl.commands.reading.transcript import split
from compactctl.commands.reading.trees import matches
from compactctl.errors import CompactctlError, NotUnderstoodError
from compactctl.records import Record
from compactctl.store.archive.names import archive_files, archive_folder
from compactctl.store.files.source import read_head, split_lines
from compactctl.store.files.stale_drafts import DRAFT

MAX_CANDIDATES = 15
"""How many candidates are listed."""
HEAD_BYTES = 1 << 18
"""Bytes read of each to detect its format; the longest session headers are a tenth of that."""


class Candidate(Record):
    """A file that may be meant.

    ``modified`` is in seconds since the epoch. ``format`` is empty if the first bytes do not tell.
    """

    name: str
    n_bytes: int
    modified: float
    format: str


class Candidates(Record):
    """The newest candidates of a folder, newest first; ``more`` older files were not examined.

    ``compacted`` means that only files written by compactctl were considered.
    """

    folder: Path
    compacted: bool
    files: tuple[Candidate, ...]
    more: int = 0


NO_CANDIDATES = Candidates(folder=Path(), compacted=False, files=())


def find_candidates(folder: Path, *, compacted: bool) -> Candidates:
    """Find the transcripts directly in a folder, or only those with a compaction to undo.

    Reads only the first bytes of each. Skips unreadable files and those that are not transcripts.
    """
    files = sorted(_files(folder, compacted=compacted), key=_age)
    rows = ((index, _candidate(file, status)) for index, (file, status) in enumerate(files))
    transcripts = ((index, candidate) for index, candidate in rows if candidate is not None)
    newest = list(islice(transcripts, MAX_CANDIDATES))
    last_index = newest[-1][0] if len(newest) == MAX_CANDIDATES else len(files) - 1
    return Candidates(
        folder=folder,
        compacted=compacted,
        files=tuple(candidate for _, candidate in newest),
        more=len(files) - 1 - last_index,
    )


def _files(folder: Path, *, compacted: bool) -> Iterator[tuple[Path, os.stat_result]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            path = folder / entry.name
            with suppress(OSError):
                if _is_wanted(path, compacted=compacted) and entry.is_file():
                    yield path, entry.stat()


def _is_wanted(path: Path, *, compacted: bool) -> bool:
    if DRAFT.fullmatch(path.name):
        return False
    if compacted and archive_files(archive_folder(path)):
        return True
    is_named = matches(path.name, TRANSCRIPTS)
    return is_named and (not compacted or is_compacted_name(path.name))


def _age(file: tuple[Path, os.stat_result]) -> tuple[float, str]:
    path, status = file
    return -status.st_mtime, path.name


def _candidate(path: Path, status: os.stat_result) -> Candidate | None:
    try:
        name = _format(path)
    except CompactctlError:
        return None
    return Candidate(name=path.name, n_bytes=status.st_size, modified=status.st_mtime, format=name)


def _format(path: Path) -> str:
    """Return the name of a file's format, "" if its first bytes do not tell.

    Raises NotUnderstoodError if they are the whole file, and NoInputError as ``open_input`` does.
    """
    head = read_head(path, HEAD_BYTES)
    is_whole = len(head) < HEAD_BYTES
    lines = split_lines(head) if is_whole else split_lines(head)[:-1]
    try:
        return split(lines, path.name, None)[1].name
    except NotUnderstoodError:
        if is_whole:
            raise
        return ""
