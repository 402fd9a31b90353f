"""``compactctl view``."""

from pathlib import Path

import click

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.opt import ONE_RUN, SHOWN, STATE, flag, opt
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.input import ARCHIVE, FORMAT, LIMITS
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.inspect.view import TextDetail, ViewOptions, ViewScope, view
from compactctl.commands.reading.transcript import InputOptions
from compactctl.store.files.limits import ReadLimits

_HELP = """Show what the model sees, and what is hidden.

FILE is a transcript or a session (compactctl sessions); without it, or with -, standard input is
read. Without options: the messages that the next request would send, as text. Hidden messages
carry the tag of the summary, marker or rewritten record that stands for them. --archived --grep
finds what a compaction took away.
"""


@plain_command(
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
    flag(
        "jsonl",
        SHOWN,
        ONE_RUN,
        "Print the raw lines, or records of a document, in the transcript's own format.",
    ),
    flag("full", SHOWN, ONE_RUN, "Do not cut long texts."),
    FORMAT,
    ARCHIVE,
    LIMITS,
    SHOWN_AS,
    help=_HELP,
)
def view_command(
    path: str,
    *,
    what: ViewScope | None,
    patterns: tuple[str, ...],
    limit: int | None,
    page: int,
    jsonl: bool,
    full: bool,
    format_name: str | None,
    archive: Path | None,
    limits: ReadLimits,
    shown_as: str,
) -> None:
    """Run ``compactctl view``."""
    detail: TextDetail = "raw" if jsonl else "full" if full else "short"
    options = ViewOptions(
        input=InputOptions(path=path, format=format_name, limits=limits),
        what=what or "effective",
        archive=archive,
        patterns=patterns,
        limit=limit,
        page=page,
        detail=detail,
    )
    with working("reading", path, shown_as):
        result = view(options)
    emit(result, shown_as)
