"""``compactctl explain``."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compactctl.cli.emit import emit, working
from compactctl.cli.options.file_argument import needed_file_argument
from compactctl.cli.options.input import ARCHIVE, format_option, limit_options
from compactctl.cli.options.measure import measure_options
from compactctl.cli.options.output import shown_as_options
from compactctl.cli.options.profile import PROFILE
from compactctl.cli.options.sections import SectionedCommand
from compactctl.commands.explain.explain import explain_message
from compactctl.commands.explain.result import ExplainOptions
from compactctl.commands.loading.load import InputOptions
from compactctl.commands.sizing.measure import MeasureOptions
from compactctl.store.files.limits import ReadLimits

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile

_HELP = """Show one message: its cost, its fate, and the way back to it.

FILE is a transcript or a session (compactctl sessions); - is standard input. MESSAGE is a line
that compactctl view shows, or an id, also of a hidden message, or how an id begins. Its fate is
what a compaction would make of it now. Nothing is written.
"""


@click.command("explain", help=_HELP, cls=SectionedCommand)
@needed_file_argument
@click.argument("message", metavar="MESSAGE")
@format_option
@ARCHIVE
@limit_options
@measure_options
@PROFILE
@shown_as_options
def command(
    path: str,
    message: str,
    *,
    format_name: str | None,
    archive: Path | None,
    limits: ReadLimits,
    measure: MeasureOptions,
    profile: "Profile | None",
    shown_as: str,
) -> None:
    """Run ``compactctl explain``."""
    options = ExplainOptions(
        input=InputOptions(path=path, format=format_name, limits=limits),
        message=message,
        measure=replace(measure, profile=profile),
        archive=archive,
    )
    with working("measuring", path, shown_as):
        result = explain_message(options)
    emit(result, shown_as)
