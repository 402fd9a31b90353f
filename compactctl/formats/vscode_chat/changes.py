"""A session file of newer versions: the state of a chat, and the changes made to it since.

``kind`` 0 holds the whole state (``v``), 1 sets the value at a path (``k``), 2 puts items behind an
array, which is first cut to a length (``i``) where one is given, and 3 takes a value away (VS
Code's object mutation log, 2026).
"""

from collections.abc import Iterable, Mapping
from typing import Any

_STATE, _SET, _PUSH, _DELETE = range(4)


def is_change(record: Mapping[str, Any]) -> bool:
    """Tell whether a record is a state or a change of one."""
    if record.get("kind") == _STATE:
        return isinstance(record.get("v"), Mapping)
    return record.get("kind") in (_SET, _PUSH, _DELETE) and isinstance(record.get("k"), list)


def is_state(record: Mapping[str, Any]) -> bool:
    """Tell whether a record holds the whole state."""
    return record.get("kind") == _STATE and is_change(record)


def replay(records: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return what the newest state came to; a change that fits nowhere changes nothing."""
    state: Any = {}
    for record in records:
        if is_state(record):
            state = record["v"]
        else:
            _apply(record, state)
    return state if isinstance(state, Mapping) else {}


def _apply(record: Mapping[str, Any], state: object) -> None:
    *way, last = record["k"] or [None]
    holder = state
    for step in way:
        holder = _inner(holder, step)
    match record["kind"]:
        case 1:
            _put(holder, last, record.get("v"))
        case 2:
            _push(_inner(holder, last), record)
        case 3 if isinstance(holder, dict) and isinstance(last, str):
            holder.pop(last, None)


def _inner(holder: object, step: object) -> object:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step < len(holder):
        return holder[step]
    return None


def _put(holder: Any, last: object, value: Any) -> None:  # noqa: ANN401 - JSON is any value
    in_object = isinstance(holder, dict) and isinstance(last, str)
    in_array = isinstance(holder, list) and isinstance(last, int) and 0 <= last < len(holder)
    if in_object or in_array:
        holder[last] = value


def _push(array: object, record: Mapping[str, Any]) -> None:
    if not isinstance(array, list):
        return
    length = record.get("i")
    if isinstance(length, int) and length >= 0:
        del array[length:]
    items = record.get("v")
    array.extend(items if isinstance(items, list) else [])
