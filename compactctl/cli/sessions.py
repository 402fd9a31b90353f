"""``compactctl sessions``."""

import time

from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.opt import Arg
from compactctl.cli.options.asked import asked
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.sessions import SessionFilter, SessionsResult, sessions
from compactctl.store.client_folders import this_machine

_HELP = Help(
    """List the sessions of your coding agents, newest first.

WORDS filter by title, project and client; all must match. Other commands take a session instead of
FILE: an id or its beginning, words of its title, latest, claude for the newest of that client, or .
for the newest of this folder.
""",
    examples=(
        "compactctl sessions",
        "compactctl sessions --over 80% --since 2d",
        "compactctl sessions website redesign --client claude",
    ),
)


@command(
    SessionFilter,
    Arg("words", metavar="[WORDS]...", nargs=-1),
    *asked(SessionFilter),
    SHOWN_AS,
    help=_HELP,
)
def sessions_command(session_filter: SessionFilter) -> SessionsResult:
    """Run ``compactctl sessions``."""
    return sessions(session_filter, this_machine(), time.time())
