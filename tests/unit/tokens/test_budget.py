import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.errors import UsageError
from compactctl.tokens.budget import (
    Budget,
    BudgetRule,
    TargetSize,
    output_reserve,
    parse_share,
    parse_target,
    utilization,
)
from compactctl.tokens.models.lookup import resolve_model


@pytest.mark.parametrize(
    ("window", "max_tokens", "reserve"),
    [
        (200_000, None, 64_000),
        (200_000, 8_192, 8_192),
        (1_000_000, None, 64_000),
        (8_192, None, 2_868),
        (128_000, None, 44_800),
        (128_000, 0, 44_800),
        (128_000, -1, 44_800),
        (8_192, 10_000, 10_000),
    ],
)
def test_reserve(window: int, max_tokens: int | None, reserve: int) -> None:
    assert output_reserve(window, max_tokens) == reserve


@pytest.mark.parametrize(
    ("model", "max_tokens", "available"),
    [
        ("gpt-4o", None, 83_200),
        ("gpt-4", None, 5_324),
        ("claude-sonnet-4", None, 136_000),
        ("claude-sonnet-4", 8_192, 191_808),
        ("gpt-3.5-turbo", None, 10_650),
        ("gemini-2.5-flash", None, 984_576),
        ("gemini-1.5-pro", None, 2_033_152),
        ("gpt-4.1-2025-04-14", None, 983_576),
        ("amazon.nova-pro-v1:0", None, 236_000),
        ("huggingface/any", None, 20_800),
        ("codestral-latest", None, 192_000),
        ("unknown", None, 83_200),
        ("gpt-4", 10_000, 0),
    ],
)
def test_available_input(model: str, max_tokens: int | None, available: int) -> None:
    window = resolve_model(model).window
    reserve = output_reserve(window, max_tokens)
    budget = Budget(window=window, output_reserve=reserve, source="model table")
    assert budget.available == available


@given(st.integers(1, 10**9))
def test_the_reserve_is_35_percent_rounded_up_and_capped(window: int) -> None:
    assert output_reserve(window) == min(64_000, math.ceil(window * 35 / 100))


@pytest.mark.parametrize(
    ("tokens", "level"),
    [
        (0, "none"),
        (600, "none"),
        (601, "info"),
        (799, "info"),
        (800, "warning"),
        (835, "warning"),
        (899, "warning"),
        (900, "critical"),
        (1000, "critical"),
        (1001, "over"),
    ],
)
def test_levels(tokens: int, level: str) -> None:
    assert utilization(tokens, 1_000).level == level


@pytest.mark.parametrize("available", [0, -1_808])
def test_nothing_available_counts_as_full(available: int) -> None:
    empty, some = utilization(0, available), utilization(1, available)
    assert (empty.ratio, empty.level, empty.percent_left) == (1.0, "critical", 0)
    assert (some.ratio, some.level, some.percent_left) == (1.0, "over", 0)
    assert some.available == 0


@given(
    tokens=st.integers(0, 10**7),
    available=st.integers(-1_000, 10**7),
    percent=st.integers(0, 10**6),
)
def test_a_share_is_exceeded_by_the_first_token_over_it(
    tokens: int, available: int, percent: int
) -> None:
    """Anything exceeds any share of nothing."""
    expected = tokens * 100 > percent * max(0, available)
    assert utilization(tokens, available).exceeds(percent / 100) is expected


@pytest.mark.parametrize(
    ("tokens", "available", "left"),
    [
        (0, 1000, 100),
        (175, 1000, 83),
        (176, 1000, 82),
        (994, 1000, 1),
        (996, 1000, 0),
        (2000, 1000, 0),
        (45904, 183616, 75),
    ],
)
def test_percent_left_is_rounded_half_up(tokens: int, available: int, left: int) -> None:
    assert utilization(tokens, available).percent_left == left


