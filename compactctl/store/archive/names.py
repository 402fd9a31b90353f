"""What stands in an archive folder: names, numbers and the README."""

import os
import re
import shlex
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from compactctl.model.operation import Operation
from compactctl.store.client_folders import archives_folder, store_containing, this_machine

SUFFIX = ".archive"
README = "README"
ID_PATTERN = re.compile(r"[\w-]+", re.ASCII)
"""How the id of an operation is spelled, which is part of a file's name."""
ARCHIVE_NAME = re.compile(
    rf"(?P<number>\d{{4,}})-(?P<kind>compact|undo|rewind)-(?P<id>{ID_PATTERN.pattern})\.parquet",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, order=True)
class ArchiveFile:
    """One archive in its folder; they sort in the order in which they were written."""

    number: int
    id: str
    path: Path


def archive_folder(transcript: Path) -> Path:
    """Return the folder that holds a transcript's archives, which need not exist.

    It is beside the file and not beside a link. For a session in a client's store it is in the
    user's state folder, unless there is one beside the session alone, as earlier versions put it.
    """
    place = Path(os.path.realpath(transcript)) if transcript.is_symlink() else transcript
    beside = place.with_name(place.name + SUFFIX)
    if store_containing(place, this_machine()) is None:
        return beside
    apart = _state_folder_for(place.parent) / beside.name
    return beside if os.path.lexists(beside) and not os.path.lexists(apart) else apart


def folders_for(parent: Path) -> tuple[Path, ...]:
    """Return where the archive folders of what lies in a folder are; the places need not exist."""
    is_in_store = store_containing(parent / README, this_machine()) is not None
    return (parent, _state_folder_for(parent)) if is_in_store else (parent,)


def transcript_of(folder: Path) -> Path:
    """Return the transcript that an archive folder is for."""
    root = archives_folder(this_machine())
    name = folder.name.removesuffix(SUFFIX)
    if root in folder.parents:
        return Path(os.sep) / folder.parent.relative_to(root) / name
    # One such as . has no name that another could take the place of.
    return folder.parent / name


def _state_folder_for(parent: Path) -> Path:
    """Return the folder for the archives of sessions that lie in ``parent``, by its own path."""
    return archives_folder(this_machine()) / os.path.realpath(parent).lstrip(os.sep)


def archive_files(folder: Path) -> tuple[ArchiveFile, ...]:
    """Return the archives in ``folder``, oldest first; other files are ignored."""
    found = ((ARCHIVE_NAME.fullmatch(path.name), path) for path in folder.glob("*.parquet"))
    return tuple(sorted(ArchiveFile(int(m["number"]), m["id"], path) for m, path in found if m))


def archive_name(number: int, operation: Operation) -> str:
    """Return the file name of an operation's archive; ValueError if its id is not a plain word."""
    name = f"{number:04}-{operation.kind}-{operation.id}.parquet"
    if not ARCHIVE_NAME.fullmatch(name):
        raise ValueError(f"{operation.id!r} cannot be part of a file name")
    return name


def readme_text(folder: Path) -> bytes:
    """Return the README of an archive folder: whose it is, and how to go back by hand."""
    transcript, keep = folder.name.removesuffix(SUFFIX), "Keep it beside the transcript."
    if archives_folder(this_machine()) in folder.parents:
        transcript = str(transcript_of(folder))
        keep = "The transcript is a session in its client's store, which this is kept out of."
    template = resources.files(__package__).joinpath("archive_readme.txt").read_text("utf-8")
    text = (
        template.replace("{transcript}", transcript)
        .replace("{quoted}", shlex.quote(transcript))
        .replace("{keep}", keep)
    )
    return text.encode("utf-8", "surrogateescape")
