"""``stats`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.stats import StatsResult
from compactctl.model.transcript import Opaque
from compactctl.reports.measured import counter_text, model_text, tokens_text, window_facts
from compactctl.reports.screen import Accent, Fact, Facts, Item, Style
from compactctl.reports.tables import bar_cell, number, table, text
from compactctl.reports.text import one_line, plural, safe_text, share_text, shell_path, size_text

_SHOWN_LINES = 5
_SHOWN_TOOLS = 8
_SHOWN_FILES = 5
_SHOWN_KINDS = 6
_LEVELS: dict[str, tuple[str, Style]] = {
    "none": ("plenty of room", ""),
    "info": ("over 60 %: worth a look", ""),
    "warning": ("over 80 %: time to compact", "yellow"),
    "critical": ("over 90 %: compact now", "bold red"),
    "over": ("does not fit", "bold red"),
}


def stats_screen(result: StatsResult) -> Iterator[Item]:
    """Yield what to print for a result."""
    yield from _head(result)
    yield ""
    yield _categories(result)
    yield ""
    yield Facts(tuple(_facts(result)))
    yield from _largest(result)
    yield from _tools(result)
    yield from _rereads(result)
    yield from _outside(result)


def stats_messages(result: StatsResult) -> Iterator[str]:
    """Yield the lines for standard error: warnings, and what to do about a full context."""
    yield from (f"warning: {safe_text(warning)}" for warning in result.transcript.warnings)
    if _LEVELS[result.usage.level][1]:
        path = shell_path(result.path)
        yield f"see what a compaction would save: compactctl compact --dry-run {path}"


def _head(result: StatsResult) -> Iterator[Item]:
    transcript = result.transcript
    size = f"{plural(transcript.n_lines, 'line')}, {size_text(transcript.n_bytes)}"
    yield Accent(safe_text(result.path), "bold")
    yield f"{transcript.format}: {size}; {_counts(result)}"
    yield f"counted with {counter_text(result.measure)}; {model_text(result.measure)}"


def _counts(result: StatsResult) -> str:
    counts = [plural(result.messages, "message"), plural(result.turns, "turn")]
    if result.conversations > 1:
        counts.insert(0, plural(result.conversations, "conversation"))
    scope = "in the full history" if result.scope == "full" else "in the context"
    return f"{', '.join(counts)} and {plural(result.steps, 'step')} {scope}"


def _categories(result: StatsResult) -> Item:
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


def _facts(result: StatsResult) -> Iterator[Fact]:
    usage = result.usage
    yield from window_facts(result.measure)
    yield from _size(result)
    name = "next request" if result.conversations <= 1 else "largest request"
    verdict, style = _LEVELS[usage.level]
    share = f"{share_text(usage.ratio)} of the available input, {usage.percent_left} % left"
    yield Fact(name, f"{tokens_text(usage.tokens)}, {share}: {verdict}", style)
    if result.conversations > 1:
        yield Fact("", f"of {plural(result.conversations, 'conversation')}, sent one by one")


def _size(result: StatsResult) -> Iterator[Fact]:
    """Yield what the next request holds beside the table, if anything is known of it."""
    size = result.size
    if not size.source:
        return
    if result.reported is not None:
        yield Fact("last reported", f"{tokens_text(result.reported)} by the provider")
    yield Fact("counted", f"{tokens_text(size.counted)} in the transcript, the table above")
    rows = (
        ("overhead", size.overhead, "of system prompt, tool definitions and the like"),
        ("hidden reasoning", size.hidden_reasoning, "that are sent but not stored as text"),
        ("unexplained", size.unexplained, "of message framing and counting error"),
    )
    for name, count, what in rows:
        if count:
            yield Fact(name, f"{tokens_text(count)} {what} ({size.source})")


def _largest(result: StatsResult) -> Iterator[Item]:
    if not result.breakdown.largest:
        return
    yield from _title("Largest messages", len(result.breakdown.largest), result.messages)
    yield table(
        (number("Tokens"), number("Line"), text("Role"), text("Tool", "end")),
        [
            (f"{row.tokens:,}", _line_text(row.line), row.role, one_line(", ".join(row.tools)))
            for row in result.breakdown.largest
        ],
    )


def _line_text(line: int) -> str:
    """Return a line's number; what was counted on top of the transcript has none."""
    return str(line + 1) if line >= 0 else "added"


def _tools(result: StatsResult) -> Iterator[Item]:
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


def _rereads(result: StatsResult) -> Iterator[Item]:
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


def _outside(result: StatsResult) -> Iterator[Item]:
    rows = list(_outside_rows(result))
    if rows:
        columns = (number("Records"), number("Bytes"), text("What", "end", least=20))
        yield ""
        yield "In the file, but never sent to the model"
        yield table(columns, rows)
    transcript = result.transcript
    share = share_text(result.text_bytes / max(1, transcript.n_bytes))
    yield ""
    yield (
        f"{size_text(result.text_bytes)} ({share}) of {size_text(transcript.n_bytes)} on disk "
        "are text that the model reads"
    )


def _outside_rows(result: StatsResult) -> Iterator[tuple[str, str, str]]:
    transcript = result.transcript
    hidden = len(transcript.messages) - len(transcript.effective)
    if hidden > 0 and result.scope == "effective":
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
