"""Combines the reports of batches, and compares them with an earlier one."""

import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, BinaryIO, Literal

from compactctl.asks import GATES, MAY, ONE_RUN, OUTPUT, READS, SHOWN, ask
from compactctl.commands.batch.report_format import (
    CATEGORY_COLUMNS,
    FILES_VERSION,
    METADATA,
    TOLERANCE,
    UNREAD,
    asked_tolerance,
)
from compactctl.commands.output_files import WrittenFile, check_report, format_by_extension
from compactctl.errors import GATE_FAILED, ArchiveError, NoInputError, NotUnderstoodError
from compactctl.history.categories import Category
from compactctl.model.bounds import Positive
from compactctl.model.numbers import exact
from compactctl.records import Record, field
from compactctl.store.archive.parquet import damage_errors, open_regular
from compactctl.store.files.limits import READ_LIMITS, TEXT_LIMITS
from compactctl.store.files.modes import note_mode
from compactctl.store.files.objects import is_object, open_object
from compactctl.store.files.parquet_pages import column_bytes

_BATCH_ROWS = 1_024
PERCENTS = (50, 90, 95, 99)
# Smaller increases do not count as growth: tokens of a request, a share of all tokens.
_MIN_TOKENS, _MIN_SHARE = 1_000, 0.01
Figure = Literal["context", "reread", "tools"]


