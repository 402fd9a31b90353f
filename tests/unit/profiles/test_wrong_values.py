"""Whatever a profile holds, it is read, or refused with a line that says what is wrong in it."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from wrong_values import TOML_DATES, WRONG_VALUES

from compactctl.commands.planning.plan import PlanOptions, make_plan
from compactctl.errors import UsageError
from compactctl.profiles import read, system_keys
from compactctl.profiles.library import built_in
from compactctl.profiles.read import read_profile
from compactctl.stages.registry import ALL_STAGES
from compactctl.stages.support.option_field import options_of
from compactctl.tokens.budget import Budget
from compactctl.tokens.fit import limits_of

Table = dict[str, Any]
VALUES = (*WRONG_VALUES, *TOML_DATES)
PLAIN: Table = {"stages": ["prune"]}
LIMITS = limits_of(Budget(window=200_000, output_reserve=8_000, source=""), None)
BACKGROUND = {"warm": 0.1, "jitter": 0.1, "cold": 0.2}
LEVEL = {"name": "full", "when": "ratio >= 0.8"}


def profiles_with(value: Any) -> Iterator[tuple[str, Table]]:
    """Yield profiles that hold a value under one key each, with what they are called."""
    for key in read._KEYS:
        yield key, {**PLAIN, key: value}
        yield f"{key} over a base", {"base": "neurolink", key: value}
        yield f"{key} beside another system's", {"base": "neurolink", key: value, "threshold": 0.5}
    for key in (*system_keys._THEIRS, *system_keys._BLOCKS):
        yield key, {key: value}
        yield f"{key} in a block", {**PLAIN, "contextCompaction": {key: value}}
    for key in read._BUDGET_KEYS:
        yield f"budget.{key}", {**PLAIN, "budget": {key: value}}
    for key in read._BACKGROUND_KEYS:
        yield f"background.{key}", {**PLAIN, "background": {**BACKGROUND, key: value}}
    for key in read._LEVEL_KEYS:
        yield f"levels.{key}", {**PLAIN, "levels": [{**LEVEL, key: value}]}
    for key in read._STAGE_WORDS:
        yield f"stages.{key}", {"stages": [{"stage": "prune", key: value}]}
    yield "a stage", {"stages": [value]}
    yield "a level", {**PLAIN, "levels": [value]}
    yield "a reactive stage", {**PLAIN, "reactive": [value]}
    for stage in ALL_STAGES:
        for option in options_of(stage):
            entry = {"stage": stage.name, option.name: value}
            yield f"{stage.name}.{option.name}", {"stages": [entry]}


def table_of(name: str) -> Mapping[str, Any]:
    return tomllib.loads(built_in(name).text)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_profile_with_a_wrong_value_is_refused_in_a_line(value: Any) -> None:
    complaints = []
    for name, table in profiles_with(value):
        try:
            profile = read_profile(table, "mine", table_of)
            make_plan(PlanOptions(profile=profile), LIMITS)
        except UsageError as error:
            complaints.append(f"{name}: {error}")
    assert complaints
    assert [line for line in complaints if "\n" in line] == []


def test_stages_that_a_profile_names_take_the_options_of_another_system() -> None:
    table = {"base": "neurolink", "stages": ["prune"], "pruneProtectTokens": 1_000}
    (stage,) = read_profile(table, "mine", table_of).stages
    assert (stage.name, stage.settings) == ("prune", {"protect_tokens": 1_000})
