"""Entries put into a settings file in JSON, with comments or without, and taken out again.

All other bytes stay as they are: an entry is put in front of those that are there, and only its own
text goes when it is taken out.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.errors import NotUnderstoodError

_SPACE = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,:\[\]{}"/]+')
_ENDS = {"{": "}", "[": "]"}
_INDENT = "  "
EMPTY = "{}\n"
"""Settings of somebody who has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """A value as a span of the text; ``opens`` is the bracket of one that holds entries."""

    start: int
    end: int
    opens: str = ""
    entries: tuple["_Entry", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A member of an object, or an item of an array, which has no name."""

    start: int
    name: str | None
    value: _Value


def value_at(text: str, *names: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value at a path of names without comments, None where there is none.

    Raises NotUnderstoodError for a text that is not a JSON object.
    """
    found = _found(text, names)
    return None if found is None else _plain(text, found)


def with_member(text: str, names: Sequence[str], value: object) -> str:
    """Return settings with a member, objects around it where they are missing.

    Raises NotUnderstoodError where something else than an object is in its way.
    """
    *outer, name = names
    at = _found(text, outer)
    if at is None:
        return with_member(text, outer, {name: value})
    if at.opens != "{":
        raise NotUnderstoodError(f"{'.'.join(outer)} is not an object")
    return _with_first(text, at, len(outer), f"{json.dumps(name)}: {_written(value)}")


def with_item(text: str, names: Sequence[str], value: object) -> str:
    """Return settings with one more item of an array. Raises as ``with_member`` does."""
    at = _found(text, names)
    if at is None:
        return with_member(text, names, [value])
    if at.opens != "[":
        raise NotUnderstoodError(f"{'.'.join(names)} is not an array")
    return _with_first(text, at, len(names), _written(value))


def without_member(text: str, names: Sequence[str]) -> str:
    """Return settings without a member, and without the objects that this leaves empty."""
    *outer, name = names
    at = _found(text, outer)
    if at is None or all(each.name != name for each in at.entries):
        return text
    text = _without(text, at, next(i for i, each in enumerate(at.entries) if each.name == name))
    left = _found(text, outer)
    is_left = not outer or left is None or left.entries
    return text if is_left else without_member(text, outer)


def without_items(text: str, names: Sequence[str], is_ours: Callable[[Any], bool]) -> str:
    """Return settings without those items of an array, and without what that leaves empty."""
    at = _found(text, names)
    items = enumerate(at.entries if at is not None and at.opens == "[" else ())
    ours = next((i for i, each in items if is_ours(_plain(text, each.value))), None)
    if at is None or ours is None:
        return text
    text = _without(text, at, ours)
    left = _found(text, names)
    if left is not None and not left.entries:
        return without_member(text, names)
    return without_items(text, names, is_ours)


def _written(value: object) -> str:
    return json.dumps(value, indent=_INDENT, ensure_ascii=False)


def _with_first(text: str, at: _Value, depth: int, entry: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    inner = newline + _INDENT * (depth + 1)
    lines = inner + entry.replace("\n", inner)
    if at.entries:
        return f"{text[: at.start + 1]}{lines},{text[at.start + 1 :]}"
    # What is there instead of entries is space, or a comment.
    rest = text[at.start + 1 :]
    is_bare = at.end - at.start == len("{}")
    return f"{text[: at.start + 1]}{lines}{newline + _INDENT * depth if is_bare else ''}{rest}"


def _without(text: str, at: _Value, place: int) -> str:
    entry = at.entries[place]
    space = len(text[at.start + 1 : entry.start]) - len(text[at.start + 1 : entry.start].rstrip())
    start, end = entry.start - space, entry.value.end
    comma = _behind_space(text, end)
    if text[comma] == ",":
        end = comma + 1
    elif place:
        start = at.entries[place - 1].value.end
    elif not text[at.start + 1 : start] and not text[end : at.end - 1].strip():
        end = at.end - 1
    return text[:start] + text[end:]


def _found(text: str, names: Sequence[str]) -> _Value | None:
    """Return the value at a path; the last of several members of one name, as clients have it."""
    at: _Value | None = _read(text)
    for name in names:
        members = at.entries if at is not None and at.opens == "{" else ()
        at = next((each.value for each in reversed(members) if each.name == name), None)
    return at


def _read(text: str) -> _Value:
    """Read settings. Raises NotUnderstoodError for what is not an object and nothing else."""
    try:
        found = _value(text, _behind_space(text, 0))
    except RecursionError as error:
        raise NotUnderstoodError("is nested too deeply") from error
    if found.opens != "{" or _behind_space(text, found.end) != len(text):
        raise NotUnderstoodError("is not a JSON object")
    return found


def _value(text: str, start: int) -> _Value:
    opens = text[start : start + 1]
    if opens not in _ENDS:
        return _Value(start=start, end=_scalar(text, start))
    entries = []
    at = _behind_space(text, start + 1)
    while text[at : at + 1] != _ENDS[opens]:
        entry = _entry(text, at, opens)
        entries.append(entry)
        at = _behind_space(text, entry.value.end)
        if text[at : at + 1] == ",":
            at = _behind_space(text, at + 1)
        elif text[at : at + 1] != _ENDS[opens]:
            raise _not_json(text, at)
    return _Value(start=start, end=at + 1, opens=opens, entries=tuple(entries))


def _entry(text: str, start: int, opens: str) -> _Entry:
    if opens == "[":
        return _Entry(start=start, name=None, value=_value(text, start))
    end = _scalar(text, start)
    colon = _behind_space(text, end)
    name = _decoded(text, start, end)
    if text[colon : colon + 1] != ":" or not isinstance(name, str):
        raise _not_json(text, colon)
    return _Entry(start=start, name=name, value=_value(text, _behind_space(text, colon + 1)))


def _scalar(text: str, start: int) -> int:
    found = _SCALAR.match(text, start)
    if found is None:
        raise _not_json(text, start)
    _decoded(text, start, found.end())
    return found.end()


def _plain(text: str, value: _Value) -> Any:  # noqa: ANN401 - JSON
    if value.opens == "{":
        return {each.name: _plain(text, each.value) for each in value.entries}
    if value.opens:
        return [_plain(text, each.value) for each in value.entries]
    return _decoded(text, value.start, value.end)


def _decoded(text: str, start: int, end: int) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text[start:end])
    except ValueError as error:
        raise _not_json(text, start) from error


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _not_json(text: str, at: int) -> NotUnderstoodError:
    return NotUnderstoodError(f"is not JSON in line {text.count(chr(10), 0, at) + 1}")
