"""``compactctl batch``."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from compactctl.cli.command import emit, shown_command
from compactctl.cli.opt import (
    GATES,
    INPUT,
    LOADS,
    MAY,
    MEASURED,
    ONE_RUN,
    OUTPUT,
    READS,
    WRITES,
    FiniteRange,
    OptGroup,
    ParsedText,
    StageOption,
    beside,
    flag,
    opt,
)
from compactctl.cli.options.arguments import paths_argument
from compactctl.cli.options.measuring import FAIL_BASE, FAIL_OVER, MEASURE
from compactctl.cli.options.output import FORCE, PAGE, SHOWN_AS, TAGS, layout_option
from compactctl.cli.options.planning import PLAN, PROTECT
from compactctl.cli.options.reading import FORMAT, LIMITS, STRICT
from compactctl.cli.options.summaries import SUMMARIZER, effective_summarizer
from compactctl.cli.options.tables import PROFILE
from compactctl.cli.report import TOLERANCE_OPTION
from compactctl.commands.batch.batch import BatchOptions, batch
from compactctl.commands.batch.report_format import REPORT_FORMATS, RUNNERS
from compactctl.commands.batch.row import parse_flags
from compactctl.commands.measuring.figures import DetailChoice
from compactctl.commands.reading.discover import listed_paths, parse_shard
from compactctl.errors import UsageError
from compactctl.tokens.models.token_sizes import parse_window

if TYPE_CHECKING:
    from compactctl.commands.output_files import PageChoice


_ASKING_FOR_STAGES = frozenset({
    "--profile", "--stages", "--target", "--keep", "--trigger", "--if-needed", "--summary-file",
    "--template", "--summarizer", "--summarizer-cmd",
})  # fmt: skip


_BATCH_HELP = """Measure or compact many transcripts.

