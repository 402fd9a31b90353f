"""``compactctl stages``."""

from collections.abc import Iterator

import click

from compactctl.cli.command import emit, plain_command
from compactctl.cli.opt import Arg, StageOption
from compactctl.cli.options.completion import complete_stages
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.stages import each_stage_option
from compactctl.commands.reference import StageInfo, stages
from compactctl.stages.registry import ALL_STAGES
from compactctl.views.registry import TERMINAL

# Carries the options of all stages, for their help.
_options = click.Command(None, params=[*each_stage_option(*ALL_STAGES)])


_HELP = """List the stages of a compaction, or explain some of them.

Their options work in compact, batch and chunks, and without their dashes in settings and
profiles.
"""


@plain_command(
    Arg("names", metavar="[STAGE]...", nargs=-1, shell_complete=complete_stages),
    SHOWN_AS,
    help=_HELP,
)
def stages_command(names: tuple[str, ...], *, shown_as: str) -> None:
    """Run ``compactctl stages``."""
    result = stages(names)
    if names and shown_as == TERMINAL:
        click.echo("\n".join(map(_explained, result.stages)), nl=False)
    else:
        emit(result, shown_as)


def _explained(stage: StageInfo) -> str:
    formatter = click.get_current_context().make_formatter()
    formatter.write_text(f"{stage.name}: {stage.title}")
    with formatter.section("Options"):
        formatter.write_dl(list(_records(stage.name)))
    return formatter.getvalue()


def _records(stage: str) -> Iterator[tuple[str, str]]:
    with click.Context(_options) as context:
        for option in _options.params:
            if isinstance(option, StageOption) and option.field.stage == stage:
                yield option.get_help_record(context) or ("", "")
