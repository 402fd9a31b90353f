"""The conversations of a data set as one row, as lists of files show it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from compactctl.commands.batch.row import BatchRow, Status

_WORST: tuple[Status, ...] = ("failed", "flagged", "over", "ok", "unchanged", "skipped")


def summed_up(rows: Iterable[BatchRow]) -> Iterator[BatchRow]:
    """Yield files as they are, and for the conversations of a data set one row in their place.

    That has their sums, the largest context, and the status of the worst of them.
    """
    for data_set, found in groupby(rows, key=lambda row: row.data_set):
        if data_set is None:
            yield from found
        else:
            yield _summed(data_set, list(found))


def _summed(path: str, rows: Sequence[BatchRow]) -> BatchRow:
    largest = max(rows, key=lambda row: row.context or 0)
    fullest = max((row.used for row in rows if row.used is not None), default=None)
    return replace(
        largest,
        path=path,
        row=None,
        status=min((row.status for row in rows), key=_WORST.index),
        used=fullest,
        tokens_before=_sum(row.tokens_before for row in rows),
        tokens_after=_sum(row.tokens_after for row in rows),
        saved=_sum(row.saved for row in rows),
        model=_same([row.model for row in rows if row.model]),
        format=_same([row.format for row in rows if row.format]),
        exit_code=max(row.exit_code for row in rows),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _same(values: Sequence[str]) -> str | None:
    """Return the value that all have, None where they differ."""
    return values[0] if len(set(values)) == 1 else None
