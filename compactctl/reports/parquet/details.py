"""The messages and the requests of all files of a batch as Parquet files."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Self

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.sizing.details import FileDetails, MessageDetails
from compactctl.reports.parquet.rounds import TYPES as ROUND_TYPES
from compactctl.reports.parquet.rounds import round_row
from compactctl.reports.parquet.table_file import TableFile

MESSAGES, ROUNDS = "compactctl.messages", "compactctl.batch-rounds"
DETAILS_VERSION = 1
"""Goes up when a column is removed or changes its meaning."""

# Column -> Arrow type; each is the field of MessageDetails of that name, or the file's path.
MESSAGE_COLUMNS: Mapping[str, str] = {
    "path": "large_string",
    "seq": "int64",
    "line": "int64",
    "conversation": "int64",
    "role": "large_string",
    "category": "large_string",
    "tools": "large_string",
    "time": "float64",
    "tokens": "int64",
    "visible": "int64",
    "stage": "large_string",
    "tokens_after": "int64",
}
# Prices are asked for where one session is looked at.
ROUND_COLUMNS: Mapping[str, str] = {
    "path": "large_string",
    **{name: kind for name, kind in ROUND_TYPES.items() if not name.startswith("cost_")},
}


class DetailFiles:
    """Files for the messages and the rounds of a batch, None where they are not wanted.

    A context manager; without ``publish`` nothing is written.
    """

    def __init__(self, messages: str | None, rounds: str | None) -> None:
        self._messages = messages and TableFile(
            MESSAGE_COLUMNS, {MESSAGES: DETAILS_VERSION}, messages
        )
        self._rounds = rounds and TableFile(ROUND_COLUMNS, {ROUNDS: DETAILS_VERSION}, rounds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._files():
            file.close()

    def take(self, details: FileDetails) -> None:
        """Take in the rows of one file. Raises DiskError."""
        if self._messages:
            self._messages.add(_message_row(details.path, row) for row in details.messages)
        if self._rounds:
            told = (round_row(each, None) for each in details.rounds)
            self._rounds.add({"path": details.path, **row} for row in told)

    def publish(self, result: BatchResult, *, force: bool) -> BatchResult:
        """Write the files, and say in the result which; errors as for ``write_table``."""
        for file in self._files():
            warnings = (*result.warnings, *file.publish(force=force))
            tables = {**result.tables, str(file.path): file.rows}
            result = replace(result, tables=tables, warnings=warnings)
        return result

    def _files(self) -> Iterator[TableFile]:
        yield from (file for file in (self._messages, self._rounds) if file)


def _message_row(path: str, row: MessageDetails) -> dict[str, object]:
    more = {
        "path": path,
        "line": row.line + 1,
        "conversation": row.conversation + 1,
        "visible": int(row.visible),
    }
    return {name: more[name] if name in more else getattr(row, name) for name in MESSAGE_COLUMNS}
