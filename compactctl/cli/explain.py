"""``compactctl explain``."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.opt import Arg
from compactctl.cli.options.file_argument import NEEDED_FILE
from compactctl.cli.options.input import ARCHIVE, FORMAT, LIMITS
from compactctl.cli.options.measure import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.profile import PROFILE
from compactctl.commands.inspect.explain import ExplainOptions, explain_message
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.store.files.limits import ReadLimits

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile

_HELP = """Show one message: its cost, its fate, and the way back to it.

FILE is a transcript or a session (compactctl sessions); - is standard input. MESSAGE is a line
that compactctl view shows, or an id, also of a hidden message, or how an id begins. Its fate is
what a compaction would make of it now. Nothing is written.
"""


@plain_command(
    NEEDED_FILE,
    Arg("message", metavar="MESSAGE"),
    FORMAT,
    ARCHIVE,
    LIMITS,
    MEASURE,
    PROFILE,
    SHOWN_AS,
    help=_HELP,
)
def explain_command(
    path: str,
    message: str,
    *,
    format_name: str | None,
    archive: Path | None,
    limits: ReadLimits,
    measure: MeasureOptions,
    profile: "Profile | None",
    shown_as: str,
) -> None:
    """Run ``compactctl explain``."""
    options = ExplainOptions(
        input=InputOptions(path=path, format=format_name, limits=limits),
        message=message,
        measure=replace(measure, profile=profile),
        archive=archive,
    )
    with working("measuring", path, shown_as):
        result = explain_message(options)
    emit(result, shown_as)
