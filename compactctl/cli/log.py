"""``compactctl log``."""

import click

from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.shared import json_option, limit_options
from compactctl.commands.inspect.log import log
from compactctl.store.files.limits import ReadLimits


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
        from compactctl.reports.json.log import log_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(log_json(result)), nl=False)
        return
    from compactctl.reports.rendering.screen import Screen
    from compactctl.reports.terminal.log import log_screen

    Screen().show(*log_screen(result))
