"""The rounds of a session as a Parquet file."""

import json
from collections.abc import Mapping
from pathlib import Path

from compactctl.history.categories import CATEGORIES, Category
from compactctl.history.usage.costs import Costs, RoundCost, priced
from compactctl.history.usage.rounds import Round, Rounds
from compactctl.reports.parquet.table_file import write_table

METADATA = "compactctl.rounds"
VERSION = 1
"""Goes up when a column is removed or changes its meaning."""

# Column -> Arrow type; each is the field of Round of that name, or one of ``_more``.
COLUMNS: Mapping[str, str] = {
    "number": "int64",
    "conversation": "int64",
    "turn": "int64",
    "step": "int64",
    "message": "large_string",
    "line": "int64",
    "model": "large_string",
    "time": "float64",
    "idle": "float64",
    "context": "int64",
    "new": "int64",
    "cache_read": "int64",
    "cache_write": "int64",
    "cache_hour": "int64",
    "resent": "int64",
    "paid_again": "int64",
    "output": "int64",
    "output_reported": "int64",
    "reasoning": "int64",
    "marks": "large_string",
    "results": "large_string",
    "cost_input": "float64",
    "cost_output": "float64",
    "cost_paid_again": "float64",
}
# Column -> category, of what entered.
CATEGORY_COLUMNS: Mapping[str, Category] = {
    f"entered_{category.replace(' ', '_')}": category for category in CATEGORIES
}
TYPES: Mapping[str, str] = {**COLUMNS, **dict.fromkeys(CATEGORY_COLUMNS, "int64")}


def write_rounds(
    found: Rounds, costs: Costs | None, path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write one line per round; see ``write_table``."""
    rows = (round_row(*each) for each in priced(found.rounds, costs))
    return write_table(rows, TYPES, {METADATA: VERSION}, path, force=force)


def round_row(each: Round, cost: RoundCost | None) -> dict[str, object]:
    """Return a value for each of ``TYPES``.

    Conversations and lines count from 1, ``results`` is a JSON object of tokens by tool.
    """
    more = _more(each, cost)
    values = {name: getattr(each, name) for name in COLUMNS if name not in more}
    sizes = {name: each.entered.get(category, 0) for name, category in CATEGORY_COLUMNS.items()}
    return {**values, **more, **sizes}


def _more(each: Round, cost: RoundCost | None) -> dict[str, object]:
    return {
        "conversation": each.conversation + 1,
        "line": each.line + 1,
        "resent": each.resent.context if each.resent else 0,
        "output_reported": int(each.is_output_reported),
        "results": json.dumps(dict(each.tools)),
        "cost_input": cost and cost.input,
        "cost_output": cost and cost.output,
        "cost_paid_again": cost and cost.again,
    }
