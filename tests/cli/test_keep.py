"""How much of a conversation is kept, as a share of its own tokens."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask

from compactctl.tokens.budget import parse_share


def kept(ask: Ask, path: Path, *arguments: str) -> dict[str, Any]:
    found = ask("compact", path, "--json", "-n", *arguments)
    assert found.code == 0, found.err
    document: dict[str, Any] = json.loads(found.out)
    return document


@pytest.mark.parametrize("share", ["50%", "0.3", "20 %"])
def test_it_comes_down_to_the_share(ask: Ask, desk: Path, share: str) -> None:
    document = kept(ask, desk, "--stages", "distill", "--keep", share)
    limit = int(parse_share(share) * document["tokensBefore"])
    assert 0.92 * limit <= document["tokensAfter"] <= limit
    assert document["targetTokens"] == limit


def test_the_same_again_finds_nothing_to_do(ask: Ask, desk: Path) -> None:
    share = ("--keep", "30%")
    before = kept(ask, desk, "--stages", "distill", *share)
    assert ask("compact", desk, "--stages", "distill", *share).code == 0
    compacted = desk.with_name(f"{desk.stem}.compacted.jsonl")
    document = kept(ask, compacted, *share, "--require-fit")
    assert document["tokensAfter"] == document["tokensBefore"]
    assert document["targetTokens"] == before["targetTokens"]


@pytest.mark.parametrize("share", ["30", "0", "120%", "-1", "%", "much"])
def test_what_is_no_share_is_refused(ask: Ask, desk: Path, share: str) -> None:
    found = ask("compact", desk, "--keep", share)
    assert found.code == 2
    assert "is not a share; write it as 30% or 0.3" in found.err


def test_one_size_is_enough(ask: Ask, desk: Path) -> None:
    both = ask("compact", desk, "--keep", "30%", "--target", "5k")
    assert (both.code, "--target and --keep both say how small" in both.err) == (2, True)
    error = "prompt is too long: 250000 tokens > 200000 maximum"
    recovering = ask("compact", desk, "--keep", "30%", "--from-error", error)
    assert (recovering.code, "leave out --keep" in recovering.err) == (2, True)


def test_what_is_typed_goes_before_a_setting(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACTCTL_COMPACT_TARGET", "2000")
    document = kept(ask, desk, "--keep", "50%", "--stages", "distill")
    assert document["targetTokens"] == document["tokensBefore"] // 2
    monkeypatch.setenv("COMPACTCTL_COMPACT_KEEP", "0.5")
    assert kept(ask, desk, "--target", "4000", "--stages", "distill")["targetTokens"] == 4_000


def test_a_target_may_be_written_in_percent(ask: Ask, desk: Path) -> None:
    percent = kept(ask, desk, "--target", "20%", "--window", "20k")
    assert (
        percent["targetTokens"]
        == kept(ask, desk, "--target", "0.2", "--window", "20k")["targetTokens"]
    )
