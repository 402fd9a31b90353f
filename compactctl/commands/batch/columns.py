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
    """A column: its name, its Arrow type, and where in a row its value is, if not under its name.

    Attributes:
        place: names of fields and properties with dots between them.
        missing: what stands for a row that does not have the part with the value.
        empty: what stands for a conversation without messages.
        spread: figures by name are one column here and several in a table: the name of a column
            there -> that of a figure.
    """

    name: str
    kind: ArrowType
    place: str = ""
    missing: object = None
    empty: object = None
    spread: Mapping[str, str] = field(default_factory=dict)

    def value(self, row: BatchRow) -> object:
        """Return the row's value, None where it has none."""
        value: object = row
        for name in (self.place or self.name).split("."):
            if value is None:
                return self.empty if row.is_empty and self.empty is not None else self.missing
            value = getattr(value, name)
        return value


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
    BatchColumn("sha256_after", _TEXT, "output.sha256"),
    BatchColumn("project", _TEXT, "figures.project"),
    BatchColumn("status", _TEXT),
    BatchColumn("format", _TEXT, "measure.format"),
    BatchColumn("client_version", _TEXT, "figures.client_version"),
    BatchColumn("model", _TEXT, "measure.model"),
    BatchColumn("counter", _TEXT, "measure.counter"),
    BatchColumn("exactness", _TEXT, "measure.exactness"),
    BatchColumn("window", _WHOLE, "measure.window"),
    BatchColumn("available", _WHOLE, "measure.available"),
    BatchColumn("tokens_before", _WHOLE, "tokens"),
    BatchColumn("tokens_after", _WHOLE, "outcome.tokens"),
    BatchColumn("saved", _WHOLE),
    BatchColumn("unseen", _WHOLE, "figures.unseen"),
    BatchColumn("ratio_before", _REAL),
    BatchColumn("ratio_after", _REAL),
    BatchColumn("context", _WHOLE),
    BatchColumn("base", _TEXT, "measure.base"),
    BatchColumn("base_tokens", _WHOLE, "measure.base_tokens"),
    BatchColumn("used", _REAL),
    BatchColumn("level", _TEXT),
    BatchColumn("messages", _WHOLE, "figures.messages", empty=0),
    BatchColumn("turns", _WHOLE, "figures.turns"),
    BatchColumn("steps", _WHOLE, "figures.steps"),
    BatchColumn("lines", _WHOLE, "figures.lines", empty=0),
    BatchColumn("bytes", _WHOLE, "figures.n_bytes", empty=0),
    BatchColumn("opaque_lines", _WHOLE, "figures.opaque_lines", empty=0),
    BatchColumn("unread_bytes", _WHOLE, "figures.unread.n_bytes"),
    BatchColumn("unread", _TEXT),
    BatchColumn("tools", _TEXT, "figures.tools", missing={}),
    BatchColumn("reread", _WHOLE, "figures.reread"),
    BatchColumn("began", _REAL, "figures.began"),
    BatchColumn("ended", _REAL, "figures.ended"),
    BatchColumn("orphans", _WHOLE, "figures.orphans"),
    BatchColumn("tool_errors", _WHOLE, "figures.tool_errors"),
    BatchColumn("flags", _TEXT),
    BatchColumn("categories", _WHOLE, "figures.categories", missing={}, spread=_BY_CATEGORY),
    BatchColumn("stages", _TEXT, "outcome.stages", missing=()),
    BatchColumn("saved_by", _WHOLE, "outcome.saved_by", missing={}, spread=_BY_STAGE),
    BatchColumn("output", _TEXT, "output.path"),
    BatchColumn("archive", _TEXT, "output.archive"),
    BatchColumn("operation", _TEXT, "outcome.operation"),
    BatchColumn("error_class", _TEXT, "failure.error_class"),
    BatchColumn("error", _TEXT, "failure.error"),
    BatchColumn("exit_code", _WHOLE),
    BatchColumn("milliseconds", _WHOLE),
)
_SPREAD = [column for column in COLUMNS if column.spread]
TABLE_TYPES: Mapping[str, str] = {
    **{column.name: column.kind for column in COLUMNS if not column.spread},
    **{name: column.kind for column in _SPREAD for name in column.spread},
}
"""Column of a table -> its Arrow type; those of spread fields come last."""


def row_values(row: BatchRow) -> dict[str, Any]:
    """Return a row's values by column, as a document has them: its status ahead of digests."""
    first = dict.fromkeys(("path", "row", "status"))
    return {**first, **{column.name: column.value(row) for column in COLUMNS}}


def table_values(row: BatchRow) -> dict[str, object]:
    """Return a plain value for each of ``TABLE_TYPES``.

    Names are joined by commas, as ``--stages`` takes them; ``tools`` is a JSON object.
    """
    values = row_values(row)
    spread = {
        name: values[column.name].get(figure)
        for column in _SPREAD
        for name, figure in column.spread.items()
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
