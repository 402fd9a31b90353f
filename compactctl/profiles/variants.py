"""Extend a profile by another file, and list what that file changes.

A file with a ``base`` contains only what differs: other keys replace those of the base, and a table
named like a stage replaces options of that stage::

    base = "neurolink"
    [prune]
    min_savings = 500

If the profile does not run that stage, these are its options when the user asks for it. ``windows``
and ``models`` are added to those of the base.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.model.validation import setting
from compactctl.profiles.neurolink_keys import BLOCKS, stage_table, translate_neurolink_keys
from compactctl.profiles.profile import Change
from compactctl.stages.aliases import canonical_name

# They describe the file, a stage, or name an item.
_DESCRIPTIONS = frozenset({"base", "title", "source", "differs"})
# Tables that are not named like a stage.
_OTHER_TABLES = frozenset({"budget", "background", "models", "windows", *BLOCKS})
# Tables to which a file adds its own entries.
_MERGED_TABLES = frozenset({"models", "windows"})
_ITEM_DESCRIPTIONS = frozenset({"stage", "name", "why"})


def extend(table: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with the keys, and the options of stages, that ``table`` replaces.

    Raises:
        UsageError: a value of NeuroLink's keys is invalid.
    """
    options, base_options = stage_options(table), stage_options(base)
    extended = translate_neurolink_keys(
        {key: value for key, value in table.items() if canonical_name(key) not in options},
        {key: value for key, value in base.items() if canonical_name(key) not in base_options},
    )
    stages = [
        (canonical_name(stage["stage"]), stage)
        for stage in map(stage_table, setting(extended, "stages", list[Any], ()))
    ]
    if stages:
        extended["stages"] = [
            {**base_options.get(name, {}), **stage, **options.get(name, {})}
            for name, stage in stages
        ]
    for key in _MERGED_TABLES & table.keys():
        extended[key] = _merge(base.get(key, {}), setting(table, key, dict[str, Any], {}))
    not_run = (base_options.keys() | options.keys()) - {name for name, _ in stages}
    return extended | {
        name: {**base_options.get(name, {}), **options.get(name, {})} for name in sorted(not_run)
    }


def _merge(base: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of the base with a file's own keys, table by table."""
    merged = dict(base)
    for key, value in table.items():
        both_are_tables = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merge(merged[key], value) if both_are_tables else value
    return merged


def stage_options(table: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the tables named like stages, by our names of the stages."""
    return {
        canonical_name(key): value
        for key, value in table.items()
        if isinstance(value, Mapping) and key not in _OTHER_TABLES
    }


def changes_between(base: Mapping[str, Any], extended: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the settings of an extended table that its base lacks or sets to another value."""
    before = dict(_settings(base))
    return tuple(
        Change(key=key, value=value, base_value=before.get(key))
        for key, value in _settings(extended)
        if value != before.get(key)
    )


def _settings(table: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield each setting and its name: ``trigger``, ``budget.reserve``, ``prune.min_savings``."""
    for key, value in table.items():
        if key in _DESCRIPTIONS:
            continue
        if isinstance(value, Mapping):
            yield from ((f"{key}.{name}", setting) for name, setting in _settings(value))
        elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            yield key, ", ".join(map(_item_name, value))
            for item in value:
                where = "" if key == "stages" else f"{key}."
                yield from (
                    (f"{where}{_item_name(item)}.{name}", setting)
                    for name, setting in item.items()
                    if name not in _ITEM_DESCRIPTIONS
                )
        else:
            yield key, value


def _item_name(item: Mapping[str, Any]) -> str:
    return str(item.get("stage", item.get("name", "")))
