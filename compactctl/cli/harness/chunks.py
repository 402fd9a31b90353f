"""``compactctl chunks``."""

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.options.file_argument import NEEDED_FILE
from compactctl.cli.options.input import FORMAT, LIMITS
from compactctl.cli.options.measure import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.plan import PROTECT
from compactctl.cli.options.stages import stage_options
from compactctl.commands.harness.chunks import ChunksOptions, chunks
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import StageSettings
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions
from compactctl.stages.summarizing.chunk import STAGE
from compactctl.store.files.limits import ReadLimits

_HELP = """Show the chunks in which older messages would be summarized.

FILE is a transcript or a session (compactctl sessions); - reads standard input. Nothing is
written: these are the chunks of compactctl compact --stages chunk with the same options.
"""


@plain_command(
    NEEDED_FILE,
    PROTECT,
    FORMAT,
    LIMITS,
    MEASURE,
    SHOWN_AS,
    stage_options(STAGE),
    help=_HELP,
)
def chunks_command(
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
