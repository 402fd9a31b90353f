"""Where JSON values stand in a text, so that one can be replaced and the rest left alone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from compactctl.model.message import JsonPath
from compactctl.pipeline.quoted_json import (
    MAX_PREFIX,
    Quoted,
    Span,
    ValuePlace,
    driver_field_of,
    prefix_length,
    spans_within,
)

_BLANK = frozenset(" \t\r\n")
_BLANKS = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*,?[ \t\r\n]*")
_BEFORE_RECORD = re.compile(r"[ \t\r\n]*\ufeff?[ \t\r\n]*")
# Private names of the standard library: the long run has them on every Python from 3.11 to 3.14.
# Numbers are only skipped, so they are never converted: an integer may have 5,000 digits.
_DECODER = JSONDecoder(parse_int=len, parse_float=len, parse_constant=len, strict=False)
_scan_once = _DECODER.scan_once  # type: ignore[attr-defined]
_TARGET = object()


class Array(NamedTuple):
    """Where the elements of an array stand in a line, and within how many texts."""

    elements: list[Span]
    depth: int


def record_place(text: str) -> ValuePlace:
    """Return where the JSON value of a line stands, without all that is around it."""
    quoted = _in_driver(text)
    if quoted is not None:
        return quoted.place(record_place(quoted.text))
    start = _record_start(text)
    return ValuePlace(start, _scan_once(text, start)[1])


def line_place(text: str) -> ValuePlace:
    """Return the same for a line that is known to hold one JSON value and nothing behind it."""
    quoted = _in_driver(text)
    if quoted is not None:
        return quoted.place(line_place(quoted.text))
    return ValuePlace(_record_start(text), len(text.rstrip(" \t\r\n")))


def _in_driver(text: str) -> Quoted | None:
    """Return the line that a log driver's record holds, None for any other line."""
    name = driver_field_of(text)
    if name is None:
        return None
    start, end = _find(text, [(name,)])[(name,)].span
    return Quoted(text, start + 1, end - 1)


def find_spans(text: str, paths: Iterable[JsonPath]) -> dict[JsonPath, Span]:
    """Return the spans of the values at ``paths``; see ``find_places``."""
    return {path: place.span for path, place in find_places(text, paths).items()}


def find_places(text: str, paths: Iterable[JsonPath], depth: int = 0) -> dict[JsonPath, ValuePlace]:
    """Return where the values at ``paths`` stand in a line of JSON.

    A path leads through a text that holds JSON as if the value stood there itself. One that is not
    there is left out. Of duplicate keys the last one counts, as in parsers. With ``depth``, the
    text is how JSON is spelled within so many texts.
    """
    quoted = Quoted(text, 0, len(text)) if depth else _in_driver(text)
    if quoted is not None:
        inner = find_places(quoted.text, paths, max(depth - 1, 0))
        return {path: quoted.place(place) for path, place in inner.items()}
    return _find(text, paths)


def _find(text: str, paths: Iterable[JsonPath]) -> dict[JsonPath, ValuePlace]:
    """Return the same of a line that is what it is, also where a log driver wrote it."""
    spans: dict[JsonPath, ValuePlace] = {}
    _value(text, _record_start(text), _path_tree(paths), (), spans)
    return spans


def find_array(text: str, path: JsonPath) -> Array:
    """Return the elements of the array at ``path``, or in a text there; none without an array."""
    place = find_places(text, [path]).get(path)
    while place is not None:
        inner = spans_within(text, place, _string)
        if not inner:
            return Array(spans_within(text, place, _elements), place.depth)
        place = ValuePlace(*inner[0], place.depth + 1)
    return Array([], 0)


def _string(text: str) -> list[Span]:
    """Return the span of what is between the quotes of a string; none of any other value."""
    start = _skip_blanks(text, 0)
    return [(start + 1, len(text.rstrip()) - 1)] if text[start : start + 1] == '"' else []


def _elements(text: str) -> list[Span]:
    start = _skip_blanks(text, 0)
    if text[start : start + 1] != "[":
        return []
    spans = []
    at = _skip_blanks(text, start + 1)
    while text[at] != "]":
        end = _scan_once(text, at)[1]
        spans.append((at, end))
        at = _skip_blanks(text, end)
        if text[at] == ",":
            at = _skip_blanks(text, at + 1)
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
    start = match.end() if match else 0
    return start + prefix_length(text[start : start + MAX_PREFIX + 1])


def _skip_blanks(text: str, at: int) -> int:
    if text[at : at + 1] not in _BLANK:
        return at
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _path_tree(paths: Iterable[JsonPath]) -> dict[Any, Any]:
    root: dict[Any, Any] = {}
    for path in paths:
        node = root
        for step in path:
            node = node.setdefault(step, {})
        node[_TARGET] = True
    return root


def _value(
    text: str, at: int, node: dict[Any, Any], path: JsonPath, spans: dict[JsonPath, ValuePlace]
) -> int:
    inner = len(node) > (_TARGET in node)
    if inner and text[at] == "{":
        end = _object(text, at, node, path, spans)
    elif inner and text[at] == "[":
        end = _array(text, at, node, path, spans)
    else:
        end = _scan_once(text, at)[1]
        if inner and text[at] == '"':
            _in_text(text, (at + 1, end - 1), node, path, spans)
    if _TARGET in node:
        spans[path] = ValuePlace(at, end)
    return end


def _in_text(
    text: str, span: Span, node: dict[Any, Any], path: JsonPath, spans: dict[JsonPath, ValuePlace]
) -> None:
    """Find what stands in the JSON that a text holds; nothing where it holds none."""
    quoted = Quoted(text, *span)
    inner: dict[JsonPath, ValuePlace] = {}
    rest = {step: each for step, each in node.items() if step is not _TARGET}
    try:
        _value(quoted.text, _record_start(quoted.text), rest, path, inner)
    except (ValueError, StopIteration, IndexError):
        return
    spans |= {each: quoted.place(place) for each, place in inner.items()}


def _object(
    text: str, at: int, node: dict[Any, Any], path: JsonPath, spans: dict[JsonPath, ValuePlace]
) -> int:
    at = _skip_blanks(text, at + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1, False)  # noqa: FBT003 - its signature is positional
        at = _match_end(_COLON, text, at)
        at = _member(text, at, node.get(key), (*path, key), spans)
    return at + 1


def _array(
    text: str, at: int, node: dict[Any, Any], path: JsonPath, spans: dict[JsonPath, ValuePlace]
) -> int:
    at = _skip_blanks(text, at + 1)
    index = 0
    while text[at] != "]":
        at = _member(text, at, node.get(index), (*path, index), spans)
        index += 1
    return at + 1


def _member(
    text: str,
    at: int,
    node: dict[Any, Any] | None,
    path: JsonPath,
    spans: dict[JsonPath, ValuePlace],
) -> int:
    end = _scan_once(text, at)[1] if node is None else _value(text, at, node, path, spans)
    return _match_end(_COMMA, text, end)
