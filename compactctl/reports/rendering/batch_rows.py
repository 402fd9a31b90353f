"""What the rows of a batch are called, and what they fail for, wherever that is shown."""

from collections.abc import Iterator, Sequence
from itertools import islice

from compactctl.commands.batch.row import BatchRow, Flag

WORST = 10
_STATUS_WORDS = {"skipped": "not a transcript"}


def status_text(status: str) -> str:
    """Return what a status is called where users read it."""
    return _STATUS_WORDS.get(status, status)


def worst(rows: Sequence[BatchRow]) -> tuple[BatchRow, ...]:
    """Return the rows that fail the batch, the most severe first, ten at most."""
    failing = sorted(
        (row for row in rows if row.exit_code), key=lambda row: (-row.exit_code, -(row.used or 0))
    )
    return tuple(islice(failing, WORST))


def gated_flags(row: BatchRow, fail_on: Sequence[Flag]) -> tuple[Flag, ...]:
    """Return what ``--fail-on`` names of a row, which may be over a limit as well."""
    return tuple(flag for flag in row.flags if flag in fail_on)


def finding(row: BatchRow, fail_on: Sequence[Flag]) -> str:
    """Say on one line all that a row fails for; "" when it does not."""
    if row.status == "failed":
        return row.error or "failed"
    return "; ".join(_gates(row, fail_on))


def _gates(row: BatchRow, fail_on: Sequence[Flag]) -> Iterator[str]:
    if row.status == "over":
        share = f"{row.used or 0:.0%} of {row.base_tokens or 0:,} ({row.base})"
        yield f"the next request holds {row.context or 0:,} tokens, {share}"
    flags = gated_flags(row, fail_on)
    if flags:
        yield f"found: {', '.join(flags)}"
    if "opaque" in flags and row.unread:
        yield row.unread
