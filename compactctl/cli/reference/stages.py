"""``compactctl stages``."""

from collections.abc import Iterator

import click

from compactctl.cli.options.sections import StageOption
from compactctl.cli.options.shared import json_option
from compactctl.cli.options.stages import stage_options
from compactctl.commands.reference.stages import StageInfo, described, listed

# Carries the options of all stages, for their help.
_options = click.command()(stage_options(lambda: None))


@click.command("stages")
@click.argument("names", metavar="[STAGE]...", nargs=-1)
@json_option
def command(names: tuple[str, ...], *, as_json: bool) -> None:
    """List the stages of a compaction, or explain some and their options.

    Their options work in compact, batch and chunks, and without their dashes in settings and
    profiles.
    """
    found = [described(name) for name in names] if names else listed()
    if as_json:
        from compactctl.reports.json.reference.stages import stages_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(stages_json(found)), nl=False)
    elif names:
        click.echo("\n".join(_explained(stage) for stage in found), nl=False)
    else:
        from compactctl.reports.rendering.screen import Screen
        from compactctl.reports.terminal.reference.stages import stages_screen

        Screen().show(*stages_screen(found))


def _explained(stage: StageInfo) -> str:
    formatter = click.get_current_context().make_formatter()
    formatter.write_text(f"{stage.name}: {stage.title}")
    with formatter.section("Options"):
        formatter.write_dl(list(_records(stage.name)))
    return formatter.getvalue()


def _records(stage: str) -> Iterator[tuple[str, str]]:
    with click.Context(_options) as context:
        for option in _options.params:
            if isinstance(option, StageOption) and option.stage == stage:
                yield option.get_help_record(context) or ("", "")
