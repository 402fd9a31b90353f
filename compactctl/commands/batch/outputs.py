"""Where a batch writes to; what would overwrite something is refused before any work."""

import os
from collections.abc import Sequence
from pathlib import Path

from compactctl.commands.compact.target import compacted_name
from compactctl.commands.forking.outside_stores import store_of
from compactctl.commands.loading.discover import Input
from compactctl.errors import UsageError
from compactctl.store.files.disk_errors import disk_errors
from compactctl.store.files.filesystem import SHARED_FOLDER, FileSystem, make_folders


def output_names(inputs: Sequence[Input], out: str) -> dict[str, str]:
    """Return the output for each input's path: a compacted name at the same place below ``out``.

    Raises UsageError when two inputs have one output, or an output would overwrite an input or lie
    among a client's sessions.
    """
    store = store_of(Path(out, "any"))
    if store is not None:
        raise UsageError(
            f"{out}: is among a client's sessions ({store}), and it would take copies for them; "
            "choose another --out"
        )
    readable = [item for item in inputs if item.problem is None]
    names = {item.path: str(compacted_name(Path(out, item.below))) for item in readable}
    sources = {os.path.realpath(item.path) for item in readable}
    owners: dict[str, str] = {}
    for item in readable:
        name = names[item.path]
        place = os.path.realpath(name)
        if place in sources:
            raise UsageError(
                f"{name}: the output of {item.path} would overwrite an input; choose another --out"
            )
        if place in owners:
            raise UsageError(
                f"{name}: would be the output of both {owners[place]} and {item.path}; name the "
                "folder above both, or give each its own --out"
            )
        owners[place] = item.path
    return names


def make_folder(path: str | os.PathLike[str]) -> None:
    """Create a folder for outputs, with those above it; it may exist.

    Raises UsageError where a file is in its place, and DiskError.
    """
    if Path(path).exists() and not Path(path).is_dir():
        raise UsageError(f"{path}: is not a folder; name another one with --out")
    with disk_errors(Path(path), "nothing was written there"):
        make_folders(FileSystem(), Path(path), SHARED_FOLDER)
