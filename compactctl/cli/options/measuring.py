"""Options about how a context is measured, and against which limits."""

from typing import Any

from compactctl.asks import GATES, MAY
from compactctl.cli.opt import OptGroup, ShareRange, build, opt
from compactctl.cli.options.asked import asked
from compactctl.commands.measuring.measure import MeasureOptions, unlisted_model
from compactctl.commands.measuring.next_request import ExtraOptions


def _measure(**values: Any) -> MeasureOptions:  # noqa: ANN401 - of several options
    """Return the options; warn about a model whose window is only a default."""
    measure = build(MeasureOptions, values)
    warning = unlisted_model(measure)
    if warning:
        from compactctl.views.terminal.screen import print_messages

        print_messages(f"warning: {warning}")
    return measure


# A gate of the command, beside what is measured.
FAIL_OVER = opt(
    "fail_over",
    GATES,
    MAY,
    "Exit 1 if more than this share of --fail-base is used, e.g. 80%.",
    type=ShareRange(min=0),
    metavar="SHARE",
)


FAIL_BASE = OptGroup("measure", *asked(MeasureOptions, "base"))
PROFILE = OptGroup("measure", *asked(MeasureOptions, "profile"))
MEASURE = OptGroup("measure", *asked(MeasureOptions, without=("profile", "base")), make=_measure)
EXTRAS = OptGroup("extras", *asked(ExtraOptions))
