"""Every setting that a document states is in its profile, or in what the profile does otherwise.

And the other way round: what a profile says it does otherwise is one of these settings.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from compactctl.profiles.profile import Profile
from compactctl.profiles.registry import builtin_profile
from compactctl.stages.registry import stage_named

SETTINGS = tomllib.loads((Path(__file__).parent / "documents.toml").read_text())["setting"]
STATED = [each for each in SETTINGS if "at" in each]
OTHERWISE = [each for each in SETTINGS if "differs" in each]
PROFILES = sorted({each["profile"] for each in SETTINGS})


def named(setting: dict[str, Any]) -> str:
    return f"{setting['profile']}: {setting['says']}"


def value_in(profile: Profile, path: str) -> Any:
    of_profile = {
        "trigger": str(profile.trigger),
        "stage names": [stage.display_name for stage in profile.stages],
        "reactive names": [stage.display_name for stage in profile.overflow_stages],
        "alternatives": [stage.display_name for stage in profile.stages if stage.falls_back],
        "keep_turns": profile.protection.turns,
        "keep_steps": profile.protection.steps,
        "counter": profile.counting.counter,
        "window": profile.counting.window,
        "estimator": profile.counting.estimator,
        "image_tokens": profile.counting.image_tokens,
        "label_style": profile.summarizer.label_style,
        "on_summarizer_failure": profile.summarizer.on_failure,
        "background": profile.background
        and [profile.background.warm, profile.background.jitter, profile.background.cold],
    }
    if path in of_profile:
        return of_profile[path]
    holder, _, key = path.partition(".")
    if holder == "levels":
        return str(next(level.trigger for level in profile.levels if level.name == key))
    if holder == "budget":
        value = getattr(profile.budget, key)
        return float(value) if key == "usable_share" else value
    stages = (*profile.stages, *profile.optional_stages)
    stage = next(stage for stage in stages if stage.name == holder)
    value = getattr(stage_named(holder).options(**stage.options), key)
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("setting", STATED, ids=named)
def test_a_documented_setting_is_in_effect(setting: dict[str, Any]) -> None:
    profile = builtin_profile(setting["profile"]).for_model(setting.get("model", ""))
    assert value_in(profile, setting["at"]) == setting["value"]


@pytest.mark.parametrize("setting", OTHERWISE, ids=named)
def test_what_is_done_otherwise_is_said_with_the_reason(setting: dict[str, Any]) -> None:
    said = builtin_profile(setting["profile"]).origin.differences
    assert [line for line in said if line.startswith(setting["differs"])]


@pytest.mark.parametrize("name", ["neurolink", "codebuddy", "agent-code", "copilot"])
def test_every_text_and_number_that_a_profile_sets_is_of_its_document(name: str) -> None:
    profile = builtin_profile(name)
    stated = {each["at"] for each in STATED if each["profile"] == name}
    numbers = {
        f"{stage.name}.{key}"
        for stage in profile.stages
        for key, value in stage.options.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    assert numbers - stated <= BY_THE_CODE.get(name, set())


# Numbers that no document states: those of the systems' code, beside them in the profile.
BY_THE_CODE = {
    "neurolink": {"summarize.min_messages"},
    "codebuddy": {
        "strip.keep_recent", "chunk.min_messages", "partial.keep_recent", "plain.keep_recent",
    },
    "agent-code": {
        "summarize.min_messages", "summarize.keep_min", "summarize.keep_texts",
        "summarize.keep_tokens", "summarize.keep_tokens_max",
    },
    "copilot": {
        "limit.max_bytes", "limit.max_lines", "summarize.keep_ratio", "summarize.keep_min",
        "summarize.min_messages", "plain.keep_recent",
    },
}  # fmt: skip
