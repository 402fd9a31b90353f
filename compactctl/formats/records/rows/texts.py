"""Rows of databases, in which requests and answers are texts that hold JSON."""

from collections.abc import Iterable, Mapping
from typing import Any

from compactctl.formats.records.rows.envelope import ANSWERS, INPUT, LISTS, MEMBERS, REQUESTS
from compactctl.model.message import JsonPath
from compactctl.model.paths import json_in

# What shows that JSON is a request, an answer, or what holds one: a text that a model answered may
# be JSON as well.
_HOLDERS = frozenset({*MEMBERS, INPUT, "body", "choices", "candidates", "usage", "role"})


def opened(row: Any) -> Any:  # noqa: ANN401 - JSON is any value
    """Return a row with the JSON in place of texts that hold a request or an answer.

    Every path leads to the same value as before; the row itself where it has no such text.
    """
    if isinstance(row, list):
        items = [_opened(item, _NAMES) if isinstance(item, Mapping) else item for item in row]
        return items if any(map(_differ, items, row)) else row
    return _opened(row, _NAMES) if isinstance(row, Mapping) else row


def _opened(value: Any, names: Mapping[Any, Any]) -> Any:  # noqa: ANN401 - JSON is any value
    if isinstance(value, str):
        inner = json_in(value) if value.lstrip()[:1] in ("{", "[", '"') else value
        value = inner if _holds(inner) else value
    if not isinstance(value, Mapping):
        return value
    inside = {name: _opened(value[name], names[name]) for name in names if name in value}
    return {**value, **inside} if any(_differ(inside[n], value[n]) for n in inside) else value


def _differ(new: object, old: object) -> bool:
    return new is not old


def _holds(value: object) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, Mapping) and not _HOLDERS.isdisjoint(item) for item in value)
    return isinstance(value, Mapping) and not _HOLDERS.isdisjoint(value)


def _tree(paths: Iterable[JsonPath]) -> Mapping[Any, Any]:
    root: dict[Any, Any] = {}
    for path in paths:
        node = root
        for name in path:
            node = node.setdefault(name, {})
    return root


_NAMES = _tree((*((*path, name) for path in REQUESTS for name in MEMBERS), *LISTS, *ANSWERS))
