"""``batch`` on a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from compactctl.commands.batch.batch import BatchResult, BatchTotals
from compactctl.commands.batch.columns import row_values
from compactctl.commands.batch.row import BatchRow, Status
from compactctl.views.encode import camel_keys, fields_of, tokens_by
from compactctl.views.facts import BASES, tokens_text
from compactctl.views.growth import growth_fields, growth_lines
from compactctl.views.results.batch_files import gated_flags, status_text
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem
from compactctl.views.terminal.tables import Column, number, table, text
from compactctl.views.terminal.text import (
    limit_text,
    line_text,
    one_line,
    plural,
    safe_text,
    share_text,
    shell_path,
    size_text,
)

_WORST: tuple[Status, ...] = ("failed", "flagged", "over", "ok", "unchanged", "skipped")


def summed_up(rows: Iterable[BatchRow]) -> Iterator[BatchRow]:
    """Yield files as they are, and for the conversations of a data set one row in their place.

    That has their sums, the largest context, and the status of the worst of them.
    """
    for data_set, found in groupby(rows, key=lambda row: row.data_set):
        if data_set is None:
            yield from found
        else:
            yield _summed(data_set, list(found))


def _summed(path: str, rows: Sequence[BatchRow]) -> BatchRow:
    largest = max(rows, key=lambda row: row.context or 0)
    fullest = max((row.used for row in rows if row.used is not None), default=None)
    return replace(
        largest,
        path=path,
        row=None,
        status=min((row.status for row in rows), key=_WORST.index),
        used=fullest,
        tokens_before=_sum(row.tokens_before for row in rows),
        tokens_after=_sum(row.tokens_after for row in rows),
        saved=_sum(row.saved for row in rows),
        model=_same([row.model for row in rows if row.model]),
        format=_same([row.format for row in rows if row.format]),
        exit_code=max(row.exit_code for row in rows),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _same(values: Sequence[str]) -> str | None:
    """Return the value that all have, None where they differ."""
    return values[0] if len(set(values)) == 1 else None


_MOST_ERRORS = 5
# What the error of a skipped file names where it would read messages.
_OPTION = "--messages-at"
_STATUSES = ("ok", "unchanged", "over", "flagged", "failed", "skipped")


def batch_terminal(result: BatchResult) -> Iterator[ScreenItem]:
    """Yield what to print: a row per transcript, data sets as one, the errors, the sums."""
    listed = tuple(row for row in summed_up(result.rows) if row.status != "skipped")
    yield table(_columns(result), [_cells(row, result) for row in listed])
    yield ""
    yield from _failed(result.rows)
    yield Facts(tuple(_totals(result)))


def _failed(rows: Sequence[BatchRow]) -> Iterator[ScreenItem]:
    """Yield the errors: of each file, and of the first conversations of data sets."""
    failed = [row for row in rows if row.status == "failed"]
    if not failed:
        return
    yield f"{plural(len(failed), _noun(failed))} failed"
    conversations = [row for row in failed if row.data_set is not None]
    untold = {id(row) for row in conversations[_MOST_ERRORS:]}
    for row in failed:
        if id(row) not in untold:
            yield Accent(f"exit {row.exit_code}: {_error(row)}", "yellow")
    if untold:
        yield f"and {plural(len(untold), 'conversation')} more, which a --report lists"
    yield ""


def _noun(rows: Sequence[BatchRow]) -> str:
    """Return what rows are of."""
    return "file" if all(row.data_set is None for row in rows) else "conversation"


def batch_messages(result: BatchResult) -> Iterator[str]:
    """Yield the lines for standard error: what was written, and what the exit code means."""
    yield from (f"warning: {line_text(warning)}" for warning in result.warnings)
    yield from _doubted(result.rows)
    yield from _unread(result.rows)
    yield from _elsewhere(result.rows)
    written = _by_output(result.rows)
    if written:
        yield f"wrote {plural(len(written), 'transcript')}{_way_back(written)}"
    elif result.compacted:
        yield "no transcript was written"
    for report in result.reports:
        yield f"wrote {line_text(report)} ({plural(len(result.rows), 'row')})"
    for path, rows in result.tables.items():
        yield f"wrote {line_text(path)} ({plural(rows, 'row')})"
    if result.is_empty:
        yield f"no transcript found: no format recognizes {_all_of(result.totals.skipped)}"
    limits = " or ".join(_limits(result))
    if limits:
        yield f"{plural(result.totals.over, _noun(result.rows))} over the limit of {limits}"
    if result.growth is not None:
        yield from growth_lines(result.growth, result.tolerance)
    if result.fail_on:
        count = sum(bool(gated_flags(row, result.fail_on)) for row in result.rows)
        flagged = plural(count, _noun(result.rows))
        yield f"{flagged} with {' or '.join(result.fail_on)}"


def _all_of(files: int) -> str:
    return "the file" if files == 1 else f"any of {files:,} files"


def _doubted(rows: Sequence[BatchRow]) -> Iterator[str]:
    doubted = [row for row in rows if "usage" in row.flags]
    if doubted:
        files = plural(len(doubted), _noun(doubted))
        yield (
            f"warning: reported usage does not fit what was counted in {files}; "
            f"see compactctl check {shell_path(doubted[0].path)}"
        )


def _unread(rows: Sequence[BatchRow]) -> Iterator[str]:
    unread = [row for row in rows if row.unread]
    if unread:
        files, first = plural(len(unread), _noun(unread)), shell_path(unread[0].path)
        yield f"warning: much text was not read in {files}; see compactctl check {first}"


def _elsewhere(rows: Sequence[BatchRow]) -> Iterator[str]:
    """Yield that files were skipped in which messages seem to stand where an option reads them."""
    skipped = [row for row in rows if row.status == "skipped" and _OPTION in (row.error or "")]
    if skipped:
        files, first = plural(len(skipped), "skipped file"), shell_path(skipped[0].path)
        yield f"warning: messages seem to stand in {files}; see compactctl check {first}"


def _limits(result: BatchResult) -> Iterator[str]:
    if result.fail_over is not None:
        yield f"{limit_text(result.fail_over)} of {_bases(result.rows)}"
    if result.fail_over_tokens is not None:
        yield f"{result.fail_over_tokens:,} tokens"


def _bases(rows: Sequence[BatchRow]) -> str:
    """Return what the limit refers to, which may differ between files."""
    found = {row.base for row in rows}
    return " or ".join(text for base, text in BASES.items() if base in found) or "what fits"


def _by_output(rows: Sequence[BatchRow]) -> list[BatchRow]:
    """Return a row per file that was written: of a data set one that was changed, if any was."""
    found: dict[str, BatchRow] = {}
    for row in rows:
        if row.output is not None and (row.output not in found or row.operation is not None):
            found[row.output] = row
    return list(found.values())


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
        f"{row.status}, incomplete" if row.unread else row.status,
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
    noun = _noun(result.rows)
    yield Fact(f"{noun}s", f"{totals.files:>11,}: {_statuses(totals)}")
    where = "on disk" if noun == "file" else "unpacked"
    yield Fact(where, f"{size_text(totals.bytes):>11} in {plural(totals.lines, 'line')}")
    if totals.opaque_lines:
        yield Fact("not understood", f"{totals.opaque_lines:>11,} of these lines")
    if len(totals.counters) > 1:
        for counter in totals.counters:
            yield Fact("tokens", _counted_by(counter, result))
        yield Fact("", "not added up: they were counted with different counters")
        return
    by = f", counted with {totals.counters[0]}" if totals.counters else ""
    before = totals.tokens_before or 0
    what = f"{tokens_text(before)} in {plural(totals.messages, 'message')}{by}"
    yield Fact("before" if result.compacted else "tokens", what)
    if totals.tokens_after is not None and totals.saved is not None:
        yield Fact("after", tokens_text(totals.tokens_after))
        share = share_text(totals.saved / max(1, before))
        yield Fact("saved", f"{tokens_text(totals.saved)} ({share})")


def _counted_by(counter: str, result: BatchResult) -> str:
    """Return the sums over the rows of one counter."""
    rows = [row for row in result.rows if row.is_read and row.counter == counter]
    before, messages = sum(r.tokens_before or 0 for r in rows), sum(r.messages or 0 for r in rows)
    sums = f"{tokens_text(before)} in {plural(messages, 'message')}, counted with {counter}"
    if not result.compacted:
        return sums
    saved = sum(row.saved or 0 for row in rows)
    return f"{sums}; {saved:,} saved ({share_text(saved / max(1, before))})"


def _statuses(totals: BatchTotals) -> str:
    counts = {name: getattr(totals, name) for name in _STATUSES}
    return ", ".join(f"{count:,} {status_text(name)}" for name, count in counts.items() if count)


def batch_document(result: BatchResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.batch/1",
        "compacted": result.compacted,
        "written": result.written,
        "failOver": result.fail_over,
        "failOverTokens": result.fail_over_tokens,
        "failOn": list(result.fail_on),
        **growth_fields(result.growth),
        "exitCode": result.exit_code,
        "totals": {**fields_of(result.totals), "counters": list(result.totals.counters)},
        "files": [_row(row) for row in result.rows],
    }


def _row(row: BatchRow) -> dict[str, Any]:
    listed = {"stages": list(row.stages), "flags": list(row.flags), "tools": tokens_by(row.tools)}
    return {**camel_keys(row_values(row)), **listed}
