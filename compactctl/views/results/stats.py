"""What fills the context of a session, and how much of the window it uses."""

from collections.abc import Iterator
from typing import Any

from compactctl.clients.registry import format_named
from compactctl.clients.sizes import client_sizes
from compactctl.commands.inspect.stats import StatsResult
from compactctl.history.breakdown import LargeMessage
from compactctl.history.faults import refused_among
from compactctl.model.transcript import Transcript
from compactctl.store.files.source import STANDARD_STREAM
from compactctl.tokens.budget import utilization
from compactctl.views.encode import (
    doubt_fields,
    encoded,
    fit_fields,
    measure_fields,
    record,
    verdict_fields,
)
from compactctl.views.facts import labeled, omission_counts, omissions_text, warning_lines
from compactctl.views.faults import fault_rows, verdict
from compactctl.views.other_systems import STATS, foreign_records
from compactctl.views.results.request import answer_lines, count_text, request_table
from compactctl.views.results.rounds import round_fields, rounds_terminal, session_graph
from compactctl.views.results.stats_details import stats_details
from compactctl.views.terminal.screen import Accent, ScreenItem, Verbatim
from compactctl.views.terminal.text import line_text, one_line, plural, typed_command

_SHOWN_LARGEST = 3


def stats_terminal(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the output: the answer, then the table that adds up to it, and details on request."""
    if result.rounds is not None and not result.options.graph:
        yield from rounds_terminal(result.rounds, result.costs)
        return
    yield from answer_lines(result)
    yield from _refusal(result)
    yield ""
    yield count_text(result)
    yield ""
    if result.timeline is not None and result.options.graph:
        yield from session_graph(result, result.timeline)
    else:
        yield request_table(result)
        details = stats_details(result) if result.options.details else _summary(result)
        rest = (*_left_out(result.transcript), *details)
        yield from ("", *rest) if rest else ()
    yield from _pointers(result)


def _refusal(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield that the next request will be refused, in a line."""
    faults = refused_among(result.faults)
    if faults:
        path = result.options.input.reference
        more = "" if path == STANDARD_STREAM else f"; {typed_command('compactctl check', path)}"
        yield Accent(f"{verdict(faults)}{more}", "bold red")


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
        **verdict_fields(result.judgment),
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
        "leftOut": omission_counts(transcript.omissions),
        "tools": encoded(breakdown.tools),
        "rereads": encoded(breakdown.rereads),
        "faults": fault_rows(result.faults),
        **round_fields(result.rounds, result.costs),
        "file": {**_file(transcript), "textBytes": result.counts.text_bytes},
        "roundsOut": result.options.rounds_out,
        "warnings": [*filter(None, (result.unread,)), *transcript.warnings, *result.warnings],
    }
    is_above_warning = usage.level in ("warning", "critical", "over")
    document["as"] = foreign_records(STATS, {**document, "isAboveWarning": is_above_warning})
    return document


def stats_messages(result: StatsResult) -> Iterator[str]:
    """Yield the lines for standard error: warnings, and the file that was written."""
    yield from warning_lines((*result.transcript.warnings, *result.warnings))
    if result.options.rounds_out is not None and result.rounds is not None:
        rows = plural(len(result.rounds.rounds), "row")
        yield f"wrote {line_text(result.options.rounds_out)} ({rows})"


def _left_out(transcript: Transcript) -> Iterator[str]:
    """Yield what the client itself leaves out of the request, in a line."""
    if transcript.omissions:
        rule = client_sizes(transcript.format).rule()
        client = rule.name if rule else format_named(transcript.format).title
        yield f"{client} leaves out {omissions_text(transcript.omissions)}"


def _summary(result: StatsResult) -> Iterator[str]:
    """Yield the largest messages and the repeated reads, in a line each."""
    largest = result.breakdown.largest[:_SHOWN_LARGEST]
    if largest:
        yield f"Largest: {', '.join(map(_message_text, largest))}"
    files = result.breakdown.rereads
    if files:
        were = "file was" if len(files) == 1 else "files were"
        tokens = sum(file.tokens for file in files)
        yield f"{len(files):,} {were} read more than once ({tokens:,} tokens in older reads)"


def _message_text(message: LargeMessage) -> str:
    what = one_line(", ".join(message.tools) or message.role)
    place = f"line {message.line + 1:,}" if message.line >= 0 else "added"
    return f"{place} ({what}, {message.tokens:,})"


def _pointers(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield the commands that say more, whole on their lines."""
    reference = result.options.input.reference
    if reference == STANDARD_STREAM:
        return
    yield ""
    if not result.options.details:
        command = typed_command("compactctl stats --details", reference)
        yield Verbatim(labeled("details", command))
    command = typed_command("compactctl compact -n", reference)
    yield Verbatim(labeled("savings", command))


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
