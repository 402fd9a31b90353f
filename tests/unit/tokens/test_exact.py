"""Shares are taken exactly: no size loses a token to a float, and no verdict is given by one."""

from fractions import Fraction

import click
import pytest
from builders import assistant, conversation

from compactctl.cli.opt import ShareRange
from compactctl.commands.lab.eval_session import Trial
from compactctl.commands.planning.run_stages import kept_tokens
from compactctl.model.numbers import exact, fraction_of
from compactctl.tokens.budget import parse_share, parse_target
from compactctl.tokens.counters.estimates import CharsCounter
from compactctl.tokens.file_budget import file_budget
from compactctl.tokens.meter import Meter
from compactctl.tokens.trigger import TriggerInput, parse_trigger
from compactctl.views.terminal.text import limit_text, share_beyond

HUNDRED = conversation(assistant("a" * 100))
METER = Meter(CharsCounter(1.0))


@pytest.mark.parametrize("percent", range(1, 101))
def test_percents_of_a_hundred(percent: int) -> None:
    text = f"{percent}%"
    share = parse_share(text)
    assert exact(share) == Fraction(percent, 100)
    assert kept_tokens(HUNDRED, share, METER) == percent
    assert parse_target(text).resolve(100) == percent
    assert file_budget(100, 0, 0, share) == percent
    trial = Trial(
        session="s", project="", cut=0.5, requests=1, policy="p", asked=share, prefix=100,
        tokens=percent,
    )  # fmt: skip
    assert not trial.judgment.is_over
    situation = TriggerInput(tokens=percent, available=100, turns=1, messages=1)
    assert parse_trigger(f"ratio>={percent / 100}").matched_condition(situation)
    assert not parse_trigger(f"ratio>{percent / 100}").matched_condition(situation)


def test_what_floats_stand_for() -> None:
    assert [exact(number) for number in (0.29, 1 / 3, 0.1 + 0.2, 2 / 3, 60_000.0)] == [
        Fraction(29, 100), Fraction(1, 3), Fraction(3, 10), Fraction(2, 3), 60_000,
    ]  # fmt: skip
    assert exact(sum([0.95] * 3) / 3) == Fraction(19, 20)
    assert [fraction_of(value) for value in (True, "1", float("nan"), 1j, None)] == [None] * 5


@pytest.mark.parametrize("shares", [ShareRange(min=0), ShareRange(0, 1)], ids=["open", "closed"])
def test_a_limit_in_percent_is_the_ratio_it_names(shares: ShareRange) -> None:
    ratios = {f"{tenths / 10}%": tenths / 1_000 for tenths in range(1, 1_001)}
    assert {text: shares.convert(text, None, None) for text in ratios} == ratios


@pytest.mark.parametrize("text", ["101%", "nan%", "inf%", "-1%", "%", "1e999%"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        ShareRange(0, 1).convert(text, None, None)


def test_a_share_and_its_limit_are_shown_apart() -> None:
    assert share_beyond(0.14, 0.1) == ("14.0%", "10.0%")
    assert share_beyond(0.80001, 0.8) == ("80.001%", "80.000%")


def test_a_limit_is_shown_with_all_of_its_decimals() -> None:
    shown = {0.8: "80%", 0.1: "10%", 0.17097: "17.097%", 0.0001: "0.01%", 1.5: "150%"}
    assert {limit: limit_text(limit) for limit in shown} == shown
