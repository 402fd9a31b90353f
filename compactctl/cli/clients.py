"""Commands that clients run during a session, and the command that sets them up."""

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from compactctl.cli.command import NeverFailing, emit, plain_command
from compactctl.cli.opt import GATES, INPUT, OUTPUT, READS, WRITES, Arg, flag, opt
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.integrations.integrate import (
    ALL_INTEGRATIONS,
    Action,
    InstallRequest,
    apply_changes,
    integrate,
    integration_of,
)
from compactctl.store.client_folders import this_machine

_NAME = "compactctl"


def program() -> str:
    """Return the command for a shell: just the name if it is on the PATH."""
    is_found = shutil.which(_NAME) is not None
    return _NAME if is_found else f"{shlex.quote(sys.executable)} -m {_NAME}"


_HOOK_HELP = """Tell what a compaction lost, as a hook of a client.

CLIENT runs this, as compactctl integrate sets it up, and tells on standard input what happened.
Before a compaction nothing is said, after it what its summary does not tell, and to the agent how
to search what was compacted. Never fails.
"""


@plain_command(
    Arg("client", type=click.Choice([integration.client for integration in ALL_INTEGRATIONS])),
    flag(
        "block_manual",
        GATES,
        WRITES,
        "Refuse compactions that are asked for by hand (Claude Code, Codex).",
    ),
    SHOWN_AS,
    help=_HOOK_HELP,
    kind=NeverFailing,
)
def hook_command(client: str, *, block_manual: bool, shown_as: str) -> None:
    """Run ``compactctl hook``."""
    from compactctl.commands.integrations.hook import HookOptions, hook
    from compactctl.commands.reading.hook_input import read_hook_input

    options = HookOptions(
        integration=integration_of(client), program=program(), block_manual=block_manual
    )
    emit(hook(read_hook_input(), options), shown_as)


_INTEGRATE_HELP = """Set up a client to run compactctl, or take that back.

Shows what would be written: hooks that tell what a compaction lost, a skill that teaches the agent
to search what left its context, and for Claude Code a status line. Only --install and --uninstall
write. Settings keep every byte that is not ours, and a copy lies beside them.
"""


@plain_command(
    Arg("client", type=click.Choice([integration.client for integration in ALL_INTEGRATIONS])),
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
    help=_INTEGRATE_HELP,
)
def integrate_command(client: str, *, action: Action, block_manual: bool, shown_as: str) -> None:
    """Run ``compactctl integrate``."""
    request = InstallRequest(client=client, program=program(), block_manual=block_manual)
    result = integrate(request, action, this_machine())
    emit(result, shown_as)
    if action != "print":
        apply_changes(result)


_STATUSLINE_HELP = """Print a line about a session for its client's status line.

Reads on standard input what Claude Code or Copilot CLI tell the command of their status line: how
full the context is, and from where on the client compacts by itself. For Claude Code also how
often it has. Never fails.
"""


@plain_command(
    SHOWN_AS,
    help=_STATUSLINE_HELP,
    kind=NeverFailing,
)
def statusline_command(*, shown_as: str) -> None:
    """Run ``compactctl statusline``."""
    from compactctl.commands.integrations.statusline import statusline
    from compactctl.commands.reading.hook_input import read_hook_input

    emit(statusline(read_hook_input()), shown_as)


_MCP_HELP = """Answer an agent about its project's sessions, over MCP.

A client starts this in the folder of a project and speaks to it on standard input and output. Its
agent can list the sessions that were begun in that folder, see where their context went, search
what left it, and read a message of it. Nothing is written. Needs the package mcp; without it,
the command says how to install it.
"""


@plain_command(
    flag(
        "all_projects",
        INPUT,
        READS,
        "Also serve the sessions of all other projects on this machine.",
    ),
    help=_MCP_HELP,
)
def mcp_command(*, all_projects: bool) -> None:
    """Run ``compactctl mcp``."""
    from compactctl.cli.mcp_server import serve
    from compactctl.commands.integrations.project_history import ProjectHistory

    here = Path(os.path.realpath(Path.cwd()))
    serve(ProjectHistory(machine=this_machine(), here=here, all_projects=all_projects))
