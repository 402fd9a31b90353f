"""What a worker process of a batch is given, and what it gives back."""

from dataclasses import dataclass

from compactctl.commands.batch.row import BatchRow
from compactctl.commands.loading.discover import Input
from compactctl.commands.sizing.details import FileDetails
from compactctl.store.files.data_set import is_data_set


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTask:
    """One input and where its compacted transcript goes, None for nowhere.

    ``groups`` are the row groups of a Parquet data set that are to be worked on, all where it is
    empty, and ``n_bytes`` what there is to read for it.
    """

    input: Input
    output: str | None = None
    groups: tuple[int, ...] = ()
    n_bytes: int = 0

    @property
    def is_data_set(self) -> bool:
        """Whether the file has a row for each of its conversations."""
        return is_data_set(self.input.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedFile:
    """What became of one file, or of each conversation of a data set.

    ``details`` where they are wanted and there are any.
    """

    rows: tuple[BatchRow, ...]
    details: tuple[FileDetails, ...] = ()
