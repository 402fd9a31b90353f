"""``compactctl explain``."""

from compactctl.cli.command import command
from compactctl.cli.opt import Arg, OptGroup
from compactctl.cli.options.arguments import NEEDED_FILE
from compactctl.cli.options.measuring import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import ARCHIVE, FORMAT, LIMITS
from compactctl.cli.options.tables import PROFILE
from compactctl.commands.inspect.explain import ExplainOptions, ExplainResult, explain_message

_HELP = """Show one message: its cost, its fate, and the way back to it.

FILE is a transcript or a session (compactctl sessions); - is standard input. MESSAGE is a line
that compactctl view shows, or an id, also of a hidden message, or how an id begins. Its fate is
what a compaction would make of it now. Nothing is written.
"""


@command(
    ExplainOptions,
    NEEDED_FILE,
    Arg("message", metavar="MESSAGE"),
    FORMAT,
    ARCHIVE,
    LIMITS,
    MEASURE,
    OptGroup("measure", PROFILE),
    SHOWN_AS,
    help=_HELP,
    doing="measuring",
)
def explain_command(options: ExplainOptions) -> ExplainResult:
    """Run ``compactctl explain``."""
    return explain_message(options)
