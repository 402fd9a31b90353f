"""How much may grow since an earlier report, an option of the commands that compare with one."""

from collections.abc import Callable
from typing import Any, TypeVar

from compactctl.cli.opt import GATES, MAY, opt
from compactctl.cli.options.values import ParsedText
from compactctl.commands.batch.report import TOLERANCE
from compactctl.tokens.budget import parse_share

F = TypeVar("F", bound=Callable[..., Any])


TOLERANCE_OPTION = opt(
    "tolerance",
    GATES,
    MAY,
    "How much larger than in the baseline a figure may be.",
    type=ParsedText(parse_share),
    metavar="SHARE",
    default=str(TOLERANCE),
    show_default=True,
)
