"""Rows of batches, read back from their Parquet reports."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compactctl.errors import ArchiveError, NoInputError, NotUnderstoodError
from compactctl.history.categories import CATEGORIES, Category
from compactctl.store.archive.parquet import damage_errors, regular
from compactctl.store.files.columns import n_bytes
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.modes import note_mode

METADATA = b"compactctl.batch"
VERSION = 1
_BATCH_ROWS = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """A transcript as a report tells of it; see ``BatchRow`` for what the figures are.

    ``values`` are all columns as they stand in the file, if it comes from one. ``tokens`` is 0 for
    a file that failed or is not a transcript.
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
        return self.status not in ("failed", "skipped")


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
            return tuple(map(_row, _values(stream, path)))
    except ArchiveError as error:
        raise NotUnderstoodError(
            f"{path}: is no Parquet report of compactctl batch; write one with "
            "compactctl batch --report FILE.parquet"
        ) from error


def _values(stream: Any, path: str) -> Iterable[Mapping[str, Any]]:  # noqa: ANN401
    from pyarrow import parquet

    file = parquet.ParquetFile(stream)
    told = (file.schema_arrow.metadata or {}).get(METADATA)
    if told is None:
        raise NotUnderstoodError(f"{path}: is not a report of compactctl batch")
    version = json.loads(told).get("version")
    if version != VERSION:
        raise NotUnderstoodError(
            f"{path}: is a report of version {version}, this compactctl knows {VERSION}"
        )
    size = 0
    for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
        size += sum(map(n_bytes, batch.columns))
        if size > TEXT_LIMITS.unpacked:
            raise NotUnderstoodError(f"{path}: unpacks to more than a report holds")
        yield from batch.to_pylist()


def _row(values: Mapping[str, Any]) -> ReportRow:
    sizes = {
        category: values.get(f"tokens_{category.replace(' ', '_')}") or 0 for category in CATEGORIES
    }
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
        categories=sizes,
        tools=json.loads(values.get("tools") or "{}"),
        values=values,
    )
