"""Commands for authors of agent harnesses about a text: an error, the output of a tool."""

import os

from compactctl.cli.command import emit, plain_command, shown_command
from compactctl.cli.help import Help
from compactctl.cli.opt import Arg, OptGroup
from compactctl.cli.options.asked import asked
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.harness.limit_output import LimitOutputOptions, limit_output
from compactctl.records import replace
from compactctl.stages.support.cutting import TruncationStyle
from compactctl.store.files.source import STANDARD_STREAM
from compactctl.views.registry import TERMINAL

_LIMIT_OUTPUT_HELP = Help(
    """Truncate tool output before an agent sees it.

FILE is any text, by default standard input. Output within the limits is printed unchanged, except
that CI workflow commands are escaped on a CI runner; --json prints it verbatim.
""",
    examples=("make test 2>&1 | compactctl harness limit-output --max-lines 200",),
)


@shown_command(
    LimitOutputOptions,
    Arg("path", metavar="[FILE]", default=STANDARD_STREAM),
    *asked(LimitOutputOptions, "max_bytes", "max_lines"),
    OptGroup("cutting", *asked(TruncationStyle)),
    *asked(LimitOutputOptions, "spill_dir"),
    SHOWN_AS,
    help=_LIMIT_OUTPUT_HELP,
)
def limit_output_command(options: LimitOutputOptions, shown_as: str) -> None:
    """Run ``compactctl harness limit-output``."""
    from compactctl.views.terminal.text import defused, is_on_runner

    if shown_as == TERMINAL and is_on_runner(os.environ):
        options = replace(options, shown=defused)
    emit(limit_output(options), shown_as)


NO_OVERFLOW = 1


_OVERFLOW_HELP = Help(
    """Classify an API error: overflow, refusal or rate limit.

TEXT is a provider's answer, as a message or a JSON body; a FILE is read, - is standard input. Shows
the provider, the tokens sent and allowed, what is refused and where, and whether the same request
can succeed later. Exit 0 for an overflow, 1 for another error.
""",
    examples=(
        "compactctl harness overflow 'prompt is too long: 210000 tokens'",
        "compactctl harness overflow error.json",
    ),
)


@plain_command(
    Arg("error", metavar="TEXT|FILE"),
    SHOWN_AS,
    help=_OVERFLOW_HELP,
)
def overflow_command(error: str, *, shown_as: str) -> int:
    """Run ``compactctl harness overflow``."""
    from compactctl.commands.harness.overflow import overflow

    result = overflow(error)
    emit(result, shown_as)
    return 0 if result.overflow else NO_OVERFLOW
