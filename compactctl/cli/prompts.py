"""What a summary would be written from: ``compactctl prompt``, ``chunks``."""

from compactctl.cli.command import command, emit, plain_command, working
from compactctl.cli.opt import OptGroup
from compactctl.cli.options.arguments import NEEDED_FILE
from compactctl.cli.options.measuring import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.planning import PROTECT, each_stage_option, settings_of, stage_options
from compactctl.cli.options.reading import FORMAT, LIMITS
from compactctl.cli.options.summaries import STYLE, TEMPLATE, with_template
from compactctl.commands.harness.chunks import ChunksOptions, ChunksResult, chunks
from compactctl.commands.harness.prompt import PromptOptions, prompt
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe, StageSettings
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions
from compactctl.model.operation import OptionValue
from compactctl.stages.summarizing import summarize
from compactctl.stages.summarizing.chunk import STAGE
from compactctl.stages.support.chunking import ChunkOptions
from compactctl.store.files.limits import ReadLimits
from compactctl.summaries.by_model.prompt import PromptStyle

_PROMPT_HELP = """Print the prompt that a summarizer would get.

FILE is a transcript or a session (compactctl sessions); - reads standard input. The prompt is
what compactctl compact --stages summarize would give to a model or a command; nobody is asked,
and nothing is written.
"""


@plain_command(
    NEEDED_FILE,
    TEMPLATE,
    STYLE,
    PROTECT,
    FORMAT,
    LIMITS,
    MEASURE,
    SHOWN_AS,
    stage_options(summarize.STAGE),
    help=_PROMPT_HELP,
)
def prompt_command(
    path: str,
    *,
    template: str | None,
    style: PromptStyle,
    protect: ProtectOptions,
    format: str | None,  # noqa: A002
    limits: ReadLimits,
    measure: MeasureOptions,
    settings: StageSettings,
    shown_as: str,
) -> None:
    """Run ``compactctl prompt``."""
    plan = with_template(PlanOptions(stages=(summarize.NAME,), settings=settings), template)
    options = PromptOptions(
        input=InputOptions(path=path, format=format, limits=limits),
        recipe=Recipe(measure=measure, plan=plan, protect=protect),
        style=style,
    )
    with working("reading", path, shown_as):
        result = prompt(options)
    emit(result, shown_as)


_CHUNKS_HELP = """Show the chunks in which older messages would be summarized.

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
    help=_CHUNKS_HELP,
    doing="reading",
)
def chunks_command(options: ChunksOptions) -> ChunksResult:
    """Run ``compactctl chunks``."""
    return chunks(options)
