"""What is wrong with the files of a batch, why, and the command to type next.

The screen, JUnit, the pages and the annotations of CI runners all tell it from here, in one order.
"""

from collections.abc import Iterator, Mapping, Sequence

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.options import BatchGates
from compactctl.commands.batch.report_format import Flag
from compactctl.commands.batch.row import BatchRow, severity
from compactctl.errors import GATE_FAILED
from compactctl.records import Record
from compactctl.store.files.objects import is_object
from compactctl.store.files.parquet_dataset import is_data_set
from compactctl.tokens.budget import MIN_TOKEN_TARGET
from compactctl.views.facts import BASES
from compactctl.views.growth import growth_failures
from compactctl.views.terminal.text import limit_text, shell_path

_BASELINE = "--baseline"
_SHOWN_FAULTS = 3
_FLAG_TEXTS: Mapping[Flag, str] = {
    "opaque": "lines or text not recognized",
    "orphans": "tool calls without results, or results without calls",
    "errors": "failed tool calls",
    "over-window": "larger than the window",
    "usage": "reported usage implausible or not used",
}


class BatchFinding(Record):
    """Something that fails the batch.

    Attributes:
        path: the file, without the number of a conversation; None for the batch as a whole.
        status: its status, or the option by which the batch does not pass.
        text: what is wrong, on one line, with the name of the file or conversation.
        reason: the same without the name.
        exit_code: the code for it alone.
    """

    path: str | None
    status: str
    text: str
    reason: str
    exit_code: int


def find_failures(result: BatchResult) -> tuple[BatchFinding, ...]:
    """Return all that fails the batch, the worst first."""
    findings = [*_grown(result), *_failing(result)]
    return tuple(sorted(findings, key=lambda finding: severity(finding.exit_code)))


def _grown(result: BatchResult) -> Iterator[BatchFinding]:
    if result.has_grown and result.growth is not None:
        reason = "; ".join(growth_failures(result.growth))
        yield BatchFinding(
            path=None,
            status=_BASELINE,
            text=f"{_BASELINE}: {reason}",
            reason=reason,
            exit_code=GATE_FAILED,
        )


def _failing(result: BatchResult) -> Iterator[BatchFinding]:
    for row in result.worst_first:
        if row.exit_code:
            reason = reason_text(row, result)
            yield BatchFinding(
                path=row.data_set or row.path,
                status=row.status,
                text=named_text(row, f"{row.status}: {reason}" if row.is_read else reason),
                reason=reason,
                exit_code=row.exit_code,
            )


def named_text(row: BatchRow, text: str) -> str:
    """Return a text about a row with the row's path before it; most errors name it already."""
    return text if not row.is_read and row.path in text else f"{row.path}: {text}"


def reason_text(row: BatchRow, result: BatchResult) -> str:
    """Return all that is wrong with a row on one line; "" if nothing is."""
    if row.failure is not None:
        return row.failure.error or "failed"
    return "; ".join(_reasons(row, result))


def _reasons(row: BatchRow, result: BatchResult) -> Iterator[str]:
    verdicts, size = row.verdicts, row.context or 0
    flags = gated_flags(row, result.options.gates.fail_on)
    if "will be refused" in verdicts or "refused" in flags:
        yield _refused_text(row)
    if row.unread is not None:
        yield row.unread
    if "over limit" in verdicts and row.size_limit is not None:
        over = size - row.size_limit
        yield f"{size:,} tokens, {over:,} over {_limit_text(row, result.options.gates)}"
    if "over target" in verdicts and row.target is not None:
        yield f"{size:,} tokens, {size - row.target:,} over the target of {row.target:,}"
    named = {"refused", *(["opaque"] if row.unread is not None else [])}
    others = [f"{flag} ({_FLAG_TEXTS[flag]})" for flag in flags if flag not in named]
    if others:
        yield ", ".join(others)


def _limit_text(row: BatchRow, gates: BatchGates) -> str:
    """Return the limit of a row: that of the gate that allows less, or what it is without one."""
    if row.measure is None or (row.limit is None and row.size_limit == row.measure.window):
        return f"the window of {row.size_limit:,}"
    if row.limit is None:
        return f"the limit of {row.size_limit:,} ({BASES[row.measure.base]})"
    if gates.fail_over is None or row.limit == gates.fail_over_tokens:
        return f"the limit of {row.limit:,}"
    share = f"{limit_text(gates.fail_over)} of {BASES[row.measure.base]}"
    return f"the limit of {row.limit:,} ({share})"


def _refused_text(row: BatchRow) -> str:
    """Return the rules and lines of what is refused, of the transcript before any stage."""
    if not row.refused:
        return "the provider or the client refuses the result; see compactctl check"
    places = [f"{fault.rule} on line {fault.line:,}" for fault in row.refused[:_SHOWN_FAULTS]]
    more = len(row.refused) - len(places)
    return ", ".join((*places, f"{more:,} more") if more else places)


def gated_flags(row: BatchRow, fail_on: Sequence[Flag]) -> tuple[Flag, ...]:
    """Return the flags of a row that ``--fail-on`` names."""
    return tuple(flag for flag in row.flags if flag in fail_on)


def _target_option(row: BatchRow) -> str:
    """Return the option that gets a row below its gate, "" if the default target does."""
    if row.limit is None or row.measure is None or 2 * row.limit >= row.measure.base_tokens:
        return ""
    return f" --target {row.limit}" if row.limit >= MIN_TOKEN_TARGET else ""


def next_command(row: BatchRow) -> str | None:
    """Return the command to type about a row; None if its error says what to do, or none can."""
    path = row.data_set or row.path
    if not row.is_read or not row.is_bad or is_data_set(path) or is_object(path):
        return None
    shown = shell_path(path)
    if row.status == "over limit":
        return f"compactctl compact {shown}{_target_option(row)}"
    if row.status == "over target":
        return f"compactctl compact {shown} --target {row.target} --explain --dry-run"
    return f"compactctl check {shown}"
