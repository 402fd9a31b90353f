"""``compactctl file-budget``."""

from typing import TYPE_CHECKING

import click

from compactctl.cli.command import emit, plain_command
from compactctl.cli.opt import MAY, MEASURED, SIZE, Arg, flag, opt
from compactctl.cli.options.measure import WINDOWS
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.profile import PROFILE
from compactctl.cli.options.values import ParsedText, ShareRange
from compactctl.commands.harness.file_budget import FileBudgetOptions, budget_files
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.tokens.file_budget import DEFAULT_SHARE
from compactctl.tokens.models.windows import parse_window

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile
    from compactctl.tokens.models.own_models import OwnModels


_HELP = """Show how much of which files fits into a request.

Files get their share in the order given: whole, cut to a number of characters, as a preview
when they are larger than 5 MB, or not at all. Tokens are estimated from sizes; nothing is
changed.
"""


@plain_command(
    Arg("paths", metavar="FILE...", nargs=-1, required=True),
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
    opt(
        "max_tokens",
        MEASURED,
        MAY,
        "Tokens kept for the answer. [default: 35 % of the window, at most 64,000]",
        type=click.IntRange(min=1),
        metavar="N",
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
    PROFILE,
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
def file_budget_command(
    paths: tuple[str, ...],
    *,
    model: str | None,
    window: int | None,
    own: "OwnModels",
    max_tokens: int | None,
    used: str,
    share: float | None,
    profile: "Profile | None",
    aggregate: bool,
    proportional: bool,
    neurolink: bool,
    shown_as: str,
) -> None:
    """Run ``compactctl file-budget``."""
    if share is None:
        share = profile.file_share if profile else DEFAULT_SHARE
    options = FileBudgetOptions(
        paths=paths,
        measure=MeasureOptions(
            model=model, window=window, own=own, max_tokens=max_tokens, profile=profile
        ),
        used=used,
        share=share,
        aggregate=aggregate,
        proportional=proportional,
        neurolink=neurolink,
    )
    emit(budget_files(options), shown_as)
