"""``compactctl mcp``."""

import os
from pathlib import Path

from compactctl.cli.command import plain_command
from compactctl.cli.opt import INPUT, READS, flag
from compactctl.store.places import this_machine

_HELP = """Answer an agent about its project's sessions, over MCP.

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
    help=_HELP,
)
def mcp_command(*, all_projects: bool) -> None:
    """Run ``compactctl mcp``."""
    from compactctl.cli.integrations.serving import serve
    from compactctl.commands.integrations.project_history import ProjectHistory

    here = Path(os.path.realpath(Path.cwd()))
    serve(ProjectHistory(machine=this_machine(), here=here, all_projects=all_projects))
