"""A column of conversations is compacted as each of them would be alone."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import ROOT
from library.loops import loop
from pyarrow import parquet
from transcripts import FOLDER, needs_real

from compactctl import compact_batch, compact_messages
from compactctl.commands.compact.in_memory import _require_place
from compactctl.errors import NotUnderstoodError, UsageError

LONG = loop(60)
SHORT = loop(1)
CHOSEN: dict[str, Any] = {"model": "gpt-4o", "keep": 0.3}
ADDED = ["compact_status", "compact_tokens_before", "compact_tokens_after", "compact_error"]
FUNCTION = pa.struct([("name", pa.string()), ("arguments", pa.string())])
CALL = pa.struct([("id", pa.string()), ("type", pa.string()), ("function", FUNCTION)])
MESSAGE = pa.struct(
    [
        ("role", pa.string()),
        ("content", pa.string()),
        ("name", pa.string()),
        ("tool_call_id", pa.string()),
        ("tool_calls", pa.list_(CALL)),
    ]
)


def texts(*values: object, column: str = "messages") -> pa.RecordBatch:
    told = [each if isinstance(each, str | None) else json.dumps(each) for each in values]
    return pa.record_batch({"id": [*range(len(told))], column: pa.array(told, pa.string())})


def structs(*values: object, kind: Any = None) -> pa.RecordBatch:
    held = pa.array(values, kind or pa.list_(MESSAGE))
    return pa.record_batch({"messages": held, "reward": [0.5] * len(values)})


def bare(value: Any) -> Any:
    """Return a value without what is null, as structs have it where nothing is."""
    if isinstance(value, dict):
        return {name: bare(each) for name, each in value.items() if each is not None}
    return [bare(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", [pa.list_(MESSAGE), pa.large_list(MESSAGE)], ids=str)
def test_structs_are_compacted_as_lists_are(kind: Any) -> None:
    made = compact_batch(structs(LONG, SHORT, [], None, kind=kind), **CHOSEN)
    assert made.schema.field("messages").type == kind
    assert made.schema.names == ["messages", "reward", *ADDED]
    values = made["messages"].to_pylist()
    assert bare(values[0]) == bare(compact_messages(LONG, **CHOSEN))
    assert values[2:] == [[], None]
    assert made["compact_status"].to_pylist()[0] == "ok"
    assert made["compact_status"].to_pylist()[2:] == ["unchanged", "unchanged"]
    before, after = (made[name].to_pylist()[0] for name in ADDED[1:3])
    assert 0 < after < 0.5 * before
    assert made["compact_error"].null_count == 4


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_of_a_text_only_what_changes_is_written_anew(kind: Any) -> None:
    spaced = json.dumps(LONG, indent=1).replace('"role"', '"ro\\u006ce"')
    short = json.dumps(SHORT, separators=(" ,", " : "))
    batch = texts(spaced, short)
    batch = batch.set_column(1, "messages", batch["messages"].cast(kind))
    made = compact_batch(batch, model="gpt-4o", stages=["prune"], stage_options=PRUNE)
    first, second = made["messages"].to_pylist()
    assert made["compact_status"].to_pylist() == ["ok", "unchanged"]
    assert second == short
    assert first.count('"ro\\u006ce"') == len(LONG)
    plain = compact_messages(LONG, model="gpt-4o", stages=["prune"], stage_options=PRUNE)
    assert json.loads(first) == plain != LONG


PRUNE = {"prune": {"protect_tokens": 500, "min_savings": 1}}


def test_a_second_time_changes_nothing() -> None:
    once = compact_batch(structs(LONG, SHORT), model="gpt-4o", target=3_000)
    again = compact_batch(once.drop_columns(ADDED), model="gpt-4o", target=3_000)
    assert again["compact_status"].to_pylist() == ["unchanged"] * 2
    assert again["messages"] == once["messages"]


@pytest.mark.parametrize("value", ["nonsense", "[1, 2]", '{"a": 1}', '[{"role": "user"', "7"])
def test_a_row_that_fails_is_kept_and_stops_no_other_one(value: str) -> None:
    made = compact_batch(texts(value, LONG), **CHOSEN)
    assert made["compact_status"].to_pylist() == ["failed", "ok"]
    assert made["messages"][0].as_py() == value
    assert made["compact_tokens_before"].to_pylist()[0] is None
    (why, none) = made["compact_error"].to_pylist()
    assert (none, "\n" in why) == (None, False)


@pytest.mark.parametrize(
    "message",
    [{"role": "user", "content": ["text"]}, {"role": "user", "more": 1}, {"content": 7}],
)
def test_what_the_type_has_no_place_for_is_never_lost(message: dict[str, Any]) -> None:
    _require_place(SHORT, pa.list_(MESSAGE))
    with pytest.raises(UsageError, match="the column's type"):
        _require_place([*SHORT, message], pa.list_(MESSAGE))


@pytest.mark.parametrize(
    ("batch", "choices", "why"),
    [
        (texts(LONG), {"column": "talk"}, "'talk' is not a column; there are id, messages"),
        (texts(LONG), {"column": "id"}, "'id' holds int64"),
        (texts(LONG).append_column("compact_error", pa.array(["x"])), {}, "already"),
        (texts(LONG), {"stages": ["nothing"]}, "nothing"),
        (texts(LONG), {"target": "sixty"}, "sixty"),
    ],
)
def test_what_cannot_be_meant(batch: pa.RecordBatch, choices: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        compact_batch(batch, **choices)


def test_any_cut_of_the_rows_gives_the_same() -> None:
    values = [loop(number) for number in (40, 3, 25, 1, 60)]
    whole = compact_batch(structs(*values), **CHOSEN)
    pieces = [compact_batch(structs(each), **CHOSEN) for each in values]
    assert pa.Table.from_batches(pieces).combine_chunks().to_batches() == [whole]


def test_no_rows_are_a_batch_too() -> None:
    made = compact_batch(texts(), **CHOSEN)
    assert (made.num_rows, made.schema.names) == (0, ["id", "messages", *ADDED])


PROGRAMS = re.findall(
    r"^```python\n(.*?)^```$",
    (ROOT / "docs" / "library.md").read_text(),
    re.MULTILINE | re.DOTALL,
)


def test_the_program_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = pa.Table.from_batches([structs(LONG, SHORT)])
    parquet.write_table(table, "dialogs.parquet", row_group_size=1)
    exec(compile(PROGRAMS[-1], "library.md", "exec"), {})  # noqa: S102 - our own page
    expected = compact_batch(table.combine_chunks().to_batches()[0], keep=0.5)
    assert parquet.read_table("compacted.parquet").to_pylist() == expected.to_pylist()


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": {"type": "text", "text": "The tide is low. " * 600}},
        {"role": "user", "content": "hi", "memo": "The tide is low. " * 600},
    ],
)
def test_a_conversation_with_text_that_was_not_read_fails(message: dict[str, Any]) -> None:
    conversation = [
        message,
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "hi"},
    ]
    batch = texts(conversation, SHORT)
    failed, good = compact_batch(batch, target=1_000).to_pylist()
    assert (failed["compact_status"], good["compact_status"]) == ("failed", "unchanged")
    assert failed["compact_error"]
    assert failed["compact_tokens_before"] is None
    assert failed["messages"] == batch.column("messages")[0].as_py()
    with pytest.raises(NotUnderstoodError):
        compact_messages(conversation, target=1_000, require_fit=True)


def test_messages_with_another_field_are_compacted_and_not_said_to_fit() -> None:
    memo = "The tide is low. " * 6
    messages = [{"role": "user", "content": "hi", "memo": memo}, {"role": "user", "content": "ho"}]
    compacted = compact_messages(messages, target=1_000)
    assert (list(compacted), compacted.fits) == (messages, False)
    assert compacted.unread == f"{len(memo)} bytes of text in `memo` was not read"


def test_the_function_of_the_page_for_engines() -> None:
    page = (ROOT / "docs" / "engines.md").read_text()
    (function,) = re.findall(
        r"^def halve\(batches\):\n.*?(?=\n\n\n)", page, re.DOTALL | re.MULTILINE
    )
    names: dict[str, Any] = {}
    exec(function, names)  # noqa: S102 - our own page
    made = list(names["halve"](iter([structs(LONG), structs(SHORT)])))
    alone = [compact_batch(structs(each), keep=0.5) for each in (LONG, SHORT)]
    assert made == alone


REAL = FOLDER / "parquet" / "tau-airline.messages.parquet"


@needs_real
def test_a_real_data_set() -> None:
    (batch,) = parquet.read_table(REAL).combine_chunks().to_batches()
    made = compact_batch(batch.slice(0, 10), model="gpt-4o", keep=0.4)
    assert set(made["compact_status"].to_pylist()) == {"ok"}
    assert made.select(["instance_id", "reward"]) == batch.slice(0, 10).select(
        ["instance_id", "reward"]
    )
