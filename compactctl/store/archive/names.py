"""Where archive folders are, the names of archives in them, and their README."""

import errno
import os
import re
import shlex
from importlib import resources
from pathlib import Path
from typing import get_args

from compactctl.errors import UsageError
from compactctl.model.operation import ID_PATTERN, Digest, Operation, OperationKind
from compactctl.records import Record
from compactctl.store.client_folders import archives_folder, store_containing, this_machine
from compactctl.store.files.filesystem import is_folder

SUFFIX = ".archive"
README = "README"
DISPLACED = "displaced-"
"""Begins the names of displaced files."""
_KINDS = "|".join(get_args(OperationKind))
ARCHIVE_NAME = re.compile(
    rf"(?P<number>\d{{4,}})-(?P<kind>{_KINDS})-(?P<id>{ID_PATTERN})\.parquet",
    re.ASCII,
)
STATE_DIGITS = 12
"""The digits of its SHA-256 that name a first state."""
_STATE = re.compile(f"[0-9a-f]{{{STATE_DIGITS}}}")


class ArchiveFile(Record, kw_only=False, order=True):
    """An archive in its folder; archives sort in the order they were written."""

    number: int
    id: str
    path: Path


def archive_folder(transcript: Path) -> Path:
    """Return the folder of a transcript's archives, which need not exist.

    It is beside the file, symbolic links followed. For a session in a client's store it is in the
    user's state folder, unless only the one beside the session exists, where earlier versions put
    it.
    """
    path = Path(os.path.realpath(transcript)) if transcript.is_symlink() else transcript
    beside = path.with_name(path.name + SUFFIX)
    if store_containing(path, this_machine()) is None:
        return beside
    in_state_folder = _state_folder_for(path.parent) / beside.name
    if os.path.lexists(beside) and not os.path.lexists(in_state_folder):
        return beside
    return in_state_folder


def check_length(transcript: Path) -> None:
    """Raise UsageError if no folder can have the name of the archive folder of a transcript."""
    try:
        archive_folder(transcript).lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(
                f"{transcript}: its name is too long for an archive folder, which adds {SUFFIX}; "
                "rename the file, or write to a shorter name with -o"
            ) from error


def folders_for(parent: Path) -> tuple[Path, ...]:
    """Return the folders that hold the archive folders of the files in ``parent``."""
    is_in_store = store_containing(parent / README, this_machine()) is not None
    return (parent, _state_folder_for(parent)) if is_in_store else (parent,)


def transcript_of(folder: Path) -> Path:
    """Return the transcript that an archive folder belongs to."""
    root = os.path.realpath(archives_folder(this_machine()))
    parent = Path(os.path.realpath(folder.parent))
    name = folder.name.removesuffix(SUFFIX)
    if parent.is_relative_to(root):
        return Path(os.sep) / parent.relative_to(root) / name
    # with_name() raises for a path such as ".".
    return folder.parent / name


def _state_folder_for(parent: Path) -> Path:
    """Return the folder in the state folder for archives of the sessions in ``parent``."""
    return archives_folder(this_machine()) / os.path.realpath(parent).lstrip(os.sep)


def archive_files(folder: Path) -> tuple[ArchiveFile, ...]:
    """Return the archives in ``folder``, oldest first; other files are ignored."""
    paths = folder.glob("*.parquet") if is_folder(folder) else ()
    return tuple(sorted(filter(None, map(archive_file, paths))))


def archives_below(folder: Path) -> tuple[ArchiveFile, ...]:
    """Return the archives of all lineages in an archive folder."""
    return tuple(file for lineage in lineage_folders(folder) for file in archive_files(lineage))


def lineage_folders(folder: Path) -> tuple[Path, ...]:
    """Return an archive folder and the lineages in it; none if it does not exist."""
    return (folder, *filter(is_lineage, folder.iterdir())) if is_folder(folder) else ()


def archive_file(path: Path) -> ArchiveFile | None:
    """Return the archive that a path names, None for any other path."""
    match = ARCHIVE_NAME.fullmatch(path.name)
    return ArchiveFile(int(match["number"]), match["id"], path) if match else None


def lineage_folder(folder: Path, first: Digest) -> Path:
    """Return the folder, in an archive folder, for the operations that begin with another state.

    A transcript that is written over by one with another beginning has a lineage for each.
    """
    return folder / first.sha256[:STATE_DIGITS]


def is_lineage(path: Path) -> bool:
    """Return whether a path in an archive folder is that of a lineage."""
    return bool(_STATE.fullmatch(path.name)) and path.is_dir() and not path.is_symlink()


def archive_name(number: int, operation: Operation) -> str:
    """Return the file name of an operation's archive; ValueError if its id does not fit into it."""
    name = f"{number:04}-{operation.kind}-{operation.id}.parquet"
    if not ARCHIVE_NAME.fullmatch(name):
        raise ValueError(f"{operation.id!r} cannot be part of a file name")
    return name


def readme_text(folder: Path) -> bytes:
    """Return the README of an archive folder: what it belongs to, and how to restore by hand."""
    transcript, keep = folder.name.removesuffix(SUFFIX), "Keep it beside the transcript."
    if archives_folder(this_machine()) in folder.parents:
        transcript = str(transcript_of(folder))
        keep = "The transcript is a session in its client's store, so this folder is elsewhere."
    template = resources.files(__package__).joinpath("archive_readme.txt").read_text("utf-8")
    text = (
        template.replace("{transcript}", transcript)
        .replace("{quoted}", shlex.quote(transcript))
        .replace("{keep}", keep)
    )
    return text.encode("utf-8", "surrogateescape")
