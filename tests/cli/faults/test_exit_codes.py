"""Every exit code, reached the way a user reaches it."""

import re
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from cli.asking import Ask, Sample, archives
from pyarrow import parquet

from compactctl.stages import dedup
from compactctl.store.archive.archive import archive_folder


def test_done_is_0(ask: Ask, desk: Path) -> None:
    assert ask("stats", desk).code == 0


def test_a_package_that_a_command_needs_and_that_is_not_there_is_2(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    outcome = ask("client", "mcp")
    assert (outcome.code, outcome.out) == (2, "")
    assert "the MCP server needs the package mcp, version 2; type: " in outcome.err


def test_a_gate_that_finds_something_is_1(ask: Ask, desk: Path) -> None:
    assert ask("stats", desk, "--fail-over", "0.1").code == 1
    assert ask("batch", desk, "--fail-over", "0.1").code == 1


def test_a_gate_that_finds_nothing_is_0(ask: Ask, desk: Path) -> None:
    assert ask("stats", desk, "--fail-over", "0.9").code == 0


def test_a_gate_lets_pass_what_is_as_large_as_it_allows(ask: Ask, desk: Path) -> None:
    tokens = ask("stats", desk, "--json").json["estimatedInputTokens"]
    gate = ("stats", desk, "--fail-base", "window", "--fail-over", "100%", "--max-tokens", "1")
    assert ask(*gate, "--window", str(tokens)).code == 0
    assert ask(*gate, "--window", str(tokens - 1)).code == 1


def test_the_gate_says_what_it_found_on_standard_error(ask: Ask, desk: Path) -> None:
    outcome = ask("stats", desk, "--json", "--fail-over", "0.1")
    assert "more than 10.0%" in outcome.err
    assert "more than" not in outcome.out


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("statistics",),
        ("prompt",),
        ("stats", "FILE", "--nope"),
        ("stats", "FILE", "--counter", "nope"),
        ("stats", "FILE", "--window", "0"),
        ("stats", "FILE", "--format", "nope"),
        ("compact", "FILE", "--stages", "nope"),
        ("compact", "FILE", "--target", "nope"),
        ("compact", "FILE", "--pin", "("),
        ("compact", "FILE", "--in-place", "-o", "other.jsonl"),
        ("compact", "FILE", "-o", "-", "--layout", "split"),
        ("compact", "FILE", "-o", "-", "--layout", "inline", "--json"),
        ("compact", "FILE", "--truncate-fraction", "2"),
        ("compact", "FILE", "--summarize-keep-min", "-1"),
        ("compact", "FILE", "--summarizer-timeout", "0"),
        ("batch", "FILE", "--timeout", "0"),
        ("stats", "FILE", "--chars-per-token", "0"),
        ("compact", "-", "--in-place"),
        ("view", "FILE", "--json", "--jsonl"),
        ("rewind", "FILE", "--all", "--to", "x"),
        ("batch",),
        ("batch", "-"),
    ],
)
def test_a_usage_error_is_2(ask: Ask, desk: Path, arguments: tuple[str, ...]) -> None:
    given = [str(desk) if each == "FILE" else each for each in arguments]
    assert ask(*given, stdin=desk.read_bytes()).code == 2


@pytest.mark.parametrize(
    "command", ["stats", "compact", "view", "log", "rewind", "verify", "batch"]
)
def test_no_input_is_3(ask: Ask, tmp_path: Path, command: str) -> None:
    assert ask(command, tmp_path / "missing.jsonl").code == 3


@pytest.mark.parametrize("command", ["stats", "compact", "view", "log", "rewind", "batch"])
def test_input_that_is_not_understood_is_4(ask: Ask, tmp_path: Path, command: str) -> None:
    (tmp_path / "notes.txt").write_text("just\nsome\nnotes\n")
    assert ask(command, tmp_path / "notes.txt").code == 4


@pytest.mark.parametrize("command", ["stats", "compact", "batch"])
def test_opaque_lines_are_4_with_strict_only(ask: Ask, sample: Sample, command: str) -> None:
    damaged = sample("damaged")
    assert ask(command, damaged, "--strict").code == 4
    assert ask(command, damaged).code == 0


def test_a_context_over_its_target_is_5_with_require_fit_only(ask: Ask, desk: Path) -> None:
    assert ask("compact", desk, "--target", "200", "--require-fit", "-n").code == 5
    assert ask("compact", desk, "--target", "200", "-n").code == 0


