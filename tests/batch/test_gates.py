"""What a batch fails for: each gate, alone and beside files that cannot be read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from batch.inputs import transcript, write

from compactctl.__main__ import run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(Path("in/good.jsonl"))
    return tmp_path


def cut_off() -> None:
    """Write a session that ends in a call."""
    lines = transcript().splitlines(keepends=True)
    write(Path("in/orphan.jsonl"), b"".join(lines[:-2]))


def failing() -> None:
    """Write a session in which a tool fails."""
    record = [json.loads(line) for line in transcript().splitlines()]
    record[2]["message"]["content"][0]["is_error"] = True
    write(Path("in/error.jsonl"), b"".join(json.dumps(each).encode() + b"\n" for each in record))


def torn() -> None:
    """Write a session with a line that nothing can read."""
    write(Path("in/torn.jsonl"), transcript() + b'{"type": "user", "mess\n' + transcript(topic="b"))


def statuses(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, str]]:
    code = run(["batch", "in", "-j", "1", "--json", *options])
    document = json.loads(capsys.readouterr().out)
    assert document["exitCode"] == code
    return code, {Path(row["path"]).stem: row["status"] for row in document["files"]}


@pytest.mark.parametrize(
    ("spoil", "flag"), [(cut_off, "orphans"), (failing, "errors"), (torn, "opaque")]
)
def test_each_flag_fails_the_files_that_have_it(
    spoil: Callable[[], None], flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil()
    code, found = statuses(capsys, "--fail-on", flag)
    assert code == 1
    assert sorted(found.values()) == ["flagged", "ok"]
    assert found["good"] == "ok"
    others = {"orphans", "errors", "opaque", "over-window"} - {flag}
    assert statuses(capsys, "--fail-on", ",".join(others))[0] == 0
    assert statuses(capsys)[0] == 0


def test_over_the_window(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("in/large.jsonl"), transcript(60))
    code, found = statuses(capsys, "--fail-on", "over-window", "--window", "8k")
    assert (code, found) == (1, {"good": "ok", "large": "flagged"})


def test_over_so_many_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("in/large.jsonl"), transcript(60))
    code, found = statuses(capsys, "--fail-over-tokens", "5k")
    assert (code, found) == (1, {"good": "ok", "large": "over"})
    assert statuses(capsys, "--fail-over-tokens", "1m")[0] == 0


def test_a_gate_hides_behind_no_other_gate(capsys: pytest.CaptureFixture[str]) -> None:
    """Terminal, JUnit, Markdown and annotations tell all that a file fails for, and no more."""
    torn()
    failing()
    gates = ("--fail-over-tokens", "1", "--fail-on", "opaque", "--report", "report.md")
    code = run(["batch", "in", "-j", "1", *gates, "--junit", "junit.xml", "--annotate", "github"])
    assert code == 1
    told = capsys.readouterr().err
    assert "3 files over the limit of 1 tokens" in told
    assert "1 file with opaque" in told
    for shown in (told, Path("junit.xml").read_text(), Path("report.md").read_text()):
        lines = [line for line in shown.splitlines() if "the next request holds" in line]
        assert len(lines) == 3
        assert sum("found: opaque" in line.replace("\\", "") for line in lines) == 1
        assert "errors" not in "".join(lines)


def test_a_file_that_fails_hides_behind_no_gate(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("in/binary.jsonl"), bytes(range(256)))
    cut_off()
    code, found = statuses(capsys, "--fail-on", "orphans,errors,opaque")
    assert (code, found["binary"], found["orphan"]) == (4, "failed", "flagged")


def test_a_compaction_that_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--stages", "dedup", "--target", "200", "--require-fit", "--out", "out")
    code, found = statuses(capsys, *options)
    assert (code, found) == (5, {"good": "failed"})
    assert not list(Path("out").rglob("*.jsonl"))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_that_takes_too_long(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("in/stuck.jsonl"), transcript(20, topic="stuck"))
    ask = "sh -c 'grep -q stuck && exec sleep 600; echo nothing'"
    options = ("--timeout", "6", "-j", jobs, "--stages", "summarize", "--target", "100")
    code = run(["batch", "in", "--json", *options, "--keep-turns", "0", "--summarizer-cmd", ask])
    found = {Path(row["path"]).stem: row for row in json.loads(capsys.readouterr().out)["files"]}
    assert code == 75
    assert found["good"]["status"] == "ok"
    assert found["stuck"]["error"] == (
        "in/stuck.jsonl: took longer than 6 s; give it more with --timeout"
    )


def test_a_flag_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["batch", "in", "--fail-on", "orphans,opaq"]) == 2
    assert (
        "'opaq' is none of opaque, orphans, errors, over-window, usage" in capsys.readouterr().err
    )
