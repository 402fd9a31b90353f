"""``compactctl file-budget``."""

from compactctl.cli.command import command
from compactctl.cli.opt import MAY, MEASURED, SIZE, Arg, OptGroup, ParsedText, ShareRange, flag, opt
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.tables import MAX_TOKENS, PROFILE, WINDOWS
from compactctl.commands.harness.file_budget import (
    FileBudgetOptions,
    FileBudgetResult,
    budget_files,
)
from compactctl.tokens.models.token_sizes import parse_window

_HELP = """Show how much of which files fits into a request.

Files get their share in the order given: whole, cut to a number of characters, as a preview
when they are larger than 5 MB, or not at all. Tokens are estimated from sizes; nothing is
changed.
"""


@command(
    FileBudgetOptions,
    Arg("paths", metavar="FILE...", nargs=-1, required=True),
    OptGroup(
        "measure",
        opt("model", MEASURED, MAY, "The model whose window is to be filled.", metavar="NAME"),
        opt(
            "window",
            MEASURED,
            MAY,
            "Its context window in tokens, such as 128k.",
            type=ParsedText(parse_window),
            metavar="SIZE",
        ),
        WINDOWS,
        MAX_TOKENS,
    ),
    opt(
        "used",
        MEASURED,
        MAY,
        "Tokens of the window that are taken already, such as 50k.",
        metavar="TOKENS",
        default="0",
        show_default=True,
    ),
    opt(
        "share",
        SIZE,
        MAY,
        "How much of what is left files may take. [default: that of the profile, 0.6]",
        type=ShareRange(0, 1),
        metavar="SHARE",
    ),
    OptGroup("measure", PROFILE),
    flag("aggregate", SIZE, MAY, "Include whole files only, the smallest ones first."),
    flag("proportional", SIZE, MAY, "Cut all texts to the same share where they do not all fit."),
    flag(
        "neurolink",
        SIZE,
        MAY,
        "Judge each file on its own as NeuroLink does: below 102,400 bytes it is whole, and of "
        "others 2,000 characters are left, whatever the budget.",
    ),
    SHOWN_AS,
    help=_HELP,
)
def file_budget_command(options: FileBudgetOptions) -> FileBudgetResult:
    """Run ``compactctl file-budget``."""
    return budget_files(options)
