"""``compactctl chunks``."""

from compactctl.cli.command import command
from compactctl.cli.opt import OptGroup
from compactctl.cli.options.file_argument import NEEDED_FILE
from compactctl.cli.options.input import FORMAT, LIMITS
from compactctl.cli.options.measure import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.plan import PROTECT
from compactctl.cli.options.stages import each_stage_option, settings_of
from compactctl.commands.harness.chunks import ChunksOptions, ChunksResult, chunks
from compactctl.model.operation import OptionValue
from compactctl.stages.summarizing.chunk import STAGE
from compactctl.stages.support.chunking import ChunkOptions

_HELP = """Show the chunks in which older messages would be summarized.

FILE is a transcript or a session (compactctl sessions); - reads standard input. Nothing is
written: these are the chunks of compactctl compact --stages chunk with the same options.
"""


def _chunk_options(**values: OptionValue) -> ChunkOptions:
    return STAGE.options(**settings_of((STAGE,), values).get(STAGE.name, {}))


@command(
    ChunksOptions,
    NEEDED_FILE,
    PROTECT,
    FORMAT,
    LIMITS,
    MEASURE,
    SHOWN_AS,
    OptGroup("chunk", *each_stage_option(STAGE), make=_chunk_options),
    help=_HELP,
    doing="reading",
)
def chunks_command(options: ChunksOptions) -> ChunksResult:
    """Run ``compactctl chunks``."""
    return chunks(options)
