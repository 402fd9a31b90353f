"""Where there is much text, tiktoken counts; a little is counted without loading it."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compactctl.tokens.counters.bpe import BpeCounter, expect_text, piece_counts
from compactctl.tokens.counters.tiktoken_counter import TiktokenCounter

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(autouse=True)
def _nothing_counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(BpeCounter, "counted_chars", 0)
    monkeypatch.setattr(BpeCounter, "expected_chars", 0)
    piece_counts.cache_clear()
    yield
    piece_counts.cache_clear()


def test_much_text_goes_to_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BpeCounter, "_count", lambda *_: 7)
    counter = BpeCounter("o200k_base", min_tiktoken_chars=10)
    assert counter.count_many(["hello"]) == [7]
    assert counter.count_many(["hello world"]) == [2]


def test_so_does_the_first_text_where_much_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BpeCounter, "_count", lambda *_: 7)
    expect_text(100)
    assert BpeCounter("o200k_base", min_tiktoken_chars=10).count_many(["hello"]) == [1]


def test_pieces_that_take_long_to_merge_go_to_tiktoken() -> None:
    counter = BpeCounter("o200k_base")
    assert counter.count_many(["=-~" * 2_000]) == TiktokenCounter("o200k_base").count_many(
        ["=-~" * 2_000]
    )
    assert piece_counts("o200k_base").is_costly


@pytest.mark.parametrize("text", ["hello world", "\u2192 caf\u00e9 \u65e5\u672c\u8a9e \U0001f600"])
def test_a_little_ordinary_text_does_not(text: str) -> None:
    code = (
        "import sys; from compactctl.tokens.counters.bpe import BpeCounter, piece_counts;"
        f"BpeCounter('o200k_base').count_many([{text!r}]);"
        "print('tiktoken' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
