"""Compact the conversations in a table's column: an Arrow batch in, an Arrow batch out."""

from collections.abc import Iterable
from itertools import repeat
from typing import Any, Unpack

import pyarrow as pa

from compactctl.commands.compact.in_memory import CompactedLines, compact_lines
from compactctl.commands.compact.stored_request import StoredRequest
from compactctl.commands.planning.plan import Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import CompactctlError, NotUnderstoodError, UsageError
from compactctl.library.choices import CompactKwargs, check_keywords, parse_recipe
from compactctl.records import Record
from compactctl.store.files.conversation_types import TAKEN, arrow_array, is_conversation
from compactctl.store.files.parquet_dataset import TOOL_COLUMNS

# Added column -> Arrow type; each column is a field of _CompactedRow.
ADDED_COLUMNS = {
    "compact_status": "string",
    "compact_tokens_before": "int64",
    "compact_tokens_after": "int64",
    "compact_error": "string",
}


class _CompactedRow(Record):
    """The result for one conversation; ``value`` is unchanged unless the status is ``ok``."""

    value: Any
    compact_status: str
    compact_tokens_before: int | None = None
    compact_tokens_after: int | None = None
    compact_error: str | None = None


def compact_batch(
    batch: pa.RecordBatch,
    *,
    column: str = "messages",
    format: str = "openai-chat",
    **choices: Unpack[CompactKwargs],
) -> pa.RecordBatch:
    """Return the batch with the conversations of one column compacted, row for row.

    The column holds a list of messages per row, as structs or as JSON, and keeps its type;
    absent fields of structs are null. In JSON text, only what changes is rewritten. The column
    ``tools``, if there is one, counts as the tools that are sent with each conversation. Four
    columns are added: ``compact_status`` (``ok``, ``unchanged`` or ``failed``),
    ``compact_tokens_before`` and ``compact_tokens_after``, and ``compact_error``, one line that
    says why a conversation failed; that conversation is unchanged. Keywords and ``format`` are
    those of ``compact_messages``.

    Deterministic: the same batch gives the same batch in any process.

    Raises:
        TypeError: there is no such keyword.
        UsageError: there is no such column, it holds no conversations, the batch already has one
            of the four columns, or a keyword has an invalid value.
    """
    check_keywords(choices, CompactKwargs, "compact_batch")
    column_type = _conversation_type(batch, column)
    recipe = parse_recipe(choices)
    options = InputOptions(path=column, format=format)
    rows = [
        _compact_row(value, column_type, tools, options, recipe)
        for value, tools in zip(
            batch.column(column).to_pylist(), _tools_in(batch, column), strict=True
        )
    ]
    index = batch.schema.get_field_index(column)
    values = arrow_array([row.value for row in rows], column_type)
    compacted = batch.set_column(index, batch.schema.field(index), values)
    for name, arrow_type in ADDED_COLUMNS.items():
        values = pa.array([getattr(row, name) for row in rows], type=getattr(pa, arrow_type)())
        compacted = compacted.append_column(name, values)
    return compacted


def _tools_in(batch: pa.RecordBatch, column: str) -> Iterable[tuple[object, ...]]:
    """Return the values of each row that may be its tools."""
    names = [
        name for name in TOOL_COLUMNS if name != column and batch.schema.names.count(name) == 1
    ]
    values = [batch.column(name).to_pylist() for name in names]
    return zip(*values, strict=True) if values else repeat((), batch.num_rows)


def _conversation_type(batch: pa.RecordBatch, column: str) -> object:
    """Return the column's type. Raises UsageError if it cannot hold conversations."""
    names = batch.schema.names
    if names.count(column) != 1:
        raise UsageError(f"{column!r} is not a column; there are {', '.join(names) or 'none'}")
    duplicate = next((name for name in ADDED_COLUMNS if name in names), None)
    if duplicate is not None:
        raise UsageError(f"column {duplicate!r} already exists; rename or drop it")
    column_type = batch.schema.field(column).type
    if not is_conversation(column_type):
        raise UsageError(f"{column!r} holds {column_type}; it takes {TAKEN}")
    return column_type


def _compact_row(
    value: object,
    column_type: object,
    tools: tuple[object, ...],
    options: InputOptions,
    recipe: Recipe,
) -> _CompactedRow:
    if not value:
        return _CompactedRow(value=value, compact_status="unchanged")
    try:
        request = StoredRequest.of(value, column_type, *tools, format_name=options.format)
        compacted = compact_lines(request.lines, options, recipe)
        return _successful_row(value, request.new_value(compacted), compacted)
    except CompactctlError as error:
        return _failed_row(value, str(error))
    except Exception as error:  # noqa: BLE001 - a bug in one row must not lose the others
        return _failed_row(value, f"{type(error).__name__}: {error}")


def _failed_row(value: object, reason: str) -> _CompactedRow:
    error = " ".join(reason.split())
    return _CompactedRow(value=value, compact_status="failed", compact_error=error)


def _successful_row(before: object, after: object, compacted: CompactedLines) -> _CompactedRow:
    if compacted.opaque:
        raise NotUnderstoodError(
            f"contains something that is not a message of this format: {compacted.opaque[0].damage}"
        )
    if compacted.unread:
        raise NotUnderstoodError(f"{compacted.unread}, so its size is unknown")
    return _CompactedRow(
        value=after,
        compact_status="unchanged" if after == before else "ok",
        compact_tokens_before=compacted.tokens_before,
        compact_tokens_after=compacted.tokens_after,
    )
