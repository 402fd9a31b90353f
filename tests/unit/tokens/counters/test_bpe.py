import importlib
import sys
from functools import cache
from typing import NoReturn

import pytest
import tiktoken
from examples import tries
from hypothesis import example, given
from hypothesis import strategies as st
from unit.tokens.counters.awkward_texts import any_text, texts

from compactctl.tokens.counters.bpe import BpeCounter, piece_counts
from compactctl.tokens.counters.pieces import has_rare_character
from compactctl.tokens.counters.tiktoken_counter import (
    TiktokenCounter,
    count_or_bound,
    without_surrogates,
)
from compactctl.tokens.counters.vocabulary import VOCABULARIES, load_encoding, load_ranks

NAMES = sorted(VOCABULARIES)


def by_pieces(name: str) -> BpeCounter:
    """Return a counter that loads no engine, however much this process has counted."""
    piece_counts.cache_clear()
    return BpeCounter(name, min_tiktoken_chars=sys.maxsize)


@pytest.fixture(scope="module")
def tiktokens_own() -> dict[str, tiktoken.Encoding]:
    """Return encoders that tiktoken's own definitions give when fed our ranks."""
    plugin = importlib.import_module("tiktoken_ext.openai_public")
    encoders = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, vocabulary in VOCABULARIES.items():
            ranks = dict(load_ranks(vocabulary).items())
            patch.setattr(plugin, "load_tiktoken_bpe", lambda *_, ranks=ranks, **__: ranks)
            encoders[name] = tiktoken.Encoding(**plugin.ENCODING_CONSTRUCTORS[name]())
    return encoders


@pytest.mark.parametrize("name", NAMES)
@given(text=texts)
@example(text="<|endoftext|>")
@example(text="\ud83d\ude00 \ud83d alone, \ude00 alone")
@example(text="\ufeff\ud800")
@example(text="123456789012345678901234")
def test_counts_are_those_of_tiktokens_own_encoder(
    tiktokens_own: dict[str, tiktoken.Encoding], name: str, text: str
) -> None:
    counter = by_pieces(name)
    expected = len(tiktokens_own[name].encode(text, disallowed_special=()))
    assert counter.count_many([text]) == [expected]
    assert counter.exactness == "exact"


@cache
def common_characters() -> list[str]:
    return [chr(code) for code in range(0x110000) if not has_rare_character(chr(code))]


@pytest.mark.parametrize("name", NAMES)
def test_every_common_character_counts_like_in_tiktoken_beside_all_kinds(name: str) -> None:
    # Letters of both cases, digits, spaces, newlines, marks and symbols on either side.
    frames = (
        "a{0}b A{0}B ",
        "1{0}2 {0} {0}\n",
        "\n{0}/ .{0}. '{0}s'{0}",
        "{0}{0}x{0}\u0301\u65e5{0}",
    )
    characters = common_characters()
    assert len(characters) > 40_000
    # Large blocks have one kind of character each.
    few = [c for c in characters if c < "\u3400" or c > "\ue000" or ord(c) % 50 == 0]
    texts = [frame.format(character) for character in few for frame in frames]
    ours = by_pieces(name).count_many(texts)
    theirs = TiktokenCounter(name).count_many(texts)
    assert [t for t, a, b in zip(texts, ours, theirs, strict=True) if a != b] == []


@pytest.mark.parametrize("name", NAMES)
@given(
    piece=st.text(st.sampled_from("aeinrstXQ"), min_size=20, max_size=400)
    | st.text(st.sampled_from("=-*_#"), min_size=300, max_size=2_000)
    | st.text(st.sampled_from("\u2500\u2550\u65e5\u672c"), min_size=100, max_size=600)
)
@tries(50)
def test_long_pieces_count_like_in_tiktoken(name: str, piece: str) -> None:
    assert by_pieces(name).count_many([piece]) == TiktokenCounter(name).count_many([piece])


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("o200k_base", "", 0),
        ("o200k_base", "hello world", 2),
        # tiktoken's documentation gives seven tokens for this name as plain text.
        ("o200k_base", "<|endoftext|>", 7),
        ("cl100k_base", "<|endoftext|>", 7),
        ("cl100k_base", "\0", 1),
    ],
)
def test_known_counts(name: str, text: str, expected: int) -> None:
    assert by_pieces(name).count_many([text]) == [expected]


def test_a_batch_keeps_its_order_and_its_repeats() -> None:
    assert by_pieces("o200k_base").count_many(["hello world", "", "a", "", "a"]) == [2, 0, 1, 0, 1]


# Name, text, what tiktoken gives or would give, and how far the count may be off.
HOSTILE = [
    ("spaces", " " * 1_000_000, 7_813, 2),
    ("tabs", "\t" * 1_000_000, 62_500, 2),
    ("whitespace with newlines", (" " * 400_000 + "\n") * 3, 9_379, 4),
    ("one letter", "a" * 2_000_000, 250_000, 4),
    ("newlines", "\n" * 1_000_000, 62_500, 2),
    ("NUL", "\0" * 1_100_000, 550_000, 2),
    ("lone surrogates", "\ud800" * 400_000, 50_000, 0),
    ("surrogate pairs", "\ud83d\ude00" * 300_000, 300_000, 2),
]


@pytest.mark.parametrize(
    ("text", "expected", "off"),
    [
        pytest.param(*case, id=name, marks=() if number % 3 == 0 else pytest.mark.long)
        for number, (name, *case) in enumerate(HOSTILE)
    ],
)
def test_hostile_texts_are_counted_and_labelled(text: str, expected: int, off: int) -> None:
    counter = by_pieces("o200k_base")
    (count,) = counter.count_many([text])
    assert abs(count - expected) <= off
    assert counter.exactness == "exact" or len(text) > 500_000


def test_a_huge_ordinary_text_is_counted_exactly() -> None:
    text = 'def f(x):\n    return {"k": "it\'s"}  # 日本語\n\n' * 60_000
    counter = by_pieces("o200k_base")
    assert counter.count_many([text]) == [len(load_encoding("o200k_base").encode_ordinary(text))]
    assert counter.exactness == "exact"


def test_the_engines_own_panic_is_bounded_by_bytes() -> None:
    # tiktoken 0.14 panics here; a later one may count, which is below the bound too.
    count, exact = count_or_bound(load_encoding("o200k_base").encode_ordinary, " " * 1_000_000)
    assert count == 1_000_000 or (exact and count < 1_000_000)


class PanicException(BaseException):
    pass


def test_a_panic_gives_the_utf8_bytes_as_bound() -> None:
    def panic(text: str) -> NoReturn:
        raise PanicException(text)

    assert count_or_bound(panic, "aé日") == (6, False)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, ValueError])
def test_every_other_error_is_let_through(error: type[BaseException]) -> None:
    def fail(_text: str) -> NoReturn:
        raise error

    with pytest.raises(error):
        count_or_bound(fail, "text")


@given(text=any_text)
def test_repairing_surrogates_leaves_valid_text_alone_and_gives_valid_text(text: str) -> None:
    repaired = without_surrogates(text)
    repaired.encode()
    try:
        text.encode()
    except UnicodeEncodeError:
        assert repaired == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    else:
        assert repaired == text
