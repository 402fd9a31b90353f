"""``compactctl batch``."""

from dataclasses import replace

import click
from click.core import ParameterSource

from compactctl.cli.emit import emit
from compactctl.cli.options.input import format_option, limit_options, strict_option
from compactctl.cli.options.measure import fail_base_option, fail_over_option, measure_options
from compactctl.cli.options.output import layout_options, shown_as_options
from compactctl.cli.options.plan import plan_options, protect_options
from compactctl.cli.options.sections import SectionedCommand, StageOption
from compactctl.cli.options.summarizer import (
    SUMMARIZER_PARAMETERS,
    SummarizerParameters,
    summarizer_from,
    summarizer_options,
)
from compactctl.commands.batch.batch import BatchOptions, BatchResult, batch
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.sizing.measure import MeasureOptions
from compactctl.history.protection import ProtectOptions
from compactctl.pipeline.layout import Layout
from compactctl.store.files.limits import ReadLimits
from compactctl.tokens.fit import Base

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
@click.pass_context
def command(
    context: click.Context,
    /,
    paths: tuple[str, ...],
    *,
    out: str | None,
    plan: PlanOptions,
    summarizer: SummarizerParameters,
    protect: ProtectOptions,
    report: str | None,
    fail_over: float | None,
    fail_base: Base | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    jobs: int,
    layout: Layout,
    tags: bool,
    dry_run: bool,
    force: bool,
    format_name: str | None,
    limits: ReadLimits,
    measure: MeasureOptions,
    strict: bool,
    shown_as: str,
) -> int:
    """Run ``compactctl batch``."""
    options = BatchOptions(
        paths=paths,
        include=include,
        exclude=exclude,
        out=out,
        plan=plan if _is_plan_given(context) or out else None,
        summarizer=summarizer_from(summarizer, plan.profile),
        protect=protect,
        measure=replace(measure, profile=plan.profile, base=fail_base),
        format=format_name,
        limits=limits,
        layout=layout,
        tags=tags,
        strict=strict,
        force=force,
        dry_run=dry_run,
        jobs=jobs,
        fail_over=fail_over,
        report=report,
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
