"""The keys of NeuroLink's own configuration, accepted in a user's profile under their names.

Sources: "CompactionConfig" and the ``contextCompaction`` block in NeuroLink's documentation of
context compaction.
"""

from collections.abc import Mapping
from typing import Any

from compactctl.errors import UsageError
from compactctl.model.validators import (
    SettingsTable,
    any_list,
    any_table,
    boolean,
    check_keys,
    validate_value,
)
from compactctl.stages.aliases import canonical_name

# Where such a block may stand in a user's file; "" is the top level.
_BLOCKS = ("conversationMemory", "contextCompaction", "CompactionConfig")
# This one holds much that has nothing to do with compaction.
_FOREIGN = "conversationMemory"
# Key -> the stage that it switches on and off.
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
# Key -> our own key of a profile.
_PLAIN = {
    "enabled": "enabled",
    "threshold": "trigger",
    "fileReadBudgetPercent": "file_share",
    "summarizationProvider": "summarizer",
    "summarizationModel": "summarizer_model",
}
_PROVIDER = "provider"
_NEUROLINK_KEYS = frozenset({*_SWITCHES, *_OPTIONS, *_PLAIN, _PROVIDER})


def translate_neurolink_keys(table: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return a profile's table with its own keys over ``base`` and the system's keys translated.

    Raises:
        UsageError: a value of the system's keys cannot be used.
    """
    own, neurolink_settings = _split_keys(table)
    merged: dict[str, Any] = {**base, **own}
    merged.pop("base", None)
    budget = SettingsTable(own).get("budget", any_table, {})
    merged["budget"] = {**base.get("budget", {}), **budget}
    if neurolink_settings:
        written = SettingsTable(merged).get("stages", any_list, ())
        stages = [dict(stage_table(each)) for each in written]
        merged["stages"] = _apply_switches(
            _apply_settings(stages, neurolink_settings), neurolink_settings
        )
    for key, name in _PLAIN.items():
        if key in neurolink_settings:
            merged[name] = neurolink_settings[key]
    if neurolink_settings.get(_PROVIDER):
        merged["counter"] = f"neurolink/{neurolink_settings[_PROVIDER]}"
    return merged


def stage_table(entries: object) -> Mapping[str, Any]:
    """Return the table of a stage, which may be its name alone. UsageError for anything else."""
    if isinstance(entries, str):
        entries = {"stage": entries}
    if not isinstance(entries, Mapping) or not isinstance(entries.get("stage"), str):
        raise UsageError(f'a stage is written as {{stage = "prune"}}, not {entries!r}')
    return entries


def _split_keys(table: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return our keys, and the system's keys out of whichever block they stand in."""
    own: dict[str, Any] = {}
    neurolink_settings: dict[str, Any] = {}
    for key, value in table.items():
        if key in _BLOCKS:
            inner, found = _split_keys(validate_value(f"{key} = ", any_table, value))
            if key != _FOREIGN:
                check_keys(inner, _NEUROLINK_KEYS, key)
            neurolink_settings |= found
        elif key in _NEUROLINK_KEYS:
            neurolink_settings[key] = value
        else:
            own[key] = value
    return own, neurolink_settings


def _apply_settings(
    stages: list[dict[str, Any]], neurolink_settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    for key, (name, option) in _OPTIONS.items():
        if key not in neurolink_settings:
            continue
        chosen = [stage for stage in stages if canonical_name(stage["stage"]) == name]
        if not chosen:
            chosen = [{"stage": name}]
            stages.insert(0, chosen[0])
        for stage in chosen:
            stage[option] = neurolink_settings[key]
    return stages


def _apply_switches(
    stages: list[dict[str, Any]], neurolink_settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    table = SettingsTable(neurolink_settings)
    off = {name for key, name in _SWITCHES.items() if not table.get(key, boolean, default=True)}
    return [stage for stage in stages if canonical_name(stage["stage"]) not in off]
