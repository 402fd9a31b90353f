"""``compactctl view``."""

import click

from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.shared import format_option, json_option, limit_options
from compactctl.commands.inspect.search import Search, search
from compactctl.commands.inspect.view import ViewResult, What, view
from compactctl.errors import UsageError
from compactctl.store.files.limits import ReadLimits


@click.command("view")
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
@click.option("--jsonl", is_flag=True, help="Print the raw lines in the transcript's own format.")
@click.option("--full", is_flag=True, help="Do not cut long texts.")
@format_option
@limit_options
@json_option
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
    limits: ReadLimits,
    as_json: bool,
) -> None:
    """Show what the model sees, and what is hidden.

    FILE is a transcript; without it, or with -, standard input is read. Without options: the
    messages that the next request would send, as text. Hidden messages carry the tag of the
    summary, marker or rewritten record that stands for them. --archived --grep finds what a
    compaction took away.
    """
    if jsonl and as_json:
        raise UsageError("--jsonl and --json contradict each other; choose one")
    result = view(path, what or "effective", format_name, limits)
    if patterns or limit is not None or page > 1:
        result = search(result, Search(patterns=patterns, limit=limit, page=page))
    _report(result, jsonl=jsonl, as_json=as_json, full=full)


def _report(result: ViewResult, *, jsonl: bool, as_json: bool, full: bool) -> None:
    from compactctl.reports.rendering.screen import print_text, tell, write_bytes
    from compactctl.reports.terminal.view import view_messages, view_text

    if jsonl:
        write_bytes(line.data for line in result.lines)
    elif as_json:
        from compactctl.reports.json.view import view_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(view_json(result)), nl=False)
    else:
        print_text(view_text(result, full=full))
    tell(*view_messages(result))
