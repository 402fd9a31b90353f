"""What those who write, read and ask for batch reports agree on: statuses, formats, versions.

The columns are in ``columns``, apart, since to import them loads every stage.
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
"""Goes up when a column is removed or changes its meaning."""
# Null where a file could not be measured.
CATEGORY_COLUMNS: Mapping[str, Category] = {
    f"tokens_{category.replace(' ', '_')}": category for category in CATEGORIES
}
