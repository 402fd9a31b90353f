"""What a batch fails for: each gate, alone and beside files that cannot be read."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batch.inputs import transcript, write
from formats.confusion.shapes import (
    ANTHROPIC_REQUEST,
    CANDIDATES,
    COMPLETION,
    CONVERSE_REQUEST,
    GEMINI_REQUEST,
    MESSAGE,
    OPENAI_REQUEST,
    RESPONSE,
    RESPONSES_REQUEST,
    Record,
    lines,
    say,
)

from compactctl.__main__ import run
from compactctl.commands.batch.batch import BatchOptions, batch
from compactctl.commands.batch.columns import row_values
from compactctl.commands.reading.discover import FileChoice


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(Path("in/good.jsonl"))
    return tmp_path


def cut_off() -> None:
    """Write a session that ends in a call."""
    records = transcript().splitlines(keepends=True)
    write(Path("in/orphan.jsonl"), b"".join(records[:-2]))


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


_FUNCTION = {"name": "read_log", "arguments": "{}"}
_CALL = say("assistant", None, tool_calls=[{"id": "c9", "type": "function", "function": _FUNCTION}])
_USE = {"type": "tool_use", "id": "t9", "name": "read_log", "input": {}}
_ITEM = {"type": "function_call", "call_id": "c9", "name": "read_log", "arguments": "{}"}
_PARTS = {"role": "model", "parts": [{"functionCall": {"name": "read_log", "args": {}}}]}
_TOOL_USE = {"toolUse": {"toolUseId": "t9", "name": "read_log", "input": {}}}
ASKING: dict[str, tuple[Record, Record]] = {
    "openai-chat": (
        OPENAI_REQUEST, {**COMPLETION, "choices": [{"index": 0, "message": _CALL}]}),
    "anthropic-messages": (ANTHROPIC_REQUEST, {**MESSAGE, "content": [_USE]}),
    "openai-responses": (RESPONSES_REQUEST, {**RESPONSE, "output": [_ITEM]}),
    "gemini-api": (GEMINI_REQUEST, {**CANDIDATES, "candidates": [{"content": _PARTS}]}),
    "bedrock-converse": (
        CONVERSE_REQUEST, {"output": {"message": say("assistant", [_TOOL_USE])}}),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKING)
def test_a_call_in_a_logged_answer_is_no_orphan(name: str) -> None:
    """Its result is in the next request; any other request without it is one that was refused."""
    request, answer = ASKING[name]
    write(Path("in/log.jsonl"), lines({"request": request, "response": answer}))
    (row,) = batch(BatchOptions(files=FileChoice(paths=("in/log.jsonl",)), cached=False)).rows
    values = row_values(row)
    assert (values["format"], values["orphans"]) == (name, 0)
    assert {*values["tools"]} == {"read_log"}


@pytest.mark.parametrize("beside", [{}, {"response": COMPLETION}], ids=["asked", "answered"])
def test_a_call_in_a_request_without_its_result_is_an_orphan(beside: Record) -> None:
    request = {"messages": [say("user", "Look."), _CALL]}
    write(Path("in/log.jsonl"), lines({"request": request, **beside}))
    (row,) = batch(BatchOptions(files=FileChoice(paths=("in/log.jsonl",)), cached=False)).rows
    assert row_values(row)["orphans"] == 1


def test_over_the_window(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("in/large.jsonl"), transcript(60))
    code, found = statuses(capsys, "--fail-on", "over-window", "--window", "8k")
    assert (code, found) == (1, {"good": "ok", "large": "over limit"})


def test_over_so_many_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("in/large.jsonl"), transcript(60))
    code, found = statuses(capsys, "--fail-over-tokens", "5k")
    assert (code, found) == (1, {"good": "ok", "large": "over limit"})
    assert statuses(capsys, "--fail-over-tokens", "1m")[0] == 0


def test_a_gate_hides_behind_no_other_gate(capsys: pytest.CaptureFixture[str]) -> None:
    """Terminal, JUnit, Markdown and annotations tell all that a file fails for, and no more."""
    torn()
    failing()
    gates = ("--fail-over-tokens", "1", "--fail-on", "opaque", "--report", "report.md")
    code = run(["batch", "in", "-j", "1", *gates, "--junit", "junit.xml", "--annotate", "github"])
    assert code == 1
    told = capsys.readouterr().err
    assert "3 files over the limit: 1 tokens" in told
    assert "1 file flagged: opaque in 1" in told
    for shown in (told, Path("junit.xml").read_text(), Path("report.md").read_text()):
        lines = [line for line in shown.splitlines() if "over the limit of 1" in line]
        assert len(lines) == 3
        assert sum("opaque (lines or" in line.replace("\\", "") for line in lines) == 1
        assert "errors" not in "".join(lines)


def test_a_file_that_cannot_be_read_hides_no_gate_and_is_no_success(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(Path("in/binary.jsonl"), bytes(range(256)))
    cut_off()
    assert run(["batch", "in", "-j", "1", "--fail-on", "orphans,errors,opaque"]) == 1
    assert "exit code 1; not returned: 4 from 1 file\n" in capsys.readouterr().err
    code, found = statuses(capsys, "--fail-on", "orphans,errors,opaque")
    assert (code, found["binary"], found["orphan"]) == (1, "failed", "flagged")
    code, found = statuses(capsys, "--fail-on", "errors,opaque")
    assert (code, found["binary"], found["orphan"]) == (4, "failed", "ok")


def row_of(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    code = run(["batch", "in", "-j", "1", "--no-cache", "--json", *options])
    (row,) = json.loads(capsys.readouterr().out)["files"]
    return code, row


@pytest.mark.parametrize("target", ["150", "200", "300"])
@pytest.mark.parametrize("stages", ["dedup", "truncate", "dedup,prune"])
@pytest.mark.parametrize("out", [(), ("--out", "out")], ids=["measured", "written"])
def test_a_compaction_that_misses_its_target_is_not_ok(
    stages: str, target: str, out: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--stages", stages, "--keep-turns", "3", "--target", target)
    code, row = row_of(capsys, *options, *out)
    assert row["tokensAfter"] > int(target) == row["target"]
    assert (code, row["status"], row["verdicts"][0]) == (0, "over target", "over target")
    assert row_of(capsys, *options, "--require-fit")[0] == 5


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (("--window", "500"), 5),
        (("--window", "5k"), 0),
        ({"COMPACTCTL_TARGET": "200"}, 5),
        ({"COMPACTCTL_TARGET": "5k"}, 0),
        ('target = "200"', 5),
        ('[batch]\ntarget = "0.1%"', 5),
        ('[batch]\ntarget = "50%"', 0),
    ],
)
def test_what_is_only_measured_must_fit_too(
    source: tuple[str, ...] | dict[str, str] | str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever sets the size and the gate: the command line, a variable, or a settings file."""
    options = source if isinstance(source, tuple) else ()
    Path("compactctl.toml").write_text(source if isinstance(source, str) else "")
    for name, value in source.items() if isinstance(source, dict) else ():
        monkeypatch.setenv(name, value)
    found, row = row_of(capsys, *options, "--require-fit")
    assert (found, row["exitCode"]) == (code, code)
    assert row["gates"] == (["require-fit"] if code else [])
    assert row["status"] == ("ok" if not code else "over limit" if options else "over target")
    monkeypatch.setenv("COMPACTCTL_REQUIRE_FIT", "1")
    assert row_of(capsys, *options)[0] == code


