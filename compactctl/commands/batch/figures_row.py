"""Figures of a transcript as the row of a batch."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from compactctl.commands.batch.row import BatchRow, Flag
from compactctl.commands.sizing.figures import Figures
from compactctl.commands.sizing.measure import Measure
from compactctl.history.unread import unread_text
from compactctl.model.operation import StageRecord
from compactctl.tokens.budget import usage_of


def figures_row(
    path: str, sha256: str, format_name: str, measured: Measure, figures: Figures
) -> BatchRow:
    """Return the row of what was measured; ``sha256`` is that of its bytes."""
    budget, limits = measured.budget, measured.limits
    usage = usage_of(figures.largest, limits.base_tokens)
    return BatchRow(
        path=path,
        sha256=sha256,
        project=figures.project,
        format=format_name,
        client_version=figures.client_version,
        model=measured.model.name,
        counter=measured.counter.id,
        exactness=measured.counter.exactness,
        window=budget.window,
        available=budget.available,
        tokens_before=figures.tokens,
        unseen=figures.unseen,
        ratio_before=usage_of(figures.largest, budget.available).ratio,
        context=figures.largest,
        base=limits.base,
        base_tokens=limits.base_tokens,
        used=usage.ratio,
        level=usage.level,
        messages=figures.messages,
        turns=figures.turns,
        steps=figures.steps,
        lines=figures.lines,
        bytes=figures.n_bytes,
        opaque_lines=figures.opaque_lines,
        unread_bytes=figures.unread.n_bytes,
        unread=unread_text(figures.unread) or None,
        tools=figures.tools,
        reread=figures.reread,
        began=figures.began,
        ended=figures.ended,
        orphans=figures.orphans,
        tool_errors=figures.tool_errors,
        flags=tuple(_flags(figures, budget.window)),
        categories=figures.categories,
    )


def compacted_row(
    row: BatchRow,
    measured: Measure,
    stages: Sequence[StageRecord],
    tokens: tuple[int, int],
    largest_after: int,
) -> BatchRow:
    """Return a row with what stages came to.

    ``tokens`` are those before and after, ``largest_after`` those of the next request then.
    """
    before, after = tokens
    usage = usage_of(largest_after, measured.limits.base_tokens)
    return replace(
        row,
        tokens_after=after,
        saved=before - after,
        ratio_after=usage_of(largest_after, measured.budget.available).ratio,
        context=largest_after,
        used=usage.ratio,
        level=usage.level,
        stages=tuple(record.name for record in stages if record.outcome == "applied"),
        saved_by=_saved_by(stages),
    )


def _saved_by(stages: Iterable[StageRecord]) -> dict[str, int]:
    saved: Counter[str] = Counter()
    for record in stages:
        if record.outcome == "applied":
            saved[record.name] += record.tokens_before - record.tokens_after
    return dict(saved)


def _flags(figures: Figures, window: int) -> Iterator[Flag]:
    if figures.opaque_lines or figures.unread.is_much:
        yield "opaque"
    if figures.orphans:
        yield "orphans"
    if figures.tool_errors:
        yield "errors"
    if figures.largest > window:
        yield "over-window"
    if figures.is_doubted:
        yield "usage"
