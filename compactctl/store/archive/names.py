"""What stands in an archive folder: names, numbers and the README."""

import os
import re
import shlex
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from compactctl.model.operation import Operation

SUFFIX = ".archive"
README = "README"
ID = re.compile(r"[\w-]+", re.ASCII)
"""How the id of an operation is spelled, which is part of a file's name."""
NAME = re.compile(
    rf"(?P<number>\d{{4,}})-(?P<kind>compact|rewind)-(?P<id>{ID.pattern})\.parquet", re.ASCII
)


@dataclass(frozen=True, slots=True, order=True)
class ArchiveFile:
    """One archive in its folder; they sort in the order in which they were written."""

    number: int
    id: str
    path: Path


def archive_folder(transcript: Path) -> Path:
    """Return the folder that holds a transcript's archives, beside the file and not beside a link.

    The folder need not exist.
    """
    place = Path(os.path.realpath(transcript)) if transcript.is_symlink() else transcript
    return place.with_name(place.name + SUFFIX)


def transcript_of(folder: Path) -> Path:
    """Return the transcript that an archive folder stands beside."""
    return folder.with_name(folder.name.removesuffix(SUFFIX))


def archive_files(folder: Path) -> tuple[ArchiveFile, ...]:
    """Return the archives in ``folder``, oldest first; other files are ignored."""
    found = ((NAME.fullmatch(path.name), path) for path in folder.glob("*.parquet"))
    return tuple(sorted(ArchiveFile(int(m["number"]), m["id"], path) for m, path in found if m))


def archive_name(number: int, operation: Operation) -> str:
    """Return the file name of an operation's archive; ValueError if its id is not a plain word."""
    name = f"{number:04}-{operation.kind}-{operation.id}.parquet"
    if not NAME.fullmatch(name):
        raise ValueError(f"{operation.id!r} cannot be part of a file name")
    return name


def readme_text(folder: Path) -> bytes:
    """Return the README of an archive folder: whose it is, and how to go back by hand."""
    transcript = folder.name.removesuffix(SUFFIX)
    template = resources.files(__package__).joinpath("archive_readme.txt").read_text("utf-8")
    text = template.replace("{transcript}", transcript).replace("{quoted}", shlex.quote(transcript))
    return text.encode("utf-8", "surrogateescape")
