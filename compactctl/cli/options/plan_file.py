"""Options about plans that stand in files."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from compactctl.cli.options.sections import StageOption, section_of
from compactctl.errors import UsageError

if TYPE_CHECKING:
    from compactctl.commands.planning.plan_file import PlanFile

F = TypeVar("F", bound=Callable[..., Any])

# Sections of --help with options that a plan leaves nothing to decide for: of compact, of eval.
_DECIDED = {
    "compact": ("Profile and stages", "When, and how small", "What stays", "Summaries"),
    "eval": ("When, and how small", "Where a session is cut"),
}


def plan_file_options(function: F) -> F:
    """Add ``--plan``, which arrives as ``planned``, and ``--plan-out``."""
    planned = plan_option(
        "Carry out this plan, which --plan-out wrote and you may have edited, instead of running "
        "stages."
    )
    plan_out = click.option(
        "--plan-out",
        metavar="FILE",
        help="Write what becomes of every message to this file, to be edited and carried out with "
        "--plan.",
    )
    return planned(plan_out(function))


def plan_option(text: str) -> Callable[[F], F]:
    """Return ``--plan`` with the help ``text``; it arrives as ``planned``."""
    return click.option("--plan", "planned", metavar="FILE", help=text)


def plan_from(path: str | None) -> "PlanFile | None":
    """Read the plan to carry out, None for none.

    Raises as ``read_plan`` does, and UsageError for options that would have no effect beside it.
    """
    if path is None:
        return None
    typed = _typed_beside()
    if typed:
        raise UsageError(f"--plan says what becomes of every message; leave out {typed}")
    from compactctl.commands.planning.plan_file import read_plan

    return read_plan(path)


def _typed_beside() -> str:
    """Return the first option on the command line that says what is to be done, "" for none."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is ParameterSource.COMMANDLINE and _is_decided(option, context.command.name):
            return option.opts[0]
    return ""


def _is_decided(option: click.Parameter, command: str | None) -> bool:
    """Tell whether a plan leaves nothing to decide for an option."""
    if isinstance(option, StageOption):
        return command == "compact"
    if not isinstance(option, click.Option):
        return False
    return section_of(option) in _DECIDED.get(command or "", ())