def test_what_is_over_the_target_counts_what_every_request_has(ask: Ask, session: Path) -> None:
    asked = ("compact", session, "--stages", "dedup", "--target", "20k", "-n")
    report = ask(*asked).out
    request = _number(r"→ ([\d,]+) tokens in the next request", report)
    assert request - 20_000 == _number(r": ([\d,]+) over the target of 20,000", report)


def test_a_target_below_what_every_request_has_is_refused(ask: Ask, sample: Sample) -> None:
    session = sample("codex-session")
    before = sorted(session.parent.iterdir())
    for options in ((), ("-n",), ("-n", "--json"), ("--stages", "truncate")):
        outcome = ask("compact", session, "--target", "5k", *options)
        assert outcome.code == 5
        assert "5,000 tokens cannot be reached: 6," in outcome.err
        assert "use a larger --target, or --keep 30%" in outcome.err
    assert sorted(session.parent.iterdir()) == before
    assert ask("compact", session, "--keep", "10%", "-n").code == 0


def test_what_does_not_fit_comes_with_a_way_on(ask: Ask, desk: Path) -> None:
    report = ask("compact", desk, "--target", "300", "-n").out
    assert re.search(
        r": [\d,]+ over the target of 300\n.*\nstopped at [\d,]+ tokens, above the 300 asked for: "
        r"the rest must stay; --keep-turns 0 or other --stages free more; --explain shows why",
        report,
    )


def test_the_way_on_is_none_that_was_taken_already(ask: Ask, desk: Path) -> None:
    report = ask("compact", desk, "--target", "300", "-n", "--keep-turns", "0").out
    assert "; other --stages free more; --explain" in report


@pytest.mark.parametrize("option", ["--counter", "--profile"])
def test_a_name_that_is_not_there_is_told_with_its_option(
    ask: Ask, desk: Path, option: str
) -> None:
    outcome = ask("compact", desk, "-n", option, "nope")
    assert outcome.code == 2
    assert option in outcome.err.partition("nope")[0]


def test_without_its_archive_a_rewind_is_6(ask: Ask, compacted: Path) -> None:
    shutil.rmtree(archive_folder(compacted))
    assert ask("rewind", compacted).code == 6


def test_without_a_compaction_there_is_nothing_to_rewind(ask: Ask, desk: Path) -> None:
    assert ask("rewind", desk).code == 0


def test_an_unreadable_archive_is_6(ask: Ask, compacted: Path) -> None:
    (archive,) = archives(compacted)
    archive.write_bytes(b"no parquet")
    assert ask("rewind", compacted).code == 6


def test_a_tampered_archive_is_7(ask: Ask, compacted: Path) -> None:
    (archive,) = archives(compacted)
    _change_a_line(archive)
    assert ask("rewind", compacted).code == 7


def test_a_transcript_edited_since_is_8(ask: Ask, compacted: Path) -> None:
    compacted.write_bytes(compacted.read_bytes().replace(b"Holvenness", b"HOLVENNESS"))
    assert ask("rewind", compacted).code == 8


def test_a_bug_is_70(ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedup, "_FINDERS", {})
    assert ask("compact", desk, "--stages", "dedup").code == 70


def test_nesting_that_is_too_deep_is_4(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("compactctl.commands.inspect.stats.scan", fails)
    outcome = ask("stats", desk)
    assert outcome.code == 4
    assert "nested too deeply" in outcome.err


def test_ctrl_c_is_130(ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compactctl.commands.inspect.stats.scan", _interrupted)
    outcome = ask("stats", desk)
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == "compactctl: interrupted; no file is left half-written\n"


def test_the_worst_failure_of_a_batch_is_its_code(ask: Ask, desk: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text("notes\n")
    outcome = ask("batch", desk, tmp_path / "missing.jsonl", tmp_path / "notes.jsonl")
    assert outcome.code == 4


def _change_a_line(archive: Path) -> None:
    table = parquet.read_table(archive)
    lines = table["raw"].to_pylist()
    lines[0] = lines[0].replace(b"harbour", b"HARBOUR")
    place = table.column_names.index("raw")
    field = table.field(place)
    parquet.write_table(table.set_column(place, field, pa.array(lines, field.type)), archive)


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found is not None
    return int(found[1].replace(",", ""))
