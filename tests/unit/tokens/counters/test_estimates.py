import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.estimates import (
    BytesCounter,
    CharsCounter,
    NeuroLinkCodeCounter,
    NeuroLinkCounter,
    RatioCounter,
)

any_text = st.text(st.characters(exclude_categories=()))


def count(counter: TokenCounter, text: str) -> int:
    (tokens,) = counter.count_many([text])
    return tokens


@pytest.mark.parametrize(
    ("text", "provider", "expected"),
    [
        ("", "", 0),
        ("", "anthropic", 0),
        ("a", "", 2),
        ("Hello, world!", "", 5),
        ("Hello, world!", "anthropic", 6),
        ("Hello, world!", "vertex", 6),
        ("Hello, world!", "mistral", 6),
        ("x" * 100, "openai", 29),
        ("x" * 100, "anthropic", 36),
        ("x" * 100, "mistral", 37),
        ("x" * 100, "google-ai", 34),
        ("x" * 5_000, "openai", 1_438),
        ("x" * 160_000, "openai", 46_000),
        ("😀" * 3, "", 3),
        ("[Tool result cleared]", "", 7),
        ("[Tool result cleared]", "anthropic", 9),
        ("x" * 100, "a provider of its own", 29),
    ],
)
def test_neurolink_texts(text: str, provider: str, expected: int) -> None:
    assert count(NeuroLinkCounter(provider), text) == expected


@pytest.mark.parametrize(
    ("contents", "provider", "expected"),
    [
        ([], "openai", 0),
        ([""], "openai", 28),
        (["x" * 100] * 2, "openai", 90),
        (["x" * 500] * 20, "openai", 2_984),
        (["x" * 1_000] * 400, "openai", 116_824),
        (["x" * 1_000] * 500, "anthropic", 179_024),
        (["Previous message", "Previous response"], "openai", 43),
    ],
)
def test_neurolink_conversations(contents: list[str], provider: str, expected: int) -> None:
    assert NeuroLinkCounter(provider).conversation(contents) == expected


@pytest.mark.parametrize(
    ("text", "provider", "expected"),
    [
        ("", "", 0), ("x" * 100, "openai", 27), ("x" * 100, "anthropic", 32),
        ("x" * 100, "mistral", 33), ("x" * 5_000, "openai", 1_313), ("Hello, world!", "vertex", 5),
    ],
)  # fmt: skip
def test_neurolinks_code_adds_the_margin(text: str, provider: str, expected: int) -> None:
    assert count(NeuroLinkCodeCounter(provider), text) == expected


def test_a_lone_surrogate_is_one_utf16_unit() -> None:
    assert count(NeuroLinkCounter(), "\ud800" * 4) == count(NeuroLinkCounter(), "abcd")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 0),
        ("ab", 1),
        ("abc", 1),
        ("abcd", 1),
        ("abcde", 1),
        ("abcdef", 2),
        ("x" * 10, 3),
        ("x" * 100, 25),
        ("😀" * 3, 3),
        ("�" * 4, 3),
    ],
)
def test_bytes_are_divided_as_agent_code_does(text: str, expected: int) -> None:
    assert count(BytesCounter(), text) == expected


@pytest.mark.parametrize(
    ("per_token", "text", "expected"),
    [
        (4, "", 0),
        (4, "a", 1),
        (4, "abcd", 1),
        (4, "abcde", 2),
        (4, "日本語で五", 2),
        (3, "abcd", 2),
        (3.5, "x" * 7, 2),
        (3.5, "x" * 8, 3),
        (0.1, "x" * 3, 30),
    ],
)
def test_characters_are_divided_and_rounded_up(per_token: float, text: str, expected: int) -> None:
    assert count(CharsCounter(per_token), text) == expected


def test_names_and_exactness() -> None:
    counters: list[TokenCounter] = [CharsCounter(), CharsCounter(3.5), BytesCounter()]
    counters += [NeuroLinkCounter(), NeuroLinkCounter("vertex")]
    counters += [RatioCounter(CharsCounter(), 1.18, "Claude")]
    assert [counter.id for counter in counters] == [
        "chars/4",
        "chars/3.5",
        "bytes/4",
        "neurolink",
        "neurolink/vertex",
        "chars/4 x1.18",
    ]
    assert {counter.exactness for counter in counters} == {"estimate"}


@given(texts=st.lists(any_text), factor=st.sampled_from([1.0, 1.1, 1.16, 1.18, 1.52]))
def test_a_ratio_rounds_every_text_up_by_the_decimal_factor(
    texts: list[str], factor: float
) -> None:
    base = CharsCounter()
    expected = [math.ceil(n * Fraction(str(factor))) for n in base.count_many(texts)]
    assert RatioCounter(base, factor, "any").count_many(texts) == expected


def test_a_ratio_does_not_round_up_an_error_of_binary_fractions() -> None:
    fifty_tokens = "x" * 200
    assert math.ceil(50 * 1.1) == 56
    assert count(RatioCounter(CharsCounter(), 1.1, "any"), fifty_tokens) == 55
