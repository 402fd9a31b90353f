"""Growth since an earlier report: as text, and as fields of batch and report documents."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from compactctl.commands.batch.report import BaselineComparison, Figure, GrowthFinding
from compactctl.views.encode import encoded, record
from compactctl.views.terminal.text import line_text, plural, share_text

_NO_PROJECT_NAME = "files without a project"
_MAX_PROJECT_NAMES = 3
_FIGURE_TEXTS: Mapping[Figure, str] = {
    "context": "the median request",
    "reread": "the share of files read again",
    "tools": "the share of tools",
}


def growth_lines(
    growth: BaselineComparison, tolerance: float, name: Callable[[str], str] = line_text
) -> Iterator[str]:
    """Yield what grew, or that nothing did, and what could not be compared.

    ``name`` returns the name to show for a project.
    """
    yield from growth_failures(growth, name)
    if not growth.fails:
        compared = plural(len(growth.compared), "project")
        yield f"nothing grew by more than {share_text(tolerance)} ({compared} compared)"
    yield from (f"{_shown(project, name)}: not in the baseline" for project in growth.added)
    if growth.gone:
        missing = plural(len(growth.gone), "project")
        names = ", ".join(_shown(project, name) for project in growth.gone[:_MAX_PROJECT_NAMES])
        yield f"{missing} of the baseline not measured: {names}"


def growth_failures(
    growth: BaselineComparison, name: Callable[[str], str] = line_text
) -> Iterator[str]:
    """Yield what fails the comparison: what grew, and what could not be compared."""
    for finding in growth.findings:
        yield _finding_text(finding, _shown(finding.project, name))
    for project in growth.recounted:
        yield (
            f"{_shown(project, name)}: counted with a different counter than the baseline, so "
            "growth is unknown; write a new baseline"
        )
    for project in growth.incomplete:
        yield f"{_shown(project, name)}: text was not read, so growth is unknown"
    if not growth.compared and not growth.recounted:
        yield "nothing could be compared: no project is both here and in the baseline"


def _shown(project: str, name: Callable[[str], str]) -> str:
    return name(project) if project else _NO_PROJECT_NAME


def _finding_text(finding: GrowthFinding, project: str) -> str:
    if finding.figure == "context":
        before, after = f"{finding.before:,.0f}", f"{finding.after:,.0f}"
    else:
        before, after = share_text(finding.before), share_text(finding.after)
    return f"{project}: {_FIGURE_TEXTS[finding.figure]} grew from {before} to {after}"


def growth_fields(growth: BaselineComparison | None) -> dict[str, Any]:
    """Return the fields of a document; null without a baseline."""
    if growth is None:
        return {"growth": None, "comparedProjects": None}
    return {
        "growth": encoded(growth.findings),
        "comparedProjects": record(growth, without=("findings",)),
    }
