"""Lists the archives of sessions, and deletes those that are no longer needed."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from glob import escape
from pathlib import Path

from compactctl.asks import INPUT, OUTPUT, WRITES, flag
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.stores import newest_entries
from compactctl.commands.operations.find_history import history_of
from compactctl.errors import CompactctlError, NoInputError, UsageError
from compactctl.records import Record, replace
from compactctl.store.archive.contents import read_contents
from compactctl.store.archive.growth import operation_of_line
from compactctl.store.archive.lock import locked_folder
from compactctl.store.archive.names import (
    SUFFIX,
    archive_files,
    archives_below,
    lineage_folders,
    transcript_of,
)
from compactctl.store.archive.permissions import infos_in
from compactctl.store.client_folders import UserEnvironment, state_folder, store_containing
from compactctl.store.files.filesystem import FileSystem, disk_errors
from compactctl.store.files.source import open_input
from compactctl.store.files.stale_drafts import remove_stale_drafts

# The minimum length of an abbreviated id, as for sessions.
_MIN_ID_LENGTH = 4


class ArchivesOptions(Record):
    """Which archives, and whether to delete them.

    ``names`` are paths, ids or beginnings of ids, none for all.
    """

    now: float
    names: tuple[str, ...] = ()
    dead: bool = flag("Only archives whose session no longer exists.", INPUT, WRITES)
    forget: bool = flag("Delete the archives of SESSIONS, or those of --dead.", OUTPUT, WRITES)
    dry_run: bool = flag("Show what --forget would delete; delete nothing.", OUTPUT, WRITES)
    force: bool = flag(
        "Also delete archives that a compacted session still needs for rewind.",
        OUTPUT,
        WRITES,
        short="-f",
    )


class SessionArchive(Record):
    """The archive folder of a session.

    ``session`` is the session's file, which need not exist; ``modified`` is in seconds since the
    epoch. ``may_be_elsewhere`` means that a store has a session of that id at another path, that a
    store is missing or could not be read, or that the file was compressed.
    """

    folder: Path
    session: Path
    operations: int
    n_bytes: int
    modified: float
    may_be_elsewhere: bool = False

    @property
    def is_dead(self) -> bool:
        """Whether the session was deleted: it is not at its path, and in no store under its id."""
        return not self.may_be_elsewhere and not self.session.exists()

    @property
    def is_moved(self) -> bool:
        """Whether the session is not at its path, but may be at another one."""
        return self.may_be_elsewhere and not self.session.exists()

    def matches(self, name: str) -> bool:
        """Return whether a path, an id, or the beginning of one means this archive."""
        if os.path.realpath(name) in map(os.path.realpath, (self.folder, self.session)):
            return True
        names = {*self.session.name.split("."), self.session.parent.name, self.session.stem[-36:]}
        names |= {part.rpartition("_")[2] for part in tuple(names)}
        return len(name) >= _MIN_ID_LENGTH and any(part.startswith(name) for part in names)


class ArchivesResult(Record):
    """The selected archives; with ``forget`` those that were deleted, or would be.

    ``warnings`` name stores that could not be read, in which missing sessions may be.
    """

    options: ArchivesOptions
    machine: UserEnvironment
    archives: tuple[SessionArchive, ...]
    warnings: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The folder of all archives of sessions."""
        return str(state_folder(self.machine))

    @property
    def n_bytes(self) -> int:
        """Their size on disk."""
        return sum(archive.n_bytes for archive in self.archives)


def archives(options: ArchivesOptions, machine: UserEnvironment) -> ArchivesResult:
    """List archives of sessions, or delete them.

    Raises UsageError before anything is deleted: for an ambiguous name, if nothing is named, and
    for the archive of a session that is still compacted. NoInputError for a name that matches none.
    """
    if options.forget and not (options.names or options.dead):
        raise UsageError("name the sessions whose archives to delete, or use --dead")
    folders = FolderScanner()
    candidates = find_archives(machine, folders)
    chosen = (
        tuple(_find_by_name(candidates, name) for name in options.names)
        if options.names
        else candidates
    )
    chosen = tuple(
        dict.fromkeys(archive for archive in chosen if archive.is_dead or not options.dead)
    )
    if options.forget:
        _check(chosen, force=options.force)
        for archive in () if options.dry_run else chosen:
            _forget(archive, machine)
    return ArchivesResult(
        options=options, machine=machine, archives=chosen, warnings=tuple(folders.warnings)
    )


