"""``compactctl prompt``."""

from typing import Any

import click

from compactctl.cli.options.plan import protect_from, protect_options
from compactctl.cli.options.sections import SectionedCommand
from compactctl.cli.options.shared import (
    format_option,
    json_option,
    limit_options,
    measure_options,
    measured_with,
)
from compactctl.cli.options.stages import options_of, settings_of
from compactctl.cli.options.summarizer import (
    style_from,
    style_options,
    template_option,
    with_template,
)
from compactctl.commands.harness.prompt import PromptOptions, PromptResult, prompt
from compactctl.commands.planning.plan import PlanOptions
from compactctl.stages import summarize


@click.command("prompt", cls=SectionedCommand)
@click.argument("path", metavar="FILE")
@template_option
@style_options
@protect_options
@format_option
@limit_options
@measure_options
@json_option
@options_of(summarize.STAGE)
def command(path: str, *, as_json: bool, **values: Any) -> None:  # noqa: ANN401
    """Print the prompt that a summarizer would get.

    FILE is a transcript; - reads standard input. The prompt is what compactctl compact --stages
    summarize would give to a model or a command; nobody is asked, and nothing is written.
    """
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
    _report(prompt(options), as_json=as_json)


def _report(result: PromptResult, *, as_json: bool) -> None:
    from compactctl.reports.rendering.screen import print_text, tell
    from compactctl.reports.terminal.harness.prompt import prompt_messages, prompt_text

    if as_json:
        from compactctl.reports.json.harness.prompt import prompt_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(prompt_json(result)), nl=False)
    else:
        print_text(prompt_text(result))
    tell(*prompt_messages(result))
