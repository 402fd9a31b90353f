"""``compactctl models``."""

from typing import TYPE_CHECKING

from compactctl.cli.command import emit, plain_command
from compactctl.cli.opt import Arg
from compactctl.cli.options.completion import complete_model
from compactctl.cli.options.measure import WINDOWS
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.reference import models

if TYPE_CHECKING:
    from compactctl.tokens.models.own_models import OwnModels


_HELP = """List the known models, or show how a name is looked up.

NAME is a model as transcripts write it, with or without a provider. Without it: every row of
the table, by the beginning of the names it holds for; the longest one that fits counts.
Below it: where the windows are from, and from which size on clients compact by themselves.
"""


@plain_command(
    Arg("name", metavar="[NAME]", required=False, shell_complete=complete_model),
    WINDOWS,
    SHOWN_AS,
    help=_HELP,
)
def models_command(name: str | None, *, own: "OwnModels", shown_as: str) -> None:
    """Run ``compactctl models``."""
    emit(models(name, own), shown_as)
