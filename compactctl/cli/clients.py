"""Commands that clients run during a session, and the command that sets them up."""

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from compactctl.asks import INPUT, OUTPUT, READS, WRITES
from compactctl.cli.command import NeverFailing, emit, plain_command
from compactctl.cli.help import Help
from compactctl.cli.opt import Arg, flag, opt
from compactctl.cli.options.asked import asked
from compactctl.cli.options.output import SHOWN_AS
from compactctl.clients.integrations import ALL_INTEGRATIONS, integration_of
from compactctl.commands.integrations.hook import HookOptions, hook
from compactctl.commands.integrations.integrate import (
    Action,
    InstallRequest,
    apply_changes,
    integrate,
)
from compactctl.store.client_folders import this_machine

_NAME = "compactctl"


def program() -> str:
    """Return the command for a shell: just the name if it is on the PATH."""
    is_found = shutil.which(_NAME) is not None
    return _NAME if is_found else f"{shlex.quote(sys.executable)} -m {_NAME}"


_HOOK_HELP = Help(
    """Report what a compaction lost. Clients run this as a hook.

compactctl client integrate sets this up. CLIENT passes the event on standard input. Before a
compaction, prints nothing; after it, what its summary omits, and for the agent how to search the
compacted messages. Exits 0 even after an error.
""",
    examples=("compactctl client hook claude-code < event.json",),
)


@plain_command(
    Arg("client", type=click.Choice([integration.client for integration in ALL_INTEGRATIONS])),
    *asked(HookOptions),
    SHOWN_AS,
    help=_HOOK_HELP,
    kind=NeverFailing,
)
def hook_command(client: str, *, block_manual: bool, shown_as: str) -> None:
    """Run ``compactctl client hook``."""
    from compactctl.commands.reading.hook_input import read_hook_input

    options = HookOptions(
        integration=integration_of(client), program=program(), block_manual=block_manual
    )
    emit(hook(read_hook_input(), options), shown_as)


_INTEGRATE_HELP = Help(
    """Install compactctl's hooks and skill in a client, or remove them.

Shows the changes: hooks that report what a compaction lost, a skill that teaches the agent to
search what left its context, and for Claude Code a status line. Only --install and --uninstall
write. Every byte of your settings that is not compactctl's stays, and a backup is kept.
""",
    examples=(
        "compactctl client integrate claude-code",
        "compactctl client integrate claude-code --install",
    ),
)


@plain_command(
    Arg("client", type=click.Choice([integration.client for integration in ALL_INTEGRATIONS])),
    # Three flags for one value, which belongs to no record.
    opt(
        "action",
        OUTPUT,
        WRITES,
        "Show the changes. [default]",
        flag="--print",
        flag_value="print",
        default=True,
    ),
    opt(
        "action",
        OUTPUT,
        WRITES,
        "Show the changes, then write them.",
        flag="--install",
        flag_value="install",
    ),
    opt(
        "action",
        OUTPUT,
        WRITES,
        "Remove what --install wrote.",
        flag="--uninstall",
        flag_value="uninstall",
    ),
    *asked(InstallRequest),
    SHOWN_AS,
    help=_INTEGRATE_HELP,
)
def integrate_command(client: str, *, action: Action, block_manual: bool, shown_as: str) -> None:
    """Run ``compactctl client integrate``."""
    request = InstallRequest(client=client, program=program(), block_manual=block_manual)
    result = integrate(request, action, this_machine())
    emit(result, shown_as)
    if action != "print":
        apply_changes(result)


_STATUSLINE_HELP = Help(
    """Print a session's context usage for a client's status line.

Claude Code or Copilot CLI pass the session on standard input. Shows how full the context is and
where the client auto-compacts; for Claude Code also how often it has. Exits 0 even after an error.
""",
    examples=("compactctl client statusline < status.json",),
)


@plain_command(
    SHOWN_AS,
    help=_STATUSLINE_HELP,
    kind=NeverFailing,
)
def statusline_command(*, shown_as: str) -> None:
    """Run ``compactctl client statusline``."""
    from compactctl.commands.integrations.statusline import statusline
    from compactctl.commands.reading.hook_input import read_hook_input

    emit(statusline(read_hook_input()), shown_as)


_MCP_HELP = Help(
    """Serve a project's sessions to an agent over MCP.

A client starts this in a project's folder and talks to it on standard input and output. Its agent
can list the project's sessions, see where their context went, search what left it, and read a
message of it. Nothing is written. Needs the package mcp.
""",
    examples=("compactctl client mcp",),
)


@plain_command(
    # Not on ProjectHistory, which a hook would have to import with all that reads sessions.
    flag(
        "all_projects",
        INPUT,
        READS,
        "Also serve sessions of all other projects on this machine.",
    ),
    help=_MCP_HELP,
)
def mcp_command(*, all_projects: bool) -> None:
    """Run ``compactctl client mcp``."""
    from compactctl.cli.mcp_server import serve
    from compactctl.commands.integrations.project_history import ProjectHistory

    here = Path(os.path.realpath(Path.cwd()))
    serve(ProjectHistory(machine=this_machine(), here=here, all_projects=all_projects))
