"""Where the archive of a transcript is that was moved or renamed without it."""

from collections.abc import Iterator
from contextlib import suppress
from glob import escape
from pathlib import Path

from compactctl.commands.operations.inline import may_name_operation
from compactctl.errors import CompactctlError
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.names import SUFFIX, folders_for
from compactctl.store.files.lines import STANDARD_INPUT, Source
from compactctl.store.places import archives, store_holding, this_machine

# More than a folder of sessions has; each is looked into.
_MOST = 1_000
# What Codex adds to the name of a session that it packs.
_PACKED = ".zst"


def archive_of(source: Source) -> Path | None:
    """Return the archive folder of a transcript, which need not exist; None for a pipe.

    It is in its place, or where that of a session is which its client moved, packed or renamed.
    """
    if source.path is None:
        return None
    folder = archive_folder(source.path)
    if folder.exists() or store_holding(source.path, this_machine()) is None:
        return folder
    is_compacted = any(map(may_name_operation, source.lines))
    return (fitting_archive(source) if is_compacted else None) or folder


def way_to_archive(source: Source, path: str) -> str:
    """Return what to do where the archive of a compacted transcript is not in its place."""
    if source.path is None or path == STANDARD_INPUT:
        return "name the file instead"
    fitting = fitting_archive(source)
    if fitting is not None:
        return f"{fitting} fits it: name that with --archive"
    return f"put {archive_folder(source.path)} back, or name the folder with --archive"


def fitting_archive(source: Source) -> Path | None:
    """Return the archive folder that knows a transcript by its digest, None where none is near.

    Looked into are those beside the file, and those of the same name in the user's state folder.
    """
    if source.path is None:
        return None
    near = (folder for _, folder in zip(range(_MOST), _near(source.path), strict=False))
    return next((folder for folder in near if _fits(folder, source)), None)


def _near(path: Path) -> Iterator[Path]:
    for parent in folders_for(path.absolute().parent):
        yield from sorted(parent.glob(f"*{SUFFIX}"))
    yield from sorted(
        archives(this_machine()).rglob(f"{escape(path.name.removesuffix(_PACKED))}{SUFFIX}")
    )


def _fits(folder: Path, source: Source) -> bool:
    """Tell whether a transcript begins with what some operation led to; no damage is raised."""
    with suppress(CompactctlError, OSError):
        operation, _ = Archive(folder, source.limits).current(source.lines)
        return operation is not None
    return False
