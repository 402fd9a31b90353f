"""``compactctl check``."""

from compactctl.cli.command import command
from compactctl.cli.opt import MAY, SIZE, OptGroup, opt
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.input import FORMAT, LIMITS, STRICT
from compactctl.cli.options.measure import EXTRAS, FAIL_BASE, MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.profile import PROFILE
from compactctl.cli.options.values import ParsedText
from compactctl.commands.inspect.check import CheckOptions, CheckResult, check
from compactctl.tokens.trigger import parse_trigger

_HELP = """Tell whether a compaction is due: exit 0 for no, 1 for yes.

FILE is a transcript or a session (compactctl sessions); without it, or with -, standard input is
read. The next request is measured as by stats, and the trigger is asked. Exit 4 where too much of
the file's text stands in fields that are not read to tell.
"""


@command(
    CheckOptions,
    OptGroup("stats", file_argument(), OptGroup("measure", PROFILE)),
    opt(
        "trigger",
        SIZE,
        MAY,
        "When compaction is due: a share of what --fail-base says (0.8), tokens (60k), "
        "'turns>20', or conditions joined with or. [default: that of the profile, 0.8]",
        type=ParsedText(parse_trigger),
        metavar="WHEN",
    ),
    OptGroup(
        "stats",
        OptGroup("measure", FAIL_BASE),
        FORMAT,
        LIMITS,
        MEASURE,
        EXTRAS,
        STRICT,
    ),
    SHOWN_AS,
    help=_HELP,
    doing="measuring",
    reads="stats.input.path",
)
def check_command(options: CheckOptions) -> CheckResult:
    """Run ``compactctl check``."""
    return check(options)
