"""``compactctl prompt``."""

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.options.file_argument import NEEDED_FILE
from compactctl.cli.options.input import FORMAT, LIMITS
from compactctl.cli.options.measure import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.plan import PROTECT
from compactctl.cli.options.stages import stage_options
from compactctl.cli.options.summarizer import (
    STYLE,
    TEMPLATE,
    with_template,
)
from compactctl.commands.harness.prompt import PromptOptions, prompt
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe, StageSettings
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions
from compactctl.stages.summarizing import summarize
from compactctl.store.files.limits import ReadLimits
from compactctl.summaries.by_model.prompt import PromptStyle

_HELP = """Print the prompt that a summarizer would get.

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
    help=_HELP,
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
