"""Compacts conversations in a column of a table: an Arrow batch in, an Arrow batch out."""

from dataclasses import dataclass, replace
from typing import Any, Unpack

import pyarrow as pa

from compactctl.commands.compact.in_memory import CompactedLines, compact_lines, lines_of, value_of
from compactctl.commands.planning.plan import Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import CompactctlError, NotUnderstoodError, UsageError
from compactctl.library.choices import CompactKwargs, check_names, recipe_of
from compactctl.store.files.parquet_dataset import is_structs, is_text

# Column that is added -> Arrow type; each is a field of _CompactedRow.
ADDED = {
    "compact_status": "string",
    "compact_tokens_before": "int64",
    "compact_tokens_after": "int64",
    "compact_error": "string",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _CompactedRow:
    """What became of one conversation, whose value is as it was unless its status is ``ok``."""

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
    """Return a batch with the conversations of a column compacted, a row for each row.

    The column holds a list of messages per row, as structs or as JSON text, and keeps its type;
    absent fields of structs are null. Of a text only what changes is written anew. Four columns
    are added: ``compact_status`` is ``ok``, ``unchanged`` or ``failed``, ``compact_tokens_before``
    and ``compact_tokens_after`` are tokens, ``compact_error`` says in a line why a conversation
    failed, which stays as it was. Choices and ``format`` as for ``compact_messages``.

    Pure but for the tables that counters read once: the same batch gives the same batch, in
    whatever process.

    Raises:
        TypeError: there is no such keyword.
        UsageError: there is no such column, it holds something else, one of the four is there
            already, or a choice means nothing.
    """
    check_names(choices, CompactKwargs, "compact_batch")
    kind = _kind_of(batch, column)
    recipe = recipe_of(choices)
    # Many conversations follow one another.
    recipe = replace(recipe, measure=replace(recipe.measure, worth_loading=0))
    options = InputOptions(path=column, format=format)
    rows = [_compacted(value, kind, options, recipe) for value in batch.column(column).to_pylist()]
    place = batch.schema.get_field_index(column)
    values = pa.array([row.value for row in rows], type=kind)
    compacted = batch.set_column(place, batch.schema.field(place), values)
    for name, added in ADDED.items():
        found = pa.array([getattr(row, name) for row in rows], type=getattr(pa, added)())
        compacted = compacted.append_column(name, found)
    return compacted


def _kind_of(batch: pa.RecordBatch, column: str) -> object:
    """Return the column's type. Raises UsageError for one that holds no conversations."""
    names = batch.schema.names
    if names.count(column) != 1:
        raise UsageError(f"{column!r} is not a column; there are {', '.join(names) or 'none'}")
    taken = [name for name in ADDED if name in names]
    if taken:
        raise UsageError(f"there is a column {taken[0]!r} already; rename or drop it")
    kind = batch.schema.field(column).type
    if not (is_text(kind) or is_structs(kind)):
        raise UsageError(f"{column!r} holds {kind}; it takes lists of structs, or JSON text")
    return kind


def _compacted(
    value: object,
    kind: object,
    options: InputOptions,
    recipe: Recipe,
) -> _CompactedRow:
    if not value:
        return _CompactedRow(value=value, compact_status="unchanged")
    try:
        compacted = compact_lines(lines_of(value, kind), options, recipe)
        return _row(value, value_of(value, kind, compacted), compacted)
    except CompactctlError as error:
        return _failed(value, str(error))
    except Exception as error:  # noqa: BLE001 - a bug that one row meets must not lose the others
        return _failed(value, f"{type(error).__name__}: {error}")


def _failed(value: object, why: str) -> _CompactedRow:
    return _CompactedRow(value=value, compact_status="failed", compact_error=" ".join(why.split()))


def _row(before: object, after: object, compacted: CompactedLines) -> _CompactedRow:
    if compacted.opaque:
        raise NotUnderstoodError(
            f"holds what is not a message of this format: {compacted.opaque[0].damage}"
        )
    return _CompactedRow(
        value=after,
        compact_status="unchanged" if after == before else "ok",
        compact_tokens_before=compacted.tokens_before,
        compact_tokens_after=compacted.tokens_after,
    )
