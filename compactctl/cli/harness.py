"""Commands for authors of agent harnesses about a text: an error, the output of a tool."""

import os
from dataclasses import replace

import click

from compactctl.cli.command import emit, plain_command, shown_command
from compactctl.cli.opt import (
    ADDS_TEXT,
    MAY,
    OUTPUT,
    PROTECTED,
    SIZE,
    WRITES,
    Arg,
    OptGroup,
    ShareRange,
    opt,
)
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.harness.limit_output import LimitOutputOptions, limit_output
from compactctl.stages.limit import LimitOptions
from compactctl.stages.support.cutting import HEAD_RATIO, NOTICE
from compactctl.store.files.source import STANDARD_STREAM
from compactctl.views.registry import TERMINAL

_DEFAULT = LimitOptions()


_LIMIT_OUTPUT_HELP = """Cut the output of a tool to a size, before an agent sees it.

FILE is any text, standard input when it is left out or -. What is within the limits comes out
as it went in; on a CI runner with a backslash in what that would carry out, but not in --json.
"""


@shown_command(
    LimitOutputOptions,
    Arg("path", metavar="[FILE]", default=STANDARD_STREAM),
    OptGroup(
        "limits",
        opt(
            "max_bytes",
            SIZE,
            MAY,
            "Bytes the output may have, notice included; 0 means no limit. "
            f"[default: {_DEFAULT.max_bytes:,}]",
            type=click.IntRange(min=0),
            metavar="N",
            default=_DEFAULT.max_bytes,
        ),
        opt(
            "max_lines",
            SIZE,
            MAY,
            "Lines the output may have, notice included; 0 means no limit. "
            f"[default: {_DEFAULT.max_lines:,}]",
            type=click.IntRange(min=0),
            metavar="N",
            default=_DEFAULT.max_lines,
        ),
    ),
    OptGroup(
        "cutting",
        opt(
            "direction",
            PROTECTED,
            MAY,
            "Keep the beginning, the end, or some of each.",
            type=click.Choice(["head", "tail", "both"]),
            default="both",
            show_default=True,
        ),
        opt(
            "head_ratio",
            PROTECTED,
            MAY,
            'With "both", the beginning\'s share of what is kept.',
            type=ShareRange(0, 1),
            metavar="SHARE",
            default=HEAD_RATIO,
            show_default=True,
        ),
        opt(
            "notice",
            OUTPUT,
            ADDS_TEXT,
            "What stands where something is missing; {original}, {kept} and {omitted} are bytes.",
            flag="--marker",
            metavar="TEXT",
            default=NOTICE,
            show_default=True,
        ),
    ),
    opt(
        "spill_dir",
        OUTPUT,
        WRITES,
        "Save the whole output there when it is cut, under a name made from its SHA-256, and say "
        "so behind the marker.",
        path="here",
        metavar="FOLDER",
    ),
    SHOWN_AS,
    help=_LIMIT_OUTPUT_HELP,
)
def limit_output_command(options: LimitOutputOptions, shown_as: str) -> None:
    """Run ``compactctl limit-output``."""
    from compactctl.views.terminal.text import defused, is_on_runner

    if shown_as == TERMINAL and is_on_runner(os.environ):
        options = replace(options, shown=defused)
    emit(limit_output(options), shown_as)


NO_OVERFLOW = 1


_OVERFLOW_HELP = """Tell whether an error says that the context was too long.

TEXT is what a provider answered, a message or a JSON body; the name of an existing FILE reads
it from there, - from standard input. Shows who answered, how many tokens were sent and
allowed, and whether the same request can succeed later. Rate limits and quotas are not
overflow. The exit code is 0 for an overflow and 1 for another error.
"""


@plain_command(
    Arg("error", metavar="TEXT|FILE"),
    SHOWN_AS,
    help=_OVERFLOW_HELP,
)
def overflow_command(error: str, *, shown_as: str) -> int:
    """Run ``compactctl overflow``."""
    from compactctl.commands.harness.overflow import overflow

    result = overflow(error)
    emit(result, shown_as)
    return 0 if result.overflow else NO_OVERFLOW
