"""Reports of batches read back: sums, parts put together, and what grew."""

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from batch.inputs import transcript, write
from conftest import ROOT
from pyarrow import parquet

from compactctl.__main__ import run
from compactctl.commands.batch.report_format import METADATA

Json = dict[str, Any]
PAGE = ROOT / "docs" / "batch.md"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number in range(9):
        write(Path(f"in/{number}.jsonl"), transcript(2 + number))
    write(Path("in/binary.jsonl"), bytes(range(256)))
    return tmp_path


def batch(*options: str) -> int:
    return run(["batch", "in", "-j", "1", *options])


def report(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, Json]:
    capsys.readouterr()
    code = run(["report", "--json", *options])
    document: Json = json.loads(capsys.readouterr().out)
    assert document["exitCode"] == code
    return code, document


def rows(path: str) -> list[Json]:
    found: list[Json] = parquet.read_table(path).to_pylist()
    return [{**row, "milliseconds": 0} for row in found]


@pytest.mark.parametrize(("version", "code"), [(1, 0), (2, 0), (3, 4), (0, 4)])
def test_a_report_of_an_earlier_version_is_still_a_baseline(version: int, code: int) -> None:
    batch("--report", "old.parquet", "--exclude", "binary*")
    table = parquet.read_table("old.parquet")
    if version == 1:
        table = table.drop_columns(["verdicts", "gates", "limit", "target"])
    metadata = {METADATA: json.dumps({"version": version})}
    parquet.write_table(table.replace_schema_metadata(metadata), "old.parquet")
    assert run(["report", "old.parquet"]) == code
    assert batch("--baseline", "old.parquet", "--exclude", "binary*") == code


def test_what_is_of_before_and_of_after_a_compaction_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    batch("--report", "measured.parquet")
    batch("--report", "compacted.parquet", "--stages", "truncate", "--keep", "30%")
    for path, is_said in (("measured.parquet", False), ("compacted.parquet", True)):
        capsys.readouterr()
        assert run(["report", path, "--html", f"{path}.html"]) == 0
        for text in (capsys.readouterr().out, Path(f"{path}.html").read_text()):
            assert ("after compaction, all other tokens as before it" in text) is is_said


def test_sums_are_those_of_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    batch("--report", "all.parquet")
    code, found = report(capsys, "all.parquet")
    told = [row for row in rows("all.parquet") if row["status"] == "ok"]
    assert (code, found["files"], found["statuses"]) == (
        0,
        10,
        [{"status": "ok", "files": 9}, {"status": "failed", "files": 1}],
    )
    assert found["tokens"] == sum(row["tokens_before"] for row in told)
    assert sum(found["categories"].values()) == found["tokens"]
    assert sum(each["files"] for each in found["bins"]) == 9
    assert found["percentiles"][0]["tokens"] == sorted(row["context"] for row in told)[4]
    (project,) = found["projects"]
    assert (project["name"], project["files"]) == ("/home/dev", 9)
    assert 0 < project["reread"] < 1
    assert [each["tool"] for each in found["tools"]] == ["Read"]


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_parts_put_together_are_the_whole(parts: int, capsys: pytest.CaptureFixture[str]) -> None:
    batch("--report", "all.parquet")
    names = [f"{number}.parquet" for number in range(parts)]
    for number, name in enumerate(names, 1):
        run(["batch", "in/*", "--shard", f"{number}/{parts}", "--report", name])
    assert sum(len(rows(name)) for name in names) == 10
    _, found = report(capsys, *names, "--merge", "merged.parquet")
    assert rows("merged.parquet") == rows("all.parquet")
    _, whole = report(capsys, "all.parquet")
    assert {**found, "reports": 0} == {**whole, "reports": 0}


