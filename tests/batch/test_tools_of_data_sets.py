"""The tools in a column count with each conversation, as they do in JSON lines."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from batch.inputs import run, write
from library.loops import loop
from pyarrow import parquet

from compactctl import compact_batch
from compactctl.commands.compact.stored_request import StoredRequest
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions

LONG, SHORT = loop(60), loop(1)
TOOLS = [
    {"type": "function", "function": {"name": f"tool_{n}", "description": "Reads the tide. " * 40,
     "parameters": {"type": "object", "properties": {"harbor": {"type": "string"}}}}}
    for n in range(9)
]  # fmt: skip
FEW = TOOLS[:2]
LIMITED = PlanOptions(keep=0.4)
MEASURE = MeasureOptions(model="gpt-4o")
CONVERSATIONS: Mapping[str, Callable[[Any], Any]] = {
    "structs": lambda value: value,
    "text": json.dumps,
    "indented text": lambda value: f" {json.dumps(value, indent=1)}\n",
    "request": lambda value: json.dumps({"model": "gpt-4o", "messages": value}),
    "list of texts": lambda value: [json.dumps(message) for message in value],
}
SPELLINGS: Mapping[str, Callable[[Any], Any]] = {
    "structs": lambda value: value,
    "text": json.dumps,
    "bytes": lambda value: json.dumps(value).encode(),
    "list of texts": lambda value: [json.dumps(tool) for tool in value],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def expected(conversation: list[Any], tools: list[Any]) -> int | None:
    """Return the tokens of a conversation in JSON lines."""
    row: dict[str, Any] = {"messages": conversation} | ({"tools": tools} if tools else {})
    write(Path("row.jsonl"), json.dumps({"model": "gpt-4o", **row}).encode() + b"\n")
    (measured,) = run("row.jsonl", measure=MEASURE).rows
    return measured.tokens


def messages(value: Any) -> Any:
    value = json.loads(value) if isinstance(value, str) else value
    value = value.get("messages", value) if isinstance(value, dict) else value
    parsed = [json.loads(m) if isinstance(m, str) else m for m in value]
    return [{k: v for k, v in m.items() if v is not None} for m in parsed]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("kind", CONVERSATIONS)
def test_tools_count_with_each_conversation(kind: str, spelling: str) -> None:
    spell, store = SPELLINGS[spelling], CONVERSATIONS[kind]
    rows = [(LONG, TOOLS), (SHORT, FEW), (SHORT, None), (LONG, TOOLS)]
    table = pa.table({
        "id": [*range(len(rows))],
        "tools": [None if tools is None else spell(tools) for _, tools in rows],
        "messages": [store(conversation) for conversation, _ in rows],
    })  # fmt: skip
    parquet.write_table(table, "data.parquet", row_group_size=2)
    tokens = [expected(conversation, tools or []) for conversation, tools in rows]
    for jobs in (1, 2):
        measured = run("data.parquet", jobs=jobs, measure=MEASURE).rows
        assert [row.tokens for row in measured] == tokens
    assert run("data.parquet", output="out", plan=LIMITED, measure=MEASURE).exit_code == 0
    made = parquet.read_table("out/data.compacted.parquet")
    assert made.drop_columns("messages") == table.drop_columns("messages")
    values = made.column("messages").to_pylist()
    assert len(str(values[0])) < len(str(store(LONG)))
    assert messages(values[0]) == messages(values[3])
    assert messages(values[0])[0] == messages(store(LONG))[0]
    planned = run("data.parquet", plan=LIMITED, measure=MEASURE).rows
    after = [row.outcome and row.outcome.after.tokens for row in planned]
    assert [row.tokens for row in run("out/data.compacted.parquet", measure=MEASURE).rows] == after


@pytest.mark.parametrize("kind", CONVERSATIONS)
def test_tools_count_in_a_batch(kind: str) -> None:
    store = CONVERSATIONS[kind]
    batch = pa.RecordBatch.from_pydict(
        {"messages": [store(LONG), store(SHORT)], "tools": [json.dumps(TOOLS)] * 2}
    )
    same = compact_batch(batch, target=100_000, model="gpt-4o")
    assert same.column("compact_tokens_before").to_pylist() == [
        expected(LONG, TOOLS), expected(SHORT, TOOLS)
    ]  # fmt: skip
    assert same.column("compact_status").to_pylist() == ["unchanged"] * 2
    assert same.column("messages") == batch.column("messages")
    smaller = compact_batch(batch, target=5_000, model="gpt-4o")
    assert smaller.column("compact_status").to_pylist() == ["ok", "unchanged"]
    assert smaller.column("tools") == batch.column("tools")
    assert messages(smaller.column("messages")[0].as_py())[0] == messages(store(LONG))[0]


@pytest.mark.parametrize("tools", [None, [], "[]", "", "null", b""])
@pytest.mark.parametrize("value", ['[{"role": "user"}]', '{"messages": []}', "{}", "words"])
def test_without_tools_a_conversation_is_itself(value: str, tools: object) -> None:
    assert StoredRequest.of(value, pa.string(), tools).lines == (value.encode(),)


def test_tools_of_the_conversation_come_first() -> None:
    value = json.dumps({"messages": SHORT, "tools": FEW})
    assert StoredRequest.of(value, pa.string(), TOOLS).lines == (value.encode(),)
