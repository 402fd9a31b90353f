"""What fills the context of a session, and how much of the window it uses."""

from collections.abc import Iterator
from typing import Any

from compactctl.commands.inspect.stats import StatsResult
from compactctl.history.breakdown import LargeMessage
from compactctl.model.transcript import Opaque, Transcript
from compactctl.tokens.budget import utilization
from compactctl.tokens.fit import fit_of
from compactctl.views.encode import doubt_fields, encoded, fit_fields, measure_fields, record
from compactctl.views.facts import (
    TOO_LARGE,
    counter_text,
    doubt_facts,
    fit_facts,
    health_facts,
    model_text,
    request_text,
    tokens_text,
    unread_facts,
    warning_lines,
)
from compactctl.views.other_systems import STATS, foreign_records
from compactctl.views.results.rounds import round_fields, rounds_terminal, session_graph
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem, TextStyle
from compactctl.views.terminal.tables import Table, bar_cell, number, table, text
from compactctl.views.terminal.text import (
    line_text,
    one_line,
    path_name,
    plural,
    share_text,
    shell_path,
    size_text,
)

_LEVELS: dict[str, tuple[str, TextStyle]] = {
    "none": ("plenty of room", ""),
    "info": ("over 60% of {base}, worth a look", ""),
    "warning": ("over 80% of {base}, time to compact", "yellow"),
    "critical": ("over 90% of {base}, compact now", "bold red"),
    "over": ("more than {base}, compact now", "bold red"),
}
REFUSED = "the provider refused the request as too large"
_SHOWN_TOOLS = 8
_SHOWN_FILES = 5
_SHOWN_KINDS = 6
_SHOWN_LINES = 5


