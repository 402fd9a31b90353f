"""What writers, readers and options of batch reports share: statuses, flags, formats, versions.

The columns are in ``columns``, since importing them loads every stage.
"""

from collections.abc import Mapping
from typing import Literal, cast, get_args

from compactctl.asks import GATES, MAY, ask
from compactctl.errors import UsageError
from compactctl.history.categories import CATEGORIES, Category
from compactctl.tokens.budget import parse_share

Status = Literal[
    "failed", "will be refused", "incomplete", "over limit", "over target", "flagged", "unchanged",
    "ok", "skipped",
]  # fmt: skip
STATUSES: tuple[Status, ...] = get_args(Status)
"""All statuses, the worst first.

These are the verdicts, with "ok" for "fits"; "flagged" if there is nothing worse than a flag of
``--fail-on``; and "skipped".
"""
SOUND: tuple[Status, ...] = ("unchanged", "ok", "skipped")
"""Statuses of files with which nothing is wrong."""
UNREAD: tuple[Status, ...] = ("failed", "skipped")
"""Statuses of files without figures."""
# The name "orphans" is the older one of what is now, for the most part, "refused".
Flag = Literal["opaque", "refused", "errors", "over-window", "usage", "orphans"]
GateOption = Literal["fail-over", "fail-over-tokens", "fail-on", "require-fit"]
"""The option by which a file does not pass."""
ReportFormat = Literal["parquet", "csv", "jsonl", "md", "junit"]
REPORT_FORMATS: tuple[str, ...] = get_args(ReportFormat)
Runner = Literal["github", "azure", "gitlab"]
RUNNERS: tuple[str, ...] = get_args(Runner)
"""CI runners that can be shown the worst files."""
METADATA = "compactctl.batch"
FILES_VERSION = 2
"""Incremented if a column is removed or changes its meaning.

Version 1 had the statuses ``over`` and ``flagged``. Readers take any version up to this one.
"""
TOLERANCE = 0.1
"""By how much a figure may exceed the baseline, as a share of it."""
# Null if a file could not be measured.
CATEGORY_COLUMNS: Mapping[str, Category] = {
    f"tokens_{category.replace(' ', '_')}": category for category in CATEGORIES
}


def asked_tolerance() -> float:
    """Ask for ``--tolerance``, a field of commands that compare with an earlier report."""
    return ask(
        TOLERANCE,
        "Allow figures to grow by this share of the baseline.",
        GATES,
        MAY,
        metavar="SHARE",
        parse=parse_share,
        typed=str(TOLERANCE),
    )


def parse_flags(text: str) -> tuple[Flag, ...]:
    """Read names of flags with commas between them. Raises UsageError for another name."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in get_args(Flag)]
    if unknown:
        raise UsageError(f"{unknown[0]!r} must be one of {', '.join(get_args(Flag))}")
    return cast("tuple[Flag, ...]", names)
