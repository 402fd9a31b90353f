"""``compactctl check``."""

from typing import Any

import click

from compactctl.cli.emit import emit, working
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.shared import (
    extra_options,
    extras_with,
    fail_base_option,
    format_option,
    limit_options,
    measure_options,
    measured_with,
    profile_option,
    shown_as_options,
    strict_option,
)
from compactctl.cli.options.values import CheckedText
from compactctl.commands.inspect.check import CheckOptions, check
from compactctl.tokens.trigger import parse_trigger

DUE = 1


_HELP = """Tell whether a transcript needs compaction: exit 0 for no, 1 for yes.

FILE is a transcript; without it, or with -, standard input is read. The next request is
measured as by stats, and the trigger is asked.
"""


@click.command("check", help=_HELP)
@file_argument()
@profile_option
@click.option(
    "--trigger",
    type=CheckedText(parse_trigger),
    metavar="WHEN",
    help="When compaction is due: a share of what --fail-base says (0.8), tokens (60k), "
    "'turns>20', or conditions joined with or. [default: that of the profile, 0.8]",
)
@fail_base_option
@format_option
@limit_options
@measure_options
@extra_options
@strict_option
@shown_as_options
def command(path: str, *, trigger: str | None, shown_as: str, **values: Any) -> int:  # noqa: ANN401
    """Run ``compactctl check``."""
    measure = measured_with(values)
    del values["profile"]
    with working("measuring", path, shown_as):
        result = check(
            CheckOptions(
                path=path,
                format=values.pop("format_name"),
                measure=measure,
                extras=extras_with(values),
                trigger=parse_trigger(trigger) if trigger is not None else None,
                **values,
            )
        )
    emit(result, shown_as)
    return DUE if result.due else 0
