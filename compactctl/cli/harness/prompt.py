"""``compactctl prompt``."""

import click

from compactctl.cli.emit import emit, working
from compactctl.cli.options.file_argument import needed_file_argument
from compactctl.cli.options.input import format_option, limit_options
from compactctl.cli.options.measure import measure_options
from compactctl.cli.options.output import shown_as_options
from compactctl.cli.options.plan import protect_options
from compactctl.cli.options.sections import SectionedCommand
from compactctl.cli.options.stages import stage_options
from compactctl.cli.options.summarizer import (
    TEMPLATE,
    style_options,
    with_template,
)
from compactctl.commands.harness.prompt import PromptOptions, prompt
from compactctl.commands.loading.load import InputOptions
from compactctl.commands.planning.plan import PlanOptions, StageSettings
from compactctl.commands.sizing.measure import MeasureOptions
from compactctl.history.protection import ProtectOptions
from compactctl.stages.summarizing import summarize
from compactctl.store.files.limits import ReadLimits
from compactctl.summaries.by_model.prompt import PromptStyle

_HELP = """Print the prompt that a summarizer would get.

FILE is a transcript or a session (compactctl sessions); - reads standard input. The prompt is
what compactctl compact --stages summarize would give to a model or a command; nobody is asked,
and nothing is written.
"""


@click.command("prompt", help=_HELP, cls=SectionedCommand)
@needed_file_argument
@TEMPLATE
@style_options
@protect_options
@format_option
@limit_options
@measure_options
@shown_as_options
@stage_options(summarize.STAGE)
def command(
    path: str,
    *,
    template: str | None,
    style: PromptStyle,
    protect: ProtectOptions,
    format_name: str | None,
    limits: ReadLimits,
    measure: MeasureOptions,
    settings: StageSettings,
    shown_as: str,
) -> None:
    """Run ``compactctl prompt``."""
    plan = PlanOptions(stages=(summarize.NAME,), settings=settings)
    options = PromptOptions(
        input=InputOptions(path=path, format=format_name, limits=limits),
        plan=with_template(plan, template),
        protect=protect,
        measure=measure,
        style=style,
    )
    with working("reading", path, shown_as):
        result = prompt(options)
    emit(result, shown_as)