def find_archives(machine: UserEnvironment, folders: FolderScanner) -> tuple[SessionArchive, ...]:
    """Return all archives, newest first, except unreadable ones.

    ``folders`` collects the stores that could not be read, in which a missing session may be.
    """
    archives_found = [_archive(folder) for folder in _folders(state_folder(machine))]
    if any(archive.is_dead for archive in archives_found):
        ids = {entry.id for entry in newest_entries(machine, folders)}
        archives_found = [
            replace(
                archive,
                may_be_elsewhere=bool(folders.warnings)
                or not _is_store_there(archive.session, machine)
                or _has_id(archive.session, ids)
                or _is_packed(archive.session),
            )
            for archive in archives_found
        ]
    return tuple(
        sorted(archives_found, key=lambda archive: (-archive.modified, str(archive.session)))
    )


def _find_by_name(candidates: Sequence[SessionArchive], name: str) -> SessionArchive:
    matching = [archive for archive in candidates if archive.matches(name)]
    if not matching:
        raise NoInputError(f"{name}: no archive of this session; see compactctl archive")
    if len(matching) > 1:
        paths = ", ".join(str(archive.session) for archive in matching[:3])
        raise UsageError(f"{name}: ambiguous ({paths}); use a path")
    return matching[0]


def _check(chosen: Sequence[SessionArchive], *, force: bool) -> None:
    needed = None if force else next((archive for archive in chosen if _is_needed(archive)), None)
    if needed is not None and needed.is_moved:
        raise UsageError(
            f"{needed.session}: moved, or its store cannot be read; without this archive it "
            "cannot be restored; find it with compactctl sessions, or use --force"
        )
    if needed is not None:
        raise UsageError(
            f"{needed.session}: still compacted; without this archive it cannot be restored; "
            "rewind it first, or use --force"
        )


def _is_needed(archive: SessionArchive) -> bool:
    """Return whether a session exists and is compacted, may be, or has records of ours."""
    if archive.is_dead:
        return False
    with suppress(CompactctlError):
        source = open_input(archive.session)
        # An appended rewind leaves in the session what it undoes.
        has_records = any(map(operation_of_line, source.lines))
        return has_records or bool(history_of(source, str(archive.session)).chain)
    return True


def _forget(archive: SessionArchive, machine: UserEnvironment) -> None:
    """Delete the files that compactctl wrote to the folder, and the folder if it is empty then.

    A document that was written for a client to import is deleted as well.
    """
    fs, folder, root = FileSystem(), archive.folder, state_folder(machine)
    with disk_errors(folder, "removed in part"):
        with locked_folder(fs, folder):
            for lineage in reversed(lineage_folders(folder)):
                remove_stale_drafts(fs, lineage)
                contents = read_contents(lineage)
                for path in (*(archive.path for archive in contents.archives), *contents.displaced):
                    fs.unlink(path)
                if lineage != folder and not any(lineage.iterdir()):
                    fs.rmdir(lineage)
        if archive.session.is_relative_to(root) and archive.session.exists():
            fs.unlink(archive.session)
        for parent in folder.parents:
            if parent == root or any(parent.iterdir()):
                return
            fs.rmdir(parent)


def _archive(folder: Path) -> SessionArchive:
    lineages = lineage_folders(folder)
    infos = [
        info for lineage in lineages for info in infos_in(lineage) if stat.S_ISREG(info.st_mode)
    ]
    return SessionArchive(
        folder=folder,
        session=transcript_of(folder),
        operations=len(archives_below(folder)),
        n_bytes=sum(info.st_size for info in infos),
        modified=max((info.st_mtime for info in infos), default=0),
    )


def _folders(root: Path) -> Iterator[Path]:
    for parent, folders, _ in os.walk(root):
        archive_names = [
            name for name in folders if name.endswith(SUFFIX) and archive_files(Path(parent, name))
        ]
        folders[:] = [name for name in folders if name not in archive_names]
        yield from (Path(parent, name) for name in archive_names)


def _is_store_there(session: Path, machine: UserEnvironment) -> bool:
    """Return whether the store of a session exists; one on another disk may not be mounted.

    Documents written for a client to import are in the user's state folder.
    """
    store = store_containing(session, machine)
    return session.is_relative_to(state_folder(machine)) or (store is not None and store.is_dir())


def _has_id(session: Path, ids: Iterable[str]) -> bool:
    """Return whether one of the ids is in the name of a file or of its folder.

    Clients that archive or compress a session keep the id in its name.
    """
    names = (session.name, session.parent.name)
    return any(
        session_id in name
        for session_id in ids
        if len(session_id) >= _MIN_ID_LENGTH
        for name in names
    )


def _is_packed(session: Path) -> bool:
    """Whether a compressed file with the session's name and a suffix, as .gz, is beside it."""
    return any(path.is_file() for path in session.parent.glob(f"{escape(session.name)}.*"))
