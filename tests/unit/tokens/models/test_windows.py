from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.errors import UsageError
from compactctl.tokens.models.lookup import (
    all_models,
    longest_window,
    resolve_model,
    smallest_window_for,
)
from compactctl.tokens.models.token_sizes import parse_token_size, parse_window
from compactctl.tokens.models.user_models import parse_user_models


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4k", 4_000),
        ("128k", 128_000),
        ("16K", 16_000),
        ("32768", 32_768),
        ("131072", 131_072),
        ("1m", 1_000_000),
        ("1.05M", 1_050_000),
        ("1.5k", 1_500),
        (" 200k ", 200_000),
    ],
)
def test_windows_as_people_write_them(text: str, expected: int) -> None:
    assert parse_window(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "banana",
        "0",
        "0k",
        "-5",
        "128 k",
        "1e5",
        "1.0005k",
        "k",
        "inf",
        "nan",
        "1_000",
        "٣k",
        "128kb",
        "0x10",
        "1.k",
        "9" * 40,
    ],
)
def test_garbage_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="write it as 128k, 1m or 131072"):
        parse_window(text)


@given(st.integers(1, 10**12))
def test_every_number_of_tokens_is_read_back(tokens: int) -> None:
    assert parse_window(str(tokens)) == tokens


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        (0.5, Fraction(1, 2)),
        (128_000, 128_000),
        (10**15 - 1, 10**15 - 1),
        (10**15, None),
        (0, None),
        (-1, None),
        (True, None),
        (None, None),
        ("0.5", Fraction(1, 2)),
        ("2.5M", 2_500_000),
        ("0.0", None),
    ],
)
def test_sizes_are_positive_numbers(size: object, tokens: Fraction | None) -> None:
    assert parse_token_size(size) == tokens


@pytest.mark.parametrize(
    ("name", "window", "long_window", "longest"),
    [
        ("claude-opus-4-6", 200_000, 1_000_000, 1_000_000),
        ("claude-opus-4-6[1m]", 1_000_000, None, 1_000_000),
        ("claude-opus-4-5", 200_000, None, 200_000),
        ("claude-opus-4-5[1m]", 1_000_000, None, 1_000_000),
        ("gpt-4", 8_192, None, 128_000),
        ("nobody-knows", 128_000, None, 2_097_152),
    ],
)
def test_windows_that_a_model_has_and_may_have(
    name: str, window: int, long_window: int | None, longest: int
) -> None:
    model = resolve_model(name)
    assert (model.window, model.long_window) == (window, long_window)
    found = longest_window(model)
    if name == "nobody-knows":
        assert found == max(longest_window(each) for each in all_models())
    else:
        assert found == longest


@pytest.mark.parametrize(
    ("name", "tokens", "window"),
    [
        ("gpt-4", 8_192, 8_192),
        ("gpt-4", 8_193, 16_384),
        ("gpt-4", 100_000, 128_000),
        ("gpt-4", 128_001, 1_000_000),
        ("gpt-4", 1_000_001, 1_000_001),
        ("claude-opus-4-5", 200_001, 1_000_000),
    ],
)
def test_the_smallest_window_of_a_family_that_holds_a_request(
    name: str, tokens: int, window: int
) -> None:
    assert smallest_window_for(resolve_model(name), tokens) == window


@pytest.mark.parametrize(
    ("name", "input_only", "keeps"),
    [
        ("gpt-5-codex", True, False),
        ("gpt-5-codex[1m]", False, False),
        ("gpt-5", False, False),
        ("gpt-5.6", False, True),
        ("gpt-6-mini", False, True),
    ],
)
def test_what_a_window_holds_and_whether_reasoning_is_kept(
    name: str,
    input_only: bool,  # noqa: FBT001
    keeps: bool,  # noqa: FBT001
) -> None:
    model = resolve_model(name)
    assert (model.is_input_only, model.keeps_reasoning) == (input_only, keeps)


@pytest.mark.parametrize(
    ("name", "known", "inferred"),
    [
        ("gpt-4o", True, False),
        ("claude-opus-4-9", False, True),
        ("claude-opus", False, True),
        ("gpt-4o-something", False, True),
        ("anthropic/whatever", False, False),
        ("whatever", False, False),
    ],
)
def test_a_model_is_known_inferred_or_neither(name: str, known: bool, inferred: bool) -> None:  # noqa: FBT001
    model = resolve_model(name)
    assert (model.is_known, model.is_inferred) == (known, inferred)


def test_a_users_window_replaces_the_long_one_and_that_for_input() -> None:
    own = parse_user_models({"claude-opus-4-6": "150k", "gpt-5-codex": "300k"}, "t")
    opus, codex = resolve_model("claude-opus-4-6", own), resolve_model("gpt-5-codex", own)
    assert (opus.window, opus.long_window, codex.window) == (150_000, None, 300_000)
    assert not codex.is_input_only
    counted = parse_user_models({"gpt-5-codex": {"counter": "chars/4"}}, "t")
    assert resolve_model("gpt-5-codex", counted).is_input_only
    only = parse_user_models({"claude-opus-4-6": {"max_output": 9}}, "t")
    assert resolve_model("claude-opus-4-6", only).long_window == 1_000_000


@pytest.mark.parametrize(
    ("base", "dated"),
    [
        *(("codestral", f"codestral-{date}") for date in ("2405", "2501", "2508")),
        *(("mistral-large", f"mistral-large-{date}") for date in ("2402", "2411", "2512")),
        *(("mistral-small", f"mistral-small-{date}") for date in ("2409", "2501", "2603")),
    ],
)
@pytest.mark.parametrize("weights", ["-22b", ":24b", "-24b-instruct", ":8x7b", "-22b-v0.1"])
def test_open_weights_of_an_unknown_release_get_no_larger_window_than_any(
    base: str, dated: str, weights: str
) -> None:
    model = resolve_model(f"{base}{weights}")
    assert model.window <= resolve_model(dated).window
    assert model.is_inferred
    date = dated.removeprefix(base)
    assert resolve_model(f"{base}-24b-instruct{date}").matched_prefix == dated


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gemma3:12b", 131_072),
        ("gemma-3-1b-it", 32_768),
        ("gpt-oss:20b", 128_000),
        ("llama2:7b", 4_096),
        ("mistral-medium-3.1", 128_000),
        ("gemini-pro", 32_768),
        ("gemini-pro-latest", 1_048_576),
    ],
)
def test_sizes_of_one_release_are_known(name: str, window: int) -> None:
    model = resolve_model(name)
    assert (model.window, model.is_known) == (window, True)
