"""``compactctl show models``."""

from compactctl.cli.command import emit, plain_command
from compactctl.cli.help import Help
from compactctl.cli.opt import Arg
from compactctl.cli.options.asked import asked
from compactctl.cli.options.completion import complete_model
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.reference import models
from compactctl.tokens.models.user_models import NO_USER_MODELS, UserModelTable

_MODELS_HELP = Help(
    """List known models, or show how a model name is resolved.

NAME is a model as transcripts write it, with or without a provider. Each row applies to names that
begin with it; the longest match counts. Sources of the windows and the sizes at which clients
auto-compact stand below the table.
""",
    examples=(
        "compactctl show models",
        "compactctl show models claude-sonnet-4-5",
    ),
)


@plain_command(
    Arg("name", metavar="[NAME]", required=False, shell_complete=complete_model),
    *asked(MeasureOptions, "user_models"),
    SHOWN_AS,
    help=_MODELS_HELP,
)
def models_command(name: str | None, *, user_models: UserModelTable | None, shown_as: str) -> None:
    """Run ``compactctl show models``."""
    emit(models(name, user_models or NO_USER_MODELS), shown_as)
