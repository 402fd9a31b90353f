"""``compactctl overflow``."""

from compactctl.cli.command import emit, plain_command
from compactctl.cli.opt import Arg
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.harness.overflow import overflow

NO_OVERFLOW = 1


_HELP = """Tell whether an error says that the context was too long.

TEXT is what a provider answered, a message or a JSON body; the name of an existing FILE reads
it from there, - from standard input. Shows who answered, how many tokens were sent and
allowed, and whether the same request can succeed later. Rate limits and quotas are not
overflow. The exit code is 0 for an overflow and 1 for another error.
"""


@plain_command(
    Arg("error", metavar="TEXT|FILE"),
    SHOWN_AS,
    help=_HELP,
)
def overflow_command(error: str, *, shown_as: str) -> int:
    """Run ``compactctl overflow``."""
    result = overflow(error)
    emit(result, shown_as)
    return 0 if result.overflow else NO_OVERFLOW
