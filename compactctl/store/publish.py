"""Publishing a transcript with its archives, and writing any other output."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from compactctl.errors import IntegrityError
from compactctl.store.deposit import Deposit
from compactctl.store.draft import Draft
from compactctl.store.errors import disk_errors
from compactctl.store.filesystem import FileSystem
from compactctl.store.folder import archive_folder
from compactctl.store.lines import STANDARD_INPUT, Source, digest_of
from compactctl.store.lock import locked_folder
from compactctl.store.publication import Publication, Published
from compactctl.store.target import check_target

__all__ = ["Published", "publish", "write_output"]
READABLE_FILE = 0o666


def publish(  # noqa: PLR0913
    fs: FileSystem,
    *,
    source: Source,
    target: Path,
    archives: Sequence[Deposit],
    data: bytes,
    force: bool = False,
) -> Published:
    """Publish ``data`` as the transcript ``target``, after the archives that lead back from it.

    ``archives`` lead from the state that was read to ``data``, one after another. A crash at any
    moment leaves the old transcript, or the new one with all its archives. An error leaves the
    old one and takes away what was written. ``force`` allows what UsageError and ChangedError
    name it for; it never allows to lose what was appended.

    Raises UsageError for a target that must not be written, ChangedError when a program has the
    input open or changed it, IntegrityError when an archive does not prove, and DiskError.
    """
    if archives and archives[-1][0].after != digest_of(data):
        raise IntegrityError(f"{target}: the new transcript is not the one its archive leads to")
    with disk_errors(target, "nothing was changed"):
        place = check_target(source, target, force=force)
        with locked_folder(fs, archive_folder(place.path)):
            return Publication(
                fs=fs,
                source=source,
                target=target,
                place=place,
                archives=archives,
                data=data,
                force=force,
            ).run()


def write_output(fs: FileSystem, path: Path | str, data: bytes) -> None:
    """Write an output that is no transcript, whole or not at all; ``-`` is standard output.

    What is no regular file, a device or a pipe, is written to directly.
    """
    if str(path) == STANDARD_INPUT:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with disk_errors(Path(path), "the output is not safely written"):
        place = Path(os.path.realpath(path))
        if place.exists() and not place.is_file():
            place.write_bytes(data)
            return
        with Draft(fs, place) as draft:
            draft.write(data)
            if place.exists():
                draft.take_attributes(place)
            else:
                draft.chmod(READABLE_FILE & ~_umask())
            draft.sync()
            draft.publish()


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
