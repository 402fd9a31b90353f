"""Save the full output of a tool before it is truncated."""

from pathlib import Path

from compactctl.errors import ChangedError, UsageError
from compactctl.store.files.filesystem import DiskError, FileSystem, make_folders
from compactctl.store.files.locks import require_locks
from compactctl.store.files.source import digest_of, sha256_of
from compactctl.store.files.stale_drafts import remove_stale_drafts
from compactctl.store.files.temp_file import ExistingFile, TempFile

# 128 bits of the digest, so that two outputs never share a name.
_N_NAME_DIGITS = 32


def save_output(fs: FileSystem, folder: Path, data: bytes) -> Path:
    """Save an output in ``folder``, readable by its owner only; return the absolute path.

    The file is named by the start of its SHA-256. A missing folder is created.

    Raises:
        UsageError: a file of that name has other content, or the system has no file locks.
        ChangedError: another program has just written other content there.
        DiskError: the output was not saved.
    """
    require_locks()
    folder = folder.absolute()
    sha256 = digest_of(data).sha256
    path = folder / f"{sha256[:_N_NAME_DIGITS]}.txt"
    try:
        if path.exists() and sha256_of(path) != sha256:
            raise UsageError(
                f"{path}: exists, and may not be compactctl's own output; name another "
                "folder with --spill-dir"
            )
        make_folders(fs, folder)
        remove_stale_drafts(fs, folder)
        with TempFile(fs, path) as draft:
            draft.write(data)
            draft.sync()
            try:
                draft.publish_over(ExistingFile.at(path))
            except ChangedError:
                # Another run may have saved the same output.
                if sha256_of(path) != sha256:
                    raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise DiskError(
            f"{folder}: {reason}; the full output was not saved; name another folder with "
            "--spill-dir"
        ) from error
    return path
