"""Where JSON values stand in a text, so that one can be replaced and the rest left alone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]
from typing import Any

from compactctl.model.message import JsonPath

Span = tuple[int, int]

_BLANK = frozenset(" \t\r\n")
_BLANKS = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,?[ \t\r\n]*")
_BEFORE_RECORD = re.compile(r"[ \t\r\n]*\ufeff?[ \t\r\n]*")
# Private names of the standard library: the long run has them on every Python from 3.11 to 3.14.
# Numbers are only skipped, so they are never converted: an integer may have 5,000 digits.
_DECODER = JSONDecoder(parse_int=len, parse_float=len, parse_constant=len, strict=False)
_scan_once = _DECODER.scan_once  # type: ignore[attr-defined]
_HERE = object()


def record_span(text: str) -> Span:
    """Return the span of the JSON value in a line, without byte order mark and blanks."""
    start = _record_start(text)
    return start, _scan_once(text, start)[1]


def line_span(text: str) -> Span:
    """Return the same span for a line that is known to hold one JSON value and nothing else."""
    return _record_start(text), len(text.rstrip(" \t\r\n"))


def find_spans(text: str, paths: Iterable[JsonPath]) -> dict[JsonPath, Span]:
    """Return where the values at ``paths`` stand in a line of JSON.

    A path that is not there is left out. Of duplicate keys the last one counts, as in parsers.
    """
    found: dict[JsonPath, Span] = {}
    _value(text, _record_start(text), _tree(paths), (), found)
    return found


def element_spans(text: str, path: JsonPath) -> list[Span]:
    """Return the spans of all elements of the array at ``path``; empty when there is none."""
    array = find_spans(text, [path]).get(path)
    if array is None or text[array[0]] != "[":
        return []
    spans = []
    at = _skip(text, array[0] + 1)
    while text[at] != "]":
        end = _scan_once(text, at)[1]
        spans.append((at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return spans


def splice(text: str, changes: Mapping[Span, str]) -> str:
    """Put new texts in place of spans that do not overlap; an empty span is an insertion."""
    pieces: list[str] = []
    at = 0
    for (start, end), new in sorted(changes.items()):
        pieces += (text[at:start], new)
        at = end
    return "".join((*pieces, text[at:]))


def rebuild(text: str, elements: Sequence[Span], items: Sequence[tuple[int | None, str]]) -> str:
    """Return the inner text of an array made of ``items``: original index or None, and text.

    An original element keeps the separator that stood before it, so that inserting elements and
    taking them out again gives the same text back.
    """
    pieces: list[str] = []
    for index, new in items:
        if pieces:
            pieces.append(_separator(text, elements, index))
        pieces.append(new)
    return "".join(pieces)


def _separator(text: str, elements: Sequence[Span], index: int | None) -> str:
    """Return what stood before an original element; a comma before any other."""
    if not index:
        return ","
    return text[elements[index - 1][1] : elements[index][0]]


def _record_start(text: str) -> int:
    match = _BEFORE_RECORD.match(text)
    return match.end() if match else 0


def _skip(text: str, at: int) -> int:
    if text[at : at + 1] not in _BLANK:
        return at
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _tree(paths: Iterable[JsonPath]) -> dict[Any, Any]:
    root: dict[Any, Any] = {}
    for path in paths:
        node = root
        for step in path:
            node = node.setdefault(step, {})
        node[_HERE] = True
    return root


def _value(
    text: str, at: int, node: dict[Any, Any], path: JsonPath, found: dict[JsonPath, Span]
) -> int:
    inner = len(node) > (_HERE in node)
    if inner and text[at] == "{":
        end = _object(text, at, node, path, found)
    elif inner and text[at] == "[":
        end = _array(text, at, node, path, found)
    else:
        end = _scan_once(text, at)[1]
    if _HERE in node:
        found[path] = (at, end)
    return end


def _object(
    text: str, at: int, node: dict[Any, Any], path: JsonPath, found: dict[JsonPath, Span]
) -> int:
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1, False)  # noqa: FBT003 - its signature is positional
        at = _end(_COLON, text, at)
        at = _member(text, at, node.get(key), (*path, key), found)
    return at + 1


def _array(
    text: str, at: int, node: dict[Any, Any], path: JsonPath, found: dict[JsonPath, Span]
) -> int:
    at = _skip(text, at + 1)
    index = 0
    while text[at] != "]":
        at = _member(text, at, node.get(index), (*path, index), found)
        index += 1
    return at + 1


def _member(
    text: str, at: int, node: dict[Any, Any] | None, path: JsonPath, found: dict[JsonPath, Span]
) -> int:
    end = _scan_once(text, at)[1] if node is None else _value(text, at, node, path, found)
    return _end(_COMMA, text, end)
