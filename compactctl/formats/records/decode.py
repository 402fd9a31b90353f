"""Decode raw lines into JSON values; name damage and drop nothing."""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import orjson

from compactctl.model.transcript import RawLine
from compactctl.pipeline.quoted_json import (
    MAX_PREFIX,
    docker_text,
    driver_field,
    may_be_log_record,
    prefix_length,
)
from compactctl.pipeline.spans import find_sole_record
from compactctl.records import dataclass

_RECORD_START = re.compile(rb'\{"')
# Limits on splitting a line that was joined from several records: hostile input stays linear.
_MAX_SPLITS = 200
_MAX_SALVAGED = 256 << 20
DOCKER_PIECE = "a piece of a line that Docker cut"
KUBERNETES_PIECE = "a piece of a line that Kubernetes cut"
"""Damage of logs: their drivers cut lines after 16 kB."""
_PIECE = re.compile(rb"\S+ std(?:out|err) P ")
_NOT_JSON = "not JSON"
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
# Deeper values are kept verbatim without being parsed: other tools could not write them back.
_TOO_DEEP = b"[" * 250

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:(?P<end>")|\\?\Z)|[\[\]{},]', re.DOTALL)
_CLOSERS = {b"{": b"}", b"[": b"]"}
_PADDING = b"\0 \t\r\n"
# An incomplete escape, as in `"caf\u00`, or an incomplete character.
_TORN = re.compile(rb"\\(?:u[0-9A-Fa-f]{0,3})?\Z|[\xc0-\xff][\x80-\xbf]{0,2}\Z")
_MAX_COMPLETIONS = 4


@dataclass(frozen=True, slots=True)
class Decoded:
    """The JSON values of a line in order, and a description of its damage, if any.

    A line with both was salvaged in part; ``lost`` are the pieces of it that no value was read
    from. A blank line has neither.
    """

    index: int
    n_bytes: int
    values: tuple[Any, ...] = ()
    damage: str | None = None
    lost: tuple[bytes, ...] = ()


def decode_lines(lines: Iterable[RawLine]) -> Iterator[Decoded]:
    """Decode lines one by one; every line yields a value, and none raises."""
    for line in lines:
        values, damage = decode(line.data)
        yield Decoded(line.index, len(line.data), values, damage)


def decode(data: bytes) -> tuple[tuple[Any, ...], str | None]:
    """Return the JSON values of a raw line and a description of its damage.

    Wrapping by a logger or a container is removed. The kinds of damage are those seen in real
    files: NUL padding, torn and joined records.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _decode_unusual(data)
    if isinstance(value, dict) and may_be_log_record(value):
        return _decode_unusual(data)
    return (value,), None


def _decode_unusual(data: bytes) -> tuple[tuple[Any, ...], str | None]:
    body = data.strip(_SPACE).removeprefix(_BOM)
    if not body:
        return (), None
    try:
        value = _unwrapped(body)
    except ValueError:
        return ((), KUBERNETES_PIECE) if _PIECE.match(body) else _salvage(body)
    text = docker_text(value) if isinstance(value, dict) else None
    if text is None:
        return (value,), None if _is_utf8(body) else "a prefix that is not UTF-8"
    return (), _NOT_JSON if text.endswith("\n") else DOCKER_PIECE


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_value(data: bytes) -> bool:
    """Whether ``data`` is one JSON value, possibly on several lines."""
    try:
        _unwrapped(data.strip(_SPACE).removeprefix(_BOM))
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
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return _loads_lenient(body)


def _loads_lenient(body: bytes) -> Any:  # noqa: ANN401 - JSON is any value
    # orjson rejects lone surrogate escapes and infinite numbers, which some clients write.
    if _TOO_DEEP in body:
        raise ValueError("nested too deeply")
    try:
        return json.loads(body.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _salvage(body: bytes) -> tuple[tuple[Any, ...], str]:
    if not body.strip(b"\0 \t\r\n"):
        return (), "NUL bytes only"
    stripped = body.strip(b"\0 \t\r\n")
    if stripped != body:
        values, damage = decode(stripped)
        return values, damage or "NUL padding"
    return _split_glued(body)


def _split_glued(body: bytes) -> tuple[tuple[Any, ...], str]:
    max_splits = min(_MAX_SPLITS, max(2, _MAX_SALVAGED // len(body)))
    for match in islice(_RECORD_START.finditer(body), 1, max_splits):
        start = match.start()
        tail = _record(body[start:])
        if tail is not None:
            head = _record(body[:start])
            if head is not None:
                return (head, tail), "two records on one line"
            return (tail,), "a torn record before a whole one"
    return (), _NOT_JSON


def _record(piece: bytes) -> dict[str, Any] | None:
    try:
        value = parse_value(piece)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


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
        end = token.start() if token[0] == b"," else token.end()
        ends.append((end, b"".join(reversed(closers))))
    else:
        if not closers:
            return
    for end, brackets in reversed(ends):
        yield text[:end] + brackets
