"""Counting by segments, against a small tokenizer that counts whole texts."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from examples import tries
from hypothesis import example, given
from hypothesis import strategies as st
from unit.tokens.counters import small_ctok

from compactctl.errors import UsageError
from compactctl.tokens.counters import claude
from compactctl.tokens.counters.bounded_cache import BoundedCache
from compactctl.tokens.counters.claude import (
    ClaudeCounter,
    CtokEngine,
    SegmentCounter,
    Splitter,
    WordCounter,
    claude_counter,
    claude_is_installed,
)
from compactctl.tokens.counters.selection import best_counter, parse_counter
from compactctl.tokens.models.lookup import resolve_model

VERSIONS = {"claude-3": "3.0", "claude-4.7": "4.7"}


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    small_ctok.install(monkeypatch)


def engine(name: str = "claude-4.7") -> CtokEngine:
    return CtokEngine(VERSIONS[name])


def segments(name: str = "claude-4.7") -> SegmentCounter:
    counter = getattr(claude.load_reconstruction.__wrapped__(name), "__self__", None)
    assert isinstance(counter, SegmentCounter)
    return counter


def whole(text: str, name: str = "claude-4.7") -> int:
    version = VERSIONS[name]
    return small_ctok.token_count(text, version) - small_ctok.FRAMES[version]


FRAGMENTS = st.sampled_from(
    ["the", "then", "Then", "THEN", "THE", "tHe", "a", "q", "é", "e\u0301", "日", "'s", "'", "s",
     "'ll", "'llo", " ", "  ", "\u00a0", "\n", "\n\n", "1", "12345", "000", "(", ")", ", ", "\x01",
     "\x02", "\t", "_", "½"]
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(VERSIONS))
@given(text=st.lists(FRAGMENTS, max_size=12).map("".join))
@tries(200)
@example(text=" then")
@example(text="\u00a0then")
@example(text="12345 then 12\n\n(6) the 7\n")
@example(text="(1)2\n3 (")
@example(text="it's 's x's' THEN'S 日's é's")
@example(text="\x02a\x02")
@example(text="\n")
def test_segments_add_up_to_the_count_of_the_whole(name: str, text: str) -> None:
    counter = segments(name)
    expected = whole(text, name) if text else 0
    assert (counter.count(text) if text else 0) == expected
    assert ClaudeCounter(name).count_many([text, ""]) == [expected, 0]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("the", 1),
        ("then", 2),
        ("Then", 3),
        ("the the", 2),
        (" the", 1),
        ("  the", 1),
        ("the, the", 3),
        ("the 12345", 3),
        ("it's", 5),
    ],
)
def test_known_counts(text: str, tokens: int) -> None:
    assert segments().count(text) == whole(text) == tokens


def counted_calls(counter: SegmentCounter, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    count = counter._engine.count

    def recorded(text: str) -> int:
        asked.append(text)
        return count(text)

    monkeypatch.setattr(CtokEngine, "count", lambda _self, text: recorded(text))
    return asked


def test_the_tokenizer_is_asked_once_for_each_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = segments()
    asked = counted_calls(counter, monkeypatch)
    text = "then (1) then (2) then (3) then"
    assert counter.count(text) == whole(text)
    # What is between the digits and the words around them.
    assert asked == ["q0q", "q (0q", "q0) q"]
    counter.count(f"{text} (4) then")
    assert len(asked) == 3


@pytest.mark.parametrize("text", ["the", "\n", "\u00a0the the", "日's then", "a \x02 b", "\x01"])
def test_what_segments_cannot_show_is_counted_whole(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = segments()
    asked = counted_calls(counter, monkeypatch)
    assert counter.count(text) == whole(text)
    assert asked == [text]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Don't stop, now", ["Don", "'t", " ", "stop", ", ", "now"]),
        ("x'llo", ["x", "'", "llo"]),
        ("x'll", ["x", "'ll"]),
        ("'s", ["'s"]),
        ("é's 1", ["é", "'s", " 1"]),
        ("日 x", ["日", " ", "x"]),
        ("½a", ["½", "a"]),
        ("", []),
    ],
)
def test_a_text_is_split_into_words_and_gaps(text: str, parts: list[str]) -> None:
    split = Splitter(engine())
    assert split(text) == ([] if "日" in text else parts)
    assert split.is_letter("a")
    assert not split.is_letter("'")
    if "é" in text:
        assert split.is_letter("é")
    if "½" in text:
        assert not split.is_letter("½")


def test_the_engine_counts_without_the_frame() -> None:
    for name in VERSIONS:
        asked = engine(name)
        assert (asked.letter_cost, asked.count("then"), asked.count("q")) == (3, 2, 3)
        assert asked.normalized("e\u0301") == "é"
        assert "⟨bow⟩1" not in asked.pieces()
        assert set(asked.pieces()) == small_ctok.PIECES
    assert (engine("claude-3").min_capitals_length(), engine().min_capitals_length()) == (0, 4)
    assert [engine().is_letter(char) for char in "é½1"] == [True, False, False]
    assert [engine().takes_contraction(char) for char in "é日"] == [True, False]


@pytest.mark.parametrize("name", sorted(VERSIONS))
def test_it_is_installed_and_chosen(name: str) -> None:
    assert claude_is_installed()
    assert claude_counter(name).id == parse_counter(name).id == name
    model = resolve_model("claude-3-opus" if name == "claude-3" else "claude-opus-4-7")
    assert best_counter(model).id == name
    assert parse_counter(name).exactness == "reconstructed"


def counts_whole(count: Callable[[str], int]) -> bool:
    return isinstance(getattr(count, "__self__", None), CtokEngine)


def test_another_kind_of_vocabulary_is_counted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_ctok, "PIECES", small_ctok.PIECES - {"\n"})
    assert counts_whole(claude.load_reconstruction.__wrapped__("claude-4.7"))


def test_segments_that_do_not_add_up_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SegmentCounter, "_last_cost", lambda _self, _segment: 9)
    assert counts_whole(claude.load_reconstruction.__wrapped__("claude-4.7"))


@pytest.mark.parametrize(
    ("version", "hint"),
    [
        ((3, 11, 7), "that needs Python 3.12 or later, and compactctl runs on 3.11 here"),
        ((3, 12, 0), "type: "),
    ],
)
def test_how_to_get_it_depends_on_the_python(
    version: tuple[int, ...], hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = {"ctok": None}
    monkeypatch.setattr(claude, "claude_is_installed", lambda: False)
    monkeypatch.setattr(claude, "sys", SimpleNamespace(version_info=version, modules=modules))
    with pytest.raises(UsageError, match=f"the counter claude-3 needs the package ctok; {hint}"):
        claude_counter("claude-3")


def test_a_cache_holds_so_many_short_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedCache, "MAX_ENTRIES", 2)
    monkeypatch.setattr(BoundedCache, "MAX_KEY_CHARS", 3)
    costs = BoundedCache(len)
    assert [costs["abc"], costs["abcd"], list(costs)] == [3, 4, ["abc"]]
    assert [costs["ab"], list(costs)] == [2, ["abc", "ab"]]
    assert [costs["a"], list(costs)] == [1, ["a"]]


def test_a_word_is_not_longer_than_its_longest_piece() -> None:
    counter = WordCounter(["⟨bow⟩then⟨eow⟩", "abcd", "cdefgh"], min_capitals_length=0)
    assert counter.count("then") == 1
    assert counter.count("abcdefgh") == 5
    assert counter.count("ab") == 4
    assert WordCounter([], min_capitals_length=0).count("ab") == 4
