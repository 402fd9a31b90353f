"""The columns of a batch's rows: how they are taken from a row, and read back from a report."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from compactctl.commands.batch.row import UNREAD, BatchRow
from compactctl.errors import ArchiveError, NoInputError, NotUnderstoodError
from compactctl.history.categories import CATEGORIES, Category
from compactctl.stages.registry import ALL_STAGES
from compactctl.store.archive.parquet import damage_errors, regular
from compactctl.store.files.columns import n_bytes
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.modes import note_mode

METADATA = "compactctl.batch"
FILES_VERSION = 1
"""Goes up when a column is removed or changes its meaning."""
ArrowType = Literal["large_string", "int64", "float64"]
_TEXT: ArrowType = "large_string"
_WHOLE: ArrowType = "int64"
_REAL: ArrowType = "float64"
_BATCH_ROWS = 1_024


@dataclass(frozen=True, slots=True)
class BatchColumn:
    """A column: its name, its Arrow type, and the field of a row that it holds.

    A field with figures by name is one column here and one for each of ``spread`` in a table: a
    column's name there -> the figure's in the field.
    """

    name: str
    kind: ArrowType
    spread: Mapping[str, str] = field(default_factory=dict)

    def value(self, row: BatchRow) -> object:
        """Return the row's value, None where it has none."""
        return getattr(row, self.name)


# Null where a file could not be measured.
_BY_CATEGORY: Mapping[str, Category] = {
    f"tokens_{category.replace(' ', '_')}": category for category in CATEGORIES
}
# Null where a stage did not run or changed nothing.
_BY_STAGE = {f"saved_by_{stage.name.replace('-', '_')}": stage.name for stage in ALL_STAGES}
COLUMNS = (
    BatchColumn("path", _TEXT),
    BatchColumn("row", _WHOLE),
    BatchColumn("sha256", _TEXT),
    BatchColumn("sha256_after", _TEXT),
    BatchColumn("project", _TEXT),
    BatchColumn("status", _TEXT),
    BatchColumn("format", _TEXT),
    BatchColumn("client_version", _TEXT),
    BatchColumn("model", _TEXT),
    BatchColumn("counter", _TEXT),
    BatchColumn("exactness", _TEXT),
    BatchColumn("window", _WHOLE),
    BatchColumn("available", _WHOLE),
    BatchColumn("tokens_before", _WHOLE),
    BatchColumn("tokens_after", _WHOLE),
    BatchColumn("saved", _WHOLE),
    BatchColumn("unseen", _WHOLE),
    BatchColumn("ratio_before", _REAL),
    BatchColumn("ratio_after", _REAL),
    BatchColumn("context", _WHOLE),
    BatchColumn("base", _TEXT),
    BatchColumn("base_tokens", _WHOLE),
    BatchColumn("used", _REAL),
    BatchColumn("level", _TEXT),
    BatchColumn("messages", _WHOLE),
    BatchColumn("turns", _WHOLE),
    BatchColumn("steps", _WHOLE),
    BatchColumn("lines", _WHOLE),
    BatchColumn("bytes", _WHOLE),
    BatchColumn("opaque_lines", _WHOLE),
    BatchColumn("unread_bytes", _WHOLE),
    BatchColumn("unread", _TEXT),
    BatchColumn("tools", _TEXT),
    BatchColumn("reread", _WHOLE),
    BatchColumn("began", _REAL),
    BatchColumn("ended", _REAL),
    BatchColumn("orphans", _WHOLE),
    BatchColumn("tool_errors", _WHOLE),
    BatchColumn("flags", _TEXT),
    BatchColumn("categories", _WHOLE, _BY_CATEGORY),
    BatchColumn("stages", _TEXT),
    BatchColumn("saved_by", _WHOLE, _BY_STAGE),
    BatchColumn("output", _TEXT),
    BatchColumn("archive", _TEXT),
    BatchColumn("operation", _TEXT),
    BatchColumn("error_class", _TEXT),
    BatchColumn("error", _TEXT),
    BatchColumn("exit_code", _WHOLE),
    BatchColumn("milliseconds", _WHOLE),
)
_SPREAD = [column for column in COLUMNS if column.spread]
TABLE_TYPES: Mapping[str, str] = {
    **{column.name: column.kind for column in COLUMNS if not column.spread},
    **{name: column.kind for column in _SPREAD for name in column.spread},
}
"""Column of a table -> its Arrow type; those of spread fields come last."""


