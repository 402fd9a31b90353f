from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.errors import UsageError
from compactctl.tokens.trigger import ALWAYS, Trigger, TriggerInput, parse_trigger


def at(tokens: int = 0, available: int = 1_000, **more: int) -> TriggerInput:
    return TriggerInput(
        **{"tokens": tokens, "available": available, "turns": 0, "messages": 0} | more
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0.8", "ratio >= 0.8"),
        ("1", "ratio >= 1"),
        ("60000", "tokens >= 60,000"),
        ("60k", "tokens >= 60,000"),
        ("100", "tokens >= 100"),
        ("ratio>0.6", "ratio > 0.6"),
        ("turns > 20", "turns > 20"),
        ("turns>20 or tokens >= 4_000", "turns > 20 or tokens >= 4,000"),
        ("turns>20, 0.8", "turns > 20 or ratio >= 0.8"),
        ("free <= 13k", "free <= 13,000"),
        ("messages >= 6", "messages >= 6"),
        ("Always", "always"),
        ("never", "never"),
    ],
)
def test_triggers_as_people_write_them(text: str, shown: str) -> None:
    trigger = parse_trigger(text)
    assert str(trigger) == shown
    assert parse_trigger(shown.replace(",", "")) == trigger


@pytest.mark.parametrize("text", ["80", "99", "1.5", "2"])
def test_a_number_that_could_be_a_share_or_tokens_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="ambiguous"):
        parse_trigger(text)


@pytest.mark.parametrize(
    "text", ["", "soon", "0", "-1", "turns", "turns=3", "size>3", "tokens>x", "0.8 and 3", "1 or"]
)
def test_what_is_no_trigger_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a trigger; write it as 80%"):
        parse_trigger(text)


def test_a_ratio_beyond_the_available_input_is_refused() -> None:
    with pytest.raises(UsageError, match="fires too late"):
        parse_trigger("ratio >= 80")


# How VS Code Copilot Chat reads its threshold of a window of 200,000 (or 100) tokens.
@pytest.mark.parametrize(
    ("text", "available", "limit"),
    [
        ("0.8", 200_000, 160_000),
        ("0.5", 200_000, 100_000),
        ("1", 200_000, 200_000),
        ("60000", 200_000, 60_000),
        ("100", 200_000, 100),
        ("free <= 13000", 183_616, 170_616),
        ("free <= 13000", 10_000, 0),
    ],
)
def test_the_size_from_which_a_trigger_fires(text: str, available: int, limit: int) -> None:
    assert parse_trigger(text).threshold(available, available) == limit


def test_turns_have_no_size() -> None:
    assert parse_trigger("turns > 20").threshold(1_000, 2_000) is None
    assert parse_trigger("turns > 20 or 0.5 or tokens > 700").threshold(1_000, 2_000) == 500
    assert ALWAYS.threshold(1_000, 2_000) is None


# Spring AI Session: turns fire above, tokens from the number on.
@pytest.mark.parametrize(
    ("trigger", "situation", "fires"),
    [
        ("turns > 5", at(turns=3), False),
        ("turns > 3", at(turns=3), False),
        ("turns > 3", at(turns=4), True),
        ("turns > 3", at(), False),
        ("tokens >= 127", at(tokens=127), True),
        ("tokens >= 127", at(tokens=126), False),
        ("tokens >= 127 or turns > 3", at(turns=4), True),
        ("ratio >= 0.8", at(tokens=800), True),
        ("ratio >= 0.8", at(tokens=799), False),
        ("ratio > 0.6", at(tokens=600), False),
        ("ratio >= 0.8", at(available=0), True),
        ("free < 3", at(tokens=998), True),
        ("free < 3", at(tokens=997), False),
        ("always", at(), True),
        ("never", at(tokens=10**9, turns=9), False),
    ],
)
def test_when_triggers_fire(trigger: str, situation: TriggerInput, *, fires: bool) -> None:
    assert bool(parse_trigger(trigger).matched_condition(situation)) is fires


def test_more_tokens_than_are_available_mean_those() -> None:
    trigger = parse_trigger("tokens >= 2000")
    assert not trigger.matched_condition(at(tokens=999))
    assert trigger.matched_condition(at(tokens=1_000)) == "tokens >= 2,000"
    assert trigger.describe(at(tokens=1_000)) == "tokens >= 2,000, of which 1,000 are available"
    assert parse_trigger("tokens >= 900").describe(at(tokens=900)) == "tokens >= 900"
    assert parse_trigger("always").describe(at()) == "always"


def test_the_condition_that_holds_is_named() -> None:
    trigger = parse_trigger("turns > 3 or ratio >= 0.5")
    assert trigger.matched_condition(at(tokens=500)) == "ratio >= 0.5"
    assert trigger.matched_condition(at(tokens=500, turns=4)) == "turns > 3"
    assert Trigger().matched_condition(at()) == "always"


