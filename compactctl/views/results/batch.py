"""The results for many transcripts: what is wrong, the files, the totals; and a document."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from compactctl.clients.registry import format_names
from compactctl.commands.batch.batch import BatchResult, BatchTotals
from compactctl.commands.batch.columns import row_values
from compactctl.commands.batch.report_format import STATUSES, Flag, GateOption, Status
from compactctl.commands.batch.row import BatchRow
from compactctl.errors import DoesNotFitError, NotATranscriptError
from compactctl.records import Record
from compactctl.store.files.objects import is_object
from compactctl.store.files.parquet_dataset import is_data_set
from compactctl.views.encode import camel_keys, encoded, record, tokens_by
from compactctl.views.facts import BASES, labeled, status_text, tokens_text, warning_lines
from compactctl.views.growth import growth_fields, growth_lines
from compactctl.views.results.batch_findings import (
    gated_flags,
    named_text,
    next_command,
    reason_text,
)
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem, Verbatim
from compactctl.views.terminal.tables import Column, number, table, text
from compactctl.views.terminal.text import (
    change_text,
    limit_text,
    line_text,
    one_line,
    percent_text,
    plural,
    share_text,
    shell_path,
    size_text,
)

# A batch of at most so many files is listed whole.
_MAX_LISTED = 20
# How many conversations of a data set are listed, and how many commands.
_MAX_CONVERSATIONS = 5
_MAX_COMMANDS = 3
_SIZE_GATES: frozenset[GateOption] = frozenset({"fail-over", "fail-over-tokens"})
# What the error of a skipped file names where it would read messages.
_OPTION = "--messages-at"


class ListedFile(Record):
    """A file, or a data set with the sums of its conversations; unknown values are None.

    For a data set, ``context`` is the largest one, ``used`` that of the fullest conversation and
    ``status`` that of the worst.
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


def batch_terminal(result: BatchResult) -> Iterator[ScreenItem]:
    """Yield the output: the answer, what is wrong and what to type, the files, the totals.

    Without ``--all``, a long list of files is only counted.
    """
    yield Accent(_answer(result), "bold")
    yield ""
    yield from _bad_files(result)
    files = tuple(file for file in listed_files(result.worst_first) if file.status != "skipped")
    if result.options.show_all or len(files) <= _MAX_LISTED:
        yield table(_columns(result), [_cells(file, result) for file in files])
        yield ""
    else:
        yield from _rest(result.rows)
    yield Facts(tuple(_totals(result)))


def _bad_files(result: BatchResult) -> Iterator[ScreenItem]:
    """Yield what is wrong with which files, the worst first, and the commands to type."""
    rows = [row for row in result.worst_first if row.is_bad]
    if not rows:
        return
    conversations: Counter[str] = Counter()
    facts: list[Fact] = []
    for row in rows:
        if row.data_set is not None:
            conversations[row.data_set] += 1
        if row.data_set is None or conversations[row.data_set] <= _MAX_CONVERSATIONS:
            facts.append(_bad_file(row, result))
    yield Facts(tuple(facts))
    for path, count in conversations.items():
        if count > _MAX_CONVERSATIONS:
            more = plural(count - _MAX_CONVERSATIONS, "more conversation")
            yield f"{more} of {line_text(path)} like these; --report lists all"
    commands = {row.status: command for row in reversed(rows) if (command := next_command(row))}
    yield ""
    if commands:
        for command in islice(dict.fromkeys(reversed(commands.values())), _MAX_COMMANDS):
            yield Verbatim(labeled("next", command))
        yield ""


def _bad_file(row: BatchRow, result: BatchResult) -> Fact:
    """Return what is wrong with a row."""
    text = line_text(named_text(row, reason_text(row, result)))
    code = "" if row.is_read else f" (exit {row.exit_code})"
    return Fact(row.status, f"{text}{code}", "yellow" if row.exit_code else "")


def _rest(rows: Sequence[BatchRow]) -> Iterator[ScreenItem]:
    """Yield how many rows are not listed, as nothing is wrong with them."""
    rest = [row for row in rows if not row.is_bad and row.status != "skipped"]
    if rest:
        yield f"{len(rest):,} more: {_counts(row.status for row in rest)}; --all lists every file"
        yield ""


def listed_files(rows: Iterable[BatchRow]) -> Iterator[ListedFile]:
    """Yield a file for each row; the rows of a data set become one file, where the first was."""
    members: dict[tuple[str, bool], list[BatchRow]] = {}
    for row in rows:
        members.setdefault((row.data_set or row.path, row.data_set is None), []).append(row)
    for (path, _), rows_of_file in members.items():
        yield _join_rows(path, rows_of_file)


