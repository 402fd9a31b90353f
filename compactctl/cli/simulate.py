"""``compactctl simulate``."""

import click

from compactctl.cli.command import command
from compactctl.cli.opt import INPUT, MAY, MEASURED, OptGroup, opt
from compactctl.cli.options.file_argument import NEEDED_FILE
from compactctl.cli.options.input import FORMAT, LIMITS, STRICT
from compactctl.cli.options.measure import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.prices import prices_option
from compactctl.cli.options.profile import PROFILES
from compactctl.commands.lab.simulate import SimulateOptions, SimulateResult, simulate

_HELP = """Show when each profile would have compacted, and to what size.

FILE is a transcript or a session (compactctl sessions); - reads standard input. Its largest
conversation is walked through request by request; where a profile's trigger fires its stages
run, and the conversation goes on with what they leave. Nothing is written.
"""


def _is_full(scope: str) -> bool:
    return scope == "full"


@command(
    SimulateOptions,
    NEEDED_FILE,
    PROFILES,
    OptGroup(
        "full",
        opt(
            "scope",
            INPUT,
            MAY,
            "From the client's own newest compaction on, or everything that was ever a message.",
            type=click.Choice(["effective", "full"]),
            default="effective",
            show_default=True,
        ),
        make=_is_full,
    ),
    opt(
        "seed",
        MEASURED,
        MAY,
        "Draw where background compaction starts, as VS Code Copilot Chat does, from this seed. "
        "[default: the middle of the range]",
        type=int,
        metavar="N",
    ),
    prices_option(
        "Tell what the input of all requests would cost, with a prompt cache and without"
    ),
    FORMAT,
    LIMITS,
    MEASURE,
    STRICT,
    SHOWN_AS,
    help=_HELP,
    doing="simulating",
)
def simulate_command(options: SimulateOptions) -> SimulateResult:
    """Run ``compactctl simulate``."""
    return simulate(options)
