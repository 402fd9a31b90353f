"""Options about plans that stand in files."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from compactctl.cli.opt import PLAN_FILES, READS, WRITES, Opt, opt

if TYPE_CHECKING:
    from compactctl.commands.planning.plan_file import PlanFile

F = TypeVar("F", bound=Callable[..., Any])


def plan_option(text: str) -> Opt:
    """Return ``--plan`` with the help ``text``; it arrives as ``planned``."""
    return opt("planned", PLAN_FILES, READS, text, flag="--plan", path="settings", metavar="FILE")


def plan_from(path: str | None) -> "PlanFile | None":
    """Read the plan to carry out, None for none. Raises as ``read_plan`` does."""
    if path is None:
        return None
    from compactctl.commands.planning.plan_file import read_plan

    return read_plan(path)


PLAN_FILE = plan_option(
    "Carry out this plan, which --plan-out wrote and you may have edited, instead of running "
    "stages."
)
PLAN_OUT = opt(
    "plan_out",
    PLAN_FILES,
    WRITES,
    "Write what becomes of every message to this file, to be edited and carried out with --plan.",
    path="here",
    metavar="FILE",
)
