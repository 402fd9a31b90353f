"""Outputs that are saved whole before a part of them is shown."""

from pathlib import Path

from compactctl.errors import UsageError
from compactctl.store.files.filesystem import DiskError, FileSystem, make_folders
from compactctl.store.files.locks import require_locks
from compactctl.store.files.source import digest_of, sha256_of
from compactctl.store.files.stale_drafts import remove_stale_drafts
from compactctl.store.files.temp_file import TempFile

# 128 bits of the digest, so that two outputs never share a name.
_NAME_DIGITS = 32


def save_output(fs: FileSystem, folder: Path, data: bytes) -> Path:
    """Save an output in ``folder``, for its owner only, under a name made from its SHA-256.

    The folder is made when it is missing. Returns the absolute path.

    Raises:
        UsageError: a file of that name holds something else, or the system has no file locks.
        DiskError: the output is not saved; the line says why and what to do.
    """
    require_locks()
    folder = folder.absolute()
    becomes = digest_of(data)
    place = folder / f"{becomes.sha256[:_NAME_DIGITS]}.txt"
    try:
        if place.exists() and sha256_of(place) != becomes.sha256:
            raise UsageError(
                f"{place}: exists and is not known to be what compactctl wrote there; "
                "name another folder with --spill-dir"
            )
        make_folders(fs, folder)
        remove_stale_drafts(fs, folder)
        with TempFile(fs, place) as draft:
            draft.write(data)
            draft.sync()
            draft.publish_or_warn()
    except OSError as error:
        why = error.strerror or str(error)
        raise DiskError(
            f"{folder}: {why}; the full output is not saved; name another folder with --spill-dir"
        ) from error
    return place
