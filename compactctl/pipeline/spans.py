"""Find the spans of JSON values in a text, so that one can be replaced and the rest kept as is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from compactctl.model.message import JsonPath
from compactctl.pipeline.quoted_json import (
    MAX_PREFIX,
    QuotedJson,
    Span,
    ValueLocation,
    driver_field_in_line,
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
    """The spans of an array's elements, and how many JSON strings they are nested in."""

    elements: list[Span]
    depth: int


def find_record(text: str) -> ValueLocation:
    """Locate a line's JSON value, without log prefix, log driver or trailing text."""
    quoted = _driver_content(text)
    if quoted is not None:
        return quoted.outer_location(find_record(quoted.text))
    start = _record_start(text)
    return ValueLocation(start, _scan_once(text, start)[1])


def find_sole_record(text: str) -> ValueLocation:
    """Like ``find_record``, for a line known to end with the value, which is then not parsed."""
    quoted = _driver_content(text)
    if quoted is not None:
        return quoted.outer_location(find_sole_record(quoted.text))
    return ValueLocation(_record_start(text), len(text.rstrip(" \t\r\n")))


def _driver_content(text: str) -> QuotedJson | None:
    """Return the line inside a log driver's record, None for any other line."""
    name = driver_field_in_line(text)
    if name is None:
        return None
    start, end = find_in_json(text, [(name,)])[(name,)].span
    return QuotedJson(text, start + 1, end - 1)


def find_spans(text: str, paths: Iterable[JsonPath]) -> dict[JsonPath, Span]:
    """Return the spans of the values at ``paths`` in a JSON text; missing paths are left out.

    find_spans('{"a": [10, {"b": "x"}]}', [("a", 1, "b")])  ->  {("a", 1, "b"): (17, 20)}
    """
    return {path: location.span for path, location in find_locations(text, paths).items()}


def find_locations(
    text: str, paths: Iterable[JsonPath], depth: int = 0
) -> dict[JsonPath, ValueLocation]:
    """Return the locations of the values at ``paths`` in a line; missing paths are left out.

    A path leads into a string that holds JSON as if the JSON stood there itself. The last of
    several equal keys counts, as in parsers. ``text`` is escaped ``depth`` times.
    """
    # json.loads loses offsets, and re-encoding would change bytes that we promise to keep (escapes,
    # number formats, duplicate keys). So walk only the containers on a path, and let C skip the
    # rest.
    quoted = QuotedJson(text, 0, len(text)) if depth else _driver_content(text)
    if quoted is not None:
        inner = find_locations(quoted.text, paths, max(depth - 1, 0))
        return {path: quoted.outer_location(location) for path, location in inner.items()}
    return find_in_json(text, paths)


def find_in_json(text: str, paths: Iterable[JsonPath]) -> dict[JsonPath, ValueLocation]:
    """``find_locations`` for unescaped text; a log driver's record is searched like any other."""
    locations: dict[JsonPath, ValueLocation] = {}
    _scan_value(text, _record_start(text), _path_tree(paths), (), locations)
    return locations


def find_array(text: str, path: JsonPath) -> Array:
    """Return the elements of the array at ``path``, also if a string there holds it as JSON.

    Without an array there are no elements.
    """
    location = find_locations(text, [path]).get(path)
    while location is not None:
        inner = spans_within(text, location, _string_span)
        if not inner:
            return Array(spans_within(text, location, _element_spans), location.depth)
        location = ValueLocation(*inner[0], location.depth + 1)
    return Array([], 0)


def _string_span(text: str) -> list[Span]:
    """Return the span between the quotes of a string; none for other values."""
    start = _skip_blanks(text, 0)
    return [(start + 1, len(text.rstrip()) - 1)] if text[start : start + 1] == '"' else []


def _element_spans(text: str) -> list[Span]:
    start = _skip_blanks(text, 0)
    if text[start : start + 1] != "[":
        return []
    spans = []
    pos = _skip_blanks(text, start + 1)
    while text[pos] != "]":
        end = _scan_once(text, pos)[1]
        spans.append((pos, end))
        pos = _skip_blanks(text, end)
        if text[pos] == ",":
            pos = _skip_blanks(text, pos + 1)
    return spans


def splice(text: str, changes: Mapping[Span, str]) -> str:
    """Replace spans that do not overlap by new texts; an empty span is an insertion.

    splice("abc", {(1, 2): "X", (3, 3): "!"})  ->  "aXc!"
    """
    pieces: list[str] = []
    end_of_last = 0
    for (start, end), new in sorted(changes.items()):
        pieces += (text[end_of_last:start], new)
        end_of_last = end
    return "".join((*pieces, text[end_of_last:]))


