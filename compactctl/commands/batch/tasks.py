"""What is worked on at a time: files, and row groups of data sets that are only measured."""

from collections.abc import Iterator, Mapping, Sequence

from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.pool import CHUNK_BYTES
from compactctl.commands.batch.task import FileTask
from compactctl.commands.loading.discover import Input
from compactctl.errors import CompactctlError
from compactctl.store.files.data_set import GroupOfRows, data_set_at, is_data_set


def tasks_of(
    options: BatchOptions, inputs: Sequence[Input], outputs: Mapping[str, str]
) -> tuple[FileTask, ...]:
    """Return the tasks for inputs, in their order; ``outputs`` are by path.

    A data set that is to be written is one task, as its row groups follow one another in one file.
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
    for places in _pieces(groups):
        size = sum(groups[place].n_bytes for place in places)
        yield FileTask(input=task.input, output=task.output, groups=places, n_bytes=size)


def _row_groups(options: BatchOptions, item: Input) -> Sequence[GroupOfRows]:
    try:
        return () if item.problem else data_set_at(item.path, options.column).groups
    except CompactctlError:
        # Told when it is worked on.
        return ()


def _pieces(groups: Sequence[GroupOfRows]) -> Iterator[tuple[int, ...]]:
    """Yield the places of neighbours that hold about as much as a worker is given at a time."""
    piece: list[int] = []
    size = 0
    for place, group in enumerate(groups):
        piece.append(place)
        size += group.n_bytes
        if size >= CHUNK_BYTES:
            yield tuple(piece)
            piece, size = [], 0
    if piece:
        yield tuple(piece)
