"""``compactctl batch``."""

from typing import TYPE_CHECKING, get_args

import click
from click.core import ParameterSource

from compactctl.asks import GATES, INPUT, LOADS, MAY, ONE_RUN, OUTPUT, READS, WRITES
from compactctl.cli.command import emit, shown_command
from compactctl.cli.help import Help
from compactctl.cli.opt import FiniteRange, OptGroup, ParsedText, StageOption, beside, flag, opt
from compactctl.cli.options.arguments import paths_argument
from compactctl.cli.options.asked import asked
from compactctl.cli.options.measuring import FAIL_BASE, FAIL_OVER, MEASURE, PROFILE
from compactctl.cli.options.output import FORCE, PAGE, SHOWN_AS
from compactctl.cli.options.planning import PLAN, PROTECT
from compactctl.cli.options.reading import FORMAT, LIMITS, STRICT
from compactctl.cli.options.summaries import SUMMARIZER, effective_summarizer
from compactctl.commands.batch.options import BatchGates, BatchOptions, Engine
from compactctl.commands.batch.report_format import REPORT_FORMATS, RUNNERS, parse_flags
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.measuring.measure import DetailChoice
from compactctl.commands.reading.discover import listed_paths, parse_shard
from compactctl.errors import UsageError
from compactctl.records import replace
from compactctl.store.files.objects import is_object
from compactctl.tokens.models.token_sizes import parse_window

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
others; the batch exits with the highest code.
""",
    examples=(
        "compactctl batch runs/ --fail-over 80% --junit report.xml",
        "compactctl batch runs/ --out compacted/ --stages prune,dedup",
        "compactctl batch 'runs/**/*.jsonl' --report report.parquet",
    ),
    usual=(
        "--out", "--stages", "--profile", "--target", "--keep", "--set", "--fail-over",
        "--fail-on", "--baseline", "--report", "--junit", "--html",
        "--include", "--jobs", "--resume", "--clear-cache", "--dry-run",
        "--json",
    ),
)  # fmt: skip


@shown_command(
    BatchOptions,
    OptGroup("files", paths_argument("[PATHS]...")),
    beside(
        opt(
            "files_from",
            INPUT,
            READS,
            "Also process the paths in this file, one per line; - is standard input.",
            path="settings",
            metavar="FILE",
        ),
    ),
    OptGroup(
        "files",
        opt(
            "shard",
            INPUT,
            ONE_RUN,
            "Process shard I of N, e.g. 2/8; run the others on other machines.",
            type=ParsedText(parse_shard),
            metavar="I/N",
        ),
    ),
    OptGroup(
        "output",
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
    beside(
        opt(
            "report",
            OUTPUT,
            WRITES,
            "Write a row per file to this report, in the format of its extension or "
            "--report-format (repeatable).",
            path="here",
            metavar="FILE",
            multiple=True,
        ),
        opt(
            "report_as",
            OUTPUT,
            WRITES,
            f"Format of reports: {', '.join(REPORT_FORMATS)}. [default: by extension, else "
            "parquet]",
            flag="--report-format",
            type=click.Choice(REPORT_FORMATS),
            metavar="FORMAT",
        ),
        opt(
            "messages_out",
            OUTPUT,
            WRITES,
            "Write a row per message of all files to this Parquet file: tokens, category, tool, "
            "and the stage that removed it. Ignores the cache.",
            path="here",
            metavar="FILE",
        ),
        opt(
            "rounds_out",
            OUTPUT,
            WRITES,
            "Write a row per request of all files to this Parquet file, like stats --rounds-out.",
            path="here",
            metavar="FILE",
        ),
        opt(
            "junit",
            OUTPUT,
            WRITES,
            "Write a JUnit report, with one test per file.",
            path="here",
            metavar="FILE",
        ),
        opt(
            "runner",
            OUTPUT,
            WRITES,
            "Annotate the ten worst files in the CI log; auto detects the runner.",
            flag="--annotate",
            type=click.Choice(("none", "auto", *RUNNERS)),
            default="none",
            show_default=True,
        ),
        PAGE,
    ),
    OptGroup(
        "gates",
        FAIL_OVER,
        opt(
            "fail_over_tokens",
            GATES,
            MAY,
            "Exit 1 if the next request of a file is larger than this, e.g. 120k.",
            type=ParsedText(parse_window),
            metavar="SIZE",
        ),
        opt(
            "fail_on",
            GATES,
            MAY,
            "Exit 1 if a file has any of these: opaque, orphans, errors, over-window, usage. These "
            "are lines or text not recognized, tool calls without results (or results without "
            "calls), errors of tools, requests larger than the window, and reported sizes that "
            "cannot be true.",
            type=ParsedText(parse_flags),
            metavar="LIST",
            default="",
        ),
        opt(
            "baseline",
            GATES,
            READS,
            "Exit 1 if a project's median request, its share of repeated file reads or of tool "
            "results has grown since this report.",
            path="settings",
            metavar="FILE",
        ),
        *asked(BatchGates, "tolerance"),
    ),
    flag("require_fit", GATES, MAY, "Exit 5 if a result still does not fit."),
    flag(
        "require_audit",
        GATES,
        MAY,
        "Exit 1 if a summary lost a rule or made something up.",
    ),
    OptGroup("recipe", FAIL_BASE),
    OptGroup(
        "files",
        opt(
            "include",
            INPUT,
            READS,
            "In folders, process only files matching GLOB (repeatable). [default: *.jsonl, *.json, "
            "also with .gz and .zst, and *.parquet that hold conversations]",
            metavar="GLOB",
            multiple=True,
        ),
        opt(
            "exclude",
            INPUT,
            READS,
            "Skip files matching GLOB (repeatable).",
            metavar="GLOB",
            multiple=True,
        ),
        flag(
            "skip_unknown",
            INPUT,
            READS,
            "Skip a named file in an unknown format instead of failing.",
        ),
        opt(
            "column",
            INPUT,
            READS,
            "Column of a Parquet data set that holds the conversations. [default: messages, "
            "conversations or another usual name]",
            metavar="NAME",
        ),
    ),
    opt(
        "cached",
        INPUT,
        ONE_RUN,
        "Reuse cached figures of unchanged files. [default: cache]",
        flag="--cache/--no-cache",
        default=True,
    ),
    beside(
        flag(
            "clear_cache",
            INPUT,
            ONE_RUN,
            "Delete the cache first. Without PATHS, do nothing else.",
        )
    ),
    flag(
        "verify_cache",
        INPUT,
        ONE_RUN,
        "Detect changed files by content instead of time and size.",
    ),
    flag(
        "resume",
        INPUT,
        ONE_RUN,
        "Resume an interrupted batch; skip files that are written and unchanged.",
    ),
    opt(
        "jobs",
        INPUT,
        LOADS,
        "Number of processes. [default: 0, as many as help]",
        short="-j",
        type=click.IntRange(min=0),
        metavar="N",
        default=0,
    ),
    opt(
        "engine",
        INPUT,
        LOADS,
        "Run the processes on this machine, or in a Ray cluster: that of RAY_ADDRESS, or one on "
        "this machine.",
        type=click.Choice(get_args(Engine)),
        default="local",
        show_default=True,
    ),
    opt(
        "timeout",
        INPUT,
        LOADS,
        "Skip a file that takes longer (exit 75) and continue.",
        type=FiniteRange(min=0, min_open=True),
        metavar="SECONDS",
    ),
    OptGroup(
        "output",
        *asked(OutputOptions, "layout", "tags"),
        flag("dry_run", OUTPUT, WRITES, "Show what would happen; write nothing.", short="-n"),
        FORCE,
    ),
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
    files_from: str | None,
    report: tuple[str, ...],
    report_as: str | None,
    messages_out: str | None,
    rounds_out: str | None,
    junit: str | None,
    runner: str,
    page: "PageChoice | None",
    clear_cache: bool,
    shown_as: str,
) -> int:
    """Run ``compactctl batch``."""
    if clear_cache:
        from compactctl.commands.cache import cache

        cleared = cache(clear=True)
        if not options.files.paths and files_from is None:
            emit(cleared, shown_as)
            return 0
    if not options.files.paths and files_from is None:
        raise UsageError("name files, folders or patterns, or a list of them with --files-from")
    force = options.output.force
    page = page and replace(page, force=force)
    if page is not None and is_object(page.path):
        raise UsageError(f"{page.path}: pages cannot be written to an object store; name a file")
    listed = listed_paths(files_from) if files_from else ()
    summarizer = effective_summarizer(options.recipe.summarizer)
    files = (*report, *filter(None, (junit, messages_out, rounds_out)))
    options = replace(
        options,
        files=replace(options.files, paths=(*options.files.paths, *listed)),
        recipe=replace(options.recipe, summarizer=summarizer),
        compacts=bool(options.output.path) or _is_plan_given(),
        details=DetailChoice(messages=bool(messages_out), rounds=bool(rounds_out)),
        written_paths=(*files, page.path) if page else files,
    )
    from compactctl.commands.batch.batch import batch
    from compactctl.commands.batch.report_files import report_files
    from compactctl.views.results.batch_files import (
        DetailFiles,
        annotate,
        report_format,
        with_report,
    )
    from compactctl.views.terminal.progress import BatchProgress

    report_formats = [report_format(path, report_as) for path in report]
    with report_files(files, force=force) as places:
        messages, rounds = (path and places.local(path) for path in (messages_out, rounds_out))
        with DetailFiles(messages, rounds) as details:
            with BatchProgress() as progress:
                result = batch(options, progress.tell, details.take)
            result = details.publish(result, force=force)
        for path, kind in zip(report, report_formats, strict=True):
            result = with_report(result, places.local(path), kind, force=force)
        if junit is not None:
            result = with_report(result, places.local(junit), "junit", force=force)
        result = places.publish(result)
    emit(result, shown_as, page=page)
    annotate(result, runner)
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
