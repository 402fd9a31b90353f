"""What compactions lost, invented, and caused to be read again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.audit.findings import (
    LOSS_KINDS,
    Audit,
    Loss,
    LossKind,
    RepeatedRead,
    UnsupportedClaim,
)
from compactctl.commands.inspect.audit import AuditedCompaction, AuditResult, AuditVerdict
from compactctl.history.references import SourceRef
from compactctl.views.encode import encoded, measure_fields, record
from compactctl.views.facts import counter_text, warning_lines
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem
from compactctl.views.terminal.tables import number, table, text
from compactctl.views.terminal.text import one_line, path_name, plural

NOTE = (
    "Words are matched, not understood: a paraphrase may be listed as lost, and a name that is "
    "still mentioned may be forgotten."
)
# Kind of loss -> its list in a document.
_LISTS: Mapping[LossKind, str] = {
    "rule": "rules",
    "task": "tasks",
    "file": "files",
    "error": "errors",
    "identifier": "identifiers",
    "read": "reads",
}
_VERDICTS: Mapping[AuditVerdict, str] = {
    "audited": "",
    "sealed": "summary encrypted or not in the file; losses unknown",
    "gone": "original messages not in the file; nothing to compare",
}
_NAMES: Mapping[LossKind, str] = {
    "rule": "rule",
    "task": "open task",
    "file": "changed file",
    "error": "error",
    "identifier": "identifier",
    "read": "read file",
}
_TEXT_WIDTH = 400
_SIZES = (
    "conversation",
    "tokens_before",
    "tokens_after",
    "summary_tokens",
    "restored_tokens",
)


def audit_terminal(result: AuditResult) -> Iterator[ScreenItem]:
    """Yield the output: a row per compaction, then the findings of each."""
    name = path_name(result.options.input.reference)
    if not result.compactions:
        yield f"{name}: no compactions"
        return
    yield Accent(f"{name}: {plural(len(result.compactions), 'compaction')}", "bold")
    yield f"counted with {counter_text(result.measure)}"
    yield ""
    yield from _overview(result.compactions)
    for count, compaction in enumerate(result.compactions, 1):
        yield from _details(count, compaction, result.options.top)
    yield ""
    yield NOTE


def audit_document(result: AuditResult) -> dict[str, Any]:
    """Return the findings of each compaction, and the gates that fail."""
    return {
        "schema": "compactctl.audit/1",
        "path": result.options.input.path,
        "format": result.format,
        **measure_fields(result.measure),
        **record(result.options, only=("fail_on",)),
        **record(result, only=("failed", "compactions", "warnings")),
    }


def audit_messages(result: AuditResult) -> Iterator[str]:
    """Yield the warnings and the gates that failed, for standard error."""
    yield from warning_lines(result.warnings)
    if result.failed:
        yield f"the audit failed: {', '.join(result.failed)}"


@encoded.register
def audit_fields(audit: Audit) -> dict[str, Any]:
    """Return the findings of an audit as an object."""
    readable = audit.invented is not None
    known_by_kind = {_LISTS[kind]: audit.known_counts.get(kind, 0) for kind in LOSS_KINDS}
    lost_by_kind = {_LISTS[kind]: encoded(audit.lost_of(kind)) for kind in LOSS_KINDS}
    return {
        "known": known_by_kind if readable else None,
        "lost": lost_by_kind if readable else None,
        **record(
            audit,
            only=("invented", "rereads", "reread_tokens", "read_calls", "read_tokens"),
            read_tokens="lookTokens",
            read_calls="looks",
        ),
    }


def _overview(compactions: Sequence[AuditedCompaction]) -> Iterator[ScreenItem]:
    columns = (
        number("No"),
        text("By", spare=4),
        text("At"),
        number("Before", spare=3),
        number("After", spare=5),
        number("Rules"),
        number("Tasks", spare=2),
        number("Files"),
        number("Errors", spare=1),
        number("Names"),
        number("Invented"),
        number("Reread"),
    )
    yield table(
        columns,
        [_overview_cells(count, compaction) for count, compaction in enumerate(compactions, 1)],
    )
    yield "Rules to Names: lost/known; Invented: without a source; Reread: repeated reads/reads"


def _overview_cells(count: int, compaction: AuditedCompaction) -> tuple[str, ...]:
    audit = compaction.audit
    start = (
        str(count),
        compaction.compaction.writer,
        compaction.spot.name,
        f"{compaction.tokens_before:,}",
        f"{compaction.tokens_after:,}",
    )
    if audit is None:
        return (*start, *("?" * 7))
    invented = "?" if audit.invented is None else f"{len(audit.invented):,}"
    kinds = (kind for kind in LOSS_KINDS if kind != "read")
    losses = (_share(audit, kind) for kind in kinds)
    return (*start, *losses, invented, f"{len(audit.rereads):,}/{audit.read_calls:,}")


def _share(audit: Audit, kind: LossKind) -> str:
    if audit.invented is None:
        return "?"
    return f"{len(audit.lost_of(kind)):,}/{audit.known_counts.get(kind, 0):,}"


def _details(count: int, compaction: AuditedCompaction, top: int) -> Iterator[ScreenItem]:
    audit, source = compaction.audit, compaction.compaction
    stages = f" ({', '.join(source.stages)})" if source.stages else ""
    yield ""
    yield Accent(f"{count}  {source.writer}{stages} at {compaction.spot.name}", "bold")
    yield Facts(tuple(_facts(compaction)))
    if audit is None:
        return
    yield from _losses(audit, top)
    yield from _inventions(audit, top)
    yield from _rereads(audit, top)


def _facts(compaction: AuditedCompaction) -> Iterator[Fact]:
    verdict = compaction.compaction.verdict
    if verdict != "audited":
        yield Fact("verdict", _VERDICTS[verdict], "yellow")
    before, after = f"{compaction.tokens_before:,}", f"{compaction.tokens_after:,}"
    summary = f", {compaction.summary_tokens:,} of them its summary"
    written = summary if compaction.summary_tokens else ""
    yield Fact("tokens", f"{before} → {after}{written}")
    if compaction.restored_tokens:
        yield Fact("restored", f"{compaction.restored_tokens:,} tokens by the client itself")
    audit = compaction.audit
    if audit is None:
        return
    if audit.invented is not None:
        lost, read = len(audit.lost_of("read")), audit.known_counts.get("read", 0)
        yield Fact("read files", f"{lost:,} of {read:,} are no longer named anywhere")
    if audit.read_calls:
        yield Fact(
            "read again",
            f"{len(audit.rereads):,} of {plural(audit.read_calls, 'read')} afterwards, "
            f"{audit.reread_tokens:,} of {audit.read_tokens:,} tokens",
        )


def _losses(audit: Audit, top: int) -> Iterator[ScreenItem]:
    shown = [loss for kind in LOSS_KINDS for loss in audit.lost_of(kind)[:top]]
    if not shown:
        return
    columns = (
        text("Lost"),
        text("At"),
        text("What", "end", min_width=20),
        text("Again"),
    )
    yield ""
    yield table(columns, [_loss_row(loss) for loss in shown])
    more = len(audit.lost) - len(shown)
    if more:
        yield f"and {more:,} more; see --top and --json"


def _loss_row(loss: Loss) -> tuple[str, ...]:
    mentioned = loss.mentioned_again.name if loss.mentioned_again else ""
    note = f" ({loss.note})" if loss.note else ""
    return (_NAMES[loss.kind], loss.ref.name, one_line(loss.text + note, _TEXT_WIDTH), mentioned)


def _inventions(audit: Audit, top: int) -> Iterator[ScreenItem]:
    if not audit.invented:
        return
    columns = (text("Invented"), number("Line"), text("What the summary says", "end", min_width=20))
    rows = [
        (claim.kind, f"{claim.line:,}", one_line(claim.text, _TEXT_WIDTH))
        for claim in audit.invented[:top]
    ]
    yield ""
    yield table(columns, rows)
    yield "found nowhere before the compaction; lines are those of the summary"
    if len(audit.invented) > top:
        yield f"and {len(audit.invented) - top:,} more; see --top and --json"


def _rereads(audit: Audit, top: int) -> Iterator[ScreenItem]:
    if not audit.rereads:
        return
    columns = (
        text("Line"),
        text("Before"),
        number("Tokens"),
        text("Read again", "start", min_width=20),
    )
    largest = sorted(audit.rereads, key=lambda reread: -reread.tokens)[:top]
    rows = [
        (
            reread.ref.name,
            reread.first_seen.name,
            f"{reread.tokens:,}",
            one_line(reread.what, _TEXT_WIDTH),
        )
        for reread in largest
    ]
    yield ""
    yield table(columns, rows)
    if len(audit.rereads) > top:
        yield f"and {len(audit.rereads) - top:,} smaller ones; see --top and --json"


@encoded.register
def _compaction(compaction: AuditedCompaction) -> dict[str, Any]:
    return {
        "writer": compaction.compaction.writer,
        **encoded(compaction.spot),
        **record(compaction.compaction, only=("operation", "stages")),
        **record(compaction, only=_SIZES),
        "verdict": compaction.compaction.verdict,
        "audit": encoded(compaction.audit),
    }


@encoded.register
def _loss(loss: Loss) -> dict[str, Any]:
    return {
        "text": loss.text,
        **encoded(loss.ref),
        **record(loss, only=("note", "mentioned_again"), mentioned_again="again"),
    }


@encoded.register
def _invention(invention: UnsupportedClaim) -> dict[str, Any]:
    return record(invention, line="summaryLine")


@encoded.register
def _second_look(look: RepeatedRead) -> dict[str, Any]:
    return {
        "what": look.what,
        **encoded(look.ref),
        **record(look, only=("first_seen", "tokens"), first_seen="seen"),
    }


@encoded.register
def _spot(spot: SourceRef) -> dict[str, int | None]:
    """The position of a finding: its line in a file, its message in a document or line, or both."""
    is_line = spot.unit == "L"
    return {
        "line": spot.number if is_line else None,
        "message": spot.item or None if is_line else spot.number,
    }