def _join_rows(path: str, rows: Sequence[BatchRow]) -> ListedFile:
    measures = [row.measure for row in rows if row.measure is not None]
    return ListedFile(
        path=path,
        format=_shared([measure.format for measure in measures]),
        model=_shared([measure.model for measure in measures]),
        tokens_before=_sum(row.tokens for row in rows),
        tokens_after=_sum(row.outcome.after.tokens for row in rows if row.outcome is not None),
        saved=_sum(row.saved for row in rows),
        context=max((row.context for row in rows if row.context is not None), default=None),
        used=max((row.used for row in rows if row.used is not None), default=None),
        status=min((row.status for row in rows), key=STATUSES.index),
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
        text("File", "middle", min_width=16, comfort=40),
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
        file.status,
    )


def _count(tokens: int | None) -> str:
    return "" if tokens is None else f"{tokens:,}"


def _error_of(row: BatchRow) -> str:
    return row.failure.error if row.failure else ""


def _answer(result: BatchResult) -> str:
    """Return how many files there are, and what was saved or how full the fullest is."""
    totals = result.totals
    if not result.rows:
        return "no files"
    counts = (
        f"{plural(totals.files, _noun(result.rows))}: {_counts(row.status for row in result.rows)}"
    )
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
    counted = ", counted" if result.options.compacts else ""
    by = f"{counted} with {totals.counters[0]}" if totals.counters else ""
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
    sums = f"{tokens_text(before)} in {plural(messages, 'message')} with {counter}"
    if not result.options.compacts:
        return sums
    saved = sum(row.saved or 0 for row in rows)
    return f"{sums}; {saved:,} saved ({share_text(saved / max(1, before))})"


def _counts(statuses: Iterable[Status]) -> str:
    """Return how many rows have each status, the worst first."""
    counts = Counter(statuses)
    return ", ".join(f"{counts[s]:,} {status_text(s)}" for s in STATUSES if counts[s])


def batch_document(result: BatchResult) -> dict[str, Any]:
    """Return the gates, the sums, and a row per file or conversation."""
    return {
        "schema": "compactctl.batch/2",
        "compacted": result.options.compacts,
        "written": result.options.writes,
        **record(result.options.gates, only=("fail_over", "fail_over_tokens", "fail_on")),
        **record(result.options, only=("require_fit", "require_audit")),
        **growth_fields(result.growth),
        "exitCode": result.exit_code,
        "totals": _totals_document(result.totals),
        "files": [_row(row) for row in result.rows],
    }


def _totals_document(totals: BatchTotals) -> dict[str, Any]:
    sums = record(totals, without=("files", "statuses"))
    statuses = {status.replace(" ", "_"): n for status, n in totals.statuses.items()}
    return {"files": totals.files, **camel_keys(statuses), **sums}


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
    if result.is_empty:
        yield _no_conversation(result.rows)
    yield from _gate_lines(result)
    yield from _formats(result.rows)
    yield from _other_codes(result)


def _gate_lines(result: BatchResult) -> Iterator[str]:
    """Yield what each gate found."""
    rows, gates = result.rows, result.options.gates
    limits = " or ".join(_limits(result))
    if limits:
        is_over = ["over limit" in row.verdicts for row in rows if _SIZE_GATES & {*row.gates}]
        over, unsure = is_over.count(True), is_over.count(False)
        if unsure:
            yield f"{plural(unsure, _noun(rows))} not read in full: the size is unknown"
        yield f"{plural(over, _noun(rows))} over the limit: {limits}"
    if result.options.require_fit:
        misfits = sum(row.exit_code == DoesNotFitError.exit_code for row in rows)
        yield f"{plural(misfits, _noun(rows))} not fitting: --require-fit"
    if result.growth is not None:
        yield from growth_lines(result.growth, gates.tolerance)
    if gates.fail_on:
        yield _flagged(rows, gates.fail_on)


def _formats(rows: Sequence[BatchRow]) -> Iterator[str]:
    """Yield the formats that a file may have that no format recognizes."""
    unknown = (row.failure for row in rows if row.failure is not None and not row.is_skipped)
    if any(failure.error_class == NotATranscriptError.__name__ for failure in unknown):
        yield f"formats: {format_names()}"


def _other_codes(result: BatchResult) -> Iterator[str]:
    """Yield which code the batch exits with, if there are several."""
    codes = result.exit_codes
    others = sorted(codes.keys() - {result.exit_code})
    if others:
        noun = _noun(result.rows)
        causes = (plural(codes[code], noun) if codes[code] else "--baseline" for code in others)
        texts = [f"{code} from {cause}" for code, cause in zip(others, causes, strict=True)]
        yield f"exit code {result.exit_code}; not returned: {', '.join(texts)}"


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


def _no_conversation(rows: Sequence[BatchRow]) -> str:
    """Return why no row has a conversation."""
    skipped = sum(row.is_skipped for row in rows)
    if not skipped:
        return "no conversation found: all rows are empty" if rows else "no conversation found"
    files = "the file" if skipped == 1 else f"any of {skipped:,} files"
    return f"no transcript found: no format recognizes {files}"


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
