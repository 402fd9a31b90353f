"""The archives in the user's state folder, and the sessions that they are for."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compactctl.store.archive.names import SUFFIX, archive_files, transcript_of
from compactctl.store.places import Machine, state_folder

# So many characters of an id are enough to mean it, as they are for sessions.
_LEAST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionArchive:
    """The archive folder of a session.

    ``session`` is the session's file, which need not be there; ``modified`` is in seconds since
    the epoch.
    """

    folder: Path
    session: Path
    operations: int
    n_bytes: int
    modified: float

    @property
    def is_dead(self) -> bool:
        """Whether the session is gone."""
        return not self.session.exists()

    def is_called(self, name: str) -> bool:
        """Tell whether a path, an id, or the beginning of one means this archive."""
        if os.path.realpath(name) in map(os.path.realpath, (self.folder, self.session)):
            return True
        own = {*self.session.name.split("."), self.session.parent.name, self.session.stem[-36:]}
        own |= {each.rpartition("_")[2] for each in tuple(own)}
        return len(name) >= _LEAST and any(each.startswith(name) for each in own)


def all_archives(machine: Machine) -> tuple[SessionArchive, ...]:
    """Return the archives there are, the newest first; what cannot be looked into is left out."""
    found = (_archive(folder) for folder in _folders(state_folder(machine)))
    return tuple(sorted(found, key=lambda each: (-each.modified, str(each.session))))


def _folders(root: Path) -> Iterator[Path]:
    for at, folders, _ in os.walk(root):
        held = [each for each in folders if each.endswith(SUFFIX) and archive_files(Path(at, each))]
        folders[:] = [each for each in folders if each not in held]
        yield from (Path(at, each) for each in held)


def _archive(folder: Path) -> SessionArchive:
    files = [path.stat() for path in folder.iterdir() if path.is_file()]
    return SessionArchive(
        folder=folder,
        session=transcript_of(folder),
        operations=len(archive_files(folder)),
        n_bytes=sum(each.st_size for each in files),
        modified=max(each.st_mtime for each in files),
    )
