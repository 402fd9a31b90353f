"""``compactctl report``."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from compactctl.cli.command import emit, shown_command
from compactctl.cli.opt import (
    GATES,
    MAY,
    ONE_RUN,
    OUTPUT,
    READS,
    SHOWN,
    Arg,
    ParsedText,
    beside,
    opt,
)
from compactctl.cli.options.output import FORCE, PAGE, SHOWN_AS, checked_page
from compactctl.commands.batch.report import TOLERANCE, ReportOptions, report
from compactctl.commands.output_files import WrittenFile
from compactctl.tokens.budget import parse_share

if TYPE_CHECKING:
    from compactctl.commands.output_files import PageChoice


TOLERANCE_OPTION = opt(
    "tolerance",
    GATES,
    MAY,
    "How much larger than in the baseline a figure may be.",
    type=ParsedText(parse_share),
    metavar="SHARE",
    default=str(TOLERANCE),
    show_default=True,
)


_REPORT_HELP = """Show what the reports of batches say together.

FILES are Parquet reports of compactctl batch: of one run, of the parts of one (--shard), or of
several. Of two rows about one path the later one counts. With --baseline it is a gate: exit 1 when
the median request of a project, its share of files that are read again, or that of tools grew.
"""


@shown_command(
    ReportOptions,
    Arg("paths", metavar="FILES...", nargs=-1, required=True),
    opt(
        "merge",
        OUTPUT,
        ONE_RUN,
        "Write all rows to this Parquet file, sorted.",
        path="here",
        metavar="FILE",
    ),
    opt(
        "baseline",
        GATES,
        READS,
        "Compare with this earlier report.",
        path="settings",
        metavar="FILE",
    ),
    TOLERANCE_OPTION,
    opt(
        "top",
        SHOWN,
        MAY,
        "Show at most so many rows of a table.",
        type=click.IntRange(min=1),
        metavar="N",
        default=10,
        show_default=True,
    ),
    beside(PAGE),
    FORCE,
    SHOWN_AS,
    help=_REPORT_HELP,
)
def report_command(options: ReportOptions, *, page: "PageChoice | None", shown_as: str) -> int:
    """Run ``compactctl report``."""
    merge, force = options.merge, options.force
    reserved = (*options.paths, *filter(None, (options.baseline, merge)))
    page = checked_page(page, reserved, force=force)
    result = report(options)
    if merge is not None:
        from compactctl.views.results.batch_files import write_values

        warnings = write_values([row.values for row in result.rows], merge, force=force)
        merged = WrittenFile(path=merge, kind="report", rows=len(result.rows), warnings=warnings)
        result = replace(result, written=(merged,))
    emit(result, shown_as, page=page)
    return result.exit_code
