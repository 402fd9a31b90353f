"""Values of every type that a settings file, a profile or a plan can hold, mostly out of place."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from typing import Any

from compactctl.profiles import neurolink_keys, parse
from compactctl.stages.registry import ALL_STAGES
from compactctl.stages.support.stage import options_of

# What JSON can hold, and TOML but for None.
WRONG_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 5, 2**63, 10**400, 1.5, 1e308, float("inf"), float("nan"),
    "", "x", "\ud800", "a\nb", "200%", [], [1], ["x"], [[]], [{}], {}, {"a": 1}, {"stage": "prune"},
)  # fmt: skip
# What TOML can hold besides.
TOML_DATES = (date(2026, 1, 2), time(3, 4, 5), datetime(2026, 1, 2, tzinfo=UTC))

Table = dict[str, Any]
PLAIN: Table = {"stages": ["prune"]}
BACKGROUND = {"warm": 0.1, "jitter": 0.1, "cold": 0.2}
LEVEL = {"name": "full", "when": "ratio >= 0.8"}


def profiles_with(value: Any) -> Iterator[tuple[str, Table]]:
    """Yield profiles that hold a value under one key each, with what they are called."""
    for key in parse._ProfileTable.__struct_fields__:
        yield key, {**PLAIN, key: value}
        yield f"{key} over a base", {"base": "neurolink", key: value}
        yield f"{key} beside another system's", {"base": "neurolink", key: value, "threshold": 0.5}
    for key in (*neurolink_keys._NEUROLINK_KEYS, *neurolink_keys.BLOCKS):
        yield key, {key: value}
        yield f"{key} in a block", {**PLAIN, "contextCompaction": {key: value}}
    for key in parse._BudgetTable.__struct_fields__:
        yield f"budget.{key}", {**PLAIN, "budget": {key: value}}
    for key in BACKGROUND:
        yield f"background.{key}", {**PLAIN, "background": {**BACKGROUND, key: value}}
    for key in parse._LevelTable.__struct_fields__:
        yield f"levels.{key}", {**PLAIN, "levels": [{**LEVEL, key: value}]}
    for key in parse._STAGE_KEYS:
        yield f"stages.{key}", {"stages": [{"stage": "prune", key: value}]}
    yield "a stage", {"stages": [value]}
    yield "a level", {**PLAIN, "levels": [value]}
    yield "a reactive stage", {**PLAIN, "reactive": [value]}
    for stage in ALL_STAGES:
        for option in options_of(stage):
            entry = {"stage": stage.name, option.name: value}
            yield f"{stage.name}.{option.name}", {"stages": [entry]}