PATHS are files, folders and patterns in quotes ("runs/**/*.jsonl"), transcripts or Parquet data
sets with a conversation in each row, and sessions: claude: for all of a client, latest, ids.
Without --out nothing is
written: files are measured, and with --stages or --target compacted for the figures. With
--out every file is compacted to its place below DIR. A file that fails does not stop the
others; the highest of their exit codes is that of the batch. A file in a folder that no
format recognizes is skipped and counted; --strict fails it.
"""


@shown_command(
    BatchOptions,
    OptGroup("files", paths_argument("[PATHS]...")),
    beside(
        opt(
            "files_from",
            INPUT,
            READS,
            "Also work on the paths that this file lists, one a line; - is standard input.",
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
            "Work on the Ith of N parts of the files, such as 2/8; the others are for other "
            "machines.",
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
    OptGroup("recipe", OptGroup("measure", PROFILE), PLAN, SUMMARIZER, PROTECT),
    beside(
        opt(
            "report",
            OUTPUT,
            WRITES,
            "Write a row per file to this file, as its ending or --report-format says "
            "(repeatable).",
            path="here",
            metavar="FILE",
            multiple=True,
        ),
        opt(
            "report_as",
            OUTPUT,
            WRITES,
            f"How reports are written: {', '.join(REPORT_FORMATS)}. [default: by their endings, "
            "else parquet]",
            flag="--report-format",
            type=click.Choice(REPORT_FORMATS),
            metavar="FORMAT",
        ),
        opt(
            "messages_out",
            OUTPUT,
            WRITES,
            "Write a row per message of all files to this Parquet file: tokens, category, tool, "
            "and the stage that took it out. Reads files again that are known.",
            path="here",
            metavar="FILE",
        ),
        opt(
            "rounds_out",
            OUTPUT,
            WRITES,
            "Write a row per request of all files to this Parquet file, as stats --rounds-out "
            "does.",
            path="here",
            metavar="FILE",
        ),
        opt(
            "junit",
            OUTPUT,
            WRITES,
            "Write a JUnit report, in which each file is a test.",
            path="here",
            metavar="FILE",
        ),
        opt(
            "runner",
            OUTPUT,
            WRITES,
            "Tell a CI runner of the ten worst files, in its own commands on standard error; auto "
            "finds out which runner.",
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
            "Exit with 1 when the next request of a file holds more tokens, such as 120k.",
            type=ParsedText(parse_window),
            metavar="SIZE",
        ),
        opt(
            "fail_on",
            GATES,
            MAY,
            "Exit with 1 when a file has one of these: opaque (lines, or much text, not "
            "understood), orphans (tool calls or results without the other half), errors (of "
            "tools), over-window, usage (reported sizes that cannot be true).",
            type=ParsedText(parse_flags),
            metavar="LIST",
            default="",
        ),
        opt(
            "baseline",
            GATES,
            READS,
            "Exit with 1 when the median request of a project, its share of files that are read "
            "again or that of tools is larger than in this report.",
            path="settings",
            metavar="FILE",
        ),
        TOLERANCE_OPTION,
    ),
    flag("require_fit", MEASURED, MAY, "Fail a file (exit 5) that does not fit then."),
    flag(
        "require_audit",
        GATES,
        MAY,
        "Fail a file (exit 1) of which a summary lost a rule or made something up.",
    ),
    OptGroup("recipe", OptGroup("measure", FAIL_BASE)),
    OptGroup(
        "files",
        opt(
            "include",
            INPUT,
            READS,
            "In folders take only files like this (repeatable). [default: *.jsonl, *.json, both "
            "also with .gz and .zst, and *.parquet that hold conversations]",
            metavar="GLOB",
            multiple=True,
        ),
        opt(
            "exclude",
            INPUT,
            READS,
            "Leave out files like this (repeatable).",
            metavar="GLOB",
            multiple=True,
        ),
        flag(
            "skip_unknown",
            INPUT,
            READS,
            "Skip a named file that no format recognizes, as in folders, instead of failing.",
        ),
        opt(
            "column",
            INPUT,
            READS,
            "The column of conversations in Parquet data sets. [default: messages, conversations, "
            "or what else they are called]",
            metavar="NAME",
        ),
    ),
    opt(
        "cached",
        INPUT,
        ONE_RUN,
        "Take what is known of files that have not changed since. [default: cache]",
        flag="--cache/--no-cache",
        default=True,
    ),
    flag(
        "verify_cache",
        INPUT,
        ONE_RUN,
        "Read files to see that they have not changed, instead of looking at their times.",
    ),
    flag(
        "resume",
        INPUT,
        ONE_RUN,
        "Go on with a batch that was broken off: what is written and unchanged is done.",
    ),
    opt(
        "jobs",
        INPUT,
        LOADS,
        "Processes that work at a time. [default: 0, as many as pay]",
        short="-j",
        type=click.IntRange(min=0),
        metavar="N",
        default=0,
    ),
    opt(
        "timeout",
        INPUT,
        LOADS,
        "Give up a file that takes longer (exit 75), and go on with the others.",
        type=FiniteRange(min=0, min_open=True),
        metavar="SECONDS",
    ),
    OptGroup(
        "output",
        layout_option(piped=False),
        TAGS,
        flag("dry_run", OUTPUT, WRITES, "Write no transcripts.", short="-n"),
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
    shown_as: str,
) -> int:
    """Run ``compactctl batch``."""
    if not options.files.paths and files_from is None:
        raise UsageError("name files, folders or patterns, or a list of them with --files-from")
    force = options.output.force
    page = page and replace(page, force=force)
    listed = listed_paths(files_from) if files_from else ()
    summarizer = effective_summarizer(options.recipe.summarizer)
    files = (junit, messages_out, rounds_out, page.path if page else None)
    options = replace(
        options,
        files=replace(options.files, paths=(*options.files.paths, *listed)),
        recipe=replace(options.recipe, summarizer=summarizer),
        compacts=bool(options.output.path) or _is_plan_given(),
        details=DetailChoice(messages=bool(messages_out), rounds=bool(rounds_out)),
        written_paths=(*report, *filter(None, files)),
    )
    from compactctl.views.results.batch_files import (
        DetailFiles,
        annotate,
        report_format,
        with_report,
    )
    from compactctl.views.terminal.progress import BatchProgress

    with DetailFiles(messages_out, rounds_out) as details:
        with BatchProgress() as progress:
            result = batch(options, progress.tell, details.take)
        result = details.publish(result, force=force)
    for path in report:
        result = with_report(result, path, report_format(path, report_as), force=force)
    if junit is not None:
        result = with_report(result, junit, "junit", force=force)
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
