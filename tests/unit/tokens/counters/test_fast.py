import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from examples import tries
from hypothesis import example, given
from hypothesis import strategies as st
from unit.tokens.counters.awkward_texts import texts

from compactctl.tokens.counters import bpe, fast
from compactctl.tokens.counters.bpe import BpeCounter, piece_counts
from compactctl.tokens.counters.fast import DISABLE_VARIABLE, BatchCount, count_fast, fast_engine
from compactctl.tokens.counters.tiktoken_counter import TiktokenCounter
from compactctl.tokens.counters.vocabulary import VOCABULARIES

NAMES = sorted(VOCABULARIES)
ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(autouse=True)
def _not_switched_off(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(DISABLE_VARIABLE, raising=False)
    monkeypatch.setattr(BpeCounter, "counted_chars", 0)
    fast_engine.cache_clear()
    yield
    fast_engine.cache_clear()


def installed() -> BatchCount:
    engine = fast_engine()
    if engine is None:
        pytest.skip("the accelerator toktok-rs is not installed")
    return engine


@pytest.mark.parametrize("name", NAMES)
@given(batch=st.lists(texts, max_size=20))
@tries(100)
@example(batch=["\ud83d\ude00 \ud83d alone, \ude00 alone", "", "\ufeff\ud800"])
@example(batch=["<|endoftext|>", "123456789012345678901234"])
def test_counts_are_those_of_tiktoken(name: str, batch: list[str]) -> None:
    assert count_fast(installed(), name, batch) == TiktokenCounter(name).count_many(batch)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" " * 1_000_000, 7_813),
        ("\t" * 1_000_000, 62_500),
        ("a" * 1_000_000, 125_000),
        ("\n" * 1_000_000, 62_500),
        ("\ud800" * 400_000, 50_000),
        ("\0" * 500_000, 250_000),
    ],
    ids=["spaces", "tabs", "one letter", "newlines", "lone surrogates", "NUL"],
)
def test_hostile_texts_are_counted_whole(text: str, expected: int) -> None:
    assert count_fast(installed(), "o200k_base", [text]) == [expected]


def test_the_variable_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DISABLE_VARIABLE, "1")
    assert fast_engine() is None


def test_without_it_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toktok", None)
    assert fast_engine() is None
    assert BpeCounter("o200k_base", min_fast_chars=0).count_many(["hello world"]) == [2]


def test_another_module_of_that_name_is_no_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toktok", pytest)
    assert fast_engine() is None


def test_much_text_goes_to_the_engine_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[list[str]] = []

    def lengths(texts: Sequence[str], name: str, threads: int) -> list[int]:
        assert (name, threads) == ("o200k_base", 1)
        batches.append(list(texts))
        return [len(text) for text in texts]

    monkeypatch.setattr(fast, "BATCH_CHARS", 4)
    monkeypatch.setattr(bpe, "fast_engine", lambda: lengths)
    first, second = (BpeCounter("o200k_base", min_fast_chars=10) for _ in range(2))
    assert first.count_many(["hello", "hello"]) == [1, 1]
    assert batches == []
    # What another counter of the process has counted is counted too. Four characters fill a batch.
    assert second.count_many(["ab", "cd", "e", "fghi", ""]) == [2, 2, 1, 4, 0]
    assert batches == [["ab", "cd"], ["e", "fghi"], [""]]


def test_much_text_goes_to_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpe, "fast_engine", lambda: None)
    monkeypatch.setattr(BpeCounter, "_count", lambda *_: 7)
    counter = BpeCounter("o200k_base", min_tiktoken_chars=10)
    assert counter.count_many(["hello"]) == [7]
    assert counter.count_many(["hello world"]) == [2]


def test_pieces_that_take_long_to_merge_go_to_tiktoken() -> None:
    piece_counts.cache_clear()
    counter = BpeCounter("o200k_base")
    assert counter.count_many(["=-~" * 2_000]) == TiktokenCounter("o200k_base").count_many(
        ["=-~" * 2_000]
    )
    assert piece_counts("o200k_base").is_costly
    piece_counts.cache_clear()


@pytest.mark.parametrize("text", ["hello world", "\u2192 caf\u00e9 \u65e5\u672c\u8a9e \U0001f600"])
def test_ordinary_text_needs_neither_engine(text: str) -> None:
    code = (
        "import sys; from compactctl.tokens.counters.bpe import BpeCounter, piece_counts;"
        f"BpeCounter('o200k_base').count_many([{text!r}]);"
        "print({'tiktoken', 'toktok'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
