"""The input of a summarizer: ``compactctl harness prompt``, ``chunks``."""

from typing import Any

from compactctl.cli.command import command, emit, shown_command, working
from compactctl.cli.help import Help
from compactctl.cli.opt import OptGroup, beside
from compactctl.cli.options.arguments import NEEDED_FILE
from compactctl.cli.options.measuring import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.planning import PROTECT, settings_of, stage_options, stage_opts
from compactctl.cli.options.reading import FORMAT, LIMITS
from compactctl.cli.options.summaries import STYLE, TEMPLATE, with_template
from compactctl.cli.set_option import SET
from compactctl.commands.harness.chunks import ChunksOptions, ChunksResult, chunks
from compactctl.commands.harness.prompt import PromptOptions, prompt
from compactctl.commands.planning.plan import PlanOptions, StageSettings
from compactctl.model.operation import OptionValue
from compactctl.records import replace
from compactctl.stages import summarize
from compactctl.stages.chunk import STAGE
from compactctl.stages.support.chunking import ChunkOptions

_PROMPT_HELP = Help(
    """Print the prompt that a summarizer would get.

FILE is a transcript, a session (compactctl sessions), or - for standard input. Prints what
compactctl compact --stages summarize would send to a model or command. Nothing is sent or written.
""",
    examples=(
        "compactctl harness prompt run.jsonl",
        "compactctl harness prompt run.jsonl --template eight",
    ),
    usual=(
        "--template", "--set", "--keep-turns", "--pin", "--label-style",
        "--summarizer-context", "--json",
    ),
)  # fmt: skip


@shown_command(
    PromptOptions,
    NEEDED_FILE,
    beside(TEMPLATE),
    STYLE,
    OptGroup("recipe", PROTECT),
    FORMAT,
    LIMITS,
    OptGroup("recipe", MEASURE),
    SHOWN_AS,
    beside(stage_options(summarize.STAGE)),
    help=_PROMPT_HELP,
)
def prompt_command(
    options: PromptOptions, *, template: str | None, settings: StageSettings, shown_as: str
) -> None:
    """Run ``compactctl harness prompt``."""
    plan = with_template(PlanOptions(stages=(summarize.NAME,), settings=settings), template)
    options = replace(options, recipe=replace(options.recipe, plan=plan))
    with working("reading", options.input.path, shown_as):
        result = prompt(options)
    emit(result, shown_as)


_CHUNKS_HELP = Help(
    """Show how the chunk stage would split older messages.

FILE is a transcript, a session (compactctl sessions), or - for standard input. Shows the chunks of
compactctl compact --stages chunk with the same options. Nothing is written.
""",
    examples=(
        "compactctl harness chunks run.jsonl",
    ),
    usual=(
        "--set", "--keep-turns", "--pin", "--model", "--window", "--json",
    ),
)  # fmt: skip


def _chunk_options(**values: OptionValue) -> ChunkOptions:
    chosen: dict[str, Any] = dict(settings_of((STAGE,), values).get(STAGE.name, {}))
    return ChunkOptions(**chosen)


@command(
    ChunksOptions,
    NEEDED_FILE,
    PROTECT,
    FORMAT,
    LIMITS,
    MEASURE,
    SHOWN_AS,
    OptGroup("chunk", SET, *stage_opts(STAGE), make=_chunk_options),
    help=_CHUNKS_HELP,
    doing="reading",
)
def chunks_command(options: ChunksOptions) -> ChunksResult:
    """Run ``compactctl harness chunks``."""
    return chunks(options)
