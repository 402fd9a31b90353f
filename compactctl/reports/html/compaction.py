"""``compact`` as a page: before and after, and the fate of every message."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from compactctl.commands.compact.result import CompactResult
from compactctl.history.categories import Category
from compactctl.history.usage.costs import UNSEEN
from compactctl.model.operation import StageRecord
from compactctl.reports.html.choice import PageChoice
from compactctl.reports.html.compaction_messages import (
    fate_counts,
    fate_rows,
    fate_strip,
    listed_fates,
)
from compactctl.reports.html.figures import class_of, percent
from compactctl.reports.html.page import page_of
from compactctl.reports.html.session_lists import request_pieces
from compactctl.reports.html.texts import PageNames, holds_texts
from compactctl.reports.rendering.text import path_name
from compactctl.reports.rendering.wording import base_text


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRow:
    """What a stage did, and why it did that."""

    name: str
    outcome: str
    before: int
    after: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """Something that a summary lost or made up, and where it was said."""

    kind: str
    where: str
    text: str


def compact_page(result: CompactResult, choice: PageChoice) -> str:
    """Return the page; the result was asked for with its messages compared."""
    compared = result.compared
    if compared is None:
        raise ValueError("a page is drawn from compared messages, which were not asked for")
    names = PageNames(choice)
    listed = listed_fates(compared)
    rows, cut = fate_rows(compared, listed, choice, names)
    return page_of(
        "compaction",
        {
            "title": _title(result, choice, names),
            "facts": list(_facts(result, choice, names)),
            "holds": list(holds_texts(choice, cut, len(compared.messages) - len(listed))),
            "warnings": [] if choice.redact else [names.line(each) for each in result.warnings],
            "result": result,
            **_bars(result, compared.before, compared.after),
            "stages": [_stage(record, choice, names) for record in result.stages],
            "strip": fate_strip(compared, listed),
            "fates": fate_counts(compared),
            "audited": len(result.audits),
            "lost": list(_lost(result, choice, names)),
            "rows": rows,
            "most": max((max(row.tokens, row.tokens_after) for row in rows), default=1) or 1,
            "redacted": choice.redact,
            "class_of": class_of,
            "percent": percent,
        },
    )


def _title(result: CompactResult, choice: PageChoice, names: PageNames) -> str:
    if choice.redact:
        return f"a compaction of {result.format}"
    name = path_name(result.path) if result.path == "-" else PurePath(result.path).name
    return f"{names.line(name)}, compacted"


def _facts(result: CompactResult, choice: PageChoice, names: PageNames) -> Iterator[str]:
    if not choice.redact and result.path != "-":
        yield names.line(result.path)
    yield result.format
    yield f"{result.messages_before:,} messages before, {result.messages_after:,} after"
    if not choice.redact:
        yield f"profile {names.line(result.profile.name)}"
    yield from names.measured(result.measure)
    if result.operation and not result.dry_run:
        yield f"operation {result.operation}"


def _bars(
    result: CompactResult, before: Mapping[Category, int], after: Mapping[Category, int]
) -> dict[str, object]:
    """Return the values of the two bars, which have one scale."""
    window = result.measure.budget.window
    whole = max(window, result.largest_before, result.largest_after, 1)
    kinds = _kinds(before, result.largest_before), _kinds(after, result.largest_after)
    return {
        "window": window,
        "window_at": percent(window, whole),
        "target_at": percent(result.limit, whole),
        "base": "the target" if result.target else base_text(result.measure.limits),
        "bars": (
            (
                "before",
                result.largest_before,
                request_pieces(kinds[0], result.largest_before, whole),
            ),
            ("after", result.largest_after, request_pieces(kinds[1], result.largest_after, whole)),
        ),
        "legend": list(kinds[0] | kinds[1]),
    }


def _kinds(counted: Mapping[Category, int], whole: int) -> dict[str, int]:
    """Return the tokens by category, with what a request holds beside them."""
    kinds: dict[str, int] = {name: tokens for name, tokens in counted.items() if tokens}
    return {**kinds, UNSEEN: max(0, whole - sum(kinds.values()))}


def _stage(record: StageRecord, choice: PageChoice, names: PageNames) -> StageRow:
    outcome: str = record.outcome.replace("-", " ")
    if record.outcome == "applied":
        outcome = f"{record.hidden:,} hidden, {record.replaced:,} rewritten"
    return StageRow(
        name=record.name,
        outcome=outcome,
        before=record.tokens_before,
        after=record.tokens_after,
        detail="" if choice.redact else names.line(record.detail),
    )


def _lost(result: CompactResult, choice: PageChoice, names: PageNames) -> Iterator[AuditRow]:
    """Yield what the audits found; redacted, what kind of thing it is and where it was said."""

    def said(text: str) -> str:
        return "" if choice.redact else names.line(text)

    for each in result.audits:
        for loss in each.audit.lost:
            yield AuditRow(kind=f"{loss.kind} lost", where=str(loss.spot), text=said(loss.text))
        for claim in each.audit.invented or ():
            where = f"line {claim.row} of the summary"
            yield AuditRow(kind=f"{claim.kind} made up", where=where, text=said(claim.text))
