"""``compactctl prompt``."""

from typing import Any

import click

from compactctl.cli.emit import emit, working
from compactctl.cli.options.plan import protect_from, protect_options
from compactctl.cli.options.sections import SectionedCommand
from compactctl.cli.options.shared import (
    format_option,
    limit_options,
    measure_options,
    measured_with,
    shown_as_options,
)
from compactctl.cli.options.stages import options_of, settings_of
from compactctl.cli.options.summarizer import (
    style_from,
    style_options,
    template_option,
    with_template,
)
from compactctl.commands.harness.prompt import PromptOptions, prompt
from compactctl.commands.planning.plan import PlanOptions
from compactctl.stages.summarizing import summarize

_HELP = """Print the prompt that a summarizer would get.

FILE is a transcript; - reads standard input. The prompt is what compactctl compact --stages
summarize would give to a model or a command; nobody is asked, and nothing is written.
"""


@click.command("prompt", help=_HELP, cls=SectionedCommand)
@click.argument("path", metavar="FILE")
@template_option
@style_options
@protect_options
@format_option
@limit_options
@measure_options
@shown_as_options
@options_of(summarize.STAGE)
def command(path: str, *, shown_as: str, **values: Any) -> None:  # noqa: ANN401
    """Run ``compactctl prompt``."""
    stage = summarize.STAGE
    settings = {stage.name: settings_of(stage, values)}
    plan = PlanOptions(stages=(stage.name,), settings=settings)
    options = PromptOptions(
        path=path,
        plan=with_template(plan, values),
        protect=protect_from(values),
        measure=measured_with(values),
        format=values.pop("format_name"),
        limits=values.pop("limits"),
        style=style_from(values),
    )
    with working("reading", path, shown_as):
        result = prompt(options)
    emit(result, shown_as)