@given(st.integers(0, 10**7), st.integers(1, 10**7), st.integers(1, 100))
def test_a_share_fires_exactly_from_the_share_on(tokens: int, available: int, percent: int) -> None:
    trigger = parse_trigger(str(percent / 100))
    fires = Fraction(tokens, available) >= Fraction(str(percent / 100))
    assert bool(trigger.matched_condition(at(tokens, available))) is fires


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tokens >= 100,500", "tokens >= 100,500"),
        ("1,048,576", "tokens >= 1,048,576"),
        ("tokens>=4,000,turns>20", "tokens >= 4,000 or turns > 20"),
        ("0.8,60k", "ratio >= 0.8 or tokens >= 60,000"),
    ],
)
def test_a_comma_joins_or_groups_digits(text: str, shown: str) -> None:
    assert str(parse_trigger(text)) == shown
    assert parse_trigger(shown) == parse_trigger(text)


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("0.8", True),
        ("ratio > 0.8", False),
        ("window >= 0.4", True),
        ("window > 0.4", False),
        ("free <= 200", True),
    ],
)
def test_whether_a_trigger_fires_at_its_limit(text: str, fires: bool) -> None:  # noqa: FBT001
    trigger = parse_trigger(text)
    assert trigger.threshold(1_000, 2_000) == 800
    assert trigger.fires_at(800, 1_000, 2_000) is fires
    assert not trigger.fires_at(799, 1_000, 2_000)


SIZED = [
    *(f"{what} {operator} 0.37" for what in ("ratio", "window") for operator in (">", ">=")),
    *(f"tokens {operator} 777" for operator in (">", ">=")),
    *(f"free {operator} 777" for operator in ("<", "<=")),
]


@pytest.mark.parametrize("text", [*SIZED, "turns > 3 or ratio > 0.37 or tokens >= 777"])
@given(st.integers(1, 5_000), st.integers(0, 5_000), st.integers(-2, 2))
def test_a_trigger_fires_from_its_limit_on(
    text: str, available: int, reserve: int, beyond: int
) -> None:
    trigger, window = parse_trigger(text), available + reserve
    limit = trigger.threshold(available, window)
    assert limit is not None
    tokens = max(0, limit + beyond)
    fires = trigger.fires_at(limit, available, window) if tokens == limit else tokens > limit
    assert bool(trigger.matched_condition(at(tokens, available, window=window))) is fires


@pytest.mark.parametrize(
    ("text", "available", "clamped"),
    [
        ("tokens >= 2000", 1_999, True),
        ("tokens > 2000", 1, True),
        ("tokens >= 2000", 2_000, False),
        ("tokens >= 2000", 0, False),
        ("tokens < 2000", 1_000, False),
        ("free >= 2000", 1_000, False),
    ],
)
def test_only_a_lower_bound_of_tokens_is_clamped(
    text: str,
    available: int,
    clamped: bool,  # noqa: FBT001
) -> None:
    (condition,) = parse_trigger(text).conditions
    assert condition.is_clamped(available) is clamped


@pytest.mark.parametrize(
    ("trigger", "situation", "fires"),
    [
        ("window >= 0.5", at(tokens=500, window=1_001), False),
        ("window >= 0.5", at(tokens=500, window=1_000), True),
        ("window >= 0.5", at(tokens=500), True),
        ("window >= 0.5", at(available=0), False),
        ("window >= 1", at(tokens=1, available=0), True),
        ("ratio >= 1", at(available=-5), True),
        ("tokens > 2000", at(tokens=1_000), False),
        ("tokens > 2000", at(tokens=1_001), True),
        ("messages <= 3", at(messages=3), True),
        ("messages < 3", at(messages=3), False),
        ("messages < 3", at(messages=2), True),
    ],
)
def test_each_measurement_is_compared(
    trigger: str, situation: TriggerInput, *, fires: bool
) -> None:
    assert bool(parse_trigger(trigger).matched_condition(situation)) is fires


@pytest.mark.parametrize(
    ("text", "available", "window", "size"),
    [
        ("tokens >= 2000", 1_000, 5_000, 1_000),
        ("tokens >= 2000", 0, 5_000, 2_000),
        ("window >= 0.3", 1_000, 5_000, 1_500),
        ("free < 300", 1_000, 5_000, 700),
        ("messages > 5", 1_000, 5_000, None),
        ("tokens >= 800 or window > 0.1", 1_000, 5_000, 500),
    ],
)
def test_the_size_at_which_each_condition_is_met(
    text: str, available: int, window: int, size: int | None
) -> None:
    assert parse_trigger(text).threshold(available, window) == size


def test_turns_and_messages_do_not_fire_at_a_size() -> None:
    assert not parse_trigger("messages < 5").fires_at(10**9, 1_000, 2_000)
    assert not ALWAYS.fires_at(10**9, 1_000, 2_000)
    assert parse_trigger("messages < 5 or tokens > 9").fires_at(10, 1_000, 2_000)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("ratio > 0.125", "ratio > 0.125"), ("turns > 1500", "turns > 1,500"),
     ("messages > 2.5", "messages > 2.5"), ("ratio >= 1", "ratio >= 1"), ("1.0", "ratio >= 1")],
)  # fmt: skip
def test_numbers_are_shown_as_they_are_written(text: str, shown: str) -> None:
    assert str(parse_trigger(text)) == shown


def test_the_error_about_an_ambiguous_number_reads_well() -> None:
    with pytest.raises(UsageError) as refused:
        parse_trigger("80")
    assert str(refused.value) == (
        "the trigger '80' is ambiguous; write a share as 80% or 0.8, or at least 100 tokens as "
        "60000 or 60k"
    )


def test_a_share_may_be_in_percent() -> None:
    assert parse_trigger("60%") == parse_trigger("0.6")
    assert parse_trigger("ratio > 12.5%") == parse_trigger("ratio > 0.125")
    assert parse_trigger("60% or turns>20") == parse_trigger("0.6 or turns>20")
    for text in ("tokens >= 60%", "120%", "%", "ratio > 120%"):
        with pytest.raises(UsageError):
            parse_trigger(text)
