"""``compactctl chunks``."""

import click

from compactctl.cli.emit import emit, working
from compactctl.cli.options.file_argument import needed_file_argument
from compactctl.cli.options.input import format_option, limit_options
from compactctl.cli.options.measure import measure_options
from compactctl.cli.options.output import shown_as_options
from compactctl.cli.options.plan import protect_options
from compactctl.cli.options.sections import SectionedCommand
from compactctl.cli.options.stages import stage_options
from compactctl.commands.harness.chunks import ChunksOptions, chunks
from compactctl.commands.loading.load import InputOptions
from compactctl.commands.planning.plan import StageSettings
from compactctl.commands.sizing.measure import MeasureOptions
from compactctl.history.protection import ProtectOptions
from compactctl.stages.summarizing.chunk import STAGE
from compactctl.store.files.limits import ReadLimits

_HELP = """Show the chunks in which older messages would be summarized.

FILE is a transcript or a session (compactctl sessions); - reads standard input. Nothing is
written: these are the chunks of compactctl compact --stages chunk with the same options.
"""


@click.command("chunks", help=_HELP, cls=SectionedCommand)
@needed_file_argument
@protect_options
@format_option
@limit_options
@measure_options
@shown_as_options
@stage_options(STAGE)
def command(
    path: str,
    *,
    protect: ProtectOptions,
    format_name: str | None,
    limits: ReadLimits,
    measure: MeasureOptions,
    settings: StageSettings,
    shown_as: str,
) -> None:
    """Run ``compactctl chunks``."""
    options = ChunksOptions(
        input=InputOptions(path=path, format=format_name, limits=limits),
        chunk=STAGE.options(**settings.get(STAGE.name, {})),
        protect=protect,
        measure=measure,
    )
    with working("reading", path, shown_as):
        result = chunks(options)
    emit(result, shown_as)
