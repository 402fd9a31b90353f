"""How much of a conversation is kept, as a share of its own tokens."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from formats.copilot_cli import sessions as copilot
from formats.jsonl import write_lines

from compactctl import compact_messages
from compactctl.tokens.budget import parse_share


def kept(ask: Ask, path: Path, *arguments: str) -> dict[str, Any]:
    found = ask("compact", path, "--json", "-n", *arguments)
    assert found.code == 0, found.err
    document: dict[str, Any] = found.json
    return document


def part(ask: Ask, path: Path, share: float) -> int:
    """Return the system prompt's tokens and this share of all others."""
    stats = ask("stats", path, "--json").json
    system: int = stats["breakdown"]["system prompt"]
    return system + int(share * (stats["totalTokens"] - system))


@pytest.mark.parametrize("share", ["50%", "0.3", "20%"])
def test_it_comes_down_to_the_share(ask: Ask, desk: Path, share: str) -> None:
    document = kept(ask, desk, "--stages", "distill", "--keep", share)
    limit = part(ask, desk, parse_share(share))
    assert 0.92 * limit <= document["tokensAfter"] <= limit
    assert document["targetTokens"] == limit


def test_a_long_system_prompt_leaves_the_share_to_the_conversation(ask: Ask, desk: Path) -> None:
    first, _, rest = desk.read_text().partition("\n")
    prompt = json.loads(first)
    prompt["content"] = "Berths are given by length. " * 1_000
    desk.write_text(f"{json.dumps(prompt)}\n{rest}")
    document = kept(ask, desk, "--stages", "distill", "--keep", "20%", "--require-fit")
    assert document["targetTokens"] == part(ask, desk, 0.2) > 0.4 * document["tokensBefore"]


def test_the_same_again_finds_nothing_to_do(ask: Ask, desk: Path) -> None:
    share = ("--keep", "30%")
    before = kept(ask, desk, "--stages", "distill", *share)
    assert ask("compact", desk, "--stages", "distill", *share).code == 0
    compacted = desk.with_name(f"{desk.stem}.compacted.jsonl")
    document = kept(ask, compacted, *share, "--require-fit")
    assert document["tokensAfter"] == document["tokensBefore"]
    assert document["targetTokens"] == before["targetTokens"]


def test_the_same_again_where_the_client_wrote_the_system_prompt_anew(
    ask: Ask, tmp_path: Path
) -> None:
    text = "The berth at the north quay is free from dawn until the tide turns. " * 20
    events = copilot.session(
        copilot.event("session.start", sessionId="s", version=1, producer="copilot-agent"),
        copilot.prompt("Look at the logs."),
        *(
            event
            for n in range(12)
            for event in (copilot.called(f"c{n}"), copilot.answered(f"c{n}", f"{n} {text}"))
        ),
        copilot.event(
            "system.message", role="system", content="Berths are given by length. " * 500
        ),
    )
    path = write_lines(tmp_path / "session.jsonl", *events)
    options = ("--stages", "distill", "--keep", "30%", "--json")
    first = ask("compact", path, *options).json
    again = kept(ask, Path(first["output"]), *options)
    assert again["targetTokens"] == first["targetTokens"]
    assert not again["compacted"]


@pytest.mark.parametrize("window", ["1000", "64k"])
def test_a_share_larger_than_the_window_does_not_fit(ask: Ask, desk: Path, window: str) -> None:
    size = ("--stages", "distill", "--keep", "50%", "--window", window)
    document = kept(ask, desk, *size)
    fits = document["largestRequestTokens"] <= document["windowTokens"]
    assert document["fits"] == document["fit"]["fits"] == fits == (window == "64k")
    required = ask("compact", desk, *size, "-n", "--require-fit")
    in_batch = ask("batch", desk, *size, "--require-fit")
    assert required.code == in_batch.code == (0 if fits else 5)
    screen = ask("compact", desk, *size, "-n")
    assert (" over the context window of 1,000\n" in screen.out) != fits
    messages = [json.loads(line) for line in desk.read_text().splitlines()]
    made = compact_messages(messages, stages=["distill"], keep=0.5, window=window)
    assert made.fits == fits


@pytest.mark.parametrize("share", ["30", "0", "120%", "-1", "%", "much"])
def test_what_is_no_share_is_refused(ask: Ask, desk: Path, share: str) -> None:
    found = ask("compact", desk, "--keep", share)
    assert found.code == 2
    assert "is not a share; write it as 30% or 0.3" in found.err


def test_one_size_is_enough(ask: Ask, desk: Path) -> None:
    both = ask("compact", desk, "--keep", "30%", "--target", "5k")
    assert (both.code, "--target and --keep cannot be used together" in both.err) == (2, True)
    error = "prompt is too long: 250000 tokens > 200000 maximum"
    recovering = ask("compact", desk, "--keep", "30%", "--from-error", error)
    assert (
        recovering.code,
        "--keep and --from-error cannot be used together" in recovering.err,
    ) == (2, True)


def test_what_is_typed_goes_before_a_setting(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACTCTL_COMPACT_TARGET", "2000")
    document = kept(ask, desk, "--keep", "50%", "--stages", "distill")
    assert document["targetTokens"] == part(ask, desk, 0.5)
    monkeypatch.setenv("COMPACTCTL_COMPACT_KEEP", "0.5")
    assert kept(ask, desk, "--target", "4000", "--stages", "distill")["targetTokens"] == 4_000


def test_a_target_may_be_written_in_percent(ask: Ask, desk: Path) -> None:
    percent = kept(ask, desk, "--target", "20%", "--window", "20k")
    assert (
        percent["targetTokens"]
        == kept(ask, desk, "--target", "0.2", "--window", "20k")["targetTokens"]
    )