def test_without_stages_there_is_nothing_to_audit(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["batch", "in", "--require-audit"]) == 2
    assert "no stage runs" in capsys.readouterr().err
    assert run(["batch", "in", "--require-audit", "--stages", "dedup"]) == 0


def test_a_cached_row_knows_the_size_that_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    for target, code in (("200", 5), ("5k", 0), ("200", 5)):
        Path("compactctl.toml").write_text(f'target = "{target}"\n')
        assert statuses(capsys, "--require-fit")[0] == code


@pytest.mark.parametrize("share", ["0", "50%", "100%", "300%", "10000000%"])
def test_nothing_fits_where_there_is_no_room(
    share: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--window", "8192", "--max-tokens", "8192", "--fail-over", share)
    code, row = row_of(capsys, *options)
    assert (code, row["status"], row["limit"]) == (1, "over limit", 0)
    assert run(["stats", "in/good.jsonl", *options, "--fail-base", "available"]) == 1
    assert "but the available input is 0" in capsys.readouterr().err


def test_what_is_larger_than_the_window_is_not_ok(capsys: pytest.CaptureFixture[str]) -> None:
    code, row = row_of(capsys, "--window", "500")
    assert (code, row["status"], row["limit"]) == (0, "over limit", 500)
    assert row_of(capsys, "--window", "500", "--fail-over-tokens", "5k")[1]["status"] == "ok"


def test_a_baseline_that_fails_is_shown_to_ci(capsys: pytest.CaptureFixture[str]) -> None:
    run(["batch", "in", "--report", "base.parquet"])
    write(Path("in/good.jsonl"), transcript(60))
    options = ("--baseline", "base.parquet", "--junit", "j.xml", "--annotate", "github")
    assert run(["batch", "in", *options]) == 1
    assert "::error title=compactctl batch::--baseline: " in capsys.readouterr().err
    assert 'failures="1"' in Path("j.xml").read_text()


def test_a_compaction_that_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--stages", "dedup", "--target", "200", "--require-fit", "--out", "out")
    code, found = statuses(capsys, *options)
    assert (code, found) == (5, {"good": "failed"})
    assert not list(Path("out").rglob("*.jsonl"))


@pytest.mark.long
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
        "'opaq' must be one of opaque, refused, errors, over-window, usage"
        in capsys.readouterr().err
    )


