"""``compactctl check``."""

from typing import Any

import click

from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.shared import (
    extra_options,
    extras_with,
    format_option,
    json_option,
    limit_options,
    measure_options,
    measured_with,
    profile_option,
    strict_option,
)
from compactctl.cli.options.values import CheckedText
from compactctl.commands.inspect.check import CheckOptions, CheckResult, check
from compactctl.tokens.trigger import parse_trigger

DUE = 1


@click.command("check")
@file_argument()
@profile_option
@click.option(
    "--trigger",
    type=CheckedText(parse_trigger),
    metavar="WHEN",
    help="When compaction is due: a share of the available input (0.8), tokens (60k), 'turns>20', "
    "or conditions joined with or. [default: that of the profile, 0.8]",
)
@format_option
@limit_options
@measure_options
@extra_options
@strict_option
@json_option
def command(path: str, *, trigger: str | None, as_json: bool, **values: Any) -> int:  # noqa: ANN401
    """Tell whether a transcript needs compaction: exit 0 for no, 1 for yes.

    FILE is a transcript; without it, or with -, standard input is read. The next request is
    measured as by stats, and the trigger is asked.
    """
    measure = measured_with(values)
    del values["profile"]
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
    _report(result, as_json=as_json)
    return DUE if result.due else 0


def _report(result: CheckResult, *, as_json: bool) -> None:
    from compactctl.reports.rendering.screen import Screen, tell
    from compactctl.reports.terminal.stats import stats_messages

    if as_json:
        from compactctl.reports.json.check import check_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(check_json(result)), nl=False)
    else:
        from compactctl.reports.terminal.check import check_screen

        Screen().show(*check_screen(result))
    tell(*stats_messages(result.stats))