class ReportRow(Record):
    """A transcript in a report; see ``BatchRow`` for the meaning of the figures.

    ``values`` are all columns of a table. ``tokens`` is 0 for a file that failed or is not a
    transcript. ``is_incomplete`` says that text was not read, so that the figures are too small.
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
    is_incomplete: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_read(self) -> bool:
        """Whether the row has figures."""
        return self.status not in UNREAD


def report_row(values: Mapping[str, Any]) -> ReportRow:
    """Return the row with these table values; older reports may lack columns."""
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
        categories={category: values.get(name) or 0 for name, category in CATEGORY_COLUMNS.items()},
        tools=json.loads(values.get("tools") or "{}"),
        is_incomplete=values.get("unread") is not None,
        values=values,
    )


def read_reports(paths: Sequence[str]) -> tuple[ReportRow, ...]:
    """Return the rows of all reports, sorted by path; of several with one path the last counts.

    Raises NoInputError and NotUnderstoodError for other files.
    """
    rows = {row.path: row for path in paths for row in read_report(path)}
    return tuple(rows[path] for path in sorted(rows))


def read_report(path: str) -> tuple[ReportRow, ...]:
    """Return the rows of a report in their order. Raises as ``read_reports`` does."""
    try:
        with damage_errors(Path(path)), _open_report(path) as stream:
            note_mode(os.fstat(stream.fileno()).st_mode)
            return tuple(map(report_row, _values(stream, path)))
    except ArchiveError as error:
        raise NotUnderstoodError(
            f"{path}: not a Parquet report of compactctl batch; write one with "
            "compactctl batch --report FILE.parquet"
        ) from error


def _open_report(path: str) -> BinaryIO:
    if is_object(path):
        return open_object(path, READ_LIMITS)
    if not Path(path).is_file():
        raise NoInputError(f"{path}: no such file; name a Parquet report of compactctl batch")
    return open_regular(Path(path))


def _values(stream: object, path: str) -> Iterable[Mapping[str, Any]]:
    from pyarrow import parquet

    file = parquet.ParquetFile(stream)
    metadata = (file.schema_arrow.metadata or {}).get(METADATA.encode())
    if metadata is None:
        raise NotUnderstoodError(f"{path}: is not a report of compactctl batch")
    version = json.loads(metadata).get("version")
    if version not in range(1, FILES_VERSION + 1):
        raise NotUnderstoodError(
            f"{path}: is a report of version {version}, this compactctl knows {FILES_VERSION}"
        )
    size = 0
    for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
        size += sum(map(column_bytes, batch.columns))
        if size > TEXT_LIMITS.max_bytes:
            raise NotUnderstoodError(f"{path}: is too large for a report when unpacked")
        yield from batch.to_pylist()


class RowGroup(Record):
    """Transcripts with something in common, such as their project.

    ``tokens`` is their sum, ``context`` the median of their largest requests; ``reread`` and
    ``tools`` are the shares of tokens in file reads that were repeated later, and in tools.
    """

    name: str
    files: int
    tokens: int
    context: int
    reread: float
    tools: float


class Bin(Record):
    """Transcripts whose next request holds at least ``least`` tokens and fewer than ``below``."""

    least: int
    below: int
    files: int


class ReportSummary(Record):
    """Sums over rows; files that failed or are not transcripts have no figures.

    ``percentiles`` are those of the next request's tokens by percent. ``weeks`` are groups named by
    ISO week, of the transcripts whose end is known. If ``counters`` names several, ``tokens`` is
    only the base of shares and no figure to show.
    """

    files: int
    statuses: Mapping[str, int]
    tokens: int
    saved: int
    counters: tuple[str, ...]
    categories: Mapping[Category, int]
    tools: Mapping[str, int]
    percentiles: Mapping[int, int]
    bins: tuple[Bin, ...]
    models: tuple[RowGroup, ...]
    projects: tuple[RowGroup, ...]
    weeks: tuple[RowGroup, ...]

    @property
    def is_summed(self) -> bool:
        """Whether all tokens are from one counter, so that they can be added."""
        return len(self.counters) <= 1


def summarize(rows: Sequence[ReportRow]) -> ReportSummary:
    """Add up rows; groups and tools are sorted by their tokens, weeks by time."""
    read = [row for row in rows if row.is_read]
    categories: Counter[Category] = Counter()
    tools: Counter[str] = Counter()
    for row in read:
        categories.update(row.categories)
        tools.update(row.tools)
    sizes = sorted(row.context for row in read)
    return ReportSummary(
        files=len(rows),
        statuses=dict(Counter(row.status for row in rows)),
        tokens=sum(row.tokens for row in read),
        saved=sum(row.saved for row in read),
        counters=tuple(sorted({row.counter for row in read if row.counter})),
        categories=dict(categories),
        tools=dict(tools.most_common()),
        percentiles={percent: percentile(sizes, percent) for percent in PERCENTS if sizes},
        bins=_bins(sizes),
        models=_by_tokens(_named_groups(read, lambda row: row.model)),
        projects=_by_tokens(_named_groups(read, lambda row: row.project)),
        weeks=tuple(sorted(_named_groups(read, _week), key=lambda group: group.name)),
    )


def by_week(rows: Sequence[ReportRow]) -> dict[str, tuple[RowGroup, ...]]:
    """Return the groups of projects by ISO week, of files with both and without failure.

    Weeks are in order, projects as they come; empty weeks are left out.
    """
    read = [row for row in rows if row.is_read and _week(row)]
    weeks = sorted({_week(row) for row in read})
    return {
        week: _named_groups([row for row in read if _week(row) == week], lambda row: row.project)
        for week in weeks
    }


def group_by(rows: Iterable[ReportRow], name: Callable[[ReportRow], str]) -> tuple[RowGroup, ...]:
    """Return a group per name; rows without one are in group ""."""
    members: dict[str, list[ReportRow]] = defaultdict(list)
    for row in rows:
        members[name(row)].append(row)
    return tuple(_group(*group) for group in members.items())


def _named_groups(
    rows: Iterable[ReportRow], name: Callable[[ReportRow], str]
) -> tuple[RowGroup, ...]:
    return tuple(group for group in group_by(rows, name) if group.name)


def percentile(sizes: Sequence[int], percent: int) -> int:
    """Return the nearest-rank percentile of sorted sizes."""
    return sizes[max(0, math.ceil(len(sizes) * percent / 100) - 1)]


def _group(name: str, rows: Sequence[ReportRow]) -> RowGroup:
    tokens = sum(row.tokens for row in rows)
    tool_tokens = sum(sum(row.tools.values()) for row in rows)
    return RowGroup(
        name=name,
        files=len(rows),
        tokens=tokens,
        context=round(median(row.context for row in rows)),
        reread=sum(row.reread for row in rows) / max(1, tokens),
        tools=tool_tokens / max(1, tokens),
    )


def _by_tokens(groups: Iterable[RowGroup]) -> tuple[RowGroup, ...]:
    return tuple(sorted(groups, key=lambda group: (-group.tokens, group.name)))


def _bins(sizes: Sequence[int]) -> tuple[Bin, ...]:
    """Count sizes by powers of two of a thousand tokens, from the smallest to the largest."""
    if not sizes:
        return ()
    counts = Counter(_power(size) for size in sizes)
    return tuple(
        Bin(least=_edge(power), below=_edge(power + 1), files=counts[power])
        for power in range(min(counts), max(counts) + 1)
    )


def _power(size: int) -> int:
    return max(0, (size // 1_000).bit_length())


def _edge(power: int) -> int:
    return 1_000 * (1 << power - 1) if power else 0


def _week(row: ReportRow) -> str:
    if row.ended is None:
        return ""
    try:
        year, week, _ = datetime.fromtimestamp(row.ended, UTC).isocalendar()
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{year}-W{week:02}"


class GrowthFinding(Record):
    """A figure of a project that grew too much: median tokens, or a share of all tokens."""

    project: str
    figure: Figure
    before: float
    after: float


class BaselineComparison(Record):
    """A comparison with a baseline by project; "" stands for all files without one.

    Growth is unknown for the projects ``recounted``, which are counted with another counter now,
    and ``incomplete``, of which text was not read. ``added`` are not in the baseline, ``gone`` are
    only there.
    """

    findings: tuple[GrowthFinding, ...]
    compared: tuple[str, ...]
    recounted: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether something grew too much, or growth is unknown."""
        return bool(self.findings or self.recounted or self.incomplete or not self.compared)


