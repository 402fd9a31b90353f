"""``compactctl batch``."""

from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from compactctl.cli.emit import emit
from compactctl.cli.options.plan import plan_from, plan_options, protect_from, protect_options
from compactctl.cli.options.sections import SectionedCommand, StageOption
from compactctl.cli.options.shared import (
    fail_base_option,
    fail_over_option,
    format_option,
    layout_options,
    limit_options,
    measure_options,
    measured_with,
    shown_as_options,
    strict_option,
)
from compactctl.cli.options.stages import stage_options
from compactctl.cli.options.summarizer import (
    SUMMARIZER_PARAMETERS,
    summarizer_from,
    summarizer_options,
)
from compactctl.commands.batch.batch import BatchOptions, BatchResult, batch

_PLAN_OPTIONS = (
    "profile",
    "stages",
    "target",
    "keep",
    "trigger",
    "if_needed",
    "summary_file",
    "template",
    *SUMMARIZER_PARAMETERS,
)


_HELP = """Measure or compact many transcripts.

PATHS are files, folders and patterns in quotes ("runs/**/*.jsonl"). Without --out nothing is
written: files are measured, and with --stages or --target compacted for the figures. With
--out every file is compacted to its place below DIR. A file that fails does not stop the
others; the highest of their exit codes is that of the batch.
"""


@click.command("batch", help=_HELP, cls=SectionedCommand)
@click.argument("paths", metavar="PATHS...", nargs=-1, required=True)
@click.option("--out", metavar="DIR", help="Write compacted transcripts below this folder.")
@plan_options
@summarizer_options
@protect_options
@click.option("--report", metavar="FILE", help="Write a row per file to this Parquet file.")
@fail_over_option
@fail_base_option
@click.option(
    "--include",
    metavar="GLOB",
    multiple=True,
    help="In folders take only files like this (repeatable). [default: *.jsonl, *.json, both "
    "also with .gz]",
)
@click.option(
    "--exclude", metavar="GLOB", multiple=True, help="Leave out files like this (repeatable)."
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    help="Processes that work at a time. [default: 0, as many as pay]",
)
@layout_options
@click.option("-n", "--dry-run", is_flag=True, help="Write no transcripts.")
@click.option("-f", "--force", is_flag=True, help="Overwrite what compactctl did not write.")
@format_option
@limit_options
@measure_options
@strict_option
@shown_as_options
@stage_options
@click.pass_context
def command(
    context: click.Context,
    /,
    paths: tuple[str, ...],
    *,
    report: str | None,
    shown_as: str,
    **values: Any,  # noqa: ANN401
) -> int:
    """Run ``compactctl batch``."""
    measured = measured_with(values)
    plan = plan_from(values)
    options = BatchOptions(
        paths=paths,
        plan=plan if _is_plan_given(context) or values["out"] else None,
        summarizer=summarizer_from(values, plan.profile),
        protect=protect_from(values),
        measure=measured,
        format=values.pop("format_name"),
        report=report,
        **values,
    )
    from compactctl.reports.rendering.progress import BatchProgress

    with BatchProgress() as progress:
        result = batch(options, progress.tell)
    emit(_with_report(result, options), shown_as)
    return result.exit_code


def _is_plan_given(context: click.Context) -> bool:
    """Whether an option asks for stages, which means more than measuring."""
    names = [each.name for each in context.command.params if isinstance(each, StageOption)]
    return any(
        context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        for name in (*_PLAN_OPTIONS, *filter(None, names))
    )


def _with_report(result: BatchResult, options: BatchOptions) -> BatchResult:
    """Write a row per file where that is asked for. Raises as ``write_report`` does."""
    if options.report is None:
        return result
    from compactctl.reports.parquet.batch import write_report

    warnings = write_report(result.rows, options.report, force=options.force)
    return replace(result, report=options.report, warnings=warnings)
