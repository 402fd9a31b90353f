"""``compactctl compact``."""

from typing import Any

import click

from compactctl.cli.emit import emit, working
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.plan import plan_from, plan_options, protect_from, protect_options
from compactctl.cli.options.sections import SectionedCommand
from compactctl.cli.options.shared import (
    STANDARD_STREAM,
    fail_base_option,
    format_option,
    layout_options,
    limit_options,
    measure_options,
    measured_with,
    one_document,
    shown_as_options,
    strict_option,
)
from compactctl.cli.options.stages import stage_options
from compactctl.cli.options.summarizer import summarizer_from, summarizer_options
from compactctl.commands.compact.compact import CompactOptions, compact

_HELP = """Compact a transcript; every byte can be restored.

FILE is a transcript; without it, or with -, standard input is compacted to standard output.
FILE itself is left alone: run.jsonl gives run.compacted.jsonl, which its own client can load,
and beside it an archive that compactctl rewind restores from.

Without --stages and --profile, the stages dedup, prune, summarize and truncate run in this
order until the context is under the trigger. With --stages, exactly those run, in the order
given.
"""


@click.command("compact", help=_HELP, cls=SectionedCommand)
@file_argument()
@plan_options
@summarizer_options
@protect_options
@fail_base_option
@click.option("-o", "--output", metavar="FILE", help="Write here; - is standard output.")
@click.option("--in-place", is_flag=True, help="Replace FILE itself; its old bytes are archived.")
@layout_options
@click.option("-n", "--dry-run", is_flag=True, help="Do everything but write.")
@click.option("--explain", is_flag=True, help="List every message: what became of it, and why.")
@click.option("--require-fit", is_flag=True, help="Fail (exit 5) when it does not fit afterwards.")
@click.option("-f", "--force", is_flag=True, help="Overwrite what compactctl did not write.")
@format_option
@limit_options
@measure_options
@strict_option
@shown_as_options
@stage_options
def command(path: str, *, shown_as: str, **values: Any) -> None:  # noqa: ANN401
    """Run ``compactctl compact``."""
    if path == STANDARD_STREAM and not values["in_place"]:
        values["output"] = values["output"] or STANDARD_STREAM
    if not values["dry_run"]:
        one_document(values["output"], shown_as)
    measured = measured_with(values)
    plan = plan_from(values)
    options = CompactOptions(
        path=path,
        plan=plan,
        summarizer=summarizer_from(values, plan.profile),
        protect=protect_from(values),
        measure=measured,
        format=values.pop("format_name"),
        **values,
    )
    from compactctl.commands.compact.idle_options import with_idle_options

    with working("compacting", path, shown_as):
        result = with_idle_options(compact(options), options)
    emit(result, shown_as, piped=result.data)
