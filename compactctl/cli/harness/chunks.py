"""``compactctl chunks``."""

from typing import Any

import click

from compactctl.cli.options.plan import protect_from, protect_options
from compactctl.cli.options.shared import (
    format_option,
    json_option,
    limit_options,
    measure_options,
    measured_with,
)
from compactctl.cli.options.stages import options_of, settings_of
from compactctl.commands.harness.chunks import ChunksOptions, chunks
from compactctl.stages.chunk import STAGE


@click.command("chunks")
@click.argument("path", metavar="FILE")
@protect_options
@format_option
@limit_options
@measure_options
@json_option
@options_of(STAGE)
def command(path: str, *, as_json: bool, **values: Any) -> None:  # noqa: ANN401
    """Show the chunks in which older messages would be summarized.

    FILE is a transcript; - reads standard input. Nothing is written: these are the chunks of
    compactctl compact --stages chunk with the same options.
    """
    result = chunks(
        ChunksOptions(
            path=path,
            format=values.pop("format_name"),
            limits=values.pop("limits"),
            chunk=STAGE.options(**settings_of(STAGE, values)),
            protect=protect_from(values),
            measure=measured_with(values),
        )
    )
    if as_json:
        from compactctl.reports.json.harness.chunks import chunks_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(chunks_json(result)), nl=False)
        return
    from compactctl.reports.rendering.screen import Screen
    from compactctl.reports.terminal.harness.chunks import chunks_screen

    Screen().show(*chunks_screen(result))