def replace_elements(
    text: str, elements: Sequence[Span], items: Sequence[tuple[int | None, str]]
) -> str:
    """Replace the elements of an array by ``items``: each an original index or None, and a text.

    An original element keeps the separator before it, so that inserting elements and removing
    them again restores the text. "[1 , 2]" with X before 2:  "[1,X , 2]".
    """
    pieces: list[str] = []
    for index, new in items:
        if pieces:
            pieces.append(_separator(text, elements, index))
        pieces.append(new)
    return splice(text, {(elements[0][0], elements[-1][1]): "".join(pieces)})


def replace_in_step(
    text: str,
    path: JsonPath,
    elements: Sequence[Span],
    items: Sequence[tuple[int | None, str]],
    names: Mapping[str, str],
) -> str:
    """Replace the elements of the array at ``path``, and the notes of them, if there are any.

    They are in an array beside it, whose name ``names`` has for that of the first: those of removed
    elements are removed, and new elements get an empty one.
    """
    name = names.get(str(path[-1]), "") if path else ""
    notes = find_array(text, (*path[:-1], name)).elements if name and name in text else []
    if len(notes) != len(elements):
        return replace_elements(text, elements, items)
    noted = [(n, "{}" if n is None else text[slice(*notes[n])]) for n, _ in items]
    # The later one first, so that the places of the other one stay.
    for spans, new in sorted([(elements, items), (notes, noted)], reverse=True, key=_first_span):
        text = replace_elements(text, spans, new)
    return text


def _first_span(array: tuple[Sequence[Span], object]) -> Span:
    return array[0][0]


def _separator(text: str, elements: Sequence[Span], index: int | None) -> str:
    if not index:
        return ","
    return text[elements[index - 1][1] : elements[index][0]]


def _record_start(text: str) -> int:
    match = _BEFORE_RECORD.match(text)
    start = match.end() if match else 0
    return start + prefix_length(text[start : start + MAX_PREFIX + 1])


def _skip_blanks(text: str, pos: int) -> int:
    if text[pos : pos + 1] not in _BLANK:
        return pos
    match = _BLANKS.match(text, pos)
    return match.end() if match else pos


def _match_end(pattern: re.Pattern[str], text: str, pos: int) -> int:
    match = pattern.match(text, pos)
    return match.end() if match else pos


def _path_tree(paths: Iterable[JsonPath]) -> dict[Any, Any]:
    root: dict[Any, Any] = {}
    for path in paths:
        node = root
        for step in path:
            node = node.setdefault(step, {})
        node[_TARGET] = True
    return root


def _scan_value(
    text: str,
    pos: int,
    node: dict[Any, Any],
    path: JsonPath,
    locations: dict[JsonPath, ValueLocation],
) -> int:
    leads_further = len(node) > (_TARGET in node)
    if leads_further and text[pos] == "{":
        end = _scan_object(text, pos, node, path, locations)
    elif leads_further and text[pos] == "[":
        end = _scan_array(text, pos, node, path, locations)
    else:
        end = _scan_once(text, pos)[1]
        if leads_further and text[pos] == '"':
            _scan_string(text, (pos + 1, end - 1), node, path, locations)
    if _TARGET in node:
        locations[path] = ValueLocation(pos, end)
    return end


def _scan_string(
    text: str,
    span: Span,
    node: dict[Any, Any],
    path: JsonPath,
    locations: dict[JsonPath, ValueLocation],
) -> None:
    """Look for the paths below ``node`` inside a string, if it holds JSON."""
    quoted = QuotedJson(text, *span)
    inner: dict[JsonPath, ValueLocation] = {}
    children = {step: child for step, child in node.items() if step is not _TARGET}
    try:
        _scan_value(quoted.text, _record_start(quoted.text), children, path, inner)
    except (ValueError, StopIteration, IndexError):
        return
    locations |= {
        value_path: quoted.outer_location(location) for value_path, location in inner.items()
    }


def _scan_object(
    text: str,
    pos: int,
    node: dict[Any, Any],
    path: JsonPath,
    locations: dict[JsonPath, ValueLocation],
) -> int:
    pos = _skip_blanks(text, pos + 1)
    while text[pos] != "}":
        key, pos = scanstring(text, pos + 1, False)  # noqa: FBT003 - its signature is positional
        pos = _match_end(_COLON, text, pos)
        pos = _scan_member(text, pos, node.get(key), (*path, key), locations)
    return pos + 1


def _scan_array(
    text: str,
    pos: int,
    node: dict[Any, Any],
    path: JsonPath,
    locations: dict[JsonPath, ValueLocation],
) -> int:
    pos = _skip_blanks(text, pos + 1)
    index = 0
    while text[pos] != "]":
        pos = _scan_member(text, pos, node.get(index), (*path, index), locations)
        index += 1
    return pos + 1


def _scan_member(
    text: str,
    pos: int,
    node: dict[Any, Any] | None,
    path: JsonPath,
    locations: dict[JsonPath, ValueLocation],
) -> int:
    end = (
        _scan_once(text, pos)[1] if node is None else _scan_value(text, pos, node, path, locations)
    )
    return _match_end(_COMMA, text, end)
