"""``compactctl log``."""

import click

from compactctl.cli.file_argument import file_argument
from compactctl.cli.options import json_option, limit_options
from compactctl.commands.log import log
from compactctl.store.limits import ReadLimits


@click.command("log")
@file_argument(compacted=True)
@limit_options
@json_option
def command(path: str, *, limits: ReadLimits, as_json: bool) -> None:
    """List the compactions behind a transcript.

    FILE is a transcript that compactctl wrote; without it, or with -, standard input is read. Shows
    every operation with its savings, which are in effect, and the groups that compactctl rewind
    --group can bring back.
    """
    result = log(path, limits)
    if as_json:
        from compactctl.reports.json_text import dump_json
        from compactctl.reports.log_json import log_json

        click.echo(dump_json(log_json(result)), nl=False)
        return
    from compactctl.reports.log_screen import log_screen
    from compactctl.reports.screen import Screen

    Screen().show(*log_screen(result))
