"""``compactctl log``."""

from compactctl.cli.command import command
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import ARCHIVE, LIMITS
from compactctl.commands.inspect.log import LogOptions, LogResult, log

_HELP = """List the compactions behind a transcript.

FILE is a transcript or a session (compactctl sessions) that compactctl wrote; without it, or
with -, standard input is read. Shows every operation with its savings, which are in effect, and
the groups that compactctl rewind --group can bring back. Exit 6 when an archive is missing.
"""


@command(
    LogOptions,
    file_argument(compacted=True),
    ARCHIVE,
    LIMITS,
    SHOWN_AS,
    help=_HELP,
    doing="reading",
)
def log_command(options: LogOptions) -> LogResult:
    """Run ``compactctl log``."""
    return log(options)
