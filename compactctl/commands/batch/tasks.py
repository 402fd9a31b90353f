"""Splits a batch into tasks: files, and row groups of data sets that are only measured."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.pool import CHUNK_BYTES
from compactctl.commands.batch.row import BatchRow
from compactctl.commands.measuring.figures import FileDetails
from compactctl.commands.reading.trees import InputFile
from compactctl.errors import CompactctlError, UsageError
from compactctl.records import Record
from compactctl.store.files.filesystem import SHARED_FOLDER, FileSystem, disk_errors, make_folders
from compactctl.store.files.objects import is_object, real_place
from compactctl.store.files.parquet_dataset import RowGroupInfo, is_data_set, open_dataset


class FileTask(Record):
    """One input, and the path of its compacted transcript, None for no output.

    ``url`` is the object that the output is to be copied to, None for none. ``groups`` are the row
    groups of a Parquet data set to process, empty for all; ``n_bytes`` is the size of the data to
    read.
    """

    input: InputFile
    output: str | None = None
    url: str | None = None
    groups: tuple[int, ...] = ()
    n_bytes: int = 0

    @property
    def is_data_set(self) -> bool:
        """Whether the file has a row for each of its conversations."""
        return is_data_set(self.input.path)


class WorkedFile(Record):
    """The rows of one file, and its details if requested."""

    rows: tuple[BatchRow, ...]
    details: tuple[FileDetails, ...] = ()


def tasks_of(
    options: BatchOptions, inputs: Sequence[InputFile], outputs: Mapping[str, str]
) -> tuple[FileTask, ...]:
    """Return the tasks for inputs, in their order; ``outputs`` are by path.

    A data set to be written is one task, since its row groups are written to one file in order.
    """
    return tuple(
        task
        for item in inputs
        for task in _tasks(options, FileTask(input=item, output=outputs.get(item.path)))
    )


def _tasks(options: BatchOptions, task: FileTask) -> Iterator[FileTask]:
    groups = _row_groups(options, task.input) if is_data_set(task.input.path) else ()
    if options.writes or len(groups) < 2:  # noqa: PLR2004 - nothing to split
        size = sum(group.n_bytes for group in groups) or task.input.n_bytes
        yield FileTask(input=task.input, output=task.output, n_bytes=size)
        return
    for indices in _pieces(groups):
        size = sum(groups[index].n_bytes for index in indices)
        yield FileTask(input=task.input, output=task.output, groups=indices, n_bytes=size)


def _row_groups(options: BatchOptions, item: InputFile) -> Sequence[RowGroupInfo]:
    if item.problem or is_object(item.path):
        return ()
    try:
        data = open_dataset(item.path, options.files.column)
        if len(data.groups) > 1 and not options.writes:
            data.check(options.input.limits)
    except CompactctlError:
        # The error is reported when the file is processed.
        return ()
    return data.groups


def _pieces(groups: Sequence[RowGroupInfo]) -> Iterator[tuple[int, ...]]:
    """Yield the indices of adjacent row groups that together make one task."""
    piece: list[int] = []
    size = 0
    for index, group in enumerate(groups):
        piece.append(index)
        size += group.n_bytes
        if size >= CHUNK_BYTES:
            yield tuple(piece)
            piece, size = [], 0
    if piece:
        yield tuple(piece)


def output_names(inputs: Sequence[InputFile], out: str) -> dict[str, str]:
    """Return the output path for each input: a compacted name at the same place below ``out``.

    Raises UsageError if two inputs have one output, or if an output would overwrite an input or be
    among a client's sessions.
    """
    from compactctl.commands.client_sessions.new_session import store_of

    store = None if is_object(out) else store_of(Path(out, "any"))
    if store is not None:
        raise UsageError(
            f"{out}: inside a client's session store ({store}), which would list the copies as "
            "sessions; choose another --out"
        )
    readable = [item for item in inputs if item.problem is None]
    names = {item.path: _output_name(out, item.below) for item in readable}
    sources = {real_place(item.path) for item in readable}
    owners: dict[str, str] = {}
    for item in readable:
        name = names[item.path]
        resolved = real_place(name)
        if resolved in sources:
            raise UsageError(
                f"{name}: the output of {item.path} would overwrite an input; choose another --out"
            )
        if resolved in owners:
            raise UsageError(
                f"{name}: would be the output of both {owners[resolved]} and {item.path}; name "
                "their parent folder, or a separate --out for each"
            )
        owners[resolved] = item.path
    return names


def _output_name(out: str, below: str) -> str:
    from compactctl.commands.compact.place import compacted_name

    if is_object(out):
        return f"{out.rstrip('/')}/{compacted_name(Path(below)).as_posix()}"
    return str(compacted_name(Path(out, below)))


def make_folder(path: str | os.PathLike[str]) -> None:
    """Create a folder for outputs, and its parents, unless it exists.

    Raises UsageError if a file has its name, and DiskError.
    """
    if Path(path).exists() and not Path(path).is_dir():
        raise UsageError(f"{path}: is not a folder; name another one with --out")
    with disk_errors(Path(path), "nothing was written there"):
        make_folders(FileSystem(), Path(path), SHARED_FOLDER)
