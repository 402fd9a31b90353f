"""Finds drafts beside transcripts, and archive folders left behind by a renamed transcript."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path

from compactctl.commands.operations.find_history import fits
from compactctl.commands.reading.discover import TRANSCRIPTS
from compactctl.commands.reading.trees import matches
from compactctl.errors import CompactctlError
from compactctl.model.operation import Digest
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.growth import matching_states
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

# Every file with a record of ours matches; most files need no parsing.
_MARK = re.compile(rb'compactctl\\*":\s*\{')
_LINE_ENDS = (b"", b"\n", b"\r\n")


def is_marked(source: Source) -> bool:
    """Return whether a transcript seems to hold records written by compactctl."""
    return any(map(_MARK.search, source.lines))


class Surroundings:
    """The drafts and archive folders in one folder, read once for all transcripts in it.

    Everything is computed on first access. Raises OSError.
    """

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._is_swept = False

    @cached_property
    def drafts(self) -> tuple[Path, ...]:
        """The drafts left behind by killed runs."""
        return tuple(stale_drafts(self._parent))

    def sweep(self, fs: FileSystem) -> None:
        """Remove the drafts; a second call does nothing."""
        if not self._is_swept:
            remove_stale_drafts(fs, self._parent)
            self._is_swept = True

    def folder_of(self, source: Source) -> Path | None:
        """Return the folder that holds a transcript's archives under another name.

        That other transcript does not exist, and this one is in a state after one of its
        operations.
        """
        candidates = self._begun(source)
        if not candidates:
            return None
        folders = [archive.folder for archive in candidates if fits(archive, source)]
        return folders[0] if len(folders) == 1 else None

    def transcript_of(self, folder: Path) -> Path | None:
        """Return the transcript whose archives are in an abandoned folder.

        It must hold records of compactctl: the original that was compacted into another file is in
        the state that a rewind of that file restores, but does not need its archives.
        """
        return self._moved.get(folder)

    @cached_property
    def _moved(self) -> Mapping[Path, Path]:
        transcript_by_folder: dict[Path, Path] = {}
        is_searched = self._outcomes and self._parent.is_dir()
        for path in sorted(self._parent.iterdir()) if is_searched else ():
            if not _is_alone(path):
                continue
            with suppress(CompactctlError):
                source = open_input(path)
                folder = self.folder_of(source) if is_marked(source) else None
                if folder is not None:
                    transcript_by_folder.setdefault(folder, path)
        return transcript_by_folder

    def _begun(self, source: Source) -> tuple[Archive, ...]:
        """Return the abandoned archives with an outcome that a transcript begins with."""
        ends = tuple(accumulate(map(len, source.lines)))
        # A state may end before a line end, if that was written with what was appended.
        sizes = {end - len(line_end) for end in ends for line_end in _LINE_ENDS}
        states = [outcome for size in sizes & self._sizes.keys() for outcome in self._sizes[size]]
        reached = matching_states(source.lines, states)
        archives = (archive for state in reached for archive in self._outcomes[state])
        return tuple({archive.folder: archive for archive in archives}.values())

    @cached_property
    def _sizes(self) -> Mapping[int, list[Digest]]:
        """The outcomes by size, so that few of them are compared with a transcript."""
        outcomes_by_size: dict[int, list[Digest]] = defaultdict(list)
        for state in self._outcomes:
            outcomes_by_size[state.n_bytes].append(state)
        return outcomes_by_size

    @cached_property
    def _outcomes(self) -> Mapping[Digest, list[Archive]]:
        """The outcomes of the operations in abandoned folders, and their archives."""
        archives_by_outcome: dict[Digest, list[Archive]] = defaultdict(list)
        for archive in map(Archive, _abandoned(self._parent)):
            for lineage in archive.lineages:
                with suppress(CompactctlError):
                    for operation in lineage.operations:
                        archives_by_outcome[operation.after].append(archive)
        return archives_by_outcome


class SurroundingsByFolder(dict[Path, Surroundings]):
    """The surroundings of each folder, computed on first access."""

    def __missing__(self, parent: Path) -> Surroundings:
        """Add the surroundings of a folder."""
        self[parent] = surroundings = Surroundings(parent)
        return surroundings


def _is_alone(path: Path) -> bool:
    if not matches(path.name, TRANSCRIPTS) or not path.is_file():
        return False
    return not archive_files(archive_folder(path))


def _abandoned(parent: Path) -> Iterator[Path]:
    folders_in_places = (
        sorted(parent_folder.glob(f"*{SUFFIX}")) for parent_folder in folders_for(parent)
    )
    for folder in chain.from_iterable(folders_in_places):
        if not transcript_of(folder).exists() and archive_files(folder):
            yield folder
