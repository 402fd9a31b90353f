"""``compactctl file-budget``."""

import os
from dataclasses import replace

import click

from compactctl.cli.command import command, emit, plain_command, shown_command
from compactctl.cli.opt import (
    ADDS_TEXT,
    MAY,
    MEASURED,
    OUTPUT,
    PROTECTED,
    SIZE,
    WRITES,
    Arg,
    OptGroup,
    ParsedText,
    ShareRange,
    flag,
    opt,
)
from compactctl.cli.options.measuring import PROFILE, WINDOWS
from compactctl.cli.options.output import SHOWN_AS, STANDARD_STREAM
from compactctl.commands.harness.file_budget import (
    FileBudgetOptions,
    FileBudgetResult,
    budget_files,
)
from compactctl.commands.harness.limit_output import LimitOutputOptions, limit_output
from compactctl.commands.harness.overflow import overflow
from compactctl.stages.limit import LimitOptions
from compactctl.stages.support.cutting import HEAD_RATIO, NOTICE
from compactctl.tokens.models.windows import parse_window
from compactctl.views.registry import TERMINAL

_FILE_BUDGET_HELP = """Show how much of which files fits into a request.

Files get their share in the order given: whole, cut to a number of characters, as a preview
when they are larger than 5 MB, or not at all. Tokens are estimated from sizes; nothing is
changed.
"""


@command(
    FileBudgetOptions,
    Arg("paths", metavar="FILE...", nargs=-1, required=True),
    OptGroup(
        "measure",
        opt("model", MEASURED, MAY, "The model whose window is to be filled.", metavar="NAME"),
        opt(
            "window",
            MEASURED,
            MAY,
            "Its context window in tokens, such as 128k.",
            type=ParsedText(parse_window),
            metavar="SIZE",
        ),
        WINDOWS,
        opt(
            "max_tokens",
            MEASURED,
            MAY,
            "Tokens kept for the answer. [default: 35 % of the window, at most 64,000]",
            type=click.IntRange(min=1),
            metavar="N",
        ),
    ),
    opt(
        "used",
        MEASURED,
        MAY,
        "Tokens of the window that are taken already, such as 50k.",
        metavar="TOKENS",
        default="0",
        show_default=True,
    ),
    opt(
        "share",
        SIZE,
        MAY,
        "How much of what is left files may take. [default: that of the profile, 0.6]",
        type=ShareRange(0, 1),
        metavar="SHARE",
    ),
    OptGroup("measure", PROFILE),
    flag("aggregate", SIZE, MAY, "Include whole files only, the smallest ones first."),
    flag("proportional", SIZE, MAY, "Cut all texts to the same share where they do not all fit."),
    flag(
        "neurolink",
        SIZE,
        MAY,
        "Judge each file on its own as NeuroLink does: below 102,400 bytes it is whole, and of "
        "others 2,000 characters are left, whatever the budget.",
    ),
    SHOWN_AS,
    help=_FILE_BUDGET_HELP,
)
def file_budget_command(options: FileBudgetOptions) -> FileBudgetResult:
    """Run ``compactctl file-budget``."""
    return budget_files(options)


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
    from compactctl.views.terminal.text import inert, is_on_runner

    if shown_as == TERMINAL and is_on_runner(os.environ):
        options = replace(options, shown=inert)
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
    result = overflow(error)
    emit(result, shown_as)
    return 0 if result.overflow else NO_OVERFLOW
