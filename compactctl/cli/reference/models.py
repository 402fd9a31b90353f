"""``compactctl models``."""

from typing import TYPE_CHECKING

import click

from compactctl.cli.options.shared import json_option, windows_option
from compactctl.commands.reference.models import models

if TYPE_CHECKING:
    from compactctl.tokens.models.own_models import OwnModels


@click.command("models")
@click.argument("name", metavar="[NAME]", required=False)
@windows_option
@json_option
def command(name: str | None, *, windows: "OwnModels", as_json: bool) -> None:
    """List the models that are known, or show how a name is looked up.

    NAME is a model as transcripts write it, with or without a provider. Without it: every row of
    the table, by the beginning of the names it holds for; the longest one that fits counts.
    """
    result = models(name, windows)
    if as_json:
        from compactctl.reports.json.reference.models import models_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(models_json(result)), nl=False)
        return
    from compactctl.reports.rendering.screen import Screen
    from compactctl.reports.terminal.reference.models import models_screen

    Screen().show(*models_screen(result))
