"""``compact`` as a page: before and after, and the fate of every message."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest

from compactctl.audit.findings import Audit
from compactctl.commands.compact.result import CompactResult
from compactctl.commands.page_choice import PageChoice
from compactctl.commands.planning.fates import ComparedMessage, Comparison, Fate
from compactctl.history.categories import Category
from compactctl.history.usage.costs import UNSEEN
from compactctl.model.operation import StageRecord
from compactctl.views.facts import base_text
from compactctl.views.pages.drawing import Chart, areas, class_of, grid, percent
from compactctl.views.pages.page import PageNames, page_contents, page_of, shown_texts
from compactctl.views.pages.session_lists import MAX_MESSAGES, anchor_of, request_segments, row_data
from compactctl.views.results.compact import answer_line, changes_text, counts_text
from compactctl.views.terminal.graph import short_count
from compactctl.views.terminal.text import one_line

# How much of a message is shown while it is folded, in characters.
_PREVIEW_CHARS = 90
_MAX_COLUMNS = 720
_HEADROOM = 1.14
_FATES: tuple[Fate, ...] = ("kept", "rewritten", "written", "hidden")
_LINES = 2


def compact_page(result: CompactResult, choice: PageChoice) -> str:
    """Return the page; the result must have its messages compared."""
    compared = result.requested.comparison
    if compared is None:
        raise ValueError("a page is drawn from compared messages, which were not asked for")
    names = PageNames(choice)
    listed = _listed_fates(compared)
    answer = answer_line(result)
    rows, cut = _fate_rows(compared, listed, choice, names)
    return page_of(
        "compaction",
        {
            "title": _title(result, choice, names),
            "facts": list(_facts(result, choice, names)),
            "holds": list(page_contents(choice, cut, len(compared.messages) - len(listed))),
            "warnings": []
            if choice.redact
            else [names.line(warning) for warning in result.warnings],
            "result": result,
            "answer": answer,
            "is_bad": "red" in answer.style,
            **_bars(result, compared.before, compared.after),
            "stages": [_stage(record, choice, names) for record in result.stages],
            "strip": _fate_strip(compared, listed),
            "fates": _fate_counts(compared),
            "audited": len(_audits(result)),
            "lost": list(_lost(result, choice, names)),
            "rows": rows,
            "most": max((_fate_size(compared, at) for at in listed), default=1) or 1,
            "redacted": choice.redact,
            "class_of": class_of,
            "percent": percent,
        },
    )


def _listed_fates(compared: Comparison) -> list[int]:
    """Return the indices of the listed messages: all, or the largest if there are many."""
    indices = range(len(compared.messages))
    if len(indices) <= MAX_MESSAGES:
        return list(indices)
    return sorted(nlargest(MAX_MESSAGES, indices, key=lambda at: _fate_size(compared, at)))


def _fate_size(compared: Comparison, index: int) -> int:
    """Return the tokens of a message before or after, whichever is larger."""
    row = compared.messages[index].explained
    return max(row.tokens, row.tokens_after)


def _fate_rows(
    compared: Comparison, listed: Sequence[int], choice: PageChoice, names: PageNames
) -> tuple[list[dict[str, object]], int | None]:
    """Return the listed messages, and the length at which their texts are cut, if any is."""
    chosen = [compared.messages[index] for index in listed]
    rewritten = [entry for entry in chosen if entry.explained.fate == "rewritten"]
    old = [entry.before or entry.after for entry in chosen]
    new = [entry.after for entry in rewritten]
    texts, cut = shown_texts([message for message in (*old, *new) if message is not None], choice)
    rewritten_ids = (entry.explained.id for entry in rewritten)
    new_texts = dict(zip(rewritten_ids, texts[len(old) :], strict=True))
    rows = [
        _row(index, entry, text, new_texts.get(entry.explained.id, ""), choice, names)
        for index, entry, text in zip(listed, chosen, texts[: len(old)], strict=True)
    ]
    return rows, cut


def _row(  # noqa: PLR0913, PLR0917 - a row has these columns
    index: int,
    entry: ComparedMessage,
    text: str,
    new_text: str,
    choice: PageChoice,
    names: PageNames,
) -> dict[str, object]:
    """Return a message, its fate with the reason, and its new text if it was rewritten."""
    fate = entry.explained
    by = f"by {fate.stage}" if fate.stage else ""
    reason = "" if choice.redact else names.line(fate.reason)
    return {
        "anchor": anchor_of(index),
        "data": row_data(
            tokens=[f"{fate.tokens}"], fate=[fate.fate], tool=map(names.tool, fate.tools)
        ),
        "line": fate.line,
        "role": fate.role,
        "says": one_line(text, _PREVIEW_CHARS) or ", ".join(map(names.tool, fate.tools)),
        "fate": fate.fate,
        "why": ": ".join(filter(None, (" ".join(filter(None, (fate.fate, by))), reason))),
        "tokens": fate.tokens,
        "tokens_after": fate.tokens_after,
        "text": text,
        "now": new_text,
    }


def _title(result: CompactResult, choice: PageChoice, names: PageNames) -> str:
    if choice.redact:
        return f"{result.format} session (compacted)"
    return f"{names.title(result.requested.title, result.options.input.path)} (compacted)"


def _facts(result: CompactResult, choice: PageChoice, names: PageNames) -> Iterator[str]:
    path, outcome = result.options.input.path, result.outcome
    if not choice.redact and path != "-":
        yield names.line(path)
    yield result.format
    yield f"{outcome.before.messages:,} messages before, {outcome.after.messages:,} after"
    if not choice.redact:
        yield f"profile {names.line(result.plan.profile.name)}"
    yield from names.measured(result.measure)
    if result.change.operation and not result.options.output.dry_run:
        yield f"operation {result.change.operation}"


def _bars(
    result: CompactResult, before: Mapping[Category, int], after: Mapping[Category, int]
) -> dict[str, object]:
    """Return the values of the two bars, which share a scale."""
    window = result.measure.budget.window
    sizes = result.outcome.before.request_tokens, result.outcome.after.request_tokens
    whole = max(window, *sizes, 1)
    kinds = _kinds(before, sizes[0]), _kinds(after, sizes[1])
    return {
        "window": window,
        "window_at": percent(window, whole),
        "target_at": percent(result.limit, whole),
        "base": "the target" if result.outcome.target else base_text(result.measure.limits),
        "bars": [
            (name, size, request_segments(kind, size, whole))
            for name, size, kind in zip(("before", "after"), sizes, kinds, strict=True)
        ],
        "legend": list(kinds[0] | kinds[1]),
    }


def _kinds(counted: Mapping[Category, int], whole: int) -> dict[str, int]:
    """Return the tokens by category, with those of a request that are not in the transcript."""
    kinds: dict[str, int] = {name: tokens for name, tokens in counted.items() if tokens}
    return {**kinds, UNSEEN: max(0, whole - sum(kinds.values()))}


def _stage(record: StageRecord, choice: PageChoice, names: PageNames) -> dict[str, object]:
    """Return what a stage saved and changed, or why it changed nothing; in counts if redacted."""
    return {
        "name": record.name,
        "before": record.tokens_before,
        "after": record.tokens_after,
        "changes": _counts(record) if choice.redact else names.line(changes_text(record)),
    }


def _counts(record: StageRecord) -> str:
    return counts_text(record) or record.outcome.replace("-", " ")


def _fate_strip(compared: Comparison, listed: Sequence[int]) -> dict[str, object] | None:
    """Return the listed messages as bars, before and after; None without any.

    If there are too many, consecutive messages share a column. Each column links to the largest of
    its messages.
    """
    if not listed:
        return None
    shared = -(-len(listed) // _MAX_COLUMNS)
    groups = [listed[index : index + shared] for index in range(0, len(listed), shared)]
    rows = [message.explained for message in compared.messages]
    before = [
        _tokens_by_fate((rows[index].fate, rows[index].tokens) for index in group)
        for group in groups
    ]
    after = [
        _tokens_by_fate((rows[index].fate, rows[index].tokens_after) for index in group)
        for group in groups
    ]
    top = _HEADROOM * max(sum(sizes.values()) for sizes in (*before, *after)) or 1.0
    largest = (max(group, key=lambda index: _fate_size(compared, index)) for group in groups)
    return {
        "before": _chart("messages before", before, top),
        "after": _chart("messages after", after, top),
        "targets": list(map(anchor_of, largest)),
        "shared": shared,
    }


def _tokens_by_fate(rows: Iterable[tuple[Fate, int]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for fate, tokens in rows:
        sizes[fate] = sizes.get(fate, 0) + tokens
    return sizes


def _chart(label: str, columns: Sequence[Mapping[str, int]], top: float) -> Chart:
    return Chart(
        label=label,
        columns=len(columns),
        areas=tuple(areas(columns, _FATES, top)),
        grid=grid(top, short_count, _LINES),
    )


def _fate_counts(compared: Comparison) -> list[dict[str, object]]:
    """Return how many messages have each fate that occurs, and their tokens before and after."""
    rows = [message.explained for message in compared.messages]
    counts: Iterator[dict[str, object]] = (
        {
            "fate": fate,
            "messages": sum(row.fate == fate for row in rows),
            "before": sum(row.tokens for row in rows if row.fate == fate),
            "after": sum(row.tokens_after for row in rows if row.fate == fate),
        }
        for fate in _FATES
    )
    return [count for count in counts if count["messages"]]


def _audits(result: CompactResult) -> tuple[Audit, ...]:
    return tuple(summary.audit for summary in result.summaries if summary.audit is not None)


def _lost(result: CompactResult, choice: PageChoice, names: PageNames) -> Iterator[dict[str, str]]:
    """Yield the losses that audits found; if redacted, only their kind and location."""

    def shown(text: str) -> str:
        return "" if choice.redact else names.line(text)

    for audit in _audits(result):
        for loss in audit.lost:
            yield {"kind": f"{loss.kind} lost", "where": str(loss.ref), "text": shown(loss.text)}
        for claim in audit.invented or ():
            where = f"line {claim.line} of the summary"
            yield {"kind": f"{claim.kind} made up", "where": where, "text": shown(claim.text)}
