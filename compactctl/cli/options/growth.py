"""The option of commands that compare with an earlier report."""

from compactctl.asks import GATES, MAY
from compactctl.cli.opt import ParsedText, opt
from compactctl.commands.batch.report_format import TOLERANCE
from compactctl.tokens.budget import parse_share

TOLERANCE_OPTION = opt(
    "tolerance",
    GATES,
    MAY,
    "Allow figures to grow by this share of the baseline.",
    type=ParsedText(parse_share),
    metavar="SHARE",
    default=str(TOLERANCE),
    show_default=True,
)
