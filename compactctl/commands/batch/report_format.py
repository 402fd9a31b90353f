"""What writers, readers and options of batch reports share: statuses, formats, versions.

The columns are in ``columns``, since importing them loads every stage.
"""

from collections.abc import Mapping
from typing import Literal

from compactctl.history.categories import CATEGORIES, Category

Status = Literal["ok", "unchanged", "over", "flagged", "failed", "skipped"]
UNREAD: tuple[Status, ...] = ("failed", "skipped")
"""Statuses of files without figures."""
REPORT_FORMATS = ("parquet", "csv", "jsonl", "md", "junit")
RUNNERS = ("github", "azure", "gitlab")
"""CI runners that can be shown the worst files."""
METADATA = "compactctl.batch"
FILES_VERSION = 1
"""Incremented if a column is removed or changes its meaning."""
# Null if a file could not be measured.
CATEGORY_COLUMNS: Mapping[str, Category] = {
    f"tokens_{category.replace(' ', '_')}": category for category in CATEGORIES
}
