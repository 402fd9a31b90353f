"""``log`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.log import LogEntry, LogResult
from compactctl.reports.screen import Item
from compactctl.reports.tables import number, table, text
from compactctl.reports.text import one_line, path_name, plural, shell_path, size_text


def log_screen(result: LogResult) -> Iterator[Item]:
    """Yield what to print: a row per operation, then a row per group in effect."""
    if result.layout == "inline":
        yield from _inline(result)
        return
    columns = (
        number("No"),
        text("Operation"),
        text("Kind", spare=3),
        text("When (UTC)", spare=2),
        number("Tokens before", spare=1),
        number("Tokens after"),
        number("Archive", spare=4),
        text("State", "end", least=9),
    )
    yield table(columns, map(_cells, result.entries))
    yield from _groups(result)
    if result.appended:
        yield ""
        yield f"{size_text(result.appended)} were appended after the last operation"


def _cells(entry: LogEntry) -> tuple[str, ...]:
    operation = entry.operation
    before, after = _tokens(entry)
    return (
        str(entry.number),
        operation.id,
        operation.kind,
        operation.recorded_at.removesuffix("+00:00").replace("T", " "),
        before,
        after,
        size_text(entry.archive_bytes),
        _state(entry),
    )


def _tokens(entry: LogEntry) -> tuple[str, str]:
    """Return the tokens before and after, where the stages that were recorded still say them."""
    stages = entry.operation.stages
    if not stages or entry.operation.detail:
        return "", ""
    return f"{stages[0].tokens_before:,}", f"{stages[-1].tokens_after:,}"


def _state(entry: LogEntry) -> str:
    operation = entry.operation
    if operation.kind == "rewind":
        return f"back to {operation.head or 'the first state'}"
    words = ["in effect" if entry.in_effect else "", one_line(operation.detail)]
    return ", ".join(filter(None, words))


def _groups(result: LogResult) -> Iterator[Item]:
    rows = [(entry, group) for entry in result.entries if entry.in_effect for group in entry.groups]
    if not rows:
        return
    columns = (
        text("Group"),
        text("Stage"),
        number("Messages"),
        number("Tokens in them before"),
        text("Operation", spare=1),
    )
    yield ""
    yield "Groups in effect"
    yield table(
        columns,
        [
            (group.id, group.stage, f"{group.messages:,}", f"{group.tokens:,}", entry.operation.id)
            for entry, group in rows
        ],
    )
    yield f"bring one back with: compactctl rewind {shell_path(result.path)} --group GROUP"


def _inline(result: LogResult) -> Iterator[Item]:
    if result.missing:
        yield f"{path_name(result.path)} was compacted, but its archive is not beside it"
        yield f"put {path_name(result.path)}.archive back to see what was done and to rewind"
        return
    if not result.inline:
        yield f"{path_name(result.path)} was never compacted: no archive beside it, no tags in it"
        return
    yield f"{plural(len(result.inline), 'compaction')} inside the transcript (inline layout)"
    columns = (number("No"), text("Operation"), text("Groups", "end", least=24))
    yield table(
        columns, [(str(each.seq), each.id, ", ".join(each.groups)) for each in result.inline]
    )
