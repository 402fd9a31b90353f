"""``compact --explain`` on a terminal: a row per message, and why it fared as it did."""

from collections.abc import Iterator

from compactctl.commands.compact.result import CompactResult
from compactctl.commands.planning.explain import Explained
from compactctl.reports.rendering.screen import ScreenItem
from compactctl.reports.rendering.tables import number, table, text
from compactctl.reports.rendering.text import one_line, plural


def fates_terminal(result: CompactResult) -> Iterator[ScreenItem]:
    """Yield every message with its fate, then every reason in full with its figures."""
    columns = (
        number("Line"),
        text("Message", "end", least=14),
        number("Tokens"),
        number("After", spare=1),
        text("Fate"),
        text("Why", "end", least=17, spare=2),
    )
    yield table(columns, map(_message_cells, result.explained))
    yield ""
    yield "Why"
    yield from _fate_reasons(result)
    yield ""


def _message_cells(row: Explained) -> tuple[str, ...]:
    what = " ".join((row.role, *row.tools))
    return (
        str(row.line),
        one_line(what, 60),
        f"{row.tokens:,}",
        f"{row.tokens_after:,}",
        _fate(row),
        one_line(row.reason),
    )


def _fate(row: Explained) -> str:
    return f"{row.fate} by {row.stage}" if row.stage else row.fate


def _fate_reasons(result: CompactResult) -> Iterator[str]:
    groups: dict[tuple[str, str], list[Explained]] = {}
    for row in result.explained:
        groups.setdefault((_fate(row), row.reason), []).append(row)
    for (fate, reason), rows in groups.items():
        before, after = sum(row.tokens for row in rows), sum(row.tokens_after for row in rows)
        what = f"{plural(len(rows), 'message')} {fate} ({before:,} tokens before, {after:,} after)"
        yield f"{what}: {one_line(reason)}"
