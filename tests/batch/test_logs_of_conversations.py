"""A log with a conversation on each line has a row for each, as a data set in Parquet has."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from batch.inputs import run, write
from library.loops import loop
from pyarrow import parquet

from compactctl.__main__ import run as run_program
from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.columns import row_values
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions
from compactctl.tokens.budget import TargetSize
from compactctl.views.results.batch import listed_files

TALKS = [loop(2), loop(30), loop(5)]
MEASURE = MeasureOptions(model="gpt-4o")
FIGURES = ("tokens_before", "context", "messages", "turns", "categories", "tools", "opaque_lines")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def log(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def figures(result: BatchResult) -> list[list[Any]]:
    return [[row_values(row)[name] for name in FIGURES] for row in result.rows]


@pytest.mark.parametrize("wrap", [lambda talk: {"messages": talk}, lambda talk: talk])
def test_each_conversation_is_a_row_as_in_parquet(wrap: Any) -> None:
    write(Path("log.jsonl"), log(*map(wrap, TALKS)))
    table = pa.table({"messages": [json.dumps(wrap(talk)) for talk in TALKS]})
    parquet.write_table(table, "set.parquet")
    measured = run("log.jsonl", measure=MEASURE)
    assert [(row.path, row.row) for row in measured.rows] == [
        (f"log.jsonl#{n}", n) for n in (1, 2, 3)
    ]
    assert figures(measured) == figures(run("set.parquet", measure=MEASURE))
    (listed,) = listed_files(measured.rows)
    assert (listed.path, listed.context) == ("log.jsonl", measured.rows[1].context)
    gated = run("log.jsonl", measure=MEASURE, fail_over_tokens=3_000)
    assert [row.status for row in gated.rows] == ["ok", "over limit", "ok"]


@pytest.mark.parametrize("wrap", [lambda talk: {"messages": talk}, lambda talk: talk])
@pytest.mark.parametrize("out", [None, "out"])
def test_each_conversation_is_a_row_after_stages_too(wrap: Any, out: str | None) -> None:
    """Its size is that of its line in the new file, and the sums are those of the whole file."""
    write(Path("log.jsonl"), log(*map(wrap, TALKS)))
    plan = PlanOptions(target=TargetSize(value=2_500, unit="tokens"))
    place = {} if out is None else {"output": OutputOptions(path=out)}
    result = run("log.jsonl", measure=MEASURE, plan=plan, **place)
    before = run("log.jsonl", measure=MEASURE)
    assert [row.row for row in result.rows] == [1, 2, 3]
    assert [row.tokens for row in result.rows] == [row.tokens for row in before.rows]
    assert [row.is_changed for row in result.rows] == [False, True, False]
    assert result.totals.tokens_after is not None
    assert result.totals.tokens_after < (result.totals.tokens_before or 0)
    for row in result.rows:
        is_over = (row.context or 0) > 2_500
        assert row.status == ("over target" if is_over else "ok" if row.is_changed else "unchanged")
    if out is None:
        assert not Path("out").exists()
        return
    after = run("out/log.compacted.jsonl", measure=MEASURE)
    assert [row.context for row in after.rows] == [row.context for row in result.rows]
    again = run("log.jsonl", measure=MEASURE, plan=plan, cached=True, **place)
    resumed = run("log.jsonl", measure=MEASURE, plan=plan, cached=True, resume=True, **place)
    assert resumed.rows == again.rows


def test_lines_between_conversations_count_once() -> None:
    first, *others = ({"messages": talk} for talk in TALKS)
    data = b"\n" + log(first) + b"not JSON\n\n" + log(*others) + b"\n"
    write(Path("log.jsonl"), data)
    rows = run("log.jsonl").rows
    assert [row.row for row in rows] == [2, 5, 6]
    values = [row_values(row) for row in rows]
    assert sum(each["bytes"] for each in values) == len(data)
    assert [each["lines"] for each in values] == [4, 1, 2]
    assert [each["opaque_lines"] for each in values] == [1, 0, 0]


@pytest.mark.parametrize(
    "data",
    [
        log(*TALKS[1]),
        log({"messages": TALKS[0]}),
        log(TALKS),
        log({"messages": TALKS[0]}, *TALKS[1]),
        json.dumps({"messages": TALKS[0]}, indent=1).encode(),
    ],
    ids=["messages", "one", "an array", "mixed", "document"],
)
def test_any_other_file_is_one_row(data: bytes) -> None:
    write(Path("file.jsonl"), data)
    (row,) = run("file.jsonl").rows
    assert (row.path, row.row) == ("file.jsonl", None)


def test_cached_rows_are_the_same() -> None:
    write(Path("log.jsonl"), log(*({"messages": talk} for talk in TALKS)))
    first = run("log.jsonl", cached=True).rows
    assert run("log.jsonl", cached=True).rows == first
    Path("log.jsonl").rename("other.jsonl")
    assert [row.path for row in run("other.jsonl", cached=True).rows] == [
        f"other.jsonl#{n}" for n in (1, 2, 3)
    ]


@pytest.mark.parametrize("stages", [(), ("--target", "2500")], ids=["measured", "compacted"])
def test_messages_have_the_names_of_their_rows(stages: tuple[str, ...]) -> None:
    write(Path("log.jsonl"), log(*({"messages": talk} for talk in TALKS)))
    files = ("--report", "r.parquet", "--messages-out", "m.parquet")
    run_program(["batch", "log.jsonl", *stages, *files])
    report = parquet.read_table("r.parquet").to_pylist()
    messages = parquet.read_table("m.parquet").to_pylist()
    for row in report:
        own = [message for message in messages if message["path"] == row["path"]]
        assert sum(message["tokens"] for message in own) == row["tokens_before"]
        assert {message["line"] for message in own} == {row["row"]}