def compare_with_baseline(
    rows: Sequence[ReportRow], baseline: Sequence[ReportRow], tolerance: float = TOLERANCE
) -> BaselineComparison:
    """Compare the projects in both; files that failed are left out."""
    current, before = _projects(rows), _projects(baseline)
    common = [name for name in current if name in before]
    counters, counters_before = _counters(rows), _counters(baseline)
    recounted = tuple(name for name in common if _differ(counters[name], counters_before[name]))
    compared = tuple(name for name in common if name not in recounted)
    incomplete = {row.project for row in rows if row.is_incomplete}
    return BaselineComparison(
        findings=tuple(
            finding
            for name in compared
            for finding in _findings(current[name], before[name], tolerance)
        ),
        compared=compared,
        recounted=recounted,
        incomplete=tuple(name for name in compared if name in incomplete),
        added=tuple(name for name in current if name not in before),
        gone=tuple(name for name in before if name not in current),
    )


def _counters(rows: Sequence[ReportRow]) -> Mapping[str, set[str]]:
    """Return the counters of each project's tokens, as far as recorded."""
    counters: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.is_read and row.counter:
            counters[row.project].add(row.counter)
    return counters


def _differ(current: set[str], before: set[str]) -> bool:
    return bool(current and before) and current.isdisjoint(before)


def _projects(rows: Sequence[ReportRow]) -> dict[str, RowGroup]:
    read = [row for row in rows if row.is_read]
    return {
        group.name: group
        for group in sorted(group_by(read, lambda row: row.project), key=lambda group: group.name)
    }


def _findings(current: RowGroup, before: RowGroup, tolerance: float) -> Iterator[GrowthFinding]:
    pairs: tuple[tuple[Figure, float, float, float], ...] = (
        ("context", before.context, current.context, _MIN_TOKENS),
        ("reread", before.reread, current.reread, _MIN_SHARE),
        ("tools", before.tools, current.tools, _MIN_SHARE),
    )
    for figure, old, new, min_growth in pairs:
        if exact(new) - exact(old) > max(exact(min_growth), exact(tolerance) * exact(old)):
            yield GrowthFinding(project=current.name, figure=figure, before=old, after=new)


class ReportOptions(Record):
    """The reports to read, an earlier one to compare with, and where to write all rows."""

    paths: tuple[str, ...]
    force: bool = False
    merge: str | None = ask(
        None,
        "Write all rows to this Parquet file, sorted.",
        OUTPUT,
        ONE_RUN,
        path="here",
        metavar="FILE",
    )
    baseline: str | None = ask(
        None, "Compare with this earlier report.", GATES, READS, path="settings", metavar="FILE"
    )
    tolerance: float = asked_tolerance()
    top: Positive = ask(10, "Show at most N rows per table.", SHOWN, MAY, metavar="N")


class ReportResult(Record):
    """All rows, their summary, and the comparison with the baseline, None without one.

    ``written`` holds the file with all rows, once written.
    """

    options: ReportOptions
    rows: tuple[ReportRow, ...]
    summary: ReportSummary
    growth: BaselineComparison | None = None
    written: tuple[WrittenFile, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 if something grew too much, or if nothing could be compared, else 0."""
        return GATE_FAILED if self.growth is not None and self.growth.fails else 0


def report(options: ReportOptions) -> ReportResult:
    """Read reports. Raises NoInputError, NotUnderstoodError, and UsageError for ``merge``."""
    if options.merge is not None:
        reserved = (*options.paths, *filter(None, (options.baseline,)))
        check_report(options.merge, reserved, force=options.force)
        format_by_extension("--merge", options.merge, ("parquet",))
    rows = read_reports(options.paths)
    earlier = None if options.baseline is None else read_report(options.baseline)
    return ReportResult(
        options=options,
        rows=rows,
        summary=summarize(rows),
        growth=None if earlier is None else compare_with_baseline(rows, earlier, options.tolerance),
    )
