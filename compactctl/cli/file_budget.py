"""``compactctl harness file-budget``."""

from compactctl.asks import MAY, MEASURED, POLICY
from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.opt import Arg, OptGroup, ParsedText, ShareRange, flag, opt
from compactctl.cli.options.asked import asked
from compactctl.cli.options.measuring import PROFILE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.harness.file_budget import (
    FileBudgetOptions,
    FileBudgetResult,
    budget_files,
)
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.tokens.models.token_sizes import parse_window

_HELP = Help(
    """Show which files fit in a request, and how much of each.

Files get their share in the order given: whole, truncated, as a preview if larger than 5 MB, or
nothing. Tokens are estimated from file sizes.
""",
    examples=("compactctl harness file-budget src/*.py --model gpt-4.1 --used 50k",),
)


@command(
    FileBudgetOptions,
    Arg("paths", metavar="FILE...", nargs=-1, required=True),
    OptGroup(
        "measure",
        opt("model", MEASURED, MAY, "Fill the window of this model.", metavar="NAME"),
        opt(
            "window",
            MEASURED,
            MAY,
            "Context window in tokens, e.g. 128k.",
            type=ParsedText(parse_window),
            metavar="SIZE",
        ),
        *asked(MeasureOptions, "user_models", "max_tokens"),
    ),
    opt(
        "used",
        MEASURED,
        MAY,
        "Tokens already in use, e.g. 50k.",
        metavar="TOKENS",
        default="0",
        show_default=True,
    ),
    opt(
        "share",
        POLICY,
        MAY,
        "Share of the remaining tokens that files may use. [default: that of the profile, 0.6]",
        type=ShareRange(0, 1),
        metavar="SHARE",
    ),
    PROFILE,
    flag("aggregate", POLICY, MAY, "Include only whole files, smallest first."),
    flag("proportional", POLICY, MAY, "If not all files fit, cut each to the same share."),
    flag(
        "neurolink",
        POLICY,
        MAY,
        "Judge each file on its own, as NeuroLink does: below 102,400 bytes whole, above 5 MB "
        "2,000 characters, else what fits in the whole budget, but at least 2,000 characters.",
    ),
    SHOWN_AS,
    help=_HELP,
)
def file_budget_command(options: FileBudgetOptions) -> FileBudgetResult:
    """Run ``compactctl harness file-budget``."""
    return budget_files(options)