def row_values(row: BatchRow) -> dict[str, object]:
    """Return a row's values by column, as a document has them: its status ahead of digests."""
    first = dict.fromkeys(("path", "row", "status"))
    return {**first, **{column.name: column.value(row) for column in COLUMNS}}


def table_values(row: BatchRow) -> dict[str, object]:
    """Return a plain value for each of ``TABLE_TYPES``.

    Names are joined by commas, as ``--stages`` takes them; ``tools`` is a JSON object.
    """
    values: Mapping[str, Any] = row_values(row)
    spread = {
        name: values[column.name].get(key)
        for column in _SPREAD
        for name, key in column.spread.items()
    }
    return {name: spread[name] if name in spread else _plain(values[name]) for name in TABLE_TYPES}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return ",".join(value)
    return json.dumps(dict(value)) if isinstance(value, Mapping) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """A transcript as a report tells of it; see ``BatchRow`` for what the figures are.

    ``values`` are all columns as they stand in a table. ``tokens`` is 0 for a file that failed or
    is not a transcript.
    """

    path: str
    status: str
    exit_code: int
    project: str
    model: str
    counter: str
    context: int
    tokens: int
    saved: int
    reread: int
    ended: float | None
    error: str
    categories: Mapping[Category, int]
    tools: Mapping[str, int]
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_read(self) -> bool:
        """Whether there are figures."""
        return self.status not in UNREAD


def report_row(values: Mapping[str, Any]) -> ReportRow:
    """Return the row that has these values in a table; a column may be missing in older ones."""
    return ReportRow(
        path=values["path"],
        status=values["status"],
        exit_code=values["exit_code"] or 0,
        project=values.get("project") or "",
        model=values.get("model") or "",
        counter=values.get("counter") or "",
        context=values.get("context") or 0,
        tokens=values.get("tokens_before") or 0,
        saved=values.get("saved") or 0,
        reread=values.get("reread") or 0,
        ended=values.get("ended"),
        error=values.get("error") or "",
        categories={category: values.get(name) or 0 for name, category in _BY_CATEGORY.items()},
        tools=json.loads(values.get("tools") or "{}"),
        values=values,
    )


def read_reports(paths: Sequence[str]) -> tuple[ReportRow, ...]:
    """Return the rows of all reports, sorted by path; of two with one path the later one counts.

    Raises NoInputError and NotUnderstoodError for what is not such a report.
    """
    rows = {row.path: row for path in paths for row in read_report(path)}
    return tuple(rows[path] for path in sorted(rows))


def read_report(path: str) -> tuple[ReportRow, ...]:
    """Return the rows of a report in their order. Raises as ``read_reports`` does."""
    place = Path(path)
    if not place.is_file():
        raise NoInputError(f"{path}: no such file; name a Parquet report of compactctl batch")
    try:
        with damage_errors(place), regular(place) as stream:
            note_mode(os.fstat(stream.fileno()).st_mode)
            return tuple(map(report_row, _values(stream, path)))
    except ArchiveError as error:
        raise NotUnderstoodError(
            f"{path}: is no Parquet report of compactctl batch; write one with "
            "compactctl batch --report FILE.parquet"
        ) from error


def _values(stream: Any, path: str) -> Iterable[Mapping[str, Any]]:  # noqa: ANN401
    from pyarrow import parquet

    file = parquet.ParquetFile(stream)
    metadata = (file.schema_arrow.metadata or {}).get(METADATA.encode())
    if metadata is None:
        raise NotUnderstoodError(f"{path}: is not a report of compactctl batch")
    version = json.loads(metadata).get("version")
    if version != FILES_VERSION:
        raise NotUnderstoodError(
            f"{path}: is a report of version {version}, this compactctl knows {FILES_VERSION}"
        )
    size = 0
    for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
        size += sum(map(n_bytes, batch.columns))
        if size > TEXT_LIMITS.unpacked:
            raise NotUnderstoodError(f"{path}: unpacks to more than a report holds")
        yield from batch.to_pylist()
