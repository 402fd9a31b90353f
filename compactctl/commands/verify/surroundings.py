"""What stands beside transcripts: drafts, and archive folders that a renamed one left behind."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path

from compactctl.commands.reading.discover import TRANSCRIPTS, matches
from compactctl.errors import CompactctlError
from compactctl.model.operation import Digest
from compactctl.store.archive.archive import Archive, matching_states
from compactctl.store.archive.names import (
    SUFFIX,
    archive_files,
    archive_folder,
    folders_for,
    transcript_of,
)
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import Source, open_input
from compactctl.store.files.stale_drafts import remove_stale_drafts, stale_drafts

# What a file with a record of ours has in it; most files need no parsing to tell.
_MARK = re.compile(rb'compactctl\\*":\s*\{')
_LINE_ENDS = (b"", b"\n", b"\r\n")


def is_marked(source: Source) -> bool:
    """Tell whether a transcript seems to hold records of compactctl."""
    return any(map(_MARK.search, source.lines))


class Surroundings:
    """The files and folders in one folder, looked at once for all transcripts in it.

    Each kind is what it was when first asked for. Raises OSError.
    """

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._is_swept = False

    @cached_property
    def drafts(self) -> tuple[Path, ...]:
        """The drafts that killed runs left behind."""
        return tuple(stale_drafts(self._parent))

    def sweep(self, fs: FileSystem) -> None:
        """Remove the drafts, for all transcripts in the folder: the second time nothing is done."""
        if not self._is_swept:
            remove_stale_drafts(fs, self._parent)
            self._is_swept = True

    def folder_of(self, source: Source) -> Path | None:
        """Return the folder that has a transcript's archives under another's name.

        The other transcript is not there, and this one is in a state after an operation in it.
        """
        candidates = self._begun(source)
        if not candidates:
            return None
        data = b"".join(source.lines)
        found = [each.folder for each in candidates if _knows(each, data)]
        return found[0] if len(found) == 1 else None

    def transcript_of(self, folder: Path) -> Path | None:
        """Return the transcript whose archives are in an abandoned folder.

        One without records of compactctl is none: the original that was compacted into another
        file is in the state that a rewind of that file restores, and has no need of its archives.
        """
        return self._moved.get(folder)

    @cached_property
    def _moved(self) -> Mapping[Path, Path]:
        found: dict[Path, Path] = {}
        for path in sorted(self._parent.iterdir()) if self._outcomes else ():
            if not _is_alone(path):
                continue
            with suppress(CompactctlError):
                source = open_input(path)
                folder = self.folder_of(source) if is_marked(source) else None
                if folder is not None:
                    found.setdefault(folder, path)
        return found

    def _begun(self, source: Source) -> tuple[Archive, ...]:
        """Return the abandoned archives that lead to something a transcript begins with."""
        ends = tuple(accumulate(map(len, source.lines)))
        # A state may end before a line end, when that came with what was appended.
        sizes = {end - len(more) for end in ends for more in _LINE_ENDS}
        states = [each for size in sizes & self._sizes.keys() for each in self._sizes[size]]
        found = matching_states(source.lines, states)
        archives = (archive for state in found for archive in self._outcomes[state])
        return tuple({archive.folder: archive for archive in archives}.values())

    @cached_property
    def _sizes(self) -> Mapping[int, list[Digest]]:
        """The outcomes by their size, so that few of them are compared with a transcript."""
        found: dict[int, list[Digest]] = defaultdict(list)
        for state in self._outcomes:
            found[state.n_bytes].append(state)
        return found

    @cached_property
    def _outcomes(self) -> Mapping[Digest, list[Archive]]:
        """The states after the operations in abandoned folders, and who leads there."""
        found: dict[Digest, list[Archive]] = defaultdict(list)
        for archive in map(Archive, _abandoned(self._parent)):
            with suppress(CompactctlError):
                for operation in archive.operations:
                    found[operation.after].append(archive)
        return found


class SurroundingsByFolder(dict[Path, Surroundings]):
    """The surroundings in every folder that is asked for."""

    def __missing__(self, parent: Path) -> Surroundings:
        """Look at one more folder."""
        self[parent] = found = Surroundings(parent)
        return found


def _is_alone(path: Path) -> bool:
    if not matches(path.name, TRANSCRIPTS) or not path.is_file():
        return False
    return not archive_files(archive_folder(path))


def _abandoned(parent: Path) -> Iterator[Path]:
    found = (sorted(place.glob(f"*{SUFFIX}")) for place in folders_for(parent))
    for folder in chain.from_iterable(found):
        if not transcript_of(folder).exists() and archive_files(folder):
            yield folder


def _knows(archive: Archive, data: bytes) -> bool:
    with suppress(CompactctlError):
        return archive.match_transcript(data)[0] is not None
    return False
