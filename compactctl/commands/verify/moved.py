"""Archive folders that stayed behind when their transcript was renamed."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from compactctl.commands.loading.discover import TRANSCRIPTS
from compactctl.commands.loading.folders import matches
from compactctl.errors import CompactctlError
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.names import SUFFIX, archive_files, archive_folder, transcript_of
from compactctl.store.files.lines import Source, open_input

# What a file with a record of ours has in it; most files need no parsing to tell.
_MARK = re.compile(rb'"compactctl":\s*\{')


def is_marked(source: Source) -> bool:
    """Tell whether a transcript seems to hold records of compactctl."""
    return any(map(_MARK.search, source.lines))


def moved_folder(path: Path, source: Source) -> Path | None:
    """Return the folder beside a transcript that has its archives under another's name.

    The other transcript is not there, and this one is in a state after an operation in it.
    """
    data = b"".join(source.lines)
    found = [folder for folder in _abandoned(path.parent) if _knows(folder, data)]
    return found[0] if len(found) == 1 else None


def moved_transcript(folder: Path) -> Path | None:
    """Return the transcript beside an abandoned folder whose archives are in it.

    One without records of compactctl is none: the original that was compacted into another file
    is in the state that a rewind of that file restores, and has no need of its archives.
    """
    for path in sorted(folder.parent.iterdir()):
        is_free = not archive_files(archive_folder(path))
        if path.is_file() and is_free and matches(path.name, TRANSCRIPTS):
            with suppress(CompactctlError):
                source = open_input(path)
                if is_marked(source) and moved_folder(path, source) == folder:
                    return path
    return None


def _abandoned(parent: Path) -> Iterator[Path]:
    for folder in sorted(parent.glob(f"*{SUFFIX}")):
        if not transcript_of(folder).exists() and archive_files(folder):
            yield folder


def _knows(folder: Path, data: bytes) -> bool:
    with suppress(CompactctlError):
        return Archive(folder).current(data)[0] is not None
    return False
