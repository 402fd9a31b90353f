"""Decode raw lines into JSON values; name damage and drop nothing."""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

from compactctl.model.json_parser import MAX_DEPTH, DepthError, check_depth, parse_json
from compactctl.model.transcript import RawLine
from compactctl.pipeline.quoted_json import (
    MAX_PREFIX,
    docker_text,
    driver_field,
    may_be_log_record,
    prefix_length,
)
from compactctl.pipeline.spans import find_sole_record
from compactctl.records import Record

# The start of an object, also of the first one in an array.
_RECORD_START = re.compile(r'(?:\[\s{0,8}){0,2}\{\s{0,8}"')
_MAX_START = 64
# What an outer value goes on with behind one of its elements.
_OUTER = tuple(",:]}")
_OPENINGS = ("{", "[")
_REMAINS = re.compile(r'["{}]')
# Only skips values, so numbers are not converted.
_SKIPPER = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=len)
# An error of the parser counts line breaks in all of its text, so it is given little of it first.
_WINDOW = 4_096
_MAX_TOKEN = 16
DOCKER_PIECE = "a piece of a line that Docker cut"
KUBERNETES_PIECE = "a piece of a line that Kubernetes cut"
"""Damage of logs: their drivers cut lines after 16 kB."""
_PIECE = re.compile(rb"\S+ std(?:out|err) P ")
_NOT_JSON = "not JSON"
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:(?P<end>")|\\?\Z)|[\[\]{},]', re.DOTALL)
_CLOSERS = {b"{": b"}", b"[": b"]"}
_PADDING = b"\0 \t\r\n"
_PADDED = re.compile(r"[\0 \t\r\n]*")
# An incomplete escape, as in `"caf\u00`, or an incomplete character.
_TORN = re.compile(rb"\\(?:u[0-9A-Fa-f]{0,3})?\Z|[\xc0-\xff][\x80-\xbf]{0,2}\Z")
_MAX_COMPLETIONS = 4
# The start of a literal, a number or an escape, at the end of a text.
_CUT_TOKEN = re.compile(r"\\?[\w.+-]{0,8}\Z")


NOT_UTF8 = "bytes that are not UTF-8"
"""The damage of a line that is one JSON value apart from them."""


class Decoded(Record, kw_only=False):
    """The JSON values of a line in order, and a description of its damage, if any.

    A line with both was salvaged; ``lost`` are the pieces of it that are neither in a value nor
    padding. A blank line has neither. ``is_plain`` says that the line is JSON as it stands, so that
    any client can read it: without a prefix, a logger's record around it, or NaN. ``has_bom`` says
    that a byte order mark begins the file, which is not counted as damage; ``is_document`` that the
    value spans several lines of the file.
    """

    index: int
    n_bytes: int
    values: tuple[Any, ...] = ()
    damage: str | None = None
    lost: tuple[bytes, ...] = ()
    is_plain: bool = True
    has_bom: bool = False
    is_document: bool = False


class _Reading(NamedTuple):
    values: tuple[Any, ...] = ()
    damage: str | None = None
    lost: tuple[bytes, ...] = ()
    is_plain: bool = True


class _Piece(NamedTuple):
    """A JSON value in the text of a damaged line."""

    value: Any
    start: int
    end: int


def decode_lines(lines: Iterable[RawLine]) -> Iterator[Decoded]:
    """Decode lines one by one; every line yields a value, and none raises.

    A line that is nested too deeply has no values, and is damaged.
    """
    for line in lines:
        has_bom = line.index == 0 and line.data.startswith(_BOM)
        data = line.data.removeprefix(_BOM) if has_bom else line.data
        is_document = line.index == 0 and line.data.find(b"\n", 0, len(line.data) - 1) >= 0
        yield Decoded(line.index, len(line.data), *_read(data), has_bom, is_document)


def decode(data: bytes) -> tuple[tuple[Any, ...], str | None]:
    """Return the JSON values of a raw line and a description of its damage.

    Wrapping by a logger or a container is removed. The kinds of damage are those seen in real
    files: NUL padding, torn and joined records.
    """
    reading = _read(data)
    return reading.values, reading.damage


def _read(data: bytes) -> _Reading:
    try:
        value = _parse_quickly(data)
    except ValueError:
        return _read_unusual(data)
    if isinstance(value, dict) and may_be_log_record(value):
        return _read_unusual(data)
    return _Reading((value,))


def _read_unusual(data: bytes) -> _Reading:
    body = data.strip(_SPACE).removeprefix(_BOM)
    if not body:
        return _Reading()
    try:
        value = _unwrapped(body)
    except DepthError as error:
        return _Reading((), str(error), (body,))
    except ValueError:
        if _PIECE.match(body):
            return _Reading((), KUBERNETES_PIECE, (body,))
        return _with_replaced_bytes(body) or _salvage(body)
    text = docker_text(value) if isinstance(value, dict) else None
    if text is None:
        damage = None if _is_utf8(body) else "a prefix that is not UTF-8"
        return _Reading((value,), damage, is_plain=_is_plain(data, value))
    logged = text.encode("utf-8", "surrogatepass")
    if not text.endswith("\n"):
        return _Reading((), DOCKER_PIECE, (logged,))
    return _split_glued(logged.strip(_PADDING))._replace(is_plain=False)


def _is_plain(data: bytes, value: object) -> bool:
    try:
        plain = json.loads(data.strip(_SPACE).decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return bool(plain == value)


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _with_replaced_bytes(body: bytes) -> _Reading | None:
    """Read a value that has bytes which are not UTF-8, as clients on Node.js do; None for no value.

    Each is read as U+FFFD. The line counts as damaged, so that nothing ever changes the bytes.
    """
    if _is_utf8(body):
        return None
    try:
        return _Reading((parse_value(body.decode("utf-8", "replace").encode()),), NOT_UTF8)
    except ValueError:
        return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_value(data: bytes) -> bool:
    """Whether ``data`` is one JSON value, possibly on several lines, or nested too deeply."""
    try:
        _unwrapped(data.strip(_SPACE).removeprefix(_BOM))
    except DepthError:
        return True
    except ValueError:
        return False
    return True


def is_wrapped(data: bytes) -> bool:
    """Whether a logger or a container wrapped the JSON of a line."""
    try:
        text = data.decode()
        span = find_sole_record(text)
    except ValueError:
        return False
    return bool(span.depth or text[: span.start].strip(" \t\r\n\ufeff"))


def _unwrapped(body: bytes) -> object:
    try:
        value = parse_value(body)
    except ValueError:
        length = prefix_length(body[: MAX_PREFIX + 1].decode("latin-1"))
        if not length:
            raise
        return parse_value(body[length:])
    name = driver_field(value) if isinstance(value, dict) else None
    return parse_value(value[name].encode("utf-8", "surrogatepass")) if name else value


def parse_value(body: bytes) -> Any:  # noqa: ANN401 - JSON is any value
    """Parse a JSON value, also one that only Python's parser accepts.

    Raises:
        ValueError: ``body`` is not JSON, or is nested too deeply.
    """
    try:
        return _parse_quickly(body)
    except orjson.JSONDecodeError:
        # orjson rejects lone surrogate escapes and infinite numbers, which some clients write.
        return parse_json(body.decode())


def _parse_quickly(body: bytes) -> Any:  # noqa: ANN401 - JSON is any value
    value = orjson.loads(body)
    # Nearly no line has as many brackets, so that this takes a hundredth of the time of reading it.
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        check_depth(value)
    return value


def _salvage(body: bytes) -> _Reading:
    stripped = body.strip(_PADDING)
    if not stripped:
        return _Reading((), "NUL bytes only")
    if stripped != body:
        reading = _Reading(*_read(stripped))
        return reading if reading.damage else reading._replace(damage="NUL padding")
    return _split_glued(body)


def _split_glued(body: bytes) -> _Reading:
    """Read the records of a line that holds several, or torn ones beside whole ones."""
    text = body.decode("utf-8", "surrogateescape")
    start = prefix_length(text[: MAX_PREFIX + 1])
    pieces = list(_find_records(text, start))
    ends = [start, *(piece.end for piece in pieces)]
    starts = [*(piece.start for piece in pieces), len(text)]
    gaps = [_encode(text[a:b]).strip(_PADDING) for a, b in zip(ends, starts, strict=True)]
    n_lost = sum(map(len, gaps))
    values = tuple(piece.value for piece in pieces)
    damage = _describe_glued(len(pieces), n_lost, len(gaps[-1]))
    return _Reading(values, damage, tuple(filter(None, gaps)))


def _describe_glued(n_records: int, n_lost: int, n_lost_behind: int) -> str:
    if not n_records:
        return _NOT_JSON
    if not n_lost:
        return f"{n_records:,} records on one line"
    if n_records == 1 and not n_lost_behind:
        return "a torn record before a whole one"
    records = "a whole record" if n_records == 1 else f"{n_records:,} whole records"
    return f"{n_lost:,} bytes beside {records} are not JSON"


def _find_records(text: str, start: int) -> Iterator[_Piece]:
    """Yield the records in a text, in linear time.

    What is inside of a torn record is not a record: the search goes on where the torn one stops
    being JSON, which is at its end, or right behind the next quote if a string was torn::

        {"role": "user", "content": "fix {"role": "user", "content": "add"}
                                           ^ no JSON from here on
    """
    begins_with_record = text.startswith(_OPENINGS, start)
    pos = start if begins_with_record else _next_record(text, start, start)
    if not begins_with_record and not _REMAINS.search(text, start, pos):
        # Words before JSON are a prefix of a kind that is not known, not a torn record.
        return
    while pos < len(text):
        try:
            end, is_whole = _skip_value(text, pos)
        except RecursionError:
            return
        if not is_whole:
            pos = _next_record(text, pos + 1, end)
            continue
        behind = _skip_padding(text, end)
        is_followed = text.startswith(_OPENINGS, behind)
        is_last = is_followed or begins_with_record or behind == len(text)
        is_inner = text.startswith(_OUTER, behind) or not is_last
        record = None if is_inner else _record(_encode(text[pos:end]))
        if record is not None:
            yield _Piece(record, pos, end)
        pos = behind if is_followed else _next_record(text, end, end)


def _skip_value(text: str, start: int) -> tuple[int, bool]:
    """Return the end of a value and True, or where the text stops being JSON and False."""
    size = _WINDOW
    while True:
        window = text[start : start + size]
        try:
            return start + _SKIPPER.raw_decode(window)[1], True
        except json.JSONDecodeError as error:
            # The parser names the start of an open string.
            is_open = error.msg.startswith("Unterminated")
            end = len(window) if is_open else error.pos
            if end + _MAX_TOKEN < len(window) or start + size >= len(text):
                return start + end, False
        size *= 8


def _next_record(text: str, start: int, quote: int) -> int:
    """Return where the next record starts, the end of the text if there is none.

    It starts at ``start`` or later, and its first quote ends at ``quote`` or later.
    """
    for match in _RECORD_START.finditer(text, max(start, quote - _MAX_START)):
        if match.end() >= quote:
            return match.start()
    return len(text)


def _skip_padding(text: str, pos: int) -> int:
    match = _PADDED.match(text, pos)
    return match.end() if match else pos


def _record(piece: bytes) -> dict[str, Any] | list[Any] | None:
    """Parse an object or an array with objects; None for anything else."""
    try:
        value = parse_value(piece)
    except ValueError:
        return None
    is_array = isinstance(value, list) and any(isinstance(item, dict | list) for item in value)
    return value if is_array or isinstance(value, dict) else None


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def is_cut_off(data: bytes) -> bool:
    """Return whether data is the start of an object or array, which ends early."""
    text = data.strip(_PADDING).removeprefix(_BOM).decode("utf-8", "surrogateescape")
    if not text.startswith(_OPENINGS):
        return False
    try:
        end, is_whole = _skip_value(text, 0)
    except RecursionError:
        return False
    return not is_whole and bool(_CUT_TOKEN.match(text, end))


def complete_value(data: bytes) -> Any:  # noqa: ANN401 - JSON is any value
    r"""Parse truncated JSON by closing its open strings and brackets; None if that fails.

    `[{"role": "user", "content": "fix` gives one message with the content "fix". An incomplete item
    that is not a string is left out. Text whose brackets are all closed was not truncated.
    """
    for text in _completions(data.strip(_PADDING)):
        try:
            return parse_value(text)
        except ValueError:
            continue
    return None


def _completions(text: bytes) -> Iterator[bytes]:
    """Yield possible completions of a text: first of all of it, then without its last items."""
    closers: list[bytes] = []
    # Possible ends of items, and the closers of the brackets that are open there.
    ends: deque[tuple[int, bytes]] = deque(maxlen=_MAX_COMPLETIONS)
    for token in _TOKEN.finditer(text):
        if token[0].startswith(b'"'):
            if not token["end"]:
                yield _TORN.sub(b"", text) + b'"' + b"".join(reversed(closers))
            continue
        if token[0] in _CLOSERS:
            closers.append(_CLOSERS[token[0]])
        elif token[0] != b"," and (not closers or closers.pop() != token[0]):
            break
        if len(closers) > MAX_DEPTH:
            return
        end = token.start() if token[0] == b"," else token.end()
        ends.append((end, b"".join(reversed(closers))))
    else:
        if not closers:
            return
    for end, brackets in reversed(ends):
        yield text[:end] + brackets
