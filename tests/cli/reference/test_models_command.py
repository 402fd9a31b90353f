"""``compactctl show models`` and ``--windows``."""

from pathlib import Path

import pytest
from cli.asking import Ask, Sample
from cli.screens.terminal import run_on_terminal

from compactctl.views.terminal.tables import cell_width


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "windows.toml"
    path.write_text('"gpt-5" = "64k"\n"mine" = {window = 32_000, counter = "chars/3"}\n')
    return path


def test_every_row_is_listed(ask: Ask) -> None:
    shown = ask("show", "models").out
    for row in ("claude-opus-4.5", "gpt-4.1 ", "huggingface/"):
        assert f"\n{row}" in shown
    assert "1,047,576" in shown


def test_clients_are_listed_with_rule_source_and_date(ask: Ask) -> None:
    shown = ask("show", "models").out
    assert "\nClaude Code before 2.1.21 " in shown
    assert "\nCodex " in shown
    assert "2026-08: openai/codex" in shown


@pytest.mark.parametrize("width", [60, 80])
def test_the_table_fits_a_terminal(tmp_path: Path, width: int) -> None:
    lines = run_on_terminal(width, tmp_path, "models", NO_COLOR="1").splitlines()
    assert len(lines) > 100
    assert [line for line in lines if cell_width(line) > width] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gpt-4.1-2025-04-14", ("its name: gpt-4.1", "1,047,576", "983,576")),
        ("grok-4.9", ("the beginning of its name: grok-4; this model itself is not listed",)),
        ("claude-opus-4-8", ("1,000,000 tokens", "its name: claude-opus-4.8")),
        ("claude-opus-4-6", ("200,000", "1,000,000 once a larger request was answered")),
        ("gpt-5.3-codex", ("272,000 tokens for input alone",)),
        ("anthropic/new", ("its provider: anthropic", "200,000", "136,000")),
        ("none-such", ("unknown models", "128,000", "83,200")),
        ("gpt5", ("did you mean gpt-5?", "the default for unknown models")),
    ],
)
def test_how_a_name_is_looked_up(ask: Ask, name: str, words: tuple[str, ...]) -> None:
    outcome = ask("show", "models", name)
    assert outcome.code == 0
    assert [word for word in words if word not in outcome.out] == []


def test_an_unlisted_model_is_never_a_silent_default(ask: Ask, sample: Sample) -> None:
    codex = sample("codex-session")
    for command in (("check",), ("stats",), ("lab", "simulate", "--profile", "default")):
        outcome = ask(*command, codex, "--model", "gpt5")
        assert outcome.err == (
            "warning: --model gpt5 is not a listed model: a window of 128,000 tokens is assumed,"
            " --window sets it; did you mean gpt-5?\n"
        )
        assert "warning" not in ask(*command, codex, "--model", "gpt5", "--window", "9k").err
    assert "warning" not in ask("stats", codex, "--model", "grok-4.9").err
    found = ask("stats", codex, "--model", "grok-4.9", "--json").json
    assert not found["modelKnown"]
    assert found["windowSource"] == (
        "grok-4.9, --model; not a listed model, inferred from the beginning of its name, grok-4"
    )


def test_the_documents(ask: Ask) -> None:
    listed = ask("show", "models", "--json").json
    assert listed["resolved"] is None
    rows = {row["match"]: row for row in listed["models"]}
    assert rows["gpt-4"]["windowTokens"] == 8_192
    assert rows["claude-opus-4.6"]["longerWindowTokens"] == 1_000_000
    assert rows["gpt-5-codex"]["windowForInput"]
    assert {row["client"] for row in listed["clients"]} >= {"Claude Code", "Codex", "OpenCode"}
    assert all(row["date"] and row["source"] for row in listed["windowSources"])
    found = ask("show", "models", "gpt-4o", "--json").json
    assert found["models"] == []
    assert found["resolved"]["availableInputTokens"] == 83_200
    assert found["resolved"]["exactness"] == "exact"


def test_ones_own_table_comes_first(ask: Ask, table: Path) -> None:
    listed = ask("show", "models", "--json", "--windows", table).json["models"]
    assert [row["match"] for row in listed[:2]] == ["gpt-5", "mine"]
    shown = ask("show", "models", "mine-7b", "--windows", table).out
    assert "your own table: mine in windows.toml" in shown
    assert "chars/3 (estimate)" in shown


def test_ones_own_table_is_used_for_measuring(ask: Ask, sample: Sample, table: Path) -> None:
    codex = sample("codex-session")
    arguments = ("stats", codex, "--json", "--windows", table)
    found = ask(*arguments).json
    assert found["windowTokens"] == 64_000
    assert found["windowSource"] == "'gpt-5' in windows.toml"
    found = ask(*arguments, "--model", "mine").json
    assert (found["windowTokens"], found["counter"]) == (32_000, "chars/3")
    found = ask(*arguments, "--window", "9k", "--counter", "bytes/4").json
    assert (found["windowTokens"], found["counter"]) == (9_000, "bytes/4")


def test_json_will_do_as_well(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "windows.json"
    path.write_text('{"mine": {"window": "32k"}}')
    assert "32,000" in ask("show", "models", "mine", "--windows", path).out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"mine = ", "windows.toml: is neither TOML nor JSON"),
        (b"{", "windows.toml: is neither TOML nor JSON"),
        (b"[1]", "windows.toml: is"),
        (b"\xff\xfe", "windows.toml: is neither TOML nor JSON"),
        (b'gpt-4.1 = "1m"', "windows.toml: 'gpt-4' has no key '1'"),
        (b'mine = {counter = "nope"}', "windows.toml: 'mine': counter: no token counter"),
    ],
)
def test_a_table_that_means_nothing_is_2(
    ask: Ask, tmp_path: Path, desk: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(content)
    for arguments in (("models",), ("stats", desk), ("batch", desk)):
        outcome = ask(*arguments, "--windows", path)
        assert (outcome.code, outcome.out) == (2, "")
        assert words in outcome.err
        assert outcome.err.count("\n") == 1


def test_a_table_that_is_not_there_is_3(ask: Ask, tmp_path: Path) -> None:
    assert ask("show", "models", "--windows", tmp_path / "none.toml").code == 3
    assert ask("show", "models", "--windows", "-").code == 2
