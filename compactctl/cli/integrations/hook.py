"""``compactctl hook``."""

import click

from compactctl.cli.command import emit, plain_command
from compactctl.cli.integrations.never_failing import NeverFailing
from compactctl.cli.integrations.program import program
from compactctl.cli.opt import GATES, WRITES, Arg, flag
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.integrations.integrate import ALL_INTEGRATIONS, integration_of
from compactctl.commands.reading.hook_input import read_told

_HELP = """Tell what a compaction lost, as a hook of a client.

CLIENT runs this, as compactctl integrate sets it up, and tells on standard input what happened.
Before a compaction nothing is said, after it what its summary does not tell, and to the agent how
to search what was compacted. Never fails.
"""


@plain_command(
    Arg("client", type=click.Choice([each.client for each in ALL_INTEGRATIONS])),
    flag(
        "block_manual",
        GATES,
        WRITES,
        "Refuse compactions that are asked for by hand (Claude Code, Codex).",
    ),
    SHOWN_AS,
    help=_HELP,
    kind=NeverFailing,
)
def hook_command(client: str, *, block_manual: bool, shown_as: str) -> None:
    """Run ``compactctl hook``."""
    from compactctl.commands.integrations.hook import HookOptions, hook

    options = HookOptions(
        integration=integration_of(client), program=program(), block_manual=block_manual
    )
    emit(hook(read_told(), options), shown_as)
