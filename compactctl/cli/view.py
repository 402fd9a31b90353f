"""``compactctl view``."""

import click

from compactctl.cli.command import command
from compactctl.cli.opt import ONE_RUN, SHOWN, STATE, OptGroup, flag, opt
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import ARCHIVE, FORMAT, LIMITS
from compactctl.commands.inspect.view import TextDetail, ViewOptions, ViewResult, view

_HELP = """Show what the model sees, and what is hidden.

FILE is a transcript or a session (compactctl sessions); without it, or with -, standard input is
read. Without options: the messages that the next request would send, as text. Hidden messages
carry the tag of the summary, marker or rewritten record that stands for them. --archived --grep
finds what a compaction took away.
"""


def _detail(*, jsonl: bool, full: bool) -> TextDetail:
    return "raw" if jsonl else "full" if full else "short"


@command(
    ViewOptions,
    file_argument(),
    opt(
        "what",
        STATE,
        ONE_RUN,
        "Show only what is hidden.",
        flag="--archived",
        flag_value="archived",
    ),
    opt(
        "what",
        STATE,
        ONE_RUN,
        "Show everything, hidden messages in place.",
        flag="--all",
        flag_value="all",
    ),
    opt(
        "patterns",
        STATE,
        ONE_RUN,
        "Show only messages with this pattern in their text, tool names or arguments; (?i) in "
        "front ignores case (repeatable: all must be found).",
        flag="--grep",
        metavar="REGEX",
        multiple=True,
    ),
    opt(
        "limit",
        STATE,
        ONE_RUN,
        "Show at most N messages, a page.",
        type=click.IntRange(min=1),
        metavar="N",
    ),
    opt(
        "page",
        STATE,
        ONE_RUN,
        "With --limit, show the Nth page. [default: 1]",
        type=click.IntRange(min=1),
        metavar="N",
        default=1,
    ),
    OptGroup(
        "detail",
        flag(
            "jsonl",
            SHOWN,
            ONE_RUN,
            "Print the raw lines, or records of a document, in the transcript's own format.",
        ),
        flag("full", SHOWN, ONE_RUN, "Do not cut long texts."),
        make=_detail,
    ),
    FORMAT,
    ARCHIVE,
    LIMITS,
    SHOWN_AS,
    help=_HELP,
    doing="reading",
)
def view_command(options: ViewOptions) -> ViewResult:
    """Run ``compactctl view``."""
    return view(options)
