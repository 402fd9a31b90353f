"""``compactctl view``."""

from dataclasses import replace
from pathlib import Path

import click

from compactctl.cli.emit import emit, working
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.input import archive_option, format_option, limit_options
from compactctl.cli.options.output import shown_as_options
from compactctl.cli.options.sections import SectionedCommand
from compactctl.commands.inspect.search import Search, search
from compactctl.commands.inspect.view import Detail, What, view
from compactctl.store.files.limits import ReadLimits

_HELP = """Show what the model sees, and what is hidden.

FILE is a transcript or a session (compactctl sessions); without it, or with -, standard input is
read. Without options: the messages that the next request would send, as text. Hidden messages
carry the tag of the summary, marker or rewritten record that stands for them. --archived --grep
finds what a compaction took away.
"""


@click.command("view", help=_HELP, cls=SectionedCommand)
@file_argument()
@click.option("--archived", "what", flag_value="archived", help="Show only what is hidden.")
@click.option("--all", "what", flag_value="all", help="Show everything, hidden messages in place.")
@click.option(
    "--grep",
    "patterns",
    metavar="REGEX",
    multiple=True,
    help="Show only messages with this pattern in their text, tool names or arguments; (?i) in "
    "front ignores case (repeatable: all must be found).",
)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Show at most N messages, a page."
)
@click.option(
    "--page",
    type=click.IntRange(min=1),
    metavar="N",
    default=1,
    help="With --limit, show the Nth page. [default: 1]",
)
@click.option(
    "--jsonl",
    is_flag=True,
    help="Print the raw lines, or records of a document, in the transcript's own format.",
)
@click.option("--full", is_flag=True, help="Do not cut long texts.")
@format_option
@archive_option
@limit_options
@shown_as_options
def command(
    path: str,
    *,
    what: What | None,
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
    with working("reading", path, shown_as):
        result = view(path, what or "effective", format_name, limits, archive)
        if patterns or limit is not None or page > 1:
            result = search(result, Search(patterns=patterns, limit=limit, page=page))
    detail: Detail = "raw" if jsonl else "full" if full else "short"
    emit(replace(result, detail=detail), shown_as)
