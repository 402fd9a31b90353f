"""``compactctl overflow``."""

import click

from compactctl.cli.options.shared import json_option
from compactctl.commands.harness.overflow import overflow

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
        from compactctl.reports.json.harness.overflow import overflow_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(overflow_json(result)), nl=False)
    else:
        from compactctl.reports.rendering.screen import Screen
        from compactctl.reports.terminal.harness.overflow import overflow_screen

        Screen().show(*overflow_screen(result))
    return 0 if result.overflow else NO_OVERFLOW