def test_what_is_refused_in_a_log_is_named_by_its_line_in_the_file() -> None:
    """A conversation is a row of its own, but its line is one of the file."""
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]} for text in ("", "b")]
    request = {"model": "claude-opus-4-5", "max_tokens": 9, "system": "s", "messages": messages}
    write(Path("log/log.jsonl"), b"".join(json.dumps(request).encode() + b"\n" for _ in range(3)))
    result = batch(BatchOptions(files=FileChoice(paths=("log",)), cached=False))
    assert [row.faults for row in result.rows] == [(f"text-empty:{line}",) for line in (1, 2, 3)]


def test_names_of_fields_and_files_begin_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    forged = "1 file: 1 ok"
    request = {"messages": [{"role": "user", "content": "hi"}]}
    record = {**request, f"a`\n{forged}\n": [{"x": "word " * 9_000}]}
    write(Path("in/unread.jsonl"), json.dumps(record).encode() + b"\n")
    write(Path(f"in/a\n{forged}\n.jsonl"), json.dumps(request).encode() + b"\n")
    for runner in ("github", "azure", "gitlab"):
        assert run(["batch", "in", "--fail-over-tokens", "1", "--annotate", runner]) == 1
        shown = capsys.readouterr()
        assert not any(line.startswith(forged) for line in f"{shown.out}{shown.err}".splitlines())


@pytest.mark.parametrize("window", [300, 500, 700, 900, 1_100, 8_000])
@pytest.mark.parametrize(
    "options", [("--stages", "dedup"), ("--stages", "distill"), ("--target", "500"), ()]
)
def test_the_verdict_about_a_file_is_that_of_compact_or_stats(
    capsys: pytest.CaptureFixture[str], window: int, options: tuple[str, ...]
) -> None:
    sizes = ("--window", f"{window}", "--max-tokens", f"{window // 2}")
    arguments = ("in/good.jsonl", *sizes, "--json", *options)
    run(["compact", "-n", *arguments] if options else ["stats", *arguments])
    alone = json.loads(capsys.readouterr().out)
    run(["batch", "--no-cache", *arguments])
    (row,) = json.loads(capsys.readouterr().out)["files"]
    assert row["verdicts"] == alone["verdicts"]


@pytest.mark.parametrize("gate", [("--fail-over-tokens", "500"), ("--fail-over", "0.5%")])
def test_the_next_command_gets_a_file_past_its_gate(
    capsys: pytest.CaptureFixture[str], gate: tuple[str, ...]
) -> None:
    write(Path("in/good.jsonl"), transcript(exchanges=30))
    assert run(["batch", "in", *gate]) == 1
    (command,) = [line for line in capsys.readouterr().out.splitlines() if "compact in/" in line]
    _, _, *arguments = shlex.split(command)
    assert run(arguments) == 0
    assert run(["batch", "in/good.compacted.jsonl", *gate]) == 0
