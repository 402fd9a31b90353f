"""Replay newer session files: the state of a chat, and the changes made to it since.

``kind`` 0 holds the whole state (``v``), 1 sets the value at a path (``k``), 2 appends items to an
array, which is first cut to a length (``i``) if one is given, and 3 deletes a value (VS Code's
object mutation log, 2026).
"""

from collections.abc import Iterable, Mapping
from typing import Any

_STATE, _SET, _PUSH, _DELETE = range(4)


def is_change(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a state or a change of one."""
    if record.get("kind") == _STATE:
        return isinstance(record.get("v"), Mapping)
    return record.get("kind") in (_SET, _PUSH, _DELETE) and isinstance(record.get("k"), list)


def is_state(record: Mapping[str, Any]) -> bool:
    """Return whether a record holds the whole state."""
    return record.get("kind") == _STATE and is_change(record)


def replay(records: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the newest state with all changes applied; a change of a missing path is ignored."""
    state: Any = {}
    for record in records:
        if is_state(record):
            state = record["v"]
        else:
            _apply(record, state)
    return state if isinstance(state, Mapping) else {}


def _apply(record: Mapping[str, Any], state: object) -> None:
    *parents, key = record["k"] or [None]
    container = state
    for step in parents:
        container = _child(container, step)
    match record["kind"]:
        case 1:
            _set_value(container, key, record.get("v"))
        case 2:
            _push(_child(container, key), record)
        case 3 if isinstance(container, dict) and isinstance(key, str):
            container.pop(key, None)


def _child(container: object, key: object) -> object:
    if isinstance(container, dict) and isinstance(key, str):
        return container.get(key)
    if isinstance(container, list) and isinstance(key, int) and 0 <= key < len(container):
        return container[key]
    return None


def _set_value(container: Any, key: object, value: Any) -> None:  # noqa: ANN401 - JSON is any value
    is_in_object = isinstance(container, dict) and isinstance(key, str)
    is_in_array = isinstance(container, list) and isinstance(key, int) and 0 <= key < len(container)
    if is_in_object or is_in_array:
        container[key] = value


def _push(array: object, record: Mapping[str, Any]) -> None:
    if not isinstance(array, list):
        return
    length = record.get("i")
    if isinstance(length, int) and length >= 0:
        del array[length:]
    items = record.get("v")
    array.extend(items if isinstance(items, list) else [])
