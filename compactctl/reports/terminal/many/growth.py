"""What grew since an earlier report, in words."""

from collections.abc import Mapping

from compactctl.commands.report.growth import Figure, Rise
from compactctl.reports.rendering.text import line_text, share_text

_GROWTH: Mapping[Figure, str] = {
    "context": "the median request",
    "reread": "the share of files read again",
    "tools": "the share of tools",
}


def grown_text(growth: Rise) -> str:
    """Say on one line what grew in a project."""
    before, after = (
        f"{size:,.0f}" if growth.figure == "context" else share_text(size)
        for size in (growth.before, growth.after)
    )
    return f"{line_text(growth.project)}: {_GROWTH[growth.figure]} grew from {before} to {after}"
