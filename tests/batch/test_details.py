"""Rows about the messages and the requests of all files of a batch."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from batch.inputs import bytes_below, transcript, write
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from compactctl.__main__ import run
from compactctl.commands.batch.batch import InOrder
from compactctl.views import table_file

SAMPLES = str(ROOT / "sample_transcripts")
TABLES = ("--messages-out", "m.parquet", "--rounds-out", "r.parquet")
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number in range(5):
        write(Path(f"in/{number}.jsonl"), transcript(2 + number, overhead=900))
    write(Path("in/binary.jsonl"), bytes(range(256)))
    return tmp_path


def table(name: str) -> list[Row]:
    rows: list[Row] = parquet.read_table(name).to_pylist()
    return rows


def sums(rows: list[Row], value: str, **wanted: object) -> Counter[str]:
    total: Counter[str] = Counter()
    for row in rows:
        if all(row[name] == one for name, one in wanted.items()):
            total[row["path"]] += row[value]
    return total


@pytest.mark.parametrize("place", ["in", SAMPLES])
def test_visible_messages_add_up_to_what_the_report_says(place: str) -> None:
    run(["batch", place, "--report", "b.parquet", *TABLES])
    messages = table("m.parquet")
    report = [row for row in table("b.parquet") if row["status"] != "failed"]
    assert sums(messages, "tokens", visible=1) == {r["path"]: r["tokens_before"] for r in report}
    assert sums(messages, "visible") == {row["path"]: row["messages"] for row in report}
    assert {row["stage"] for row in messages} == {None}


def test_a_message_says_what_it_is_and_holds() -> None:
    run(["batch", "in/0.jsonl", *TABLES])
    found = [
        tuple(row[name] for name in ("seq", "line", "role", "category", "tools", "visible"))
        for row in table("m.parquet")[:4]
    ]
    assert found == [
        (1, 1, "user", "user", "", 1),
        (2, 2, "assistant", "tool calls", "Read", 1),
        (3, 3, "tool", "file reads", "Read", 1),
        (4, 4, "assistant", "assistant", "", 1),
    ]


def test_what_is_not_sent_any_more_is_there_too() -> None:
    before = transcript(3)
    summary = (
        b'{"type":"user","uuid":"s","parentUuid":null,"sessionId":"parser","isCompactSummary":true,'
        b'"message":{"role":"user","content":"This is what happened."}}\n'
    )
    write(Path("cut.jsonl"), before + summary)
    run(["batch", "cut.jsonl", *TABLES])
    messages = table("m.parquet")
    assert [row["visible"] for row in messages] == [0] * 12 + [1]
    assert messages[-1]["category"] == "summaries"
    assert all(row["tokens"] > 0 for row in messages)


@pytest.mark.parametrize("more", [(), ("--out", "out")], ids=["figures", "written"])
def test_what_stages_took_out_is_told_by_stage(more: tuple[str, ...]) -> None:
    stages = ("--stages", "dedup,prune", "--prune-min-savings", "0", "--prune-protect-tokens", "0")
    run(["batch", "in", "--report", "b.parquet", *stages, *more, *TABLES])
    messages = table("m.parquet")
    report = {row["path"]: row for row in table("b.parquet") if row["status"] != "failed"}
    assert sums(messages, "tokens_after") == {p: r["tokens_after"] for p, r in report.items()}
    for stage in ("dedup", "prune"):
        changed = [row for row in messages if row["stage"] == stage]
        saved = sum(row["tokens"] - row["tokens_after"] for row in changed)
        assert saved > 0
    assert any(row["stage"] is None for row in messages)


@pytest.mark.parametrize("sample", ["in/4.jsonl", f"{SAMPLES}/claude-code-session.jsonl"])
def test_rounds_are_those_of_stats(sample: str) -> None:
    run(["batch", sample, *TABLES])
    run(["stats", sample, "--rounds-out", "one.parquet"])
    one = [
        {"path": sample} | {name: each for name, each in row.items() if "cost" not in name}
        for row in table("one.parquet")
    ]
    assert one
    assert table("r.parquet") == one


def test_processes_and_pieces_give_the_same_rows_in_the_same_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(["batch", "in", "-j", "1", *TABLES])
    expected = table("m.parquet"), table("r.parquet")
    monkeypatch.setattr(table_file, "GROUP_ROWS", 7)
    run(["batch", "in", "-j", "2", *TABLES])
    assert (table("m.parquet"), table("r.parquet")) == expected
    assert parquet.ParquetFile("m.parquet").num_row_groups > 1
    run(["batch", "in", *TABLES])
    assert (table("m.parquet"), table("r.parquet")) == expected


def test_what_is_known_of_files_is_no_reason_to_leave_them_out() -> None:
    run(["batch", "in"])
    run(["batch", "in", *TABLES])
    assert len({row["path"] for row in table("m.parquet")}) == 5


def test_how_many_rows_there_are_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["batch", "in", *TABLES]) == 4
    said = capsys.readouterr().err
    assert f"wrote m.parquet ({len(table('m.parquet'))} rows)" in said
    assert f"wrote r.parquet ({len(table('r.parquet'))} rows)" in said


@pytest.mark.parametrize("option", ["--messages-out", "--rounds-out"])
def test_another_file_is_not_overwritten(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("notes").write_text("mine")
    for place in ("notes", "in/0.jsonl", "missing/m.parquet"):
        assert run(["batch", "in", option, place, "--out", "out"]) == 2
    assert Path("notes").read_text() == "mine"
    assert bytes_below(Path("out")) == {}
    assert run(["batch", "in/0.jsonl", option, "notes", "--force"]) == 0
    assert parquet.read_table("notes").num_rows > 0
    capsys.readouterr()


def test_nothing_is_left_where_there_is_nothing_to_do() -> None:
    write(Path("empty/notes.txt"), b"no transcript")
    assert run(["batch", "empty", *TABLES]) == 3
    assert not Path("m.parquet").exists()


def test_files_without_messages_make_empty_tables() -> None:
    assert run(["batch", "in/binary.jsonl", *TABLES]) == 4
    assert (table("m.parquet"), table("r.parquet")) == ([], [])
    assert run(["batch", "in", *TABLES]) == 4
    assert table("m.parquet")


def test_what_is_done_is_not_gone_through_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["batch", "in", "--out", "out", "--resume", *TABLES]) == 2
    assert "--messages-out" in capsys.readouterr().err


@given(st.permutations(range(12)), st.sets(st.integers(0, 11)))
def test_whatever_is_done_first_is_passed_on_in_turn(places: list[int], without: set[int]) -> None:
    taken: list[int] = []
    turns = InOrder(taken.append)
    for place in places:
        turns.add(place, [] if place in without else [place])
        assert taken == [each for each in sorted(taken) if each not in without]
    assert taken == [place for place in range(12) if place not in without]
