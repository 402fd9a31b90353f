"""One raw line as JSON values; damage is named and nothing is dropped."""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

from compactctl.model.transcript import RawLine
from compactctl.pipeline.quoted_json import MAX_PREFIX, docker_text, driver_field, prefix_length
from compactctl.pipeline.spans import find_sole_record

_RECORD_START = re.compile(rb'\{"')
# A line glued together from many pieces is searched this far, and no more bytes of it are looked
# at, so that hostile input stays linear.
_MAX_SPLITS = 200
_MAX_SALVAGED = 256 << 20
DOCKER_PIECE = "a piece of a line that Docker cut"
KUBERNETES_PIECE = "a piece of a line that Kubernetes cut"
"""Damage of logs: their drivers cut lines after 16 kB."""
_PIECE = re.compile(rb"\S+ std(?:out|err) P ")
_NOT_JSON = "not JSON"
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
# Deeper values are carried without being understood: other tools cannot write them back.
_MAX_DEPTH_TEXT = b"[" * 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A line's JSON values in order; ``damage`` names what is wrong with the line, if anything.

    A line with damage and values was salvaged in part. A blank line has neither.
    """

    index: int
    n_bytes: int
    values: tuple[Any, ...] = ()
    damage: str | None = None


def decode_lines(lines: Iterable[RawLine]) -> Iterator[Decoded]:
    """Decode lines one by one, never raising and never dropping one."""
    for line in lines:
        values, damage = decode(line.data)
        yield Decoded(index=line.index, n_bytes=len(line.data), values=values, damage=damage)


def decode(data: bytes) -> tuple[tuple[Any, ...], str | None]:
    """Return the JSON values of a raw line and the name of its damage.

    Of a line that a logger or a container wrote, that is what it wrapped. The classes of damage are
    those seen in real files: NUL padding, torn and glued records.
    """
    body = data.strip(_SPACE).removeprefix(_BOM)
    if not body:
        return (), None
    try:
        value = _unwrapped(body)
    except ValueError:
        return ((), KUBERNETES_PIECE) if _PIECE.match(body) else _salvage(body)
    text = docker_text(value) if isinstance(value, dict) else None
    if text is None:
        return (value,), None
    return (), _NOT_JSON if text.endswith("\n") else DOCKER_PIECE


def is_value(data: bytes) -> bool:
    """Tell whether some bytes are one JSON value, on one line or several."""
    try:
        _unwrapped(data.strip(_SPACE).removeprefix(_BOM))
    except ValueError:
        return False
    return True


def is_wrapped(data: bytes) -> bool:
    """Tell whether a line has a layer around its JSON, put there by a logger or a container."""
    try:
        text = data.decode()
        place = find_sole_record(text)
    except ValueError:
        return False
    return bool(place.depth or text[: place.start].strip(" \t\r\n\ufeff"))


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
    """Return a JSON value, also one that only Python's parser accepts. ValueError for none."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return _loads_lenient(body)


def _loads_lenient(body: bytes) -> Any:  # noqa: ANN401 - JSON is any value
    # orjson refuses lone surrogate escapes and infinite numbers, which clients do write.
    if _MAX_DEPTH_TEXT in body:
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
    most = min(_MAX_SPLITS, max(2, _MAX_SALVAGED // len(body)))
    for match in islice(_RECORD_START.finditer(body), 1, most):
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


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:(?P<end>")|\\?\Z)|[\[\]{},]', re.DOTALL)
_CLOSERS = {b"{": b"}", b"[": b"]"}
_PADDING = b"\0 \t\r\n"
# A torn escape, as in `"caf\u00`, and a byte that is only a part of a character.
_TORN = re.compile(rb"\\(?:u[0-9A-Fa-f]{0,3})?\Z|[\xc0-\xff][\x80-\xbf]{0,2}\Z")
_TRIES = 4


def complete_value(data: bytes) -> Any:  # noqa: ANN401 - JSON is any value
    r"""Return the value that ``data`` begins, with its open brackets closed; None for other text.

    `[{"role": "user", "content": "mend` gives one message that says "mend". An item that is not
    whole, and no string, is left out. Text whose brackets are all closed was not cut off.
    """
    for text in _completions(data.strip(_PADDING)):
        try:
            return parse_value(text)
        except ValueError:
            continue
    return None


def _completions(text: bytes) -> Iterator[bytes]:
    """Yield what may complete a text: as it is first, then without its last item or items."""
    closers: list[bytes] = []
    # Where an item may end, and what closes the brackets that are open there.
    ends: deque[tuple[int, bytes]] = deque(maxlen=_TRIES)
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
