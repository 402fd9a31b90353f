"""``compactctl log``."""

from pathlib import Path

import click

from compactctl.cli.emit import emit, working
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.input import ARCHIVE, limit_options
from compactctl.cli.options.output import shown_as_options
from compactctl.commands.inspect.log import log
from compactctl.store.files.limits import ReadLimits

_HELP = """List the compactions behind a transcript.

FILE is a transcript or a session (compactctl sessions) that compactctl wrote; without it, or
with -, standard input is read. Shows every operation with its savings, which are in effect, and
the groups that compactctl rewind --group can bring back. Exit 6 when an archive is missing.
"""


@click.command("log", help=_HELP)
@file_argument(compacted=True)
@ARCHIVE
@limit_options
@shown_as_options
def command(path: str, *, archive: Path | None, limits: ReadLimits, shown_as: str) -> int:
    """Run ``compactctl log``."""
    with working("reading", path, shown_as):
        result = log(path, limits, archive)
    emit(result, shown_as)
    return result.exit_code