def stats_terminal(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the output for a result."""
    yield from _head(result)
    yield ""
    if result.options.graph and result.timeline is not None:
        yield from session_graph(result, result.timeline)
        yield ""
        yield Facts(tuple(_request_facts(result)))
        return
    if result.rounds is not None:
        yield from rounds_terminal(result.rounds, result.costs)
        return
    yield _category_table(result)
    yield from _exactness(result)
    yield ""
    yield Facts(tuple(_facts(result)))
    yield from _largest_messages(result)
    yield from _tool_uses(result)
    yield from _repeated_reads(result)
    yield from _unsent_records(result)


def stats_document(result: StatsResult) -> dict[str, Any]:
    """Return the sizes, how they were measured, and their breakdown."""
    transcript, breakdown = result.transcript, result.breakdown
    calibration = result.size.calibration
    usage = utilization(result.usage.tokens, result.measure.budget.available)
    document = {
        "schema": "compactctl.stats/2",
        "path": result.options.input.path,
        "format": transcript.format,
        "scope": result.options.scope,
        **measure_fields(result.measure),
        "estimatedInputTokens": usage.tokens,
        "usageRatio": usage.ratio,
        "percentLeft": usage.percent_left,
        "level": result.usage.level,
        "withinBudget": usage.tokens <= usage.available,
        "fit": fit_fields(result.measure, usage.tokens),
        "reportedContextTokens": result.reported,
        "countedTokens": result.size.counted,
        "overheadTokens": result.size.overhead,
        "missingHistoryTokens": result.size.missing,
        "restoredTokens": result.size.restored,
        "hiddenReasoningTokens": result.size.hidden_reasoning,
        "frameTokens": result.size.frames,
        "unexplainedTokens": result.size.unexplained,
        "overheadSource": result.size.source,
        "overheadExactness": "calibrated" if result.size.source else None,
        "recordedRequests": 0 if calibration is None else len(calibration.requests),
        "observedRatio": None if result.health is None else result.health.ratio,
        **doubt_fields(result),
        "messageCount": result.counts.messages,
        "turnCount": result.counts.turns,
        "stepCount": result.counts.steps,
        "conversationCount": result.counts.conversations,
        "totalTokens": breakdown.total,
        "breakdown": encoded(breakdown.categories),
        "mediaExactness": "estimate" if breakdown.categories["media"] else None,
        "addedByClientTokens": result.extras.by_client,
        "largestMessages": encoded(breakdown.largest),
        "tools": encoded(breakdown.tools),
        "rereads": encoded(breakdown.rereads),
        **round_fields(result.rounds, result.costs),
        "file": {**_file(transcript), "textBytes": result.counts.text_bytes},
        "roundsOut": result.options.rounds_out,
        "warnings": [*filter(None, (result.unread,)), *transcript.warnings, *result.warnings],
    }
    is_above_warning = usage.level in ("warning", "critical", "over")
    document["as"] = foreign_records(STATS, {**document, "isAboveWarning": is_above_warning})
    return document


def stats_messages(result: StatsResult) -> Iterator[str]:
    """Yield the lines for standard error: warnings, and advice on a full context."""
    warnings = (*result.transcript.warnings, *result.warnings)
    yield from warning_lines(warnings)
    if result.options.rounds_out is not None and result.rounds is not None:
        rows = plural(len(result.rounds.rounds), "row")
        yield f"wrote {line_text(result.options.rounds_out)} ({rows})"
    if _LEVELS[result.usage.level][1] and result.options.input.path != "-":
        path = shell_path(result.options.input.path)
        yield f"see what a compaction would save: compactctl compact --dry-run {path}"


def _head(result: StatsResult) -> Iterator[ScreenItem]:
    transcript = result.transcript
    size = f"{plural(transcript.n_lines, 'line')}, {size_text(transcript.n_bytes)}"
    yield Accent(path_name(result.options.input.path), "bold")
    yield f"{transcript.format}: {size}; {_counts(result)}"
    yield f"counted with {counter_text(result.measure)}; {model_text(result.measure)}"


def _counts(result: StatsResult) -> str:
    counts = [plural(result.counts.messages, "message"), plural(result.counts.turns, "turn")]
    if result.counts.conversations > 1:
        counts.insert(0, plural(result.counts.conversations, "conversation"))
    scope = "in the full history" if result.options.scope == "full" else "in the context"
    return f"{', '.join(counts)} and {plural(result.counts.steps, 'step')} {scope}"


def _request_facts(result: StatsResult) -> Iterator[Fact]:
    """Yield the size of the next request, and the free space it leaves."""
    usage = result.usage
    verdict, style = _LEVELS[usage.level]
    if not fit_of(usage.tokens, result.measure.limits).fits:
        verdict = TOO_LARGE
    elif result.is_refused:
        verdict, style = REFUSED, "bold red"
    elif result.unread and usage.level == "none":
        verdict = "how much room is left is unknown"
    verdict = verdict.format(base=f"{usage.available:,}")
    yield from unread_facts(result.unread)
    size = request_text(usage.tokens, result.size.unreported or result.unread)
    yield Fact(request_name(result), f"{size}: {verdict}", style)
    yield from doubt_facts(result.size)
    yield from conversation_facts(result)
    yield from fit_facts(result.measure, usage.tokens)


def request_name(result: StatsResult) -> str:
    """Return the name of the request that is shown: the largest of several."""
    return "next request" if result.counts.conversations <= 1 else "largest request"


def conversation_facts(result: StatsResult) -> Iterator[Fact]:
    """Yield the number of conversations, if there are several."""
    if result.counts.conversations > 1:
        yield Fact("", f"of {plural(result.counts.conversations, 'conversation')}, sent one by one")


def _category_table(result: StatsResult) -> Table:
    """Return the tokens of every category, and the total."""
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


def _exactness(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield how exact the rows of the table are, if they differ, and what no file contains."""
    word = result.measure.counter.exactness
    if result.breakdown.categories["media"] and word != "estimate":
        yield f"media is an estimate by size, the other rows are {word}"
    added = result.extras.by_client
    if added:
        yield f"{plural(added, 'token')} of these the client adds itself (estimate)"


def _facts(result: StatsResult) -> Iterator[Fact]:
    yield from _size(result)
    yield from _request_facts(result)
    yield from health_facts(result.health)


def _size(result: StatsResult) -> Iterator[Fact]:
    """Yield what the next request contains besides the table, if anything is known."""
    size = result.size
    if not size.source:
        return
    exactness = f" ({result.measure.counter.exactness})"
    if result.reported is not None:
        yield Fact("last reported", f"{tokens_text(result.reported)} by the provider")
    yield Fact(
        "counted", f"{tokens_text(size.counted)} in the transcript, the table above{exactness}"
    )
    rows = (
        ("overhead", size.overhead, "of system prompt, tool definitions and the like"),
        ("missing history", size.missing, "that were sent and are not in this file (estimate)"),
        ("restored", size.restored, "that the client usually adds after its compaction (estimate)"),
        ("hidden reasoning", size.hidden_reasoning, "that are sent but not stored as text"),
        (
            "frames",
            size.frames,
            "that messages, calls and results take beside their text (estimate)",
        ),
        ("unexplained", size.unexplained, "of counting error"),
    )
    source = f" (calibrated: {size.source})"
    for name, count, what in rows:
        if count:
            yield Fact(name, f"{tokens_text(count)} {what}{source}")
            source = ""


def _largest_messages(result: StatsResult) -> Iterator[ScreenItem]:
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


def _title(what: str, shown: int, count: int) -> Iterator[str]:
    yield ""
    yield what if shown == count else f"{what} ({shown:,} of {count:,})"


def _line_text(line: int) -> str:
    """Return a line's number; parts counted in addition to the transcript have none."""
    return str(line + 1) if line >= 0 else "added"


def _tool_uses(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the tools with the most tokens."""
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


def _repeated_reads(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the files that were read more than once."""
    files = result.breakdown.rereads
    if not files:
        return
    yield from _title("Files read more than once", min(len(files), _SHOWN_FILES), len(files))
    columns = (
        number("Reads"),
        number("Shown again later", spare=1),
        number("Tokens of older reads"),
        text("File", "start", min_width=20),
    )
    yield table(
        columns,
        [
            (f"{file.reads:,}", f"{file.identical:,}", f"{file.tokens:,}", one_line(file.path))
            for file in files[:_SHOWN_FILES]
        ],
    )


def _unsent_records(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the records in the file that are never sent to the model."""
    rows = list(_outside_rows(result))
    if rows:
        columns = (number("Records"), number("Bytes"), text("What", "end", min_width=20))
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


def _outside_rows(result: StatsResult) -> Iterator[tuple[str, str, str]]:
    transcript = result.transcript
    hidden = len(transcript.messages) - len(transcript.effective)
    if hidden > 0 and result.options.scope == "effective":
        yield f"{hidden:,}", "", "messages hidden, compacted or on other branches"
    volumes = sorted(transcript.metadata.items(), key=lambda item: (-item[1].n_bytes, item[0]))
    for kind, volume in volumes[:_SHOWN_KINDS]:
        yield f"{volume.count:,}", size_text(volume.n_bytes), one_line(kind)
    others = [volume for _, volume in volumes[_SHOWN_KINDS:]]
    if others:
        count, n_bytes = sum(v.count for v in others), sum(v.n_bytes for v in others)
        yield f"{count:,}", size_text(n_bytes), f"of {plural(len(others), 'other kind')}"
    if transcript.opaque:
        n_bytes = sum(opaque.n_bytes for opaque in transcript.opaque)
        what = f"not understood, carried as it is: {_opaque_lines(transcript.opaque)}"
        yield f"{len(transcript.opaque):,}", size_text(n_bytes), what


def _opaque_lines(opaque: tuple[Opaque, ...]) -> str:
    lines = list(dict.fromkeys(record.line + 1 for record in opaque))
    shown = ", ".join(map(str, lines[:_SHOWN_LINES]))
    more = f" and {len(lines) - _SHOWN_LINES} more" if len(lines) > _SHOWN_LINES else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{more}"


def _file(transcript: Transcript) -> dict[str, Any]:
    return {
        "lines": transcript.n_lines,
        "bytes": transcript.n_bytes,
        "historyMessages": len(transcript.messages),
        "metadata": encoded(dict(sorted(transcript.metadata.items()))),
        "notUnderstood": encoded(transcript.opaque),
    }


@encoded.register
def _large(row: LargeMessage) -> dict[str, Any]:
    """Return one of the largest messages; one that was added to the transcript has no line."""
    line = row.line + 1 if row.line >= 0 else None
    return {**record(row), "line": line}
