"""The results for many transcripts: a list of files with totals, and a document of all rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any

from compactctl.commands.batch.batch import BatchResult, BatchTotals
from compactctl.commands.batch.columns import row_values
from compactctl.commands.batch.report_format import Flag, Status
from compactctl.commands.batch.row import BatchRow
from compactctl.records import Record
from compactctl.store.files.objects import is_object
from compactctl.store.files.parquet_dataset import is_data_set
from compactctl.views.encode import camel_keys, encoded, record, tokens_by
from compactctl.views.facts import BASES, status_text, tokens_text, warning_lines
from compactctl.views.growth import growth_fields, growth_lines
from compactctl.views.results.batch_files import gated_flags
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem
from compactctl.views.terminal.tables import Column, number, table, text
from compactctl.views.terminal.text import (
    change_text,
    limit_text,
    line_text,
    one_line,
    percent_text,
    plural,
    safe_text,
    share_text,
    shell_path,
    size_text,
)

_WORST: tuple[Status, ...] = ("failed", "flagged", "over", "ok", "unchanged", "skipped")
_MAX_ERRORS = 5
# What the error of a skipped file names where it would read messages.
_OPTION = "--messages-at"


class ListedFile(Record):
    """A file, or a data set with the sums of its conversations; unknown values are None.

    For a data set, ``context`` is the largest one, ``used`` that of the fullest conversation and
    ``status`` that of the worst. ``is_incomplete`` means that much text was not read.
    """

    path: str
    format: str | None
    model: str | None
    tokens_before: int | None
    tokens_after: int | None
    saved: int | None
    context: int | None
    used: float | None
    status: Status
    is_incomplete: bool


def batch_terminal(result: BatchResult) -> Iterator[ScreenItem]:
    """Yield the output: the answer, a row per transcript or data set, the errors, the totals."""
    yield Accent(_answer(result), "bold")
    yield ""
    listed = tuple(file for file in listed_files(result.rows) if file.status != "skipped")
    yield table(_columns(result), [_cells(file, result) for file in listed])
    yield ""
    yield from _failed(result.rows)
    yield Facts(tuple(_totals(result)))


def listed_files(rows: Iterable[BatchRow]) -> Iterator[ListedFile]:
    """Yield a file for each row; the rows of a data set become one file."""
    for data_set, members in groupby(rows, key=lambda row: row.data_set):
        if data_set is None:
            yield from (_join_rows(row.path, [row]) for row in members)
        else:
            yield _join_rows(data_set, list(members))


def _join_rows(path: str, rows: Sequence[BatchRow]) -> ListedFile:
    largest = max(rows, key=lambda row: row.context or 0)
    measures = [row.measure for row in rows if row.measure is not None]
    return ListedFile(
        path=path,
        format=_shared([measure.format for measure in measures]),
        model=_shared([measure.model for measure in measures]),
        tokens_before=_sum(row.tokens for row in rows),
        tokens_after=_sum(row.outcome.after.tokens for row in rows if row.outcome is not None),
        saved=_sum(row.saved for row in rows),
        context=largest.context,
        used=max((row.used for row in rows if row.used is not None), default=None),
        status=min((row.status for row in rows), key=_WORST.index),
        is_incomplete=largest.unread is not None,
    )


def _sum(values: Iterable[int | None]) -> int | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _shared(values: Sequence[str]) -> str | None:
    """Return the value that all share, None if they differ."""
    return values[0] if len(set(values)) == 1 else None


def _columns(result: BatchResult) -> tuple[Column, ...]:
    after = (number("Tokens after"), number("Saved", spare=2)) if result.options.compacts else ()
    return (
        text("File", "start", min_width=16),
        text("Format", spare=4),
        text("Model", "end", min_width=8, spare=3),
        number("Tokens before" if result.options.compacts else "Tokens"),
        *after,
        number("Context", spare=1),
        number("Used", spare=1),
        text("Status"),
    )


def _cells(file: ListedFile, result: BatchResult) -> tuple[str, ...]:
    after = (_count(file.tokens_after), _count(file.saved)) if result.options.compacts else ()
    return (
        one_line(file.path),
        file.format or "",
        one_line(file.model or ""),
        _count(file.tokens_before),
        *after,
        _count(file.context),
        "" if file.used is None else share_text(file.used),
        _status_text(file),
    )


def _status_text(file: ListedFile) -> str:
    """Return the status; "incomplete" where that is what is wrong with it."""
    if not file.is_incomplete:
        return file.status
    is_reason = file.status in ("ok", "flagged")
    return "incomplete" if is_reason else f"{file.status}, incomplete"


def _count(tokens: int | None) -> str:
    return "" if tokens is None else f"{tokens:,}"


def _failed(rows: Sequence[BatchRow]) -> Iterator[ScreenItem]:
    """Yield the errors: of each file, and of the first conversations of data sets."""
    failed = [row for row in rows if row.status == "failed"]
    if not failed:
        return
    yield f"{plural(len(failed), _noun(failed))} failed"
    conversations = [row for row in failed if row.data_set is not None]
    untold = {id(row) for row in conversations[_MAX_ERRORS:]}
    for row in failed:
        if id(row) not in untold:
            yield Accent(f"exit {row.exit_code}: {_error(row)}", "yellow")
    if untold:
        yield f"{plural(len(untold), 'more conversation')} failed; --report lists all"
    yield ""


def _error(row: BatchRow) -> str:
    """Return the error of a file; most errors begin with its path already."""
    error = safe_text(_error_of(row))
    path = safe_text(row.path)
    return error if path in error else f"{path}: {error}"


def _error_of(row: BatchRow) -> str:
    return row.failure.error if row.failure else ""


def _answer(result: BatchResult) -> str:
    """Return how many files there are, and what was saved or how full the fullest is."""
    totals = result.totals
    counts = f"{plural(totals.files, _noun(result.rows))}: {_statuses(result)}"
    before, after = totals.tokens_before, totals.tokens_after
    if before and after is not None:
        return f"{counts}; {before:,} → {after:,} tokens ({change_text(before, after)})"
    measured = [row for row in result.rows if row.used and row.measure]
    fullest = max(measured, key=lambda row: row.used or 0, default=None)
    if fullest is None or fullest.measure is None:
        return counts
    share = percent_text(fullest.used or 0)
    return f"{counts}; the fullest is at {share} of {BASES[fullest.measure.base]}"


def _totals(result: BatchResult) -> Iterator[Fact]:
    totals = result.totals
    is_packed = any(row.data_set and is_data_set(row.data_set) for row in result.rows)
    where = "unpacked" if is_packed else "on disk"
    yield Fact(where, f"{size_text(totals.bytes):>11} in {plural(totals.lines, 'line')}")
    if totals.opaque_lines:
        yield Fact("not recognized", f"{totals.opaque_lines:>11,} of these lines")
    if len(totals.counters) > 1:
        for counter in totals.counters:
            yield Fact("counted", _counted_by(counter, result))
        yield Fact("", "not added up, since the counters differ")
        return
    by = f", counted with {totals.counters[0]}" if totals.counters else ""
    before = totals.tokens_before or 0
    what = f"{tokens_text(before)} in {plural(totals.messages, 'message')}{by}"
    yield Fact("before" if result.options.compacts else "counted", what)
    if totals.tokens_after is not None and totals.saved is not None:
        yield Fact("after", tokens_text(totals.tokens_after))
        share = share_text(totals.saved / max(1, before))
        yield Fact("saved", f"{tokens_text(totals.saved)} ({share})")


def _counted_by(counter: str, result: BatchResult) -> str:
    """Return the sums over the rows of one counter."""
    rows = [row for row in result.rows if row.measure and row.measure.counter == counter]
    totals = [row.figures.totals for row in rows if row.figures]
    before = sum(total.tokens for total in totals)
    messages = sum(total.messages for total in totals)
    sums = f"{tokens_text(before)} in {plural(messages, 'message')}, counted with {counter}"
    if not result.options.compacts:
        return sums
    saved = sum(row.saved or 0 for row in rows)
    return f"{sums}; {saved:,} saved ({share_text(saved / max(1, before))})"


def _statuses(result: BatchResult) -> str:
    statuses = result.totals.statuses
    n_incomplete = sum(row.status == "ok" and row.unread is not None for row in result.rows)
    counts = {status: statuses[status] - n_incomplete * (status == "ok") for status in statuses}
    shown = [f"{count:,} {status_text(status)}" for status, count in counts.items() if count]
    return ", ".join([*shown, f"{n_incomplete:,} incomplete"] if n_incomplete else shown)


def batch_document(result: BatchResult) -> dict[str, Any]:
    """Return the gates, the sums, and a row per file or conversation."""
    return {
        "schema": "compactctl.batch/1",
        "compacted": result.options.compacts,
        "written": result.options.writes,
        **record(result.options.gates, only=("fail_over", "fail_over_tokens", "fail_on")),
        **growth_fields(result.growth),
        "exitCode": result.exit_code,
        "totals": _totals_document(result.totals),
        "files": [_row(row) for row in result.rows],
    }


def _totals_document(totals: BatchTotals) -> dict[str, Any]:
    sums = record(totals, without=("files", "statuses"))
    return {"files": totals.files, **encoded(totals.statuses), **sums}


def _row(row: BatchRow) -> dict[str, Any]:
    values = row_values(row)
    return {**camel_keys(encoded(values)), "tools": tokens_by(values["tools"])}


def batch_messages(result: BatchResult) -> Iterator[str]:
    """Yield the lines for standard error: written files, and the meaning of the exit code."""
    yield from warning_lines(result.warnings)
    yield from warning_lines(warning for file in result.written for warning in file.warnings)
    yield from _doubted(result.rows)
    yield from _unread(result.rows)
    yield from _elsewhere(result.rows)
    written = _by_output(result.rows)
    if written:
        yield f"wrote {plural(len(written), 'transcript')}{_way_back(written)}"
    elif result.options.compacts:
        yield "no transcript was written"
    for file in sorted(result.written, key=lambda file: file.kind == "table"):
        yield f"wrote {line_text(file.path)} ({plural(file.rows, 'row')})"
    statuses = result.totals.statuses
    if result.is_empty:
        yield f"no transcript found: no format recognizes {_all_of(statuses['skipped'])}"
    limits = " or ".join(_limits(result))
    unsure = sum(row.status == "flagged" and row.unread is not None for row in result.rows)
    if limits and unsure:
        yield f"{plural(unsure, _noun(result.rows))} not read in full: the size is unknown"
    if limits:
        yield f"{plural(statuses['over'], _noun(result.rows))} over the limit: {limits}"
    if result.growth is not None:
        yield from growth_lines(result.growth, result.options.gates.tolerance)
    fail_on = result.options.gates.fail_on
    if fail_on:
        yield _flagged(result.rows, fail_on)


def _flagged(rows: Sequence[BatchRow], fail_on: Sequence[Flag]) -> str:
    """Return how many rows have a flag of ``--fail-on``, and how many have each."""
    flags = [gated_flags(row, fail_on) for row in rows]
    counts = Counter(chain.from_iterable(flags))
    by_flag = ", ".join(f"{flag} in {counts[flag]:,}" for flag in fail_on if counts[flag])
    return f"{plural(sum(map(bool, flags)), _noun(rows))} flagged{by_flag and f': {by_flag}'}"


def _doubted(rows: Sequence[BatchRow]) -> Iterator[str]:
    doubted = [row for row in rows if "usage" in row.flags]
    if doubted:
        files = plural(len(doubted), _noun(doubted))
        yield (
            f"warning: reported usage does not match the counts in {files}; "
            f"see compactctl check {shell_path(doubted[0].path)}"
        )


def _unread(rows: Sequence[BatchRow]) -> Iterator[str]:
    unread = [row for row in rows if row.unread]
    if unread:
        files, path = plural(len(unread), _noun(unread)), unread[0].data_set or unread[0].path
        advice = "" if is_data_set(path) else f"; see compactctl check {shell_path(path)}"
        yield f"warning: text was not read in {files}{advice}"


def _elsewhere(rows: Sequence[BatchRow]) -> Iterator[str]:
    """Yield that files were skipped whose messages seem to be where an option would read them."""
    skipped = [row for row in rows if row.status == "skipped" and _OPTION in _error_of(row)]
    if skipped:
        files, first = plural(len(skipped), "skipped file"), shell_path(skipped[0].path)
        yield f"warning: {files} may contain messages elsewhere; see compactctl check {first}"


def _by_output(rows: Sequence[BatchRow]) -> list[BatchRow]:
    """Return a row per written file; for a data set one that was changed, if any was."""
    written: dict[str, BatchRow] = {}
    for row in rows:
        if row.output is not None and (row.output.path not in written or _is_compacted(row)):
            written[row.output.path] = row
    return list(written.values())


def _way_back(written: Sequence[BatchRow]) -> str:
    """Return how many outputs differ from their inputs, and the command that undoes one.

    Objects of a store would have to be copied first.
    """
    compacted = sum(map(_is_compacted, written))
    is_remote = any(row.output is not None and is_object(row.output.path) for row in written)
    undo = "" if is_remote else "; undo one with: compactctl rewind FILE"
    if compacted == len(written):
        return undo
    return f", {compacted:,} of them compacted{undo}" if compacted else ", none of them compacted"


def _is_compacted(row: BatchRow) -> bool:
    return row.outcome is not None and row.outcome.operation is not None


def _all_of(files: int) -> str:
    return "the file" if files == 1 else f"any of {files:,} files"


def _limits(result: BatchResult) -> Iterator[str]:
    gates = result.options.gates
    if gates.fail_over is not None:
        yield f"{limit_text(gates.fail_over)} of {_bases(result.rows)}"
    if gates.fail_over_tokens is not None:
        yield f"{gates.fail_over_tokens:,} tokens"


def _bases(rows: Sequence[BatchRow]) -> str:
    """Return the names of the limits, which may differ between files."""
    bases = {row.measure.base for row in rows if row.measure is not None}
    return " or ".join(text for base, text in BASES.items() if base in bases) or "what fits"


def _noun(rows: Sequence[BatchRow]) -> str:
    """Return the noun for what rows represent."""
    return "file" if all(row.data_set is None for row in rows) else "conversation"
