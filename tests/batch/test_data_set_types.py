"""Conversations as JSON in every Arrow type: read by name, and written as they were."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from batch.inputs import run
from file_commands import rewind_file
from library.loops import loop
from pyarrow import parquet

from compactctl import compact_batch
from compactctl.commands.planning.plan import PlanOptions
from compactctl.store.files.conversation_types import arrow_array

LONG, SHORT = loop(60), loop(1)
LIMITED = PlanOptions(keep=0.4)
PLAIN = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary())
JSON = (pa.json_(), pa.json_(pa.large_string()))
KINDS = [
    *PLAIN,
    *JSON,
    pa.dictionary(pa.int32(), pa.string()),
    *(pa.list_(kind) for kind in (*PLAIN, *JSON)),
    pa.large_list(pa.large_string()),
    pa.large_list(pa.json_()),
]


def column(conversations: list[Any], kind: Any) -> Any:
    """Return conversations as a column; a list of texts has one for each message."""
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    encode: Any = str.encode if "binary" in str(kind) else str
    values = [
        value and ([encode(json.dumps(m)) for m in value] if is_list else encode(json.dumps(value)))
        for value in conversations
    ]
    return arrow_array(values, kind)


def messages(value: Any) -> Any:
    if value is None:
        return None
    return [json.loads(m) for m in value] if isinstance(value, list) else json.loads(value)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_json_of_every_type_is_read_and_written(kind: Any) -> None:
    for path, its_kind in (("text.parquet", pa.string()), ("data.parquet", kind)):
        table = pa.table({"id": [1, 2, 3], "messages": column([LONG, None, SHORT], its_kind)})
        parquet.write_table(table, path, row_group_size=2)
    before = Path("data.parquet").read_bytes()
    rows, expected = run("data.parquet").rows, run("text.parquet").rows
    assert [(row.status, row.tokens) for row in rows] == [(r.status, r.tokens) for r in expected]
    assert run("data.parquet", "text.parquet", output="out", plan=LIMITED).exit_code == 0
    made, as_text = (
        parquet.read_table(f"out/{name}.compacted.parquet").column("messages")
        for name in ("data", "text")
    )
    assert made.type == parquet.read_table("data.parquet").column("messages").type
    assert [*map(messages, made.to_pylist())] == [*map(messages, as_text.to_pylist())]
    assert len(str(messages(made[0].as_py()))) < len(str(LONG))
    rewind_file("out/data.compacted.parquet")
    assert Path("out/data.compacted.parquet").read_bytes() == before


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_batch_keeps_its_type(kind: Any) -> None:
    batch = pa.RecordBatch.from_arrays([column([LONG, None, SHORT], kind)], ["messages"])
    compacted = compact_batch(batch, keep=0.4)
    assert compacted.schema.field("messages").type == kind
    assert compacted.column("compact_status").to_pylist()[:2] == ["ok", "unchanged"]
    first, empty, _ = compacted.column("messages").to_pylist()
    assert empty is None
    assert len(str(messages(first))) < len(str(LONG))


def test_the_error_names_the_type_of_the_column() -> None:
    parquet.write_table(pa.table({"messages": [[1, 2]], "id": [1]}), "data.parquet")
    (row,) = run("data.parquet").rows
    assert row.failure is not None
    assert "column 'messages' is of type list<element: int64>" in row.failure.error
