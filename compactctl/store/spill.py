"""Outputs that are saved whole before a part of them is shown."""

import hashlib
from pathlib import Path

from compactctl.store.draft import Draft
from compactctl.store.errors import DiskError
from compactctl.store.filesystem import FileSystem

# 128 bits of the digest, so that two outputs never share a name.
_NAME_DIGITS = 32


def spill(fs: FileSystem, folder: Path, data: bytes) -> Path:
    """Save an output in ``folder``, for its owner only, under a name made from its SHA-256.

    The folder is made when it is missing. Returns the absolute path.

    Raises:
        DiskError: the output is not saved; the line says why and what to do.
    """
    folder = folder.absolute()
    place = folder / f"{hashlib.sha256(data).hexdigest()[:_NAME_DIGITS]}.txt"
    try:
        _make(fs, folder)
        with Draft(fs, place) as draft:
            draft.write(data)
            draft.sync()
            draft.publish()
    except OSError as error:
        why = error.strerror or str(error)
        raise DiskError(
            f"{folder}: {why}; the full output is not saved; name another folder with --spill-dir"
        ) from error
    return place


def _make(fs: FileSystem, folder: Path) -> None:
    for each in (*reversed(folder.parents), folder):
        if not each.is_dir():
            fs.mkdir(each)
