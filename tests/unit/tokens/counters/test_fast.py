import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from examples import tries
from hypothesis import example, given
from hypothesis import strategies as st
from unit.tokens.counters.awkward_texts import texts

from compactctl.tokens.counters import fast as fast_module
from compactctl.tokens.counters.bpe import BpeCounter
from compactctl.tokens.counters.estimates import RatioCounter
from compactctl.tokens.counters.fast import (
    DISABLE_VARIABLE,
    FastCounter,
    exact_counter,
    fast_counter,
)
from compactctl.tokens.counters.selection import best_counter, parse_counter
from compactctl.tokens.counters.vocabulary import VOCABULARIES
from compactctl.tokens.models.lookup import resolve_model

NAMES = sorted(VOCABULARIES)
ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(autouse=True)
def _not_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DISABLE_VARIABLE, raising=False)


@pytest.fixture
def fast() -> FastCounter:
    counter = fast_counter("o200k_base", min_chars=0)
    if counter is None:
        pytest.skip("the accelerator toktok-rs is not installed")
    return counter


@pytest.mark.parametrize("name", NAMES)
@given(batch=st.lists(texts, max_size=20))
@tries(100)
@example(batch=["\ud83d\ude00 \ud83d alone, \ude00 alone", "", "\ufeff\ud800"])
@example(batch=["<|endoftext|>", "123456789012345678901234"])
def test_counts_are_those_of_tiktoken(name: str, batch: list[str]) -> None:
    counter = fast_counter(name, min_chars=0)
    if counter is None:
        pytest.skip("the accelerator toktok-rs is not installed")
    assert counter.count_many(batch) == BpeCounter(name).count_many(batch)
    assert (counter.id, counter.exactness) == (name, "exact")


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
def test_hostile_texts_are_counted_whole(fast: FastCounter, text: str, expected: int) -> None:
    assert fast.count_many([text]) == [expected]
    assert fast.exactness == "exact"


def test_the_accelerator_is_picked_up_where_it_is_installed(fast: FastCounter) -> None:
    estimate = best_counter(resolve_model("gemini-2.5-pro"))
    assert isinstance(estimate, RatioCounter)
    chosen = [best_counter(resolve_model("gpt-4o")), parse_counter("o200k_base"), estimate.base]
    assert [type(counter) for counter in chosen] == [type(fast)] * 3
    assert fast.count_many(["hello"]) == [1]
    assert fast.engine == "toktok"


def test_a_little_text_is_not_worth_loading_the_engine(fast: FastCounter) -> None:
    counter = fast_counter(fast.id, min_chars=10)
    assert counter is not None
    assert (counter.count_many(["hello"]), counter.engine) == ([1], "tiktoken")
    assert (counter.count_many(["hello world"]), counter.engine) == ([2], "toktok")


def test_what_tiktoken_cannot_count_exactly_goes_to_the_engine() -> None:
    counter = fast_counter("o200k_base")
    if counter is None:
        pytest.skip("the accelerator toktok-rs is not installed")
    assert counter.count_many([" " * 1_000_000]) == [7_813]
    assert counter.engine == "toktok"


def test_the_variable_keeps_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DISABLE_VARIABLE, "1")
    for name in NAMES:
        counter = exact_counter(name)
        assert (counter.id, counter.engine) == (name, "tiktoken")


def test_the_name_keeps_tiktoken() -> None:
    counter = parse_counter("tiktoken:o200k_base")
    assert isinstance(counter, BpeCounter)
    assert (counter.id, counter.engine, counter.exactness) == ("o200k_base", "tiktoken", "exact")


def test_without_the_accelerator_tiktoken_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toktok", None)
    assert exact_counter("o200k_base").engine == "tiktoken"


def test_another_module_of_that_name_is_no_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toktok", pytest)
    assert exact_counter("o200k_base").engine == "tiktoken"


def test_the_accelerator_needs_no_tiktoken() -> None:
    code = (
        "import sys; from compactctl.tokens.counters.fast import exact_counter, fast_counter;"
        "counter = fast_counter('o200k_base', 0) or exact_counter('o200k_base');"
        "counter.count_many(['hello']); print(counter.engine, 'tiktoken' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout in {"toktok False\n", "tiktoken True\n"}


def lengths(texts: Sequence[str], name: str, threads: int) -> list[int]:
    assert (name, threads) == ("o200k_base", 1)
    return [len(text) for text in texts]


def test_the_engine_is_loaded_from_so_many_characters_on(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []

    def counted(texts: Sequence[str], name: str, threads: int) -> list[int]:
        batches.append(len(texts))
        return lengths(texts, name, threads)

    monkeypatch.setattr(fast_module, "BATCH_CHARS", 4)
    counter = FastCounter("o200k_base", counted, min_chars=10)
    assert counter.count_many(["", ""]) == [0, 0]
    assert counter.count_many(["hello", "hello"]) == [1, 1]
    assert (counter.engine, batches) == ("tiktoken", [])
    assert counter.count_many(["ab", "cd", "e", "fghi", ""]) == [2, 2, 1, 4, 0]
    # Four characters fill a batch.
    assert (counter.engine, batches) == ("toktok", [2, 2, 1])
    assert counter.count_many([""]) == [0]
