"""Entries put into a settings file in JSON, with comments or without, and taken out again.

All other bytes stay as they are: an entry is put in front of those that are there, and only its own
text goes when it is taken out.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.errors import NotUnderstoodError

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(rf"(?:[\s\ufeff]|{_COMMENT.pattern})*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,:\[\]{}"/]+')
_ENDS = {"{": "}", "[": "]"}
_INDENT = "  "
EMPTY = "{}\n"
"""Settings of somebody who has none."""
Path = Sequence[str | int]
"""Names of members, and numbers of items of arrays."""


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


def value_at(text: str, *names: str | int) -> Any:  # noqa: ANN401 - JSON
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


def has(text: str, *names: str) -> bool:
    """Tell whether there is a value at a path, null included. Raises as ``value_at`` does."""
    return _found(text, names) is not None


def without(text: str, path: Path, like: str) -> str:
    """Return settings without the entry at a path, and without what held nothing else.

    ``like`` are the settings before anything was put in: an object or array that it has stays, as
    empty as it was. Comments stay, also those in what goes.
    """
    *outer, last = path
    at = _found(text, outer)
    place = None if at is None else _place(at, last)
    if at is None or place is None:
        return text
    text = _without(text, at, place)
    left = _found(text, outer)
    if left is None or left.entries:
        return text
    before = _found(like, outer)
    if before is None:
        return without(text, outer, like)
    is_bare = not text[left.start + 1 : left.end - 1].strip()
    if before.entries or before.opens != left.opens or not is_bare:
        return text
    return text[: left.start] + like[before.start : before.end] + text[left.end :]


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
    """Return a text without an entry and its comma; the comments among them stay."""
    entry = at.entries[place]
    previous = at.entries[place - 1].value.end if place else at.start + 1
    start = _behind_text(text, previous, entry.start)
    end = entry.value.end
    comma = _behind_space(text, end)
    if text[comma] == ",":
        end = comma + 1
    elif place:
        # The entry before it is the last one now.
        start = previous
    kept = "".join(_comments(text, start, end))
    is_open = _ends_in_line_comment(text[previous:start] + kept)
    gap = "\n" if is_open and not text[end:].startswith(("\n", "\r\n")) else ""
    return text[:start] + kept + gap + text[end:]


def _behind_text(text: str, previous: int, start: int) -> int:
    """Return where the line of an entry begins, or the space before it in a line with others."""
    space = previous + len(text[previous:start].rstrip())
    line = text.rfind("\n", space, start)
    if line < 0:
        return space
    return line - 1 if text[space:line].endswith("\r") else line


def _comments(text: str, start: int, end: int) -> Iterator[str]:
    """Yield the comments of a span, each with the space before it."""
    at = start
    while at < end:
        behind = _behind_space(text, at)
        yield from _with_space(text[at : min(behind, end)])
        at = behind
        if at < end:
            scalar = _SCALAR.match(text, at)
            at = at + 1 if scalar is None else scalar.end()


def _with_space(space: str) -> Iterator[str]:
    at = 0
    for found in _COMMENT.finditer(space):
        yield space[at : found.end()]
        at = found.end()


def _ends_in_line_comment(space: str) -> bool:
    comments = _COMMENT.findall(space)
    return bool(comments) and comments[-1].startswith("//") and space.endswith(comments[-1])


def _place(at: _Value, last: str | int) -> int | None:
    """Return which entry of a value is meant: the last one of a name, as clients have it."""
    if isinstance(last, int):
        return last if last < len(at.entries) else None
    places = (i for i, each in enumerate(at.entries) if each.name == last)
    return max(places, default=None) if at.opens == "{" else None


def _found(text: str, path: Path) -> _Value | None:
    """Return the value at a path, None where there is none."""
    at = _read(text)
    for name in path:
        place = _place(at, name)
        if place is None:
            return None
        at = at.entries[place].value
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


def _plain(text: str, value: _Value) -> object:
    if value.opens == "{":
        return {each.name: _plain(text, each.value) for each in value.entries}
    if value.opens:
        return [_plain(text, each.value) for each in value.entries]
    return _decoded(text, value.start, value.end)


def _decoded(text: str, start: int, end: int) -> object:
    try:
        return json.loads(text[start:end])
    except ValueError as error:
        raise _not_json(text, start) from error


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _not_json(text: str, at: int) -> NotUnderstoodError:
    return NotUnderstoodError(f"is not JSON in line {text.count(chr(10), 0, at) + 1}")
