"""What grew since an earlier report, in words."""

from collections.abc import Mapping

from compactctl.commands.report.growth import Figure, Rise
from compactctl.reports.rendering.text import line_text, share_text

_GROWTH: Mapping[Figure, str] = {
    "context": "the median request",
    "reread": "the share of files read again",
    "tools": "the share of tools",
}


def grown_text(growth: Rise, project: str | None = None) -> str:
    """Say on one line what grew in a project, which may be called by another name."""
    before, after = (
        f"{size:,.0f}" if growth.figure == "context" else share_text(size)
        for size in (growth.before, growth.after)
    )
    name = line_text(growth.project if project is None else project)
    return f"{name}: {_GROWTH[growth.figure]} grew from {before} to {after}"
