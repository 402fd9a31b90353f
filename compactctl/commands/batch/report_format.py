"""What the reports of batches and those who read them agree on: statuses, version, names.

The columns themselves are in ``columns``, which only those who write reports import: they take in
the stages.
"""

from collections.abc import Mapping
from typing import Literal

from compactctl.history.categories import CATEGORIES, Category

Status = Literal["ok", "unchanged", "over", "flagged", "failed", "skipped"]
UNREAD: tuple[Status, ...] = ("failed", "skipped")
"""Statuses of files without figures."""
METADATA = "compactctl.batch"
FILES_VERSION = 1
"""Goes up when a column is removed or changes its meaning."""
# Null where a file could not be measured.
CATEGORY_COLUMNS: Mapping[str, Category] = {
    f"tokens_{category.replace(' ', '_')}": category for category in CATEGORIES
}
