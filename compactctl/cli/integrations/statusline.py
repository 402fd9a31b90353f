"""``compactctl statusline``."""

from compactctl.cli.command import emit, plain_command
from compactctl.cli.integrations.never_failing import NeverFailing
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.integrations.statusline import statusline
from compactctl.commands.reading.hook_input import read_told

_HELP = """Print a line about a session for its client's status line.

Reads on standard input what Claude Code or Copilot CLI tell the command of their status line: how
full the context is, and from where on the client compacts by itself. For Claude Code also how
often it has. Never fails.
"""


@plain_command(
    SHOWN_AS,
    help=_HELP,
    kind=NeverFailing,
)
def statusline_command(*, shown_as: str) -> None:
    """Run ``compactctl statusline``."""
    emit(statusline(read_told()), shown_as)
