"""``compactctl limit-output``."""

import os
from dataclasses import replace

import click

from compactctl.cli.command import emit, shown_command
from compactctl.cli.opt import ADDS_TEXT, MAY, OUTPUT, PROTECTED, SIZE, WRITES, Arg, OptGroup, opt
from compactctl.cli.options.output import SHOWN_AS, STANDARD_STREAM
from compactctl.cli.options.values import ShareRange
from compactctl.commands.harness.limit_output import LimitOutputOptions, limit_output
from compactctl.stages.limit import LimitOptions
from compactctl.stages.support.cutting import HEAD_RATIO, NOTICE
from compactctl.views.registry import TERMINAL

_DEFAULT = LimitOptions()


_HELP = """Cut the output of a tool to a size, before an agent sees it.

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
    help=_HELP,
)
def limit_output_command(options: LimitOutputOptions, shown_as: str) -> None:
    """Run ``compactctl limit-output``."""
    from compactctl.views.terminal.text import inert, is_on_runner

    if shown_as == TERMINAL and is_on_runner(os.environ):
        options = replace(options, shown=inert)
    emit(limit_output(options), shown_as)
