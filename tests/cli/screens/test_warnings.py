"""Options that come to nothing are told, on standard error and in JSON."""

import shlex
from pathlib import Path

import pytest
from cli.asking import Ask, Sample


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        (("--pin", "no such words"), "--pin no such words: matches no message"),
        (("--protect-tool", "Nope"), "--protect-tool Nope: no message calls this tool; there are"),
        (("--stages", "dedup", "--prune-min-savings", "5"), "options of prune have no effect"),
    ],
)
def test_an_option_without_effect_is_told(
    ask: Ask, desk: Path, options: tuple[str, ...], warning: str
) -> None:
    outcome = ask("compact", desk, "-n", *options)
    assert outcome.code == 0
    assert f"warning: {warning}" in outcome.err
    assert warning not in outcome.out
    document = ask("compact", desk, "-n", "--json", *options).json
    assert any(each.startswith(warning) for each in document["warnings"])


@pytest.mark.parametrize(
    "options",
    [
        ("--pin", "Holvenness"),
        ("--protect-tool", "LIST_BERTHS"),
        ("--stages", "prune", "--prune-min-savings", "5"),
    ],
)
def test_an_option_with_effect_is_not(ask: Ask, desk: Path, options: tuple[str, ...]) -> None:
    assert "warning" not in ask("compact", desk, "-n", *options).err


def test_a_pin_by_id_has_an_effect(ask: Ask, desk: Path) -> None:
    found = ask("view", desk, "--json").json
    assert "warning" not in ask("compact", desk, "-n", "--pin", found["messages"][3]["id"]).err


def test_a_pinned_message_stays_and_the_explanation_says_why(ask: Ask, desk: Path) -> None:
    options = ("--target", "5k", "-n", "--explain")
    assert "pinned by" not in ask("compact", desk, *options).out
    assert "kept" in ask("compact", desk, *options, "--pin", "Sundley").out
    assert 'pinned by "Sundley"' in ask("compact", desk, *options, "--pin", "Sundley").out


def test_lines_carried_without_understanding_are_told(ask: Ask, sample: Sample) -> None:
    outcome = ask("compact", sample("damaged"), "-n")
    assert "warning: line 3: NUL padding; kept unchanged" in outcome.err
    assert "3 more lines not recognized, kept unchanged" in outcome.err


def test_a_full_context_is_told_what_to_do(ask: Ask, desk: Path) -> None:
    outcome = ask("stats", desk, "--window", "20k")
    assert outcome.out.endswith(f"savings   compactctl compact -n {shlex.quote(str(desk))}\n")
    assert outcome.code == 0


def test_a_small_context_is_told_how_to_compact_it_anyway(ask: Ask, desk: Path) -> None:
    advice = "use --stages or a lower --target to compact anyway\n"
    nothing = "14,225 tokens in the next request: nothing was changed\n"
    small, idle = ask("compact", desk).out, ask("compact", desk, "--stages", "prune").out
    assert small.startswith(nothing)
    assert idle.startswith(nothing)
    assert (advice in small, advice in idle) == (True, False)
