"""``compactctl chunks``."""

from typing import Any

import click

from compactctl.cli.emit import emit, working
from compactctl.cli.options.plan import protect_from, protect_options
from compactctl.cli.options.shared import (
    format_option,
    limit_options,
    measure_options,
    measured_with,
    shown_as_options,
)
from compactctl.cli.options.stages import options_of, settings_of
from compactctl.commands.harness.chunks import ChunksOptions, chunks
from compactctl.stages.summarizing.chunk import STAGE

_HELP = """Show the chunks in which older messages would be summarized.

FILE is a transcript; - reads standard input. Nothing is written: these are the chunks of
compactctl compact --stages chunk with the same options.
"""


@click.command("chunks", help=_HELP)
@click.argument("path", metavar="FILE")
@protect_options
@format_option
@limit_options
@measure_options
@shown_as_options
@options_of(STAGE)
def command(path: str, *, shown_as: str, **values: Any) -> None:  # noqa: ANN401
    """Run ``compactctl chunks``."""
    with working("reading", path, shown_as):
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
    emit(result, shown_as)
