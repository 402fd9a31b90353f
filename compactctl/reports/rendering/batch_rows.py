"""The rows of a batch as columns of plain values, whatever file they go into."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from compactctl.commands.batch.row import BatchRow, Flag
from compactctl.history.categories import CATEGORIES, Category
from compactctl.stages.registry import ALL_STAGES

# Column -> Arrow type; each is the field of BatchRow of that name.
COLUMNS: Mapping[str, str] = {
    "path": "large_string",
    "row": "int64",
    "sha256": "large_string",
    "sha256_after": "large_string",
    "project": "large_string",
    "status": "large_string",
    "format": "large_string",
    "client_version": "large_string",
    "model": "large_string",
    "counter": "large_string",
    "exactness": "large_string",
    "window": "int64",
    "available": "int64",
    "tokens_before": "int64",
    "tokens_after": "int64",
    "saved": "int64",
    "unseen": "int64",
    "ratio_before": "float64",
    "ratio_after": "float64",
    "context": "int64",
    "base": "large_string",
    "base_tokens": "int64",
    "used": "float64",
    "level": "large_string",
    "messages": "int64",
    "turns": "int64",
    "steps": "int64",
    "lines": "int64",
    "bytes": "int64",
    "opaque_lines": "int64",
    "unread_bytes": "int64",
    "unread": "large_string",
    "tools": "large_string",
    "reread": "int64",
    "began": "float64",
    "ended": "float64",
    "orphans": "int64",
    "tool_errors": "int64",
    "flags": "large_string",
    "stages": "large_string",
    "output": "large_string",
    "archive": "large_string",
    "operation": "large_string",
    "error_class": "large_string",
    "error": "large_string",
    "exit_code": "int64",
    "milliseconds": "int64",
}
# Column -> category; null where a file could not be measured.
CATEGORY_COLUMNS: Mapping[str, Category] = {
    f"tokens_{category.replace(' ', '_')}": category for category in CATEGORIES
}
# Column -> stage; null where it did not run or changed nothing.
STAGE_COLUMNS: Mapping[str, str] = {
    f"saved_by_{stage.name.replace('-', '_')}": stage.name for stage in ALL_STAGES
}
TYPES: Mapping[str, str] = {
    **COLUMNS,
    **dict.fromkeys((*CATEGORY_COLUMNS, *STAGE_COLUMNS), "int64"),
}
WORST = 10
_STATUS_WORDS = {"skipped": "not a transcript"}


def flat(row: BatchRow) -> dict[str, object]:
    """Return a value for each of ``TYPES``; several names are joined by commas.

    ``tools`` is a JSON object of tokens by tool.
    """
    values = {name: getattr(row, name) for name in COLUMNS}
    listed = {
        "stages": ",".join(row.stages),
        "flags": ",".join(row.flags),
        "tools": json.dumps(dict(row.tools)),
    }
    sizes = {name: row.categories.get(each) for name, each in CATEGORY_COLUMNS.items()}
    saved = {name: row.saved_by.get(each) for name, each in STAGE_COLUMNS.items()}
    return {**values, **listed, **sizes, **saved}


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
