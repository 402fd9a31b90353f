"""Values in a column of conversations: as lines of a transcript, and as what is left of these."""

import json
from typing import Any

from compactctl.commands.compact.in_memory import CompactedLines
from compactctl.errors import UsageError
from compactctl.store.files.data_set import is_text


def lines_of(value: Any, kind: Any) -> list[bytes]:  # noqa: ANN401 - a row holds any value
    """Return the raw lines of a conversation: a text as it is, or a line per struct.

    ``kind`` is the column's Arrow type. Fields of structs that are null are absent from the lines.
    """
    if is_text(kind):
        return [value.encode("utf-8", "surrogatepass")]
    return [json.dumps(without_nulls(message)).encode() + b"\n" for message in value]


def value_of(value: Any, kind: Any, made: CompactedLines) -> Any:  # noqa: ANN401
    """Return what was made of a conversation as a value of the same column.

    Of a text only what changes is written anew. UsageError where the column's type has no place
    for what compaction writes.
    """
    if is_text(kind):
        return b"".join(each.data for each in made.lines).decode()
    left = [
        value[line.source] if line.kept and line.source is not None else json.loads(line.data)
        for line in made.lines
    ]
    _require_place(left, kind)
    return left


def without_nulls(value: Any) -> Any:  # noqa: ANN401
    """Return a value without the fields of structs that are null, as they are where none is."""
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def _require_place(messages: list[Any], kind: Any) -> None:  # noqa: ANN401
    """Raise UsageError where the column's type has no place for what compaction writes."""
    import pyarrow as pa

    try:
        held = pa.array([messages], type=kind).to_pylist()[0]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise UsageError(f"what compaction writes is not of the column's type ({error})") from error
    if [without_nulls(each) for each in held] != [without_nulls(each) for each in messages]:
        raise UsageError("what compaction writes has fields that the column's type has not")
