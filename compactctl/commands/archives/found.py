"""The archives in the user's state folder, and the sessions that they are for."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path

from compactctl.sessions.reading.folders import Folders
from compactctl.sessions.registry import newest_entries
from compactctl.store.archive.names import SUFFIX, archive_files, transcript_of
from compactctl.store.places import Machine, state_folder, store_holding

# So many characters of an id are enough to mean it, as they are for sessions.
_LEAST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionArchive:
    """The archive folder of a session.

    ``session`` is the session's file, which need not exist; ``modified`` is in seconds since the
    epoch. ``may_be_elsewhere`` says that a store has a session of that id at another place, that a
    store is missing or could not be read, or that the file was packed.
    """

    folder: Path
    session: Path
    operations: int
    n_bytes: int
    modified: float
    may_be_elsewhere: bool = False

    @property
    def is_dead(self) -> bool:
        """Whether the session is gone: not at its place, and in no store under its id."""
        return not self.may_be_elsewhere and not self.session.exists()

    @property
    def is_moved(self) -> bool:
        """Whether the session is not at its place, and may be at another one."""
        return self.may_be_elsewhere and not self.session.exists()

    def is_called(self, name: str) -> bool:
        """Tell whether a path, an id, or the beginning of one means this archive."""
        if os.path.realpath(name) in map(os.path.realpath, (self.folder, self.session)):
            return True
        own = {*self.session.name.split("."), self.session.parent.name, self.session.stem[-36:]}
        own |= {each.rpartition("_")[2] for each in tuple(own)}
        return len(name) >= _LEAST and any(each.startswith(name) for each in own)


def all_archives(machine: Machine, folders: Folders) -> tuple[SessionArchive, ...]:
    """Return the archives there are, the newest first; what cannot be looked into is left out.

    ``folders`` notes the stores that could not be read, in which a session may be that is not at
    its place.
    """
    found = [_archive(folder) for folder in _folders(state_folder(machine))]
    if any(each.is_dead for each in found):
        ids = {entry.id for entry in newest_entries(machine, folders)}
        found = [
            replace(
                each,
                may_be_elsewhere=bool(folders.notes)
                or not _is_store_there(each.session, machine)
                or _has_id(each.session, ids)
                or _is_packed(each.session),
            )
            for each in found
        ]
    return tuple(sorted(found, key=lambda each: (-each.modified, str(each.session))))


def _is_store_there(session: Path, machine: Machine) -> bool:
    """Tell whether the store that a session lay in is there, as one on another disk may not be.

    A document that was made for a client to import lies in the user's state folder.
    """
    store = store_holding(session, machine)
    return session.is_relative_to(state_folder(machine)) or (store is not None and store.is_dir())


def _has_id(session: Path, ids: Iterable[str]) -> bool:
    """Tell whether a file, or the folder that a client has for it, is named by one of the ids.

    A client that archives or packs a session keeps the id in its name.
    """
    names = (session.name, session.parent.name)
    return any(each in name for each in ids if len(each) >= _LEAST for name in names)


def _is_packed(session: Path) -> bool:
    """Tell whether a file beside the session's place has its name and an ending more, as .gz."""
    return any(path.is_file() for path in session.parent.glob(f"{escape(session.name)}.*"))


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