@given(tokens=st.integers(0, 10**7), available=st.integers(1, 10**7))
def test_usage_agrees_with_itself(tokens: int, available: int) -> None:
    usage = utilization(tokens, available)
    assert usage.ratio == tokens / available
    assert usage.percent_left == max(0, math.floor((available - tokens) * 100 / available + 0.5))
    assert (usage.level == "over") == (tokens > available)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("0.6", TargetSize(value=0.6, unit="ratio")),
        ("1.0", TargetSize(value=1.0, unit="ratio")),
        ("0.01", TargetSize(value=0.01, unit="ratio")),
        ("60%", TargetSize(value=0.6, unit="ratio")),
        ("0.5 %", TargetSize(value=0.005, unit="ratio")),
        ("100", TargetSize(value=100, unit="tokens")),
        ("60000", TargetSize(value=60_000, unit="tokens")),
        ("60k", TargetSize(value=60_000, unit="tokens")),
        ("1m", TargetSize(value=1_000_000, unit="tokens")),
    ],
)
def test_targets(text: str, target: TargetSize) -> None:
    assert parse_target(text) == target


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1", "'1' is ambiguous; .*100% is all of it"),
        ("1.5", "ambiguous"),
        ("2", "ambiguous"),
        ("60", "ambiguous"),
        ("99", "ambiguous"),
        ("99.5", "ambiguous"),
        ("0.05k", "ambiguous"),
        ("100.5", "not a whole number"),
        ("0", "not a target"),
        ("-1", "not a target"),
        ("", "not a target"),
        ("160%", "not a share"),
        ("%", "not a share"),
    ],
)
def test_refused_targets(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        parse_target(text)


@pytest.mark.parametrize(
    ("text", "available", "tokens"),
    [
        ("0.6", 83_200, 49_920),
        ("0.29", 100, 29),
        ("0.7", 136_000, 95_200),
        ("60k", 83_200, 60_000),
        ("60k", 5_324, 5_324),
        ("0.001", 100, 1),
        ("0.6", 0, 1),
    ],
)
def test_a_target_in_tokens(text: str, available: int, tokens: int) -> None:
    assert parse_target(text).resolve(available) == tokens


@pytest.mark.parametrize(
    ("rule", "max_output", "reserve"),
    [
        (BudgetRule(), None, 35),
        (BudgetRule(percent=101), None, 35),
        (BudgetRule(percent=100), None, 35),
        (BudgetRule(percent=99), None, 99),
        (BudgetRule(reserve=10), 20, 10),
        (BudgetRule(reserve=0), 20, 0),
        (BudgetRule(reserve=99), None, 99),
        (BudgetRule(reserve=100), None, 35),
        (BudgetRule(max_reserve=30), None, 30),
        (BudgetRule(max_reserve=36), None, 35),
        (BudgetRule(reserve=90, max_reserve=None), None, 90),
        (BudgetRule(use_max_output=True), 20, 20),
        (BudgetRule(use_max_output=True), None, 35),
        (BudgetRule(use_max_output=True, reserve=10), 20, 20),
        (BudgetRule(use_max_output=True, reserve=10), None, 10),
        (BudgetRule(use_max_output=True, max_reserve=15), 20, 15),
    ],
)
def test_a_rule_reserves_part_of_a_window(
    rule: BudgetRule, max_output: int | None, reserve: int
) -> None:
    assert output_reserve(100, None, rule, max_output) == reserve
    assert output_reserve(100, 1, rule, max_output) == 1


def test_a_share_of_what_is_left_may_be_filled() -> None:
    budget = Budget(window=100, output_reserve=31, source="", usable=Fraction(1, 2))
    assert budget.available == 34
    assert (budget.is_recorded, budget.is_input_only) == (False, False)


@pytest.mark.parametrize(
    ("value", "share"),
    [("30%", 0.3), (" 30 % ", 0.3), ("0.3", 0.3), (0.3, 0.3), (1, 1.0), ("100%", 1.0), ("1", 1.0)],
)
def test_shares(value: object, share: float) -> None:
    assert parse_share(value) == share


@pytest.mark.parametrize("value", ["101%", "1.01", 1.01, 0, "0%", "x", None, True])
def test_what_is_no_share(value: object) -> None:
    with pytest.raises(UsageError, match=r"is not a share; write it as 30% or 0\.3"):
        parse_share(value)


@pytest.mark.parametrize(
    ("value", "target"),
    [
        (0.6, TargetSize(value=0.6, unit="ratio")),
        (1.0, TargetSize(value=1.0, unit="ratio")),
        (100, TargetSize(value=100, unit="tokens")),
        ("99.5%", TargetSize(value=0.995, unit="ratio")),
    ],
)
def test_a_target_may_be_a_number(value: object, target: TargetSize) -> None:
    assert parse_target(value) == target
