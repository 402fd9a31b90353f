"""``compactctl overflow``."""

import click

from compactctl.cli.options import json_option
from compactctl.commands.overflow import overflow

NO_OVERFLOW = 1


@click.command("overflow")
@click.argument("error", metavar="TEXT|FILE")
@json_option
def command(error: str, *, as_json: bool) -> int:
    """Tell whether an error says that the context was too long.

    TEXT is what a provider answered, a message or a JSON body; the name of an existing FILE reads
    it from there, - from standard input. Shows who answered, how many tokens were sent and
    allowed, and whether the same request can succeed later. Rate limits and quotas are no
    overflow. The exit code is 0 for an overflow and 1 for another error.
    """
    result = overflow(error)
    if as_json:
        from compactctl.reports.json_text import dump_json
        from compactctl.reports.overflow_json import overflow_json

        click.echo(dump_json(overflow_json(result)), nl=False)
    else:
        from compactctl.reports.overflow_screen import overflow_screen
        from compactctl.reports.screen import Screen

        Screen().show(*overflow_screen(result))
    return 0 if result.overflow else NO_OVERFLOW
