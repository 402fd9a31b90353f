"""``report`` as a JSON document."""

from typing import Any

from compactctl.commands.batch.report import ReportResult
from compactctl.reports.json.many.growth import growth_fields
from compactctl.reports.rendering.json_document import fields_of, tokens_by


def report_document(result: ReportResult) -> dict[str, Any]:
    """Return the document."""
    summary = result.summary
    listed = {
        name: [fields_of(each) for each in getattr(summary, name)]
        for name in ("bins", "models", "projects", "weeks")
    }
    return {
        "schema": "compactctl.report/1",
        "reports": list(result.paths),
        "exitCode": result.exit_code,
        **fields_of(summary),
        **({} if summary.is_summed else {"tokens": None, "saved": None}),
        "counters": list(summary.counters),
        "statuses": [{"status": each, "files": n} for each, n in summary.statuses.items()],
        "percentiles": [{"percent": each, "tokens": n} for each, n in summary.percentiles.items()],
        **listed,
        "tools": tokens_by(summary.tools),
        "baseline": result.baseline,
        "tolerance": result.tolerance,
        **growth_fields(result.growth),
    }
