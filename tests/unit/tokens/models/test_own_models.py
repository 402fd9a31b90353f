"""A user's own table of models: what it may hold, and that it has the last word."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.errors import UsageError
from compactctl.tokens.counters.selection import best_counter
from compactctl.tokens.models.lookup import resolve_model
from compactctl.tokens.models.user_models import parse_user_models

OWN = parse_user_models(
    {
        "gpt-4.1": "1m",
        "gpt-4": 64_000,
        "gpt-4.1-mini": {"window": "32k", "max_output": "4k", "counter": "chars/3"},
        "Claude-Opus-4-5": {"max_output": 1_000},
        "openrouter/": "100k",
        "openrouter/anthropic/claude": "150k",
        "mine": {"counter": "o200k_base x1.2"},
    },
    "table.toml",
)


@pytest.mark.parametrize(
    ("name", "prefix", "window"),
    [
        ("gpt-4.1", "gpt-4.1", 1_000_000),
        ("gpt-4-1-2025", "gpt-4.1", 1_000_000),
        ("openai/gpt-4.1-nano", "gpt-4.1", 1_000_000),
        ("gpt-4.1-mini-2025", "gpt-4.1-mini", 32_000),
        ("gpt-4-turbo", "gpt-4", 64_000),
        ("openrouter/none", "openrouter/", 100_000),
        ("openrouter/anthropic/claude-sonnet-4", "openrouter/anthropic/claude", 150_000),
        ("us.anthropic.claude-opus-4-5-v1:0", "Claude-Opus-4-5", 200_000),
        ("mine-7b", "mine", 128_000),
    ],
)
def test_the_longest_beginning_in_it_counts(name: str, prefix: str, window: int) -> None:
    model = resolve_model(name, OWN)
    assert (model.matched_prefix, model.window) == (prefix, window)
    assert (model.rule, model.is_known) == ("own table", True)


def test_what_it_does_not_say_comes_from_the_built_in_table() -> None:
    opus = resolve_model("claude-opus-4-5", OWN)
    assert (opus.max_output, opus.window, opus.family) == (1_000, 200_000, "Claude up to 4.6")
    assert resolve_model("gpt-4.1", OWN).max_output == 32_768
    assert resolve_model("gpt-4.1", OWN).is_exact


@pytest.mark.parametrize("name", ["gpt-45", "o3", "minerva", None, ""])
def test_other_models_are_left_alone(name: str | None) -> None:
    assert resolve_model(name, OWN) == resolve_model(name)


@pytest.mark.parametrize(
    ("name", "counter"),
    [("gpt-4.1-mini", "chars/3"), ("mine", "o200k_base x1.2"), ("gpt-4.1", "o200k_base")],
)
def test_its_counter_is_used(name: str, counter: str) -> None:
    assert best_counter(resolve_model(name, OWN)).id == counter


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"a": "banana"}, "'a' = 'banana' is not a number of tokens"),
        ({"a": 0}, "'a' = 0 is not a number of tokens"),
        ({"a": -5}, "'a' = -5"),
        ({"a": True}, "'a' = True"),
        ({"a": 1.5}, "'a' = 1.5"),
        ({"a": None}, "'a' = None"),
        ({"a": ["128k"]}, "'a' = ['128k']"),
        ({"a": {"window": "1k", "max_output": "x"}}, "'a': max_output = 'x' is not a number"),
        ({"a": {"counter": 4}}, "'a': counter = 4 is not text"),
        ({"a": {"windows": "1k"}}, "'a' has no key 'windows'; did you mean window"),
        ({"gpt-4": {"1": "1m"}}, "put a name with a dot in it in quotes"),
        ({"a": {}}, "'a': empty; set one of window"),
        ({" ": "1k"}, "a model without a name"),
        ({"GPT-4.1": "1k", "gpt-4-1": "2k"}, "'gpt-4-1' and 'GPT-4.1' are the same model"),
    ],
)
def test_what_means_nothing_is_refused_with_file_and_key(
    document: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as refused:
        parse_user_models(document, "table.toml")
    assert str(refused.value).startswith("table.toml: ")
    assert words in str(refused.value)


def test_a_counter_that_is_not_there_is_refused_with_file_and_key() -> None:
    own = parse_user_models({"a": {"counter": "nope"}}, "table.toml")
    with pytest.raises(UsageError, match=r"table\.toml: 'a': counter: no token counter"):
        best_counter(resolve_model("a", own))


NAMES = st.text(st.characters(codec="ascii", exclude_characters=" \t\n\r\x0b\x0c"), min_size=1)


@given(NAMES, st.integers(1, 10**9))
def test_a_model_of_exactly_that_name_has_that_window(name: str, window: int) -> None:
    try:
        own = parse_user_models({name: window}, "t")
    except UsageError:
        assert not name.strip()
        return
    assert resolve_model(name, own).window == window
