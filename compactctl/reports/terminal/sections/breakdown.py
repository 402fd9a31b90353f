"""The tables of ``stats``: categories, messages, tools, files, and what is never sent."""

from collections.abc import Iterator

from compactctl.commands.inspect.stats import StatsResult
from compactctl.model.transcript import Opaque
from compactctl.reports.rendering.screen import ScreenItem
from compactctl.reports.rendering.tables import Table, bar_cell, number, table, text
from compactctl.reports.rendering.text import one_line, plural, share_text, size_text

_SHOWN_LINES = 5
_SHOWN_TOOLS = 8
_SHOWN_FILES = 5
_SHOWN_KINDS = 6


def category_table(result: StatsResult) -> Table:
    """Return the tokens of every category, and their sum."""
    window, total = result.measure.budget.window, result.breakdown.total
    columns = (
        text("Category"),
        number("Tokens"),
        number("Share of window"),
        text("Share of all", spare=1),
    )
    rows = [
        (name, f"{tokens:,}", share_text(tokens / window), bar_cell(tokens / max(1, total)))
        for name, tokens in result.breakdown.categories.items()
        if tokens
    ]
    return table(columns, rows, ("all", f"{total:,}", share_text(total / window), ""))


def largest_messages(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the largest messages."""
    if not result.breakdown.largest:
        return
    yield from _title("Largest messages", len(result.breakdown.largest), result.counts.messages)
    yield table(
        (number("Tokens"), number("Line"), text("Role"), text("Tool", "end")),
        [
            (f"{row.tokens:,}", _line_text(row.line), row.role, one_line(", ".join(row.tools)))
            for row in result.breakdown.largest
        ],
    )


def tool_uses(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the tools that cost most."""
    tools = result.breakdown.tools
    if not tools:
        return
    yield from _title("Tools", min(len(tools), _SHOWN_TOOLS), len(tools))
    columns = (
        text("Tool", "end"),
        number("Calls"),
        number("Call tokens", spare=2),
        number("Result tokens"),
        number("Errors", spare=1),
    )
    yield table(
        columns,
        [
            (
                one_line(use.tool) or "(unnamed)",
                f"{use.calls:,}",
                f"{use.call_tokens:,}",
                f"{use.result_tokens:,}",
                f"{use.errors:,}",
            )
            for use in tools[:_SHOWN_TOOLS]
        ],
    )


def repeated_reads(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the files that were read more than once."""
    files = result.breakdown.rereads
    if not files:
        return
    yield from _title("Files read more than once", min(len(files), _SHOWN_FILES), len(files))
    columns = (
        number("Reads"),
        number("Shown again later", spare=1),
        number("Tokens of older reads"),
        text("File", "start", least=20),
    )
    yield table(
        columns,
        [
            (f"{file.reads:,}", f"{file.identical:,}", f"{file.tokens:,}", one_line(file.path))
            for file in files[:_SHOWN_FILES]
        ],
    )


def unsent_records(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield what is in the file and never reaches the model."""
    rows = list(_outside_rows(result))
    if rows:
        columns = (number("Records"), number("Bytes"), text("What", "end", least=20))
        yield ""
        yield "In the file, but never sent to the model"
        yield table(columns, rows)
    text_bytes, n_bytes = result.counts.text_bytes, result.transcript.n_bytes
    share = share_text(text_bytes / max(1, n_bytes))
    yield ""
    yield (
        f"{size_text(text_bytes)} ({share}) of {size_text(n_bytes)} on disk "
        "are text that the model reads"
    )


def _line_text(line: int) -> str:
    """Return a line's number; what was counted on top of the transcript has none."""
    return str(line + 1) if line >= 0 else "added"


def _outside_rows(result: StatsResult) -> Iterator[tuple[str, str, str]]:
    transcript = result.transcript
    hidden = len(transcript.messages) - len(transcript.effective)
    if hidden > 0 and result.options.scope == "effective":
        yield f"{hidden:,}", "", "messages hidden, compacted or on other branches"
    volumes = sorted(transcript.meta.items(), key=lambda item: (-item[1].n_bytes, item[0]))
    for kind, volume in volumes[:_SHOWN_KINDS]:
        yield f"{volume.count:,}", size_text(volume.n_bytes), one_line(kind)
    rest = [volume for _, volume in volumes[_SHOWN_KINDS:]]
    if rest:
        count, n_bytes = sum(v.count for v in rest), sum(v.n_bytes for v in rest)
        yield f"{count:,}", size_text(n_bytes), f"of {plural(len(rest), 'other kind')}"
    if transcript.opaque:
        n_bytes = sum(opaque.n_bytes for opaque in transcript.opaque)
        what = f"not understood, carried as it is: {_opaque_lines(transcript.opaque)}"
        yield f"{len(transcript.opaque):,}", size_text(n_bytes), what


def _opaque_lines(opaque: tuple[Opaque, ...]) -> str:
    lines = list(dict.fromkeys(each.line + 1 for each in opaque))
    shown = ", ".join(map(str, lines[:_SHOWN_LINES]))
    more = f" and {len(lines) - _SHOWN_LINES} more" if len(lines) > _SHOWN_LINES else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{more}"


def _title(what: str, shown: int, count: int) -> Iterator[str]:
    yield ""
    yield what if shown == count else f"{what} ({shown:,} of {count:,})"
