"""``compactctl log``."""

from pathlib import Path

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import ARCHIVE, LIMITS
from compactctl.commands.inspect.log import log
from compactctl.store.files.limits import ReadLimits

_HELP = """List the compactions behind a transcript.

FILE is a transcript or a session (compactctl sessions) that compactctl wrote; without it, or
with -, standard input is read. Shows every operation with its savings, which are in effect, and
the groups that compactctl rewind --group can bring back. Exit 6 when an archive is missing.
"""


@plain_command(
    file_argument(compacted=True),
    ARCHIVE,
    LIMITS,
    SHOWN_AS,
    help=_HELP,
)
def log_command(path: str, *, archive: Path | None, limits: ReadLimits, shown_as: str) -> int:
    """Run ``compactctl log``."""
    with working("reading", path, shown_as):
        result = log(path, limits, archive)
    emit(result, shown_as)
    return result.exit_code
