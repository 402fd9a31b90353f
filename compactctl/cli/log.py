"""``compactctl log``."""

from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import ARCHIVE, LIMITS
from compactctl.commands.inspect.log import LogOptions, LogResult, log

_HELP = Help(
    """List the compactions of a transcript.

FILE is a transcript or session that compactctl wrote, or - for standard input; by default, the only
one in this folder, else its newest session. Shows each operation with its savings, and the groups
that compactctl rewind --group can restore. Exit 6 if an archive is missing.
""",
    examples=("compactctl log run.compacted.jsonl",),
)


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
