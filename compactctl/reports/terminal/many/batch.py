"""``batch`` on a terminal."""

from collections.abc import Iterator, Sequence

from compactctl.commands.batch.batch import BatchResult, BatchTotals
from compactctl.commands.batch.row import BatchRow
from compactctl.reports.rendering.screen import Accent, Fact, Facts, ScreenItem
from compactctl.reports.rendering.tables import Column, number, table, text
from compactctl.reports.rendering.text import (
    line_text,
    one_line,
    plural,
    safe_text,
    share_text,
    size_text,
)
from compactctl.reports.rendering.wording import BASES, tokens_text
from compactctl.reports.terminal.many.growth import grown_text

_STATUSES = ("ok", "unchanged", "over", "flagged", "failed")


def batch_screen(result: BatchResult) -> Iterator[ScreenItem]:
    """Yield what to print: a row per file, the errors, the sums."""
    yield table(_columns(result), [_cells(row, result) for row in result.rows])
    yield ""
    failed = [row for row in result.rows if row.status == "failed"]
    if failed:
        yield f"{plural(len(failed), 'file')} failed"
        yield from (Accent(f"exit {row.exit_code}: {_error(row)}", "yellow") for row in failed)
        yield ""
    yield Facts(tuple(_totals(result)))


def batch_messages(result: BatchResult) -> Iterator[str]:
    """Yield the lines for standard error: what was written, and what the exit code means."""
    yield from (f"warning: {line_text(warning)}" for warning in result.warnings)
    written = [row for row in result.rows if row.output is not None]
    if written:
        yield f"wrote {plural(len(written), 'transcript')}{_way_back(written)}"
    elif result.compacted:
        yield "no transcript was written"
    for report in result.reports:
        yield f"wrote {line_text(report)} ({plural(len(result.rows), 'row')})"
    for path, rows in result.tables.items():
        yield f"wrote {line_text(path)} ({plural(rows, 'row')})"
    limits = " or ".join(_limits(result))
    if limits:
        yield f"{plural(result.totals.over, 'file')} over the limit of {limits}"
    yield from map(grown_text, result.growth or ())
    if result.fail_on:
        yield f"{plural(result.totals.flagged, 'file')} with {' or '.join(result.fail_on)}"


def _limits(result: BatchResult) -> Iterator[str]:
    if result.fail_over is not None:
        yield f"{share_text(result.fail_over)} of {_bases(result.rows)}"
    if result.fail_over_tokens is not None:
        yield f"{result.fail_over_tokens:,} tokens"


def _bases(rows: Sequence[BatchRow]) -> str:
    """Return what the limit refers to, which may differ between files."""
    found = {row.base for row in rows}
    return " or ".join(text for base, text in BASES.items() if base in found) or "what fits"


def _way_back(written: Sequence[BatchRow]) -> str:
    """Return how many outputs differ from their inputs, and how one of these is undone."""
    compacted = sum(row.operation is not None for row in written)
    undo = "; undo one with: compactctl rewind FILE"
    if compacted == len(written):
        return undo
    return f", {compacted:,} of them compacted{undo}" if compacted else ", none of them compacted"


def _columns(result: BatchResult) -> tuple[Column, ...]:
    after = (number("Tokens after"), number("Saved", spare=2)) if result.compacted else ()
    return (
        text("File", "start", least=16),
        text("Format", spare=4),
        text("Model", "end", least=8, spare=3),
        number("Tokens before" if result.compacted else "Tokens"),
        *after,
        number("Context", spare=1),
        number("Used", spare=1),
        text("Status"),
    )


def _cells(row: BatchRow, result: BatchResult) -> tuple[str, ...]:
    after = (_count(row.tokens_after), _count(row.saved)) if result.compacted else ()
    return (
        one_line(row.path),
        row.format or "",
        one_line(row.model or ""),
        _count(row.tokens_before),
        *after,
        _count(row.context),
        "" if row.used is None else share_text(row.used),
        row.status,
    )


def _count(tokens: int | None) -> str:
    return "" if tokens is None else f"{tokens:,}"


def _error(row: BatchRow) -> str:
    """Return what went wrong with a file; most errors begin with its path already."""
    error = safe_text(row.error or "")
    path = safe_text(row.path)
    return error if path in error else f"{path}: {error}"


def _totals(result: BatchResult) -> Iterator[Fact]:
    totals = result.totals
    yield Fact("files", f"{totals.files:>11,}: {_statuses(totals)}")
    yield Fact("on disk", f"{size_text(totals.bytes):>11} in {plural(totals.lines, 'line')}")
    if totals.opaque_lines:
        yield Fact("not understood", f"{totals.opaque_lines:>11,} of these lines")
    counters = f", counted with {', '.join(totals.counters)}" if totals.counters else ""
    what = f"{tokens_text(totals.tokens_before)} in {plural(totals.messages, 'message')}{counters}"
    yield Fact("before" if result.compacted else "tokens", what)
    if totals.tokens_after is not None and totals.saved is not None:
        yield Fact("after", tokens_text(totals.tokens_after))
        share = share_text(totals.saved / max(1, totals.tokens_before))
        yield Fact("saved", f"{tokens_text(totals.saved)} ({share})")


def _statuses(totals: BatchTotals) -> str:
    counts = {name: getattr(totals, name) for name in _STATUSES}
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
