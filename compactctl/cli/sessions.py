"""``compactctl sessions``."""

import time

import click

from compactctl.asks import INPUT, ONE_RUN, STATE
from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.opt import Arg, KnownName, ParsedText, flag, opt
from compactctl.cli.options.completion import complete_client
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.sessions import USUAL, SessionFilter, SessionsResult, parse_since, sessions
from compactctl.sessions.registry import ALL_STORES, store_named
from compactctl.store.client_folders import this_machine
from compactctl.tokens.budget import parse_share

_HELP = Help(
    """List the sessions of your coding agents, newest first.

WORDS filter by title and project; all must match. Other commands take a session instead of FILE: an
id or its beginning, words of its title, latest, claude:latest, or . for the newest of this folder.
""",
    examples=(
        "compactctl sessions",
        "compactctl sessions --over 80% --since 2d",
        "compactctl sessions website redesign --client claude",
    ),
)

CLIENTS = ", ".join(store.alias for store in ALL_STORES)


def _parse_since(text: str) -> float:
    return parse_since(text, time.time())


@command(
    SessionFilter,
    Arg("words", metavar="[WORDS]...", nargs=-1),
    opt(
        "clients",
        STATE,
        ONE_RUN,
        f"Only sessions of this client (repeatable): {CLIENTS}.",
        flag="--client",
        metavar="NAME",
        multiple=True,
        type=KnownName(store_named),
        shell_complete=complete_client,
    ),
    opt(
        "project",
        INPUT,
        ONE_RUN,
        "Only sessions started in this folder or below it.",
        path="here",
        metavar="DIR",
    ),
    opt(
        "over",
        INPUT,
        ONE_RUN,
        "Only sessions that fill more than this share of the window: 70% or 0.7.",
        type=ParsedText(parse_share),
        metavar="SHARE",
    ),
    opt(
        "since",
        INPUT,
        ONE_RUN,
        "Only sessions changed since then: 90m, 12h, 2d, 1w, or 2026-01-31.",
        type=ParsedText(_parse_since),
        metavar="AGE|DATE",
    ),
    flag(
        "hidden",
        STATE,
        ONE_RUN,
        "Include sessions that clients hide: subagents, non-interactive runs, empty sessions.",
        flag="--all",
    ),
    opt(
        "limit",
        STATE,
        ONE_RUN,
        "List at most N sessions; 0 for all.",
        type=click.IntRange(min=0),
        metavar="N",
        default=USUAL,
        show_default=True,
    ),
    SHOWN_AS,
    help=_HELP,
)
def sessions_command(session_filter: SessionFilter) -> SessionsResult:
    """Run ``compactctl sessions``."""
    return sessions(session_filter, this_machine(), time.time())
