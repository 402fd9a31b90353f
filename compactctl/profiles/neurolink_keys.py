"""Translate the keys of NeuroLink's configuration, which a user's profile may contain.

Sources: "CompactionConfig" and the ``contextCompaction`` block in NeuroLink's documentation of
context compaction.
"""

from collections.abc import Mapping
from typing import Any

from compactctl.errors import UsageError
from compactctl.model.validation import check_keys, setting, validate_value
from compactctl.stages.aliases import canonical_name

# Tables of a user's file that may contain these keys; the top level may contain them as well.
BLOCKS = ("conversationMemory", "contextCompaction", "CompactionConfig")
# This block also contains settings that are unrelated to compaction, which are ignored.
_MIXED_BLOCK = "conversationMemory"
# Key -> the stage that it enables or disables.
_SWITCHES = {
    "enablePrune": "prune",
    "enablePruning": "prune",
    "enableDeduplicate": "dedup",
    "enableDeduplication": "dedup",
    "enableSummarize": "summarize",
    "enableSummarization": "summarize",
    "enableTruncate": "truncate",
    "enableSlidingWindow": "truncate",
}
# Key -> stage and option.
_OPTIONS = {
    "pruneProtectTokens": ("prune", "protect_tokens"),
    "pruneMinimumSavings": ("prune", "min_savings"),
    "pruneProtectedTools": ("prune", "protect_tools"),
    "keepRecentRatio": ("summarize", "keep_ratio"),
    "truncationFraction": ("truncate", "fraction"),
    "maxToolOutputBytes": ("limit", "max_bytes"),
    "maxToolOutputLines": ("limit", "max_lines"),
}
# Key -> key of a compactctl profile.
_PROFILE_KEYS = {
    "enabled": "enabled",
    "threshold": "trigger",
    "fileReadBudgetPercent": "file_share",
    "summarizationProvider": "summarizer",
    "summarizationModel": "summarizer_model",
}
_PROVIDER = "provider"
_CODE = "neurolink@code"
_NEUROLINK_KEYS = frozenset({*_SWITCHES, *_OPTIONS, *_PROFILE_KEYS, _PROVIDER})


def translate_neurolink_keys(table: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` overridden by the keys of ``table``, with NeuroLink's keys translated.

    Raises:
        UsageError: a value of NeuroLink's keys is invalid.
    """
    profile_keys, settings = _split_keys(table)
    merged: dict[str, Any] = {**base, **profile_keys}
    merged.pop("base", None)
    budget = setting(profile_keys, "budget", dict[str, Any], {})
    merged["budget"] = {**base.get("budget", {}), **budget}
    if settings:
        entries = setting(merged, "stages", list[Any], ())
        stages = [dict(stage_table(entry)) for entry in entries]
        merged["stages"] = _apply_switches(_apply_settings(stages, settings), settings)
    for key, name in _PROFILE_KEYS.items():
        if key in settings:
            merged[name] = settings[key]
    if settings.get(_PROVIDER):
        counter = _CODE if base.get("counter") == _CODE else "neurolink"
        merged["counter"] = f"{counter}/{settings[_PROVIDER]}"
    return merged


def stage_table(entry: object) -> Mapping[str, Any]:
    """Return a stage's table, also from its name alone. Raises UsageError for anything else."""
    if isinstance(entry, str):
        entry = {"stage": entry}
    if not isinstance(entry, Mapping) or not isinstance(entry.get("stage"), str):
        raise UsageError(f'write a stage as {{stage = "prune"}}, not {entry!r}')
    return entry


def _split_keys(table: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the profile's own keys, and NeuroLink's keys from all blocks."""
    profile_keys: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for key, value in table.items():
        if key in BLOCKS:
            inner, inner_settings = _split_keys(validate_value(f"{key} = ", dict[str, Any], value))
            if key != _MIXED_BLOCK:
                check_keys(inner, _NEUROLINK_KEYS, key)
            settings |= inner_settings
        elif key in _NEUROLINK_KEYS:
            settings[key] = value
        else:
            profile_keys[key] = value
    return profile_keys, settings


def _apply_settings(
    stages: list[dict[str, Any]], settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Set the options of stages; a missing stage is added in front of the others."""
    for key, (name, option) in _OPTIONS.items():
        if key not in settings:
            continue
        matching_stages = [stage for stage in stages if canonical_name(stage["stage"]) == name]
        if not matching_stages:
            matching_stages = [{"stage": name}]
            stages.insert(0, matching_stages[0])
        for stage in matching_stages:
            stage[option] = settings[key]
    return stages


def _apply_switches(
    stages: list[dict[str, Any]], settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    off = {
        name for key, name in _SWITCHES.items() if not setting(settings, key, bool, default=True)
    }
    return [stage for stage in stages if canonical_name(stage["stage"]) not in off]
