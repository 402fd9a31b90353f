"""How much room a context leaves, in a person's terms, and what gates refer to."""

import re
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample
from cli.screens.terminal import run_on_terminal

from compactctl.views.terminal.tables import cell_width


def document(ask: Ask, *arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = ask(*arguments, "--json").json
    return found


def test_the_answer_is_the_window_and_the_clients_own_compaction(ask: Ask, sample: Sample) -> None:
    first, second, *_ = ask("stats", sample("codex-session")).out.splitlines()
    assert re.fullmatch(r"3\d,\d{3} of 258,400 tokens \(13%\): fits", first)
    assert re.fullmatch(r"Codex compacts at 244,800: in 21\d,\d{3} tokens", second)
    details = ask("stats", sample("codex-session"), "--details").out
    assert re.search(r"\nfor the answer +128,000 tokens beside the window\n", details)


def test_each_of_them_is_a_line_of_60_columns(sample: Sample) -> None:
    path = sample("claude-code-session")
    shown = run_on_terminal(60, path.parent, "stats", path.name, "--window", "1m", NO_COLOR="1")
    first, second, *_ = shown.splitlines()
    assert max(map(cell_width, (first, second))) <= 60
    assert first.endswith(" of 1,000,000 tokens (23%): fits")
    assert second.startswith("Claude Code compacts at 967,000: in ")


def test_a_format_of_no_client_is_judged_by_the_reserve(ask: Ask, sample: Sample) -> None:
    path = sample("openai-chat")
    assert " compacts at " not in ask("stats", path).out
    details = ask("stats", path, "--details").out
    assert "\noutput reserve " in details
    assert re.search(r"\navailable input +83,200 tokens\n", details)
    full = ask("stats", path, "--window", "26k").out
    assert re.search(r"\n8\d% of the available input \(16,900\) is used\n", full)


def test_a_profile_brings_its_own_reserve(ask: Ask, sample: Sample) -> None:
    shown = ask("stats", sample("codex-session"), "--profile", "neurolink", "--details").out
    assert re.search(r"\navailable input +194,400 tokens\n", shown)
    assert "\nCodex compacts at " not in shown


def test_only_above_the_window_it_does_not_fit(ask: Ask, sample: Sample) -> None:
    path = sample("openai-chat")
    tokens = document(ask, "stats", path)["estimatedInputTokens"]
    full, smaller = str(tokens), str(tokens - 1)
    for command in ("stats", "check"):
        found = document(ask, command, path, "--window", full)
        assert (found["level"], found["fit"]["fits"], found["withinBudget"]) == (
            "over",
            True,
            False,
        )
        shown = ask(command, path, "--window", full)
        assert "does not fit" not in shown.out + shown.err
        assert not document(ask, command, path, "--window", smaller)["fit"]["fits"]
        assert "does not fit" in ask(command, path, "--window", smaller).out


def test_the_figures_are_in_the_documents(ask: Ask, sample: Sample) -> None:
    path = sample("codex-session")
    found = document(ask, "stats", path)
    tokens = found["estimatedInputTokens"]
    assert found["fit"] == document(ask, "check", path)["fit"]
    assert found["fit"] == {
        "fits": True,
        "windowLeftTokens": 258_400 - tokens,
        "windowForInput": True,
        "client": "Codex",
        "compactsAtTokens": 244_800,
        "clientWindowTokens": None,
        "untilCompactionTokens": 244_800 - tokens,
        "answerTokens": 128_000,
        "base": "client",
        "baseTokens": 244_800,
        "baseRatio": tokens / 244_800,
    }
    assert found["availableInputTokens"] == 194_400
    assert found["usageRatio"] == tokens / 194_400


# The next request is 13.3% of the window, 14.0% of where Codex compacts, 17.6% of what NeuroLink
# leaves for input.
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("0.135", 1),
        ("0.16", 0),
        ("0.135 --fail-base client", 1),
        ("0.135 --fail-base window", 0),
        ("0.13 --fail-base window", 1),
        ("0.16 --fail-base available", 1),
    ],
)
@pytest.mark.parametrize("gate", ["stats --fail-over", "check --trigger", "batch --fail-over"])
def test_what_gates_refer_to(ask: Ask, sample: Sample, gate: str, options: str, code: int) -> None:
    command, flag = gate.split()
    assert ask(command, sample("codex-session"), flag, *options.split()).code == code


@pytest.mark.parametrize(("options", "code"), [((), 1), (("--fail-base", "client"), 0)])
def test_with_a_profile_gates_refer_to_its_rule(
    ask: Ask, sample: Sample, options: tuple[str, ...], code: int
) -> None:
    path = sample("codex-session")
    asked = ("--profile", "neurolink", "--fail-over", "0.16", *options)
    assert ask("stats", path, *asked).code == code


def test_a_gate_says_what_it_refers_to(ask: Ask, sample: Sample) -> None:
    path = sample("codex-session")
    told = ask("stats", path, "--fail-over", "0.1").err
    assert "over the limit: 14.0% of where Codex compacts is more than 10.0%" in told
    told = ask("batch", path, sample("openai-chat"), "--fail-over", "0.1").err
    assert "10% of where its client compacts or the available input\n" in told


def test_levels_follow_the_client(ask: Ask, session: Path) -> None:
    counted = ("--counter", "o200k_base x1.18")
    tokens = document(ask, "stats", session, *counted)["estimatedInputTokens"]
    # 33,000 tokens of the window are left when Claude Code compacts.
    for share, level in ((0.5, "none"), (0.7, "info"), (0.85, "warning"), (0.95, "critical")):
        window = str(int(tokens / share) + 33_000)
        for command in ("stats", "check"):
            assert document(ask, command, session, *counted, "--window", window)["level"] == level
        rows = document(ask, "batch", session, *counted, "--window", window)["files"]
        assert [(row["level"], row["base"]) for row in rows] == [(level, "client")]
