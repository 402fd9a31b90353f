import sys

import pytest

from compactctl.errors import UsageError
from compactctl.tokens.counters.selection import best_counter, parse_counter
from compactctl.tokens.models.lookup import resolve_model

TEXT = "The quick brown fox jumps over the lazy dog."


@pytest.fixture(autouse=True)
def _without_the_claude_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctok", None)


@pytest.mark.parametrize(
    ("model", "counter", "exactness"),
    [
        ("gpt-4o", "o200k_base", "exact"),
        ("gpt-4", "cl100k_base", "exact"),
        ("claude-opus-4-5", "o200k_base x1.18", "estimate"),
        ("claude-opus-5", "o200k_base x1.52", "estimate"),
        ("gemini-2.5-pro", "o200k_base x1.16", "estimate"),
        ("deepseek-chat", "o200k_base x1", "estimate"),
        (None, "o200k_base x1", "estimate"),
    ],
)
def test_the_counter_of_a_model(model: str, counter: str, exactness: str) -> None:
    chosen = best_counter(resolve_model(model))
    assert (chosen.id, chosen.exactness) == (counter, exactness)


def test_an_estimate_is_the_factor_times_the_base_count() -> None:
    base = parse_counter("o200k_base").count_many([TEXT, ""])
    assert base == [10, 0]
    assert best_counter(resolve_model("claude-opus-4-5")).count_many([TEXT, ""]) == [12, 0]
    assert best_counter(resolve_model("claude-opus-5")).count_many([TEXT, ""]) == [16, 0]
    assert best_counter(resolve_model(None)).count_many([TEXT, ""]) == base


@pytest.mark.parametrize(
    "name",
    [
        "o200k_base",
        "cl100k_base",
        "chars/4",
        "chars/3.5",
        "bytes/4",
        "neurolink",
        "neurolink/anthropic",
        "neurolink@code",
        "neurolink@code/anthropic",
        "o200k_base x1.2",
        "o200k_base x1",
        "chars/4 x2",
    ],
)
def test_a_counter_is_named_by_its_id(name: str) -> None:
    assert parse_counter(name).id == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "o200k",
        "gpt2",
        "chars",
        "chars/",
        "chars/0",
        "chars/-4",
        "chars/x",
        "neurolink/",
        "neurolink/nobody",
        "o200k_base x",
        "o200k_base x0",
        "o200k_base x-1",
        "o200k_base 1.2",
        "tiktoken:gpt2",
        "tiktoken:",
        "file:",
        "claude",
    ],
)
def test_an_unknown_counter_lists_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match="o200k_base, cl100k_base, chars/4, bytes/4, neurolink"):
        parse_counter(name)
