"""Lists the archives of sessions, and forgets those that are not needed any more."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path

from compactctl.commands.operations.history import history_of
from compactctl.errors import CompactctlError, NoInputError, UsageError
from compactctl.sessions.reading.folders import FolderScanner
from compactctl.sessions.registry import newest_entries
from compactctl.store.archive.contents import read_contents
from compactctl.store.archive.lock import locked_folder
from compactctl.store.archive.names import SUFFIX, archive_files, transcript_of
from compactctl.store.client_folders import UserEnvironment, state_folder, store_containing
from compactctl.store.files.filesystem import FileSystem, disk_errors
from compactctl.store.files.source import open_input
from compactctl.store.files.stale_drafts import remove_stale_drafts

# So many characters of an id are enough to mean it, as they are for sessions.
_LEAST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivesOptions:
    """Which archives, and whether to forget them.

    ``names`` are paths, ids or beginnings of ids, none for all; ``dead`` are those of sessions
    that are gone. ``force`` forgets what a session that is there was compacted from.
    """

    names: tuple[str, ...] = ()
    dead: bool = False
    forget: bool = False
    dry_run: bool = False
    force: bool = False
    now: float


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivesResult:
    """The archives that were asked for, and whether they were forgotten, or would be.

    ``warnings`` name stores that could not be read, in which sessions may be that are not found.
    """

    options: ArchivesOptions
    machine: UserEnvironment
    archives: tuple[SessionArchive, ...]
    warnings: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """Where archives of sessions lie."""
        return str(state_folder(self.machine))

    @property
    def n_bytes(self) -> int:
        """What they take on disk."""
        return sum(each.n_bytes for each in self.archives)


def archives(options: ArchivesOptions, machine: UserEnvironment) -> ArchivesResult:
    """List archives of sessions, or forget them.

    Raises UsageError before anything is removed: for a name that means several, where nothing is
    named, and for the last way back of a session that is there. NoInputError for a name that means
    none.
    """
    if options.forget and not (options.names or options.dead):
        raise UsageError("name the sessions to forget archives of, or those that are gone: --dead")
    folders = FolderScanner()
    found = all_archives(machine, folders)
    chosen = tuple(_called(found, name) for name in options.names) if options.names else found
    chosen = tuple(dict.fromkeys(each for each in chosen if each.is_dead or not options.dead))
    if options.forget:
        _check(chosen, force=options.force)
        for each in () if options.dry_run else chosen:
            _forget(each, machine)
    return ArchivesResult(
        options=options, machine=machine, archives=chosen, warnings=tuple(folders.warnings)
    )


def all_archives(machine: UserEnvironment, folders: FolderScanner) -> tuple[SessionArchive, ...]:
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
                may_be_elsewhere=bool(folders.warnings)
                or not _is_store_there(each.session, machine)
                or _has_id(each.session, ids)
                or _is_packed(each.session),
            )
            for each in found
        ]
    return tuple(sorted(found, key=lambda each: (-each.modified, str(each.session))))


def _called(found: Sequence[SessionArchive], name: str) -> SessionArchive:
    meant = [each for each in found if each.is_called(name)]
    if not meant:
        raise NoInputError(f"{name}: no session of that name has an archive; list all there are")
    if len(meant) > 1:
        paths = ", ".join(str(each.session) for each in meant[:3])
        raise UsageError(f"{name}: may mean several ({paths}); name one by its path")
    return meant[0]


def _check(chosen: Sequence[SessionArchive], *, force: bool) -> None:
    needed = None if force else next((each for each in chosen if _is_needed(each)), None)
    if needed is not None and needed.is_moved:
        raise UsageError(
            f"{needed.session}: was moved, or its store cannot be read; this is the session's only "
            "way back; look for it with compactctl sessions, or forget it with --force"
        )
    if needed is not None:
        raise UsageError(
            f"{needed.session}: is compacted, and this is its only way back; rewind it first, or "
            "forget it with --force"
        )


def _is_needed(archive: SessionArchive) -> bool:
    """Tell whether a session was compacted and is there; so is one that cannot be told of."""
    if archive.is_dead:
        return False
    with suppress(CompactctlError):
        source = open_input(archive.session)
        return bool(history_of(source, str(archive.session)).chain)
    return True


def _forget(archive: SessionArchive, machine: UserEnvironment) -> None:
    """Remove what compactctl has put into the folder, and the folder when that leaves it empty.

    A document that was made for a client to import goes as well: it is compactctl's own.
    """
    fs, folder, root = FileSystem(), archive.folder, state_folder(machine)
    with disk_errors(folder, "removed in part"):
        with locked_folder(fs, folder):
            remove_stale_drafts(fs, folder)
            held = read_contents(folder)
            for path in (*(each.path for each in held.archives), *held.displaced):
                fs.unlink(path)
        if archive.session.is_relative_to(root) and archive.session.exists():
            fs.unlink(archive.session)
        for parent in folder.parents:
            if parent == root or any(parent.iterdir()):
                return
            fs.rmdir(parent)


def _archive(folder: Path) -> SessionArchive:
    files = [path.stat() for path in folder.iterdir() if path.is_file()]
    return SessionArchive(
        folder=folder,
        session=transcript_of(folder),
        operations=len(archive_files(folder)),
        n_bytes=sum(each.st_size for each in files),
        modified=max(each.st_mtime for each in files),
    )


def _folders(root: Path) -> Iterator[Path]:
    for at, folders, _ in os.walk(root):
        held = [each for each in folders if each.endswith(SUFFIX) and archive_files(Path(at, each))]
        folders[:] = [each for each in folders if each not in held]
        yield from (Path(at, each) for each in held)


def _is_store_there(session: Path, machine: UserEnvironment) -> bool:
    """Tell whether the store that a session lay in is there, as one on another disk may not be.

    A document that was made for a client to import lies in the user's state folder.
    """
    store = store_containing(session, machine)
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
