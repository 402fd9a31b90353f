"""``report`` as a JSON document."""

from typing import Any

from compactctl.commands.report.report import ReportResult
from compactctl.reports.rendering.json_document import fields_of


def report_json(result: ReportResult) -> dict[str, Any]:
    """Return the document."""
    summary = result.summary
    listed = {
        name: [fields_of(each) for each in getattr(summary, name)]
        for name in ("bins", "models", "projects", "weeks")
    }
    growth = result.growth
    return {
        "schema": "compactctl.report/1",
        "reports": list(result.paths),
        "exitCode": result.exit_code,
        **fields_of(summary),
        "percentiles": {str(name): size for name, size in summary.percentiles.items()},
        **listed,
        "baseline": result.baseline,
        "tolerance": result.tolerance,
        "growth": None if growth is None else [fields_of(each) for each in growth],
    }
