"""What a batch says about one file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from compactctl.history.categories import Category
from compactctl.tokens.fit import Base

Status = Literal["ok", "unchanged", "over", "failed"]

INTERNAL_ERROR = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """One file and what became of it; a figure that is not known is None.

    Attributes:
        status: ``over`` is over the limit of ``--fail-over``, whatever else is true;
            ``unchanged`` means that stages ran and found nothing to do.
        exactness: how far the token counts can be trusted, in the counter's words.
        window, available: the context window, and what of it is free for input, in tokens.
        tokens_before, tokens_after: the effective history over all conversations; ``after`` and
            what depends on it are None when the file was only measured.
        unseen: tokens that every request has beside the transcript's own, where recorded usage
            tells; 0 where nothing does.
        ratio_before, ratio_after: the largest conversation and ``unseen`` as a share of
            ``available``.
        base: what levels and ``--fail-over`` refer to; base_tokens: its size.
        used: the largest conversation and ``unseen`` in the end, as a share of that.
        level: how full that is.
        messages, turns, steps, categories: the effective history before; categories add up to
            ``tokens_before``.
        lines, bytes: of the unpacked input.
        opaque_lines: lines that were carried without being understood.
        stages: names of the stages that changed something.
        output, archive: paths of what was written; operation: the compaction's id.
        error_class, error: one line about why it failed.
        exit_code: the code this file alone would give.
    """

    path: str
    status: Status = "ok"
    format: str | None = None
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
    categories: Mapping[Category, int] = field(default_factory=dict)
    stages: tuple[str, ...] = ()
    output: str | None = None
    archive: str | None = None
    operation: str | None = None
    error_class: str | None = None
    error: str | None = None
    exit_code: int = 0


def failed_row(path: str, error_class: str, message: str, exit_code: int) -> BatchRow:
    """Return the row of a file that could not be worked on; the message becomes one line."""
    return BatchRow(
        path=path,
        status="failed",
        error_class=error_class,
        error=" ".join(message.split()),
        exit_code=exit_code,
    )
