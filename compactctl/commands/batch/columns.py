"""The columns of a batch's rows, and where their values are in a row."""

import json
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Literal

from compactctl.commands.batch.report_format import CATEGORY_COLUMNS
from compactctl.commands.batch.row import BatchRow
from compactctl.records import Record, field
from compactctl.stages.registry import ALL_STAGES

ArrowType = Literal["large_string", "int64", "float64"]
_TEXT: ArrowType = "large_string"
_WHOLE: ArrowType = "int64"
_REAL: ArrowType = "float64"


class BatchColumn(Record, kw_only=False):
    """A column: its name, its Arrow type, and the location of its value in a row.

    Attributes:
        name: the name of the column, and of the field unless ``place`` names another.
        kind: the Arrow type.
        place: the path of the field or property, with dots.
        missing: the value of a row without that part.
        empty: the value of a conversation without messages.
        spread: for a mapping of figures that is several columns in a table: the name of each of
            these columns -> the key of its figure.
    """

    name: str
    kind: ArrowType
    place: str = ""
    missing: object = None
    empty: object = None
    spread: Mapping[str, str] = field(default_factory=dict)

    def value(self, row: BatchRow) -> object:
        """Return the row's value, None if it has none."""
        part, _, place = (self.place or self.name).partition(".")
        value: object = getattr(row, part)
        if not place:
            return value
        if value is None:
            return self.empty if row.is_empty and self.empty is not None else self.missing
        return attrgetter(place)(value)


# Null if a stage did not run or changed nothing.
_BY_STAGE = {f"saved_by_{stage.name.replace('-', '_')}": stage.name for stage in ALL_STAGES}
# Increment ``FILES_VERSION`` if a column is removed or changes its meaning.
COLUMNS = (
    BatchColumn("path", _TEXT),
    BatchColumn("row", _WHOLE),
    BatchColumn("sha256", _TEXT),
    BatchColumn("sha256_after", _TEXT, "output.sha256"),
    BatchColumn("project", _TEXT, "figures.session.project"),
    BatchColumn("status", _TEXT),
    BatchColumn("verdicts", _TEXT),
    BatchColumn("gates", _TEXT),
    BatchColumn("format", _TEXT, "measure.format"),
    BatchColumn("client_version", _TEXT, "figures.session.client_version"),
    BatchColumn("model", _TEXT, "measure.model"),
    BatchColumn("counter", _TEXT, "measure.counter"),
    BatchColumn("exactness", _TEXT, "measure.exactness"),
    BatchColumn("window", _WHOLE, "measure.window"),
    BatchColumn("available", _WHOLE, "measure.available"),
    BatchColumn("tokens_before", _WHOLE, "tokens"),
    BatchColumn("tokens_after", _WHOLE, "outcome.after.tokens"),
    BatchColumn("saved", _WHOLE),
    # Before stages, unlike ``context``, which is the whole request after them.
    BatchColumn("unseen", _WHOLE, "figures.totals.unseen"),
    BatchColumn("ratio_before", _REAL),
    BatchColumn("ratio_after", _REAL),
    BatchColumn("context", _WHOLE),
    BatchColumn("limit", _WHOLE, "size_limit"),
    BatchColumn("target", _WHOLE),
    BatchColumn("base", _TEXT, "measure.base"),
    BatchColumn("base_tokens", _WHOLE, "measure.base_tokens"),
    BatchColumn("used", _REAL),
    BatchColumn("level", _TEXT),
    BatchColumn("messages", _WHOLE, "figures.totals.messages", empty=0),
    BatchColumn("turns", _WHOLE, "figures.turns"),
    BatchColumn("steps", _WHOLE, "figures.steps"),
    BatchColumn("lines", _WHOLE, "figures.file.n_lines", empty=0),
    BatchColumn("bytes", _WHOLE, "figures.file.n_bytes", empty=0),
    BatchColumn("opaque_lines", _WHOLE, "figures.file.opaque_lines", empty=0),
    BatchColumn("unread_bytes", _WHOLE, "figures.file.unread.n_bytes"),
    BatchColumn("unread", _TEXT),
    BatchColumn("tools", _TEXT, "figures.tools", missing={}),
    BatchColumn("reread", _WHOLE, "figures.reread"),
    BatchColumn("began", _REAL, "figures.session.began"),
    BatchColumn("ended", _REAL, "figures.session.ended"),
    BatchColumn("orphans", _WHOLE, "figures.orphans"),
    BatchColumn("faults", _TEXT, missing=()),
    BatchColumn("tool_errors", _WHOLE, "figures.tool_errors"),
    BatchColumn("flags", _TEXT),
    BatchColumn("categories", _WHOLE, "figures.categories", missing={}, spread=CATEGORY_COLUMNS),
    BatchColumn("stages", _TEXT, "outcome.stages", missing=()),
    BatchColumn("saved_by", _WHOLE, "outcome.saved_by", missing={}, spread=_BY_STAGE),
    BatchColumn("output", _TEXT, "output.path"),
    BatchColumn("archive", _TEXT, "output.archive"),
    BatchColumn("operation", _TEXT, "outcome.operation"),
    BatchColumn("error_class", _TEXT, "failure.error_class"),
    BatchColumn("error", _TEXT, "failure.error"),
    BatchColumn("exit_code", _WHOLE),
    BatchColumn("milliseconds", _WHOLE),
)
_SPREAD = [column for column in COLUMNS if column.spread]
TABLE_TYPES: Mapping[str, str] = {
    **{column.name: column.kind for column in COLUMNS if not column.spread},
    **{name: column.kind for column in _SPREAD for name in column.spread},
}
"""Column of a table -> its Arrow type; those of spread fields come last."""


def row_values(row: BatchRow) -> dict[str, Any]:
    """Return a row's values by column, in the order of a document: the status before digests."""
    first = dict.fromkeys(("path", "row", "status"))
    return {**first, **{column.name: column.value(row) for column in COLUMNS}}


def table_values(row: BatchRow) -> dict[str, object]:
    """Return a plain value for each of ``TABLE_TYPES``.

    Names are joined by commas, as ``--stages`` takes them; ``tools`` is a JSON object.
    """
    values = row_values(row)
    spread = {
        name: values[column.name].get(figure)
        for column in _SPREAD
        for name, figure in column.spread.items()
    }
    return {name: spread[name] if name in spread else _plain(values[name]) for name in TABLE_TYPES}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return ",".join(value)
    return json.dumps(value) if isinstance(value, dict) else value
