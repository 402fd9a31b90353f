"""What a batch says about one file."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast, get_args

from compactctl.commands.measuring.figures import Figures
from compactctl.commands.measuring.measure import Measure
from compactctl.errors import UsageError
from compactctl.history.categories import Category
from compactctl.history.unread import unread_text
from compactctl.model.operation import StageRecord
from compactctl.tokens.budget import usage_of
from compactctl.tokens.fit import Base

Status = Literal["ok", "unchanged", "over", "flagged", "failed", "skipped"]
Flag = Literal["opaque", "orphans", "errors", "over-window", "usage"]

UNREAD: tuple[Status, ...] = ("failed", "skipped")
"""Statuses of files without figures."""
INTERNAL_ERROR = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """One file and what became of it; a figure that is not known is None.

    Of a Parquet data set, one conversation: ``path`` is then that of the file with ``#`` and the
    number of its row, and ``sha256`` is of the conversation as it was read.

    Attributes:
        row: the number of a data set's row, from 1; None for a file.
        status: ``over`` is over the limit of ``--fail-over``, whatever else is true;
            ``flagged`` has what ``--fail-on`` names; ``unchanged`` means that stages ran and found
            nothing to do; ``skipped`` is not a transcript, and nobody said that it is one.
        sha256: of the bytes on disk, None for what could not be read.
        sha256_after: of the transcript that was written.
        project: the session's working folder, where the transcript tells it.
        exactness: how far the token counts can be trusted, in the counter's words.
        window, available: the context window, and what of it is free for input, in tokens.
        tokens_before, tokens_after: the effective history over all conversations; ``after`` and
            what depends on it are None when the file was only measured.
        unseen: tokens that every request has beside the transcript's own, where recorded usage
            tells; 0 where nothing does.
        ratio_before, ratio_after: the largest conversation and ``unseen`` as a share of
            ``available``.
        context: the largest conversation and ``unseen`` in the end, in tokens.
        base: what levels and ``--fail-over`` refer to; base_tokens: its size.
        used: ``context`` as a share of that.
        level: how full that is.
        messages, turns, steps, categories: the effective history before; categories add up to
            ``tokens_before``.
        lines, bytes: of the unpacked input.
        opaque_lines: lines that were carried without being understood.
        unread_bytes: text in fields that the format does not know; unread says where, if it is so
            much that the figures are too small.
        tools: tokens of calls and results by tool, before.
        reread: tokens of reads of files that were read again later.
        began, ended: when the first and the last message were written, in seconds since 1970.
        orphans: tool calls without a result, and results without a call.
        tool_errors: results of tools that say that the call failed.
        flags: which of the things are found that ``--fail-on`` can name.
        stages: names of the stages that changed something.
        saved_by: tokens that each of these saved.
        output, archive: paths of what was written; operation: the compaction's id.
        error_class, error: one line about why it failed, or why it is not a transcript.
        exit_code: the code this file alone would give.
        milliseconds: how long it took; rows that differ in this alone are equal.
    """

    path: str
    row: int | None = None
    status: Status = "ok"
    sha256: str | None = None
    sha256_after: str | None = None
    project: str | None = None
    format: str | None = None
    client_version: str | None = None
    model: str | None = None
    counter: str | None = None
    exactness: str | None = None
    window: int | None = None
    available: int | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    saved: int | None = None
    unseen: int | None = None
    ratio_before: float | None = None
    ratio_after: float | None = None
    context: int | None = None
    base: Base | None = None
    base_tokens: int | None = None
    used: float | None = None
    level: str | None = None
    messages: int | None = None
    turns: int | None = None
    steps: int | None = None
    lines: int | None = None
    bytes: int | None = None
    opaque_lines: int | None = None
    unread_bytes: int | None = None
    unread: str | None = None
    tools: Mapping[str, int] = field(default_factory=dict)
    reread: int | None = None
    began: float | None = None
    ended: float | None = None
    orphans: int | None = None
    tool_errors: int | None = None
    flags: tuple[Flag, ...] = ()
    categories: Mapping[Category, int] = field(default_factory=dict)
    stages: tuple[str, ...] = ()
    saved_by: Mapping[str, int] = field(default_factory=dict)
    output: str | None = None
    archive: str | None = None
    operation: str | None = None
    error_class: str | None = None
    error: str | None = None
    exit_code: int = 0
    milliseconds: int = field(default=0, compare=False)

    @property
    def is_read(self) -> bool:
        """Whether there are figures: it did not fail and is a transcript."""
        return self.status not in UNREAD

    @property
    def data_set(self) -> str | None:
        """The file that the row is a conversation of, None where it is the file."""
        return None if self.row is None else self.path.removesuffix(f"#{self.row}")


def parse_flags(text: str) -> tuple[Flag, ...]:
    """Read names of flags with commas between them. Raises UsageError for another name."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    wrong = [name for name in names if name not in get_args(Flag)]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is none of {', '.join(get_args(Flag))}")
    return cast("tuple[Flag, ...]", names)


def failed_row(path: str, error_class: str, message: str, exit_code: int) -> BatchRow:
    """Return the row of a file that could not be worked on; the message becomes one line."""
    return BatchRow(
        path=path,
        status="failed",
        error_class=error_class,
        error=" ".join(message.split()),
        exit_code=exit_code,
    )


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
