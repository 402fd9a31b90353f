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
from compactctl.commands.reading.transcript import InputOptions

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


@pytest.mark.parametrize("kind", ["text", "request"])
def test_a_mark_before_the_text_is_no_part_of_it(kind: str) -> None:
    texts = [f"{mark}{CONVERSATIONS[kind](LONG)}" for mark in ("", "\ufeff")]
    batch = pa.RecordBatch.from_pydict(
        {"messages": texts, "tools": [f"{mark}{json.dumps(TOOLS)}" for mark in ("", "\ufeff")]}
    )
    compacted = compact_batch(batch, target=5_000, model="gpt-4o")
    for column in ("before", "after"):
        first, second = compacted.column(f"compact_tokens_{column}").to_pylist()
        assert first == second
    plain, marked = compacted.column("messages").to_pylist()
    assert marked == f"\ufeff{plain}" != texts[1]


def test_each_row_has_the_tools_of_whichever_column_has_some() -> None:
    text = json.dumps(TOOLS)
    functions, tools = [text, text, None, None], [None, "[]", text, None]
    table = pa.table({"messages": [SHORT] * 4, "functions": functions, "tools": tools})
    parquet.write_table(table, "data.parquet")
    tokens = [*[expected(SHORT, TOOLS)] * 3, expected(SHORT, [])]
    assert [row.tokens for row in run("data.parquet", measure=MEASURE).rows] == tokens
    (batch,) = table.to_batches()
    same = compact_batch(batch, target=100_000, model="gpt-4o")
    assert same.column("compact_tokens_before").to_pylist() == tokens


SPECS = [
    {"toolSpec": {"name": f"tool_{n}", "description": "Reads the tide. " * 40}} for n in range(9)
]


def converse(text: str, n: int) -> list[Any]:
    call = {"toolUse": {"toolUseId": "t", "name": "tool_1", "input": {}}}
    result = {"toolResult": {"toolUseId": "t", "content": [{"text": text * n}]}}
    blocks = ({"text": text}, call, result, {"text": text * n})
    roles = ("user", "assistant") * 2
    return [
        {"role": role, "content": [block]} for role, block in zip(roles, blocks, strict=True)
    ] + [{"role": "user", "content": [{"text": text}]}]


@pytest.mark.parametrize("tools", [SPECS, {"tools": SPECS}, TOOLS, [*SPECS, {"cachePoint": {}}]])
@pytest.mark.parametrize("name", [None, "bedrock-converse"])
@pytest.mark.parametrize("kind", ["text", "list of texts", "request"])
def test_tools_of_converse_have_their_place(kind: str, name: str | None, tools: Any) -> None:
    conversation = converse("The tide turns at noon. ", 200)
    store = CONVERSATIONS[kind] if kind != "request" else lambda it: json.dumps({"messages": it})
    value = store(conversation)
    table = pa.table({"messages": [value], "tools": [json.dumps(tools)]})
    parquet.write_table(table, "data.parquet")
    options = InputOptions(format=name)
    parquet.write_table(table.drop_columns("tools"), "alone.parquet")
    (alone,) = run("alone.parquet", input=options).rows
    (row,) = run("data.parquet", input=options).rows
    assert (row.failure, alone.failure) == (None, None)
    assert row.tokens is not None
    assert alone.tokens is not None
    assert 9 * 120 < row.tokens - alone.tokens < 9 * 400
    assert run("data.parquet", input=options, output="out", plan=LIMITED).exit_code == 0
    made = parquet.read_table("out/data.compacted.parquet").column("messages").to_pylist()
    assert len(str(made)) < len(str([value]))
    assert "toolSpec" not in str(made)


def test_a_format_that_stores_no_tools_has_none() -> None:
    records = [
        {"id": f"{n}", "role": role, "content": "The tide turns at noon. " * 400, "metadata": {}}
        for n, role in enumerate(("user", "assistant", "user", "assistant"))
    ]
    values = {"messages": [json.dumps(records)], "tools": [json.dumps(TOOLS)]}
    for columns in (values, {"messages": values["messages"]}):
        parquet.write_table(pa.table(columns), "data.parquet")
        (row,) = run("data.parquet").rows
        assert row.failure is None
        assert row.tokens is not None
        assert 8_000 < row.tokens < 11_000


def test_tools_of_the_conversation_come_first() -> None:
    value = json.dumps({"messages": SHORT, "tools": FEW})
    assert StoredRequest.of(value, pa.string(), TOOLS).lines == (value.encode(),)
