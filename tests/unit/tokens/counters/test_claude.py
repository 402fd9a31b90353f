import importlib
import sys
from collections.abc import Callable

import pytest
from examples import LONG, tries
from hypothesis import example, given
from unit.tokens.counters.awkward_texts import texts

from compactctl.errors import UsageError
from compactctl.tokens.counters import claude
from compactctl.tokens.counters.bounded_cache import BoundedCache
from compactctl.tokens.counters.claude import (
    VERSIONS,
    ClaudeCounter,
    CtokEngine,
    SegmentCounter,
    claude_is_installed,
)
from compactctl.tokens.counters.estimates import RatioCounter
from compactctl.tokens.counters.selection import best_counter, parse_counter
from compactctl.tokens.models.lookup import resolve_model

NAMES = sorted(VERSIONS)
needs_ctok = pytest.mark.skipif(not claude_is_installed(), reason="ctok is not installed")


def ctoks_own(name: str) -> Callable[[str], int]:
    """Return ctok's count of a text without the tokens that stand for the message's frame."""
    tokenize = importlib.import_module("ctok").tokenize
    return lambda text: sum(piece != "⟨pad⟩" for piece in tokenize(text, VERSIONS[name]))


@needs_ctok
@pytest.mark.parametrize("name", NAMES)
@given(text=texts)
@tries(300)
@example(text="it's 's x's' 5's 'S DON'T x'll'")
@example(text="ⓐ's ⓐq's \ua7cb'll")
@example(text=" a  b\n\n\tc  ! d\n\n\n")
@example(text="\x01 a\u0301 e\x01\u0301 \u0e4d\ue000\u0e32")
@example(text="\u00a0a")
@example(text="1")
@example(text="\n")
def test_counts_are_those_of_ctok(name: str, text: str) -> None:
    expected = ctoks_own(name)(text) if text else 0
    assert ClaudeCounter(name).count_many([text]) == [expected]


@needs_ctok
@pytest.mark.parametrize("name", NAMES)
def test_every_character_counts_as_with_ctok(name: str) -> None:
    own, counter = ctoks_own(name), ClaudeCounter(name)
    step = 1 if LONG else 211
    chars = [chr(point) for point in (*range(0x1_0000)[::step], *range(0x11_0000)[:: step * 251])]
    around = [f"q{c}'s ({c}) x{c}y {c}{c} 1{c} {c}1\n{c}b '{c} {c}\n" for c in chars]
    assert counter.count_many(around) == [own(text) for text in around]


@needs_ctok
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        # From the documentation of ctok, less the frame of 7 or 11 tokens.
        ("claude-3", "hello, world", 3),
        ("claude-4.7", "hello, world", 4),
        ("claude-3", "", 0),
    ],
)
def test_known_counts(name: str, text: str, expected: int) -> None:
    counter = parse_counter(name)
    assert counter.count_many([text]) == [expected]
    assert (counter.id, counter.exactness) == (name, "reconstructed")


@needs_ctok
@pytest.mark.parametrize("name", NAMES)
def test_the_installed_vocabulary_is_counted_by_segments(name: str) -> None:
    count = claude.load_reconstruction(name)
    assert isinstance(getattr(count, "__self__", None), SegmentCounter)


@needs_ctok
@pytest.mark.parametrize(
    ("model", "counter"),
    [
        ("claude-3-opus-20240229", "claude-3"),
        ("claude-opus-4-5", "claude-3"),
        ("us.anthropic.claude-opus-4-6-v1:0", "claude-3"),
        ("claude-opus-4-7", "claude-4.7"),
        ("claude-sonnet-5", "claude-4.7"),
        ("claude-fable-5", "claude-4.7"),
    ],
)
def test_models_are_counted_with_their_vocabulary(model: str, counter: str) -> None:
    chosen = best_counter(resolve_model(model))
    assert (chosen.id, chosen.exactness) == (counter, "reconstructed")


@needs_ctok
def test_a_vocabulary_that_is_not_separable_is_counted_by_ctok(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claude, "can_count_separately", lambda _pieces: False)
    count = claude.load_reconstruction.__wrapped__("claude-4.7")
    assert isinstance(getattr(count, "__self__", None), CtokEngine)
    assert count("hello, world") == 4


@needs_ctok
def test_segments_that_do_not_add_up_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SegmentCounter, "_first_cost", lambda _self, _segment: 9)
    count = claude.load_reconstruction.__wrapped__("claude-4.7")
    assert isinstance(getattr(count, "__self__", None), CtokEngine)


@pytest.mark.parametrize("name", NAMES)
def test_without_the_extra_the_user_reads_how_to_get_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctok", None)
    with pytest.raises(UsageError, match=f"the counter {name} needs the package ctok; "):
        parse_counter(name)


def test_without_the_extra_claude_is_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctok", None)
    assert isinstance(best_counter(resolve_model("claude-opus-5")), RatioCounter)


def test_costs_are_asked_for_once_and_forgotten_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BoundedCache, "MAX_ENTRIES", 2)
    asked: list[str] = []

    def cost(segment: str) -> int:
        asked.append(segment)
        return len(segment)

    costs = BoundedCache(cost)
    assert [costs[segment] for segment in ("a", "bb", "a", "ccc", "a")] == [1, 2, 1, 3, 1]
    assert asked == ["a", "bb", "ccc", "a"]
    long = "x" * (BoundedCache.MAX_KEY_CHARS + 1)
    assert costs[long] == len(long)
    assert long not in costs