def test_a_part_is_the_same_wherever_the_folder_lies(tmp_path: Path) -> None:
    run(["batch", "in", "--shard", "1/3", "--report", "here.parquet"])
    Path("moved").mkdir()
    Path("in").rename("moved/in")
    run(["batch", str(tmp_path / "moved" / "in"), "--shard", "1/3", "--report", "there.parquet"])
    here, there = (
        [Path(row["path"]).name for row in rows(name)] for name in ("here.parquet", "there.parquet")
    )
    assert here == there


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "1/0", "a/b"])
def test_a_part_that_there_is_not(shard: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert batch("--shard", shard) == 2
    assert "is not a shard; write it as 2/8, the second of eight" in capsys.readouterr().err


def grow() -> None:
    """Let one project's sessions get longer."""
    for number in range(9):
        write(Path(f"in/{number}.jsonl"), transcript(40))


def test_what_grew_fails_the_batch_and_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in/binary.jsonl").unlink()
    assert batch("--report", "old.parquet") == 0
    assert batch("--baseline", "old.parquet") == 0
    grow()
    assert batch("--baseline", "old.parquet", "--report", "new.parquet") == 1
    assert "/home/dev: the median request grew from" in capsys.readouterr().err
    code, found = report(capsys, "new.parquet", "--baseline", "old.parquet")
    assert code == 1
    assert [each["figure"] for each in found["growth"]] == ["context", "reread"]
    assert report(capsys, "old.parquet", "--baseline", "new.parquet")[0] == 0


def test_a_tolerance_is_a_share_of_the_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in/binary.jsonl").unlink()
    for number in range(9):
        write(Path(f"in/{number}.jsonl"), transcript(30))
    batch("--report", "old.parquet")
    grow()
    batch("--report", "new.parquet")
    told = ("new.parquet", "--baseline", "old.parquet", "--tolerance")
    assert report(capsys, *told, "20%")[0] == 1
    assert report(capsys, *told, "40%")[0] == 0


def answers(*options: str) -> list[list[Any]]:
    """Return what the queries of the page find in what a batch with these options reports."""
    write(Path("in/large.jsonl"), transcript(600, overhead=1_000))
    batch("--report", "monday.parquet", *options)
    queries = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [duckdb.execute(query).fetchall() for query in queries]


def test_queries_of_the_page_give_rows() -> None:
    tables = ("--messages-out", "messages.parquet", "--rounds-out", "rounds.parquet")
    tools, projects, stages, requests = answers("--stages", "dedup", *tables)
    ((tool, tokens, sessions),) = tools
    assert (tool, sessions) == ("Read", 10)
    assert tokens == sum(json.loads(row["tools"]).get("Read", 0) for row in rows("monday.parquet"))
    assert projects[0][0] == "/home/dev"
    hidden = [row for row in rows("messages.parquet") if row["stage"] == "dedup"]
    saved = sum(row["tokens"] - row["tokens_after"] for row in hidden)
    assert stages == [("dedup", len(hidden), saved)]
    assert [Path(path).name for path, *_ in requests] == ["large.jsonl"]


def test_what_is_no_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from pyarrow import table

    assert run(["report", "missing.parquet"]) == 3
    parquet.write_table(table({"path": ["a"]}), "other.parquet")
    assert run(["report", "other.parquet"]) == 4
    assert "is not a report of compactctl batch" in capsys.readouterr().err
    (tmp_path / "text.parquet").write_text("no Parquet at all")
    assert run(["report", "text.parquet"]) == 4
    batch("--report", "all.parquet")
    whole = Path("all.parquet").read_bytes()
    Path("torn.parquet").write_bytes(whole[: len(whole) // 2])
    assert run(["report", "torn.parquet"]) == 4


def test_an_input_is_not_merged_over(capsys: pytest.CaptureFixture[str]) -> None:
    batch("--report", "all.parquet")
    before = Path("all.parquet").read_bytes()
    assert run(["report", "all.parquet", "--merge", "./all.parquet"]) == 2
    assert Path("all.parquet").read_bytes() == before
    capsys.readouterr()


def test_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    batch("--report", "all.parquet")
    capsys.readouterr()
    assert run(["report", "all.parquet", "--top", "3"]) == 0
    shown = capsys.readouterr().out
    for title in ("Tokens by category", "Tokens by tool", "Size of the next request", "Projects"):
        assert f"\n{title}\n" in shown
    assert "1 file failed" in shown


def without_projects(*numbers: int) -> None:
    """Leave only conversations without a working folder, of so many messages each."""
    for path in Path("in").iterdir():
        path.unlink()
    for number in numbers:
        messages = [{"role": "user", "content": "word " * 400}] * number
        lines = "".join(f"{json.dumps(each)}\n" for each in messages)
        write(Path(f"in/{number}.jsonl"), lines.encode())


def test_files_without_a_project_are_compared_too(capsys: pytest.CaptureFixture[str]) -> None:
    without_projects(5)
    assert batch("--report", "old.parquet") == 0
    assert batch("--baseline", "old.parquet") == 0
    assert "nothing grew by more than 10.0% (1 project compared)" in capsys.readouterr().err
    without_projects(20)
    assert batch("--baseline", "old.parquet", "--report", "new.parquet") == 1
    assert "files without a project: the median request grew from" in capsys.readouterr().err
    code, found = report(capsys, "new.parquet", "--baseline", "old.parquet")
    assert (code, [each["project"] for each in found["growth"]]) == (1, [""])


def test_where_nothing_can_be_compared_nothing_is_passed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("in/binary.jsonl").unlink()
    batch("--report", "projects.parquet")
    without_projects(5)
    batch("--report", "none.parquet")
    capsys.readouterr()
    assert batch("--baseline", "projects.parquet") == 1
    assert "nothing could be compared: no project is both here" in capsys.readouterr().err
    assert run(["report", "none.parquet", "--baseline", "projects.parquet"]) == 1
    out = capsys.readouterr().out
    assert "nothing could be compared" in out
    assert "files without a project: not in the baseline" in out
    assert "/home/dev" in out
    assert "nothing grew" not in out


def test_what_is_counted_with_something_else_cannot_be_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    without_projects(5)
    batch("--report", "old.parquet", "--counter", "chars/4")
    batch("--report", "new.parquet", "--counter", "chars/3")
    code, found = report(capsys, "new.parquet", "--baseline", "old.parquet")
    assert (code, found["growth"], found["comparedProjects"]["recounted"]) == (1, [], [""])
    assert run(["report", "new.parquet", "--baseline", "old.parquet"]) == 1
    assert "counted with a different counter than the baseline" in capsys.readouterr().out


def test_what_was_not_read_in_full_may_have_grown(capsys: pytest.CaptureFixture[str]) -> None:
    without_projects(5)
    batch("--report", "old.parquet")
    for path in Path("in").iterdir():
        first, *lines = path.read_text().splitlines()
        record = {**json.loads(first), "mystery": [{"x": "word " * 60_000}]}
        path.write_text("\n".join((json.dumps(record), *lines)) + "\n")
    capsys.readouterr()
    assert batch("--report", "new.parquet", "--baseline", "old.parquet") == 1
    assert "text was not read, so growth is unknown" in capsys.readouterr().err
    code, summary = report(capsys, "new.parquet", "--baseline", "old.parquet")
    assert (code, summary["comparedProjects"]["incomplete"]) == (1, [""])


def test_an_empty_baseline_passes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for path in Path("in").iterdir():
        path.unlink()
    Path("in/empty.txt").write_text("no transcript")
    batch("--report", "old.parquet", "--skip-unknown", "--include", "*.txt")
    without_projects(5)
    batch("--report", "new.parquet")
    code, found = report(capsys, "new.parquet", "--baseline", "old.parquet")
    assert (code, found["comparedProjects"]["added"]) == (1, [""])
