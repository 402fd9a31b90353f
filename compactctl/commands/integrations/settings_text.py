"""Adds entries to a settings file in JSON, with or without comments, and removes them.

All other bytes stay as they are: entries are added in front of existing ones, and removing one
removes only its own text.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from compactctl.errors import NotUnderstoodError
from compactctl.records import Record

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(rf"(?:[\s\ufeff]|{_COMMENT.pattern})*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,:\[\]{}"/]+')
_ENDS = {"{": "}", "[": "]"}
_INDENT = "  "
EMPTY = "{}\n"
"""Settings of somebody who has none."""
Path = Sequence[str | int]
"""Names of members, and numbers of items of arrays."""


class _Value(Record):
    """A value as a span of the text; ``opens`` is the bracket of an object or array, else ""."""

    start: int
    end: int
    opens: str = ""
    entries: tuple["_Entry", ...] = ()


class _Entry(Record):
    """A member of an object, or an item of an array, which has no name."""

    start: int
    name: str | None
    value: _Value


def value_at(text: str, *names: str | int) -> Any:  # noqa: ANN401 - JSON
    """Return the value at a path, None if there is none; comments are ignored.

    Raises NotUnderstoodError for a text that is not a JSON object.
    """
    value = _find_value(text, names)
    return None if value is None else _plain(text, value)


def with_member(text: str, names: Sequence[str], value: object) -> str:
    """Add a member, and the objects around it if they are missing.

    Raises NotUnderstoodError if another kind of value is in the way.
    """
    *outer, name = names
    container = _find_value(text, outer)
    if container is None:
        return with_member(text, outer, {name: value})
    if container.opens != "{":
        raise NotUnderstoodError(f"{'.'.join(outer)} is not an object")
    return _with_first(text, container, len(outer), f"{json.dumps(name)}: {_dump(value)}")


def with_item(text: str, names: Sequence[str], value: object) -> str:
    """Add an item to an array. Raises as ``with_member`` does."""
    array = _find_value(text, names)
    if array is None:
        return with_member(text, names, [value])
    if array.opens != "[":
        raise NotUnderstoodError(f"{'.'.join(names)} is not an array")
    return _with_first(text, array, len(names), _dump(value))


def has(text: str, *names: str) -> bool:
    """Return whether there is a value at a path, including null. Raises as ``value_at`` does."""
    return _find_value(text, names) is not None


def without(text: str, path: Path, like: str) -> str:
    """Remove the entry at a path, and containers that become empty.

    ``like`` are the settings before anything was added: containers in it stay, as empty as they
    were. Comments stay, including those inside what is removed.
    """
    *outer, last = path
    container = _find_value(text, outer)
    index = None if container is None else _place(container, last)
    if container is None or index is None:
        return text
    text = _without(text, container, index)
    remaining = _find_value(text, outer)
    if remaining is None or remaining.entries:
        return text
    before = _find_value(like, outer)
    if before is None:
        return without(text, outer, like)
    is_bare = not text[remaining.start + 1 : remaining.end - 1].strip()
    if before.entries or before.opens != remaining.opens or not is_bare:
        return text
    return text[: remaining.start] + like[before.start : before.end] + text[remaining.end :]


def _dump(value: object) -> str:
    return json.dumps(value, indent=_INDENT, ensure_ascii=False)


def _with_first(text: str, container: _Value, depth: int, entry: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    inner = newline + _INDENT * (depth + 1)
    lines = inner + entry.replace("\n", inner)
    if container.entries:
        return f"{text[: container.start + 1]}{lines},{text[container.start + 1 :]}"
    # Without entries, it holds only space and comments.
    tail = text[container.start + 1 :]
    is_bare = container.end - container.start == len("{}")
    return (
        f"{text[: container.start + 1]}{lines}{newline + _INDENT * depth if is_bare else ''}{tail}"
    )


def _without(text: str, container: _Value, index: int) -> str:
    """Remove an entry and its comma; the comments among them stay.

    {"a": 1, /* b */ "b": 2}   without "b"   {"a": 1 /* b */}
    """
    entry = container.entries[index]
    previous = container.entries[index - 1].value.end if index else container.start + 1
    start = _behind_text(text, previous, entry.start)
    end = entry.value.end
    comma = _behind_space(text, end)
    if text[comma] == ",":
        end = comma + 1
    elif index:
        # The entry before it becomes the last one, so its comma goes instead.
        start = previous
    comments = "".join(_comments(text, start, end))
    is_open = _ends_in_line_comment(text[previous:start] + comments)
    gap = "\n" if is_open and not text[end:].startswith(("\n", "\r\n")) else ""
    return text[:start] + comments + gap + text[end:]


def _behind_text(text: str, previous: int, start: int) -> int:
    """Return where the line of an entry begins, or the space before it on a line with others."""
    space = previous + len(text[previous:start].rstrip())
    line = text.rfind("\n", space, start)
    if line < 0:
        return space
    return line - 1 if text[space:line].endswith("\r") else line


def _comments(text: str, start: int, end: int) -> Iterator[str]:
    """Yield the comments of a span, each with the space before it."""
    pos = start
    while pos < end:
        next_pos = _behind_space(text, pos)
        yield from _with_space(text[pos : min(next_pos, end)])
        pos = next_pos
        if pos < end:
            scalar = _SCALAR.match(text, pos)
            pos = pos + 1 if scalar is None else scalar.end()


def _with_space(space: str) -> Iterator[str]:
    pos = 0
    for match in _COMMENT.finditer(space):
        yield space[pos : match.end()]
        pos = match.end()


def _ends_in_line_comment(space: str) -> bool:
    comments = _COMMENT.findall(space)
    return bool(comments) and comments[-1].startswith("//") and space.endswith(comments[-1])


def _place(container: _Value, key: str | int) -> int | None:
    """Return the index of the entry with this key, the last of several as clients have it."""
    if isinstance(key, int):
        return key if key < len(container.entries) else None
    indices = (i for i, entry in enumerate(container.entries) if entry.name == key)
    return max(indices, default=None) if container.opens == "{" else None


def _find_value(text: str, path: Path) -> _Value | None:
    """Return the value at a path, None if there is none."""
    value = _read(text)
    for name in path:
        index = _place(value, name)
        if index is None:
            return None
        value = value.entries[index].value
    return value


def _read(text: str) -> _Value:
    """Read settings. Raises NotUnderstoodError for anything but a single object."""
    try:
        value = _value(text, _behind_space(text, 0))
    except RecursionError as error:
        raise NotUnderstoodError("is nested too deeply") from error
    if value.opens != "{" or _behind_space(text, value.end) != len(text):
        raise NotUnderstoodError("is not a JSON object")
    return value


def _value(text: str, start: int) -> _Value:
    opens = text[start : start + 1]
    if opens not in _ENDS:
        return _Value(start=start, end=_scalar(text, start))
    entries = []
    pos = _behind_space(text, start + 1)
    while text[pos : pos + 1] != _ENDS[opens]:
        entry = _entry(text, pos, opens)
        entries.append(entry)
        pos = _behind_space(text, entry.value.end)
        if text[pos : pos + 1] == ",":
            pos = _behind_space(text, pos + 1)
        elif text[pos : pos + 1] != _ENDS[opens]:
            raise _not_json(text, pos)
    return _Value(start=start, end=pos + 1, opens=opens, entries=tuple(entries))


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
    match = _SCALAR.match(text, start)
    if match is None:
        raise _not_json(text, start)
    _decoded(text, start, match.end())
    return match.end()


def _plain(text: str, value: _Value) -> object:
    if value.opens == "{":
        return {entry.name: _plain(text, entry.value) for entry in value.entries}
    if value.opens:
        return [_plain(text, entry.value) for entry in value.entries]
    return _decoded(text, value.start, value.end)


def _decoded(text: str, start: int, end: int) -> object:
    try:
        return json.loads(text[start:end])
    except ValueError as error:
        raise _not_json(text, start) from error


def _behind_space(text: str, pos: int) -> int:
    match = _SPACE.match(text, pos)
    return pos if match is None else match.end()


def _not_json(text: str, pos: int) -> NotUnderstoodError:
    return NotUnderstoodError(f"is not JSON in line {text.count(chr(10), 0, pos) + 1}")
