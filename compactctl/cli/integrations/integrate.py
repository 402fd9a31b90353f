"""``compactctl integrate``."""

import click

from compactctl.cli.command import emit, plain_command
from compactctl.cli.integrations.program import program
from compactctl.cli.opt import GATES, OUTPUT, WRITES, Arg, flag, opt
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.integrations.integrate import (
    ALL_INTEGRATIONS,
    Action,
    InstallRequest,
    apply_changes,
    integrate,
)
from compactctl.store.places import this_machine

_HELP = """Set up a client to run compactctl, or take that back.

Shows what would be written: hooks that tell what a compaction lost, a skill that teaches the agent
to search what left its context, and for Claude Code a status line. Only --install and --uninstall
write. Settings keep every byte that is not ours, and a copy lies beside them.
"""


@plain_command(
    Arg("client", type=click.Choice([each.client for each in ALL_INTEGRATIONS])),
    opt(
        "action",
        OUTPUT,
        WRITES,
        "Only show it. [default]",
        flag="--print",
        flag_value="print",
        default=True,
    ),
    opt(
        "action", OUTPUT, WRITES, "Show it, then write it.", flag="--install", flag_value="install"
    ),
    opt("action", OUTPUT, WRITES, "Take it back.", flag="--uninstall", flag_value="uninstall"),
    flag(
        "block_manual",
        GATES,
        WRITES,
        "Also refuse compactions that are asked for by hand (Claude Code, Codex).",
    ),
    SHOWN_AS,
    help=_HELP,
)
def integrate_command(client: str, *, action: Action, block_manual: bool, shown_as: str) -> None:
    """Run ``compactctl integrate``."""
    request = InstallRequest(client=client, program=program(), block_manual=block_manual)
    result = integrate(request, action, this_machine())
    emit(result, shown_as)
    if action != "print":
        apply_changes(result)
