"""``compactctl harness file-budget``."""

from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.opt import Arg, OptGroup
from compactctl.cli.options.asked import asked
from compactctl.cli.options.measuring import PROFILE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.harness.file_budget import (
    FileBudgetOptions,
    FileBudgetResult,
    budget_files,
)
from compactctl.commands.measuring.measure import MeasureOptions

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
        *asked(MeasureOptions, model="Fill the window of this model."),
        *asked(MeasureOptions, "window", "user_models", "max_tokens"),
    ),
    *asked(FileBudgetOptions, "used", "share"),
    PROFILE,
    *asked(FileBudgetOptions, without=("used", "share")),
    SHOWN_AS,
    help=_HELP,
)
def file_budget_command(options: FileBudgetOptions) -> FileBudgetResult:
    """Run ``compactctl harness file-budget``."""
    return budget_files(options)
