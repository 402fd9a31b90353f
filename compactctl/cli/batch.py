"""``compactctl batch``."""

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from compactctl.asks import INPUT, ONE_RUN, OUTPUT, WRITES
from compactctl.cli.command import emit, shown_command
from compactctl.cli.help import Help
from compactctl.cli.opt import OptGroup, StageOption, beside, flag, opt
from compactctl.cli.options.arguments import paths_argument
from compactctl.cli.options.asked import asked
from compactctl.cli.options.measuring import FAIL_BASE, FAIL_OVER, MEASURE, PROFILE
from compactctl.cli.options.output import PAGE, SHOWN_AS
from compactctl.cli.options.planning import PLAN, PROTECT
from compactctl.cli.options.reading import FORMAT, LIMITS, STRICT
from compactctl.cli.options.summaries import SUMMARIZER, effective_summarizer
from compactctl.commands.batch.options import BatchFiles, BatchGates, BatchOptions
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.reading.discover import FileChoice
from compactctl.errors import UsageError
from compactctl.records import replace
from compactctl.store.files.objects import is_object

if TYPE_CHECKING:
    from compactctl.commands.page_choice import PageChoice


_ASKING_FOR_STAGES = frozenset({
    "--profile", "--stages", "--target", "--keep", "--trigger", "--if-needed", "--summary-file",
    "--template", "--summarizer", "--summarizer-cmd",
})  # fmt: skip


_BATCH_HELP = Help(
    """Measure or compact many transcripts, with gates for CI.

PATHS are transcripts, folders, quoted globs ("runs/**/*.jsonl"), Parquet data sets with a
conversation per row, and sessions (an id, latest, or claude: for all of a client).

Without --out nothing is written: files are measured, and with --stages or --target compacted for
the figures. With --out, each result goes to its place below DIR. A failing file does not stop the
others.
""",
    examples=(
        "compactctl batch runs/ --fail-over 80% --junit report.xml",
        "compactctl batch runs/ --out compacted/ --stages prune,dedup",
        "compactctl batch 'runs/**/*.jsonl' --report report.parquet",
    ),
    usual=(
        "--out", "--stages", "--profile", "--target", "--keep", "--set", "--fail-over",
        "--fail-on", "--baseline", "--report", "--junit", "--html",
        "--include", "--exclude", "--all", "--jobs", "--resume", "--dry-run", "--json",
    ),
)  # fmt: skip


@shown_command(
    BatchOptions,
    OptGroup("files", paths_argument("[PATHS]..."), *asked(FileChoice, "files_from", "shard")),
    OptGroup(
        "output",
        # The field of compact's --output, with the help for a folder.
        opt(
            "path",
            OUTPUT,
            WRITES,
            "Write compacted transcripts below this folder.",
            flag="--out",
            path="here",
            metavar="DIR",
        ),
    ),
    OptGroup("recipe", PROFILE, PLAN, SUMMARIZER, PROTECT),
    beside(OptGroup("reports", *asked(BatchFiles), make=BatchFiles), PAGE),
    OptGroup("gates", FAIL_OVER, *asked(BatchGates)),
    *asked(BatchOptions, "require_fit", "require_audit"),
    OptGroup("recipe", FAIL_BASE),
    OptGroup("files", *asked(FileChoice, without=("files_from", "shard"))),
    *asked(BatchOptions, "cached"),
    # Not a field: without PATHS there is no batch.
    beside(
        flag(
            "clear_cache",
            INPUT,
            ONE_RUN,
            "Delete the cache first. Without PATHS, do nothing else.",
        )
    ),
    *asked(BatchOptions, without=("require_fit", "require_audit", "cached")),
    OptGroup("output", *asked(OutputOptions, "layout", "tags", "dry_run", "force")),
    FORMAT,
    LIMITS,
    OptGroup("recipe", MEASURE),
    STRICT,
    SHOWN_AS,
    help=_BATCH_HELP,
)
def batch_command(
    options: BatchOptions,
    *,
    reports: BatchFiles,
    page: "PageChoice | None",
    clear_cache: bool,
    shown_as: str,
) -> int:
    """Run ``compactctl batch``."""
    has_paths = bool(options.files.paths) or options.files.files_from is not None
    if clear_cache:
        from compactctl.commands.cache import cache

        cleared = cache(clear=True)
        if not has_paths:
            emit(cleared, shown_as)
            return 0
    if not has_paths:
        raise UsageError("name files, folders or patterns, or a list of them with --files-from")
    force = options.output.force
    page = page and replace(page, force=force)
    if page is not None and is_object(page.path):
        raise UsageError(f"{page.path}: pages cannot be written to an object store; name a file")
    files = options.files.with_listed()
    summarizer = effective_summarizer(options.recipe.summarizer)
    options = replace(
        options,
        files=files,
        recipe=replace(options.recipe, summarizer=summarizer),
        compacts=bool(options.output.path) or _is_plan_given(),
        details=reports.details,
        written_paths=(*reports.paths, page.path) if page else reports.paths,
    )
    from compactctl.commands.batch.batch import batch
    from compactctl.commands.batch.report_files import report_files
    from compactctl.commands.output_files import format_by_extension
    from compactctl.views.results.batch_files import (
        DetailFiles,
        annotate,
        report_format,
        with_report,
    )
    from compactctl.views.terminal.progress import BatchProgress

    for option, path in (
        ("--messages-out", reports.messages_out),
        ("--rounds-out", reports.rounds_out),
    ):
        if path is not None:
            format_by_extension(option, path, ("parquet",))
    report_formats = [report_format(path, reports.report_as) for path in reports.report]
    with report_files(reports.paths, force=force) as places:
        outs = (reports.messages_out, reports.rounds_out)
        messages, rounds = (path and places.local(path) for path in outs)
        with DetailFiles(messages, rounds) as details:
            with BatchProgress() as progress:
                result = batch(options, progress.tell, details.take)
            result = details.publish(result, force=force)
        for path, kind in zip(reports.report, report_formats, strict=True):
            result = with_report(result, places.local(path), kind, force=force)
        if reports.junit is not None:
            result = with_report(result, places.local(reports.junit), "junit", force=force)
        result = places.publish(result)
    emit(result, shown_as, page=page)
    annotate(result, reports.runner)
    return result.exit_code


def _is_plan_given() -> bool:
    """Whether an option selects stages, so that the batch compacts instead of only measuring."""
    context = click.get_current_context()
    asking = (
        option
        for option in context.command.params
        if isinstance(option, StageOption) or _ASKING_FOR_STAGES.intersection(option.opts)
    )
    return any(
        context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
        for option in asking
    )
