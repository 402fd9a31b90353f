"""``compactctl simulate``."""

from typing import TYPE_CHECKING

import click

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.opt import INPUT, MAY, MEASURED, opt
from compactctl.cli.options.file_argument import NEEDED_FILE
from compactctl.cli.options.input import FORMAT, LIMITS, STRICT
from compactctl.cli.options.measure import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.prices import prices_option
from compactctl.cli.options.profile import PROFILES
from compactctl.commands.lab.simulate import SimulateOptions, simulate
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.store.files.limits import ReadLimits

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile
    from compactctl.tokens.models.prices import Prices


_HELP = """Show when each profile would have compacted, and to what size.

FILE is a transcript or a session (compactctl sessions); - reads standard input. Its largest
conversation is walked through request by request; where a profile's trigger fires its stages
run, and the conversation goes on with what they leave. Nothing is written.
"""


@plain_command(
    NEEDED_FILE,
    PROFILES,
    opt(
        "scope",
        INPUT,
        MAY,
        "From the client's own newest compaction on, or everything that was ever a message.",
        type=click.Choice(["effective", "full"]),
        default="effective",
        show_default=True,
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
)
def simulate_command(
    path: str,
    *,
    profiles: tuple["Profile", ...],
    scope: str,
    seed: int | None,
    prices: "Prices | None",
    format_name: str | None,
    limits: ReadLimits,
    measure: MeasureOptions,
    strict: bool,
    shown_as: str,
) -> None:
    """Run ``compactctl simulate``."""
    options = SimulateOptions(
        input=InputOptions(path=path, format=format_name, limits=limits, strict=strict),
        measure=measure,
        profiles=profiles,
        full=scope == "full",
        seed=seed,
        prices=prices,
    )
    with working("simulating", path, shown_as):
        result = simulate(options)
    emit(result, shown_as)
