"""Looks at the reports of batches together."""

from dataclasses import dataclass

from compactctl.commands.report.growth import TOLERANCE, BaselineComparison, grown
from compactctl.commands.report.rows import ReportRow, read_report, read_reports
from compactctl.commands.report.summary import ReportSummary, summarised
from compactctl.commands.report_file import check_report

GATE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """Which reports, an earlier one to compare with, and where all rows are to be written."""

    paths: tuple[str, ...]
    baseline: str | None = None
    tolerance: float = TOLERANCE
    merge: str | None = None
    top: int = 10
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportResult:
    """All rows, what they come to, and what grew since the baseline, None without one.

    ``merged`` is the file with all rows, once it is written; ``top`` is how many rows of a table
    are to be shown.
    """

    paths: tuple[str, ...]
    rows: tuple[ReportRow, ...]
    summary: ReportSummary
    baseline: str | None
    tolerance: float
    growth: BaselineComparison | None
    top: int
    merged: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 when something grew too much, or nothing could be compared, else 0."""
        return GATE if self.growth is not None and self.growth.fails else 0


def report(options: ReportOptions) -> ReportResult:
    """Read reports. Raises NoInputError, NotUnderstoodError, and UsageError for where to merge."""
    if options.merge is not None:
        taken = (*options.paths, *filter(None, (options.baseline,)))
        check_report(options.merge, taken, force=options.force)
    rows = read_reports(options.paths)
    earlier = None if options.baseline is None else read_report(options.baseline)
    return ReportResult(
        paths=options.paths,
        rows=rows,
        summary=summarised(rows),
        baseline=options.baseline,
        tolerance=options.tolerance,
        growth=None if earlier is None else grown(rows, earlier, options.tolerance),
        top=options.top,
    )
