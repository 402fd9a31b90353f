"""``compactctl cache``."""

from compactctl.cli.command import emit, plain_command
from compactctl.cli.opt import ONE_RUN, OUTPUT, flag
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.cache import cache

_HELP = """Show what batches remember of files, or forget it.

Figures of a file are kept until it changes, so that the next batch does not count it again. They
hold paths and names of models and tools, no text; they are only this user's to read.
"""


@plain_command(
    flag("clear", OUTPUT, ONE_RUN, "Remove the cache; nothing is lost but time."),
    SHOWN_AS,
    help=_HELP,
)
def cache_command(*, clear: bool, shown_as: str) -> None:
    """Run ``compactctl cache``."""
    emit(cache(clear=clear), shown_as)
