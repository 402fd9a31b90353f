"""``compactctl report``."""

from typing import TYPE_CHECKING

from compactctl.cli.command import emit, shown_command
from compactctl.cli.help import Help
from compactctl.cli.opt import Arg, beside
from compactctl.cli.options.asked import asked
from compactctl.cli.options.output import FORCE, PAGE, SHOWN_AS, checked_page
from compactctl.commands.batch.report import ReportOptions, report
from compactctl.commands.output_files import WrittenFile
from compactctl.records import replace

if TYPE_CHECKING:
    from compactctl.commands.page_choice import PageChoice


_REPORT_HELP = Help(
    """Summarize the reports of one or more batches.

FILES are Parquet reports of compactctl batch: of one run, of the shards of one, or of several. If
two rows have the same path, the later one counts. With --baseline, exit 1 if a project's median
request, its share of repeated file reads, or its share of tool results has grown.
""",
    examples=(
        "compactctl report report.parquet",
        "compactctl report monday.parquet --baseline sunday.parquet",
    ),
)


@shown_command(
    ReportOptions,
    Arg("paths", metavar="FILES...", nargs=-1, required=True),
    *asked(ReportOptions),
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
