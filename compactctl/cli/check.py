"""``compactctl check``."""

from dataclasses import replace
from typing import TYPE_CHECKING

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.opt import MAY, SIZE, opt
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.input import FORMAT, LIMITS, STRICT
from compactctl.cli.options.measure import EXTRAS, FAIL_BASE, MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.profile import PROFILE
from compactctl.cli.options.values import ParsedText
from compactctl.commands.inspect.check import CheckOptions, check
from compactctl.commands.inspect.stats import StatsOptions
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.measuring.next_request import ExtraOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import NotUnderstoodError
from compactctl.store.files.limits import ReadLimits
from compactctl.tokens.fit import Base
from compactctl.tokens.trigger import Trigger, parse_trigger

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile

DUE = 1


_HELP = """Tell whether a compaction is due: exit 0 for no, 1 for yes.

FILE is a transcript or a session (compactctl sessions); without it, or with -, standard input is
read. The next request is measured as by stats, and the trigger is asked. Exit 4 where too much of
the file's text stands in fields that are not read to tell.
"""


@plain_command(
    file_argument(),
    PROFILE,
    opt(
        "trigger",
        SIZE,
        MAY,
        "When compaction is due: a share of what --fail-base says (0.8), tokens (60k), "
        "'turns>20', or conditions joined with or. [default: that of the profile, 0.8]",
        type=ParsedText(parse_trigger),
        metavar="WHEN",
    ),
    FAIL_BASE,
    FORMAT,
    LIMITS,
    MEASURE,
    EXTRAS,
    STRICT,
    SHOWN_AS,
    help=_HELP,
)
def check_command(
    path: str,
    *,
    profile: "Profile | None",
    trigger: Trigger | None,
    fail_base: Base | None,
    format_name: str | None,
    limits: ReadLimits,
    measure: MeasureOptions,
    extras: ExtraOptions,
    strict: bool,
    shown_as: str,
) -> int:
    """Run ``compactctl check``."""
    measured = StatsOptions(
        input=InputOptions(path=path, format=format_name, limits=limits, strict=strict),
        measure=replace(measure, profile=profile, base=fail_base),
        extras=extras,
    )
    options = CheckOptions(stats=measured, trigger=trigger)
    with working("measuring", path, shown_as):
        result = check(options)
    emit(result, shown_as)
    if result.is_unsure:
        return NotUnderstoodError.exit_code
    return DUE if result.due else 0
