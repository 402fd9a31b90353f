"""Whatever a profile holds, it is read, or refused with a line that says what is wrong in it."""

import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from unit.profiles.wrong_values import TOML_DATES, WRONG_VALUES, profiles_with

from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.errors import UsageError
from compactctl.profiles.parse import parse_user_profile
from compactctl.profiles.registry import builtin_profile
from compactctl.tokens.budget import Budget
from compactctl.tokens.fit import limits_of

VALUES = (*WRONG_VALUES, *TOML_DATES)
LIMITS = limits_of(Budget(window=200_000, output_reserve=8_000, source=""), None)


def table_of(name: str) -> Mapping[str, Any]:
    return tomllib.loads(builtin_profile(name).origin.file_text)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_profile_with_a_wrong_value_is_refused_in_a_line(value: Any) -> None:
    complaints = []
    for name, table in profiles_with(value):
        try:
            profile = parse_user_profile(table, "mine", table_of)
            make_plan(Recipe(measure=MeasureOptions(profile=profile)), LIMITS)
        except UsageError as error:
            complaints.append(f"{name}: {error}")
    assert complaints
    assert [line for line in complaints if "\n" in line] == []


def test_stages_that_a_profile_names_take_the_options_of_another_system() -> None:
    table = {"base": "neurolink", "stages": ["prune"], "pruneProtectTokens": 1_000}
    (stage,) = parse_user_profile(table, "mine", table_of).stages
    assert (stage.name, stage.options) == ("prune", {"protect_tokens": 1_000})
