"""The records of a session that is one JSON document, which its client writes anew each time.

Two versions of a record are the same if they are the same JSON value, whatever their whitespace,
key order and spelling of numbers. Tags of compactctl do not count: some clients drop them.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from compactctl.model.json_parser import DepthError, parse_json
from compactctl.model.operation import DocumentRecords
from compactctl.model.tags import TAG_NAMES
from compactctl.model.transcript import Transcript
from compactctl.pipeline.spans import find_array, splice

_N_DIGITS = 16


def array_path(lines: Sequence[bytes], transcript: Transcript) -> tuple[str, ...] | None:
    """Return the keys that lead to the array of records, None unless a transcript is a document.

    ``lines`` are its lines as its format reads them, so that a document is one.
    """
    if len(lines) != 1:
        return None
    paths = (_before_index(m.record_path) for m in transcript.messages if m.record_path)
    return next((path for path in paths if path is not None), None)


def read_records(chunks: Iterable[bytes], path: tuple[str, ...] | None) -> DocumentRecords | None:
    """Return the records in the array at ``path`` of a document, None if there is no such array."""
    texts = None if path is None else record_texts(b"".join(chunks), path)
    if path is None or texts is None:
        return None
    return DocumentRecords(path=path, digests=tuple(map(record_digest, texts)))


def record_texts(document: bytes, path: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the records as they are written, None if there is no array at ``path``."""
    try:
        text = document.decode()
        elements, depth = find_array(text, path)
    except (ValueError, IndexError, StopIteration, RecursionError):
        return None
    return tuple(text[start:end] for start, end in elements) if elements and not depth else None


def record_digest(text: str) -> str:
    """Return the first 16 hex digits of a SHA-256 over a record's value without our tags.

    A record that is nested too deeply counts by its text.
    """
    with suppress(DepthError):
        text = _spell(parse_json(text, strict=False))
    return hashlib.sha256(text.encode()).hexdigest()[:_N_DIGITS]


def fingerprint(digests: Sequence[str]) -> str:
    """Return one digest of several records."""
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()


def with_records(document: bytes, path: tuple[str, ...], texts: Sequence[str]) -> bytes:
    """Add records to the end of the array at ``path``, which must not be empty.

    with_records(b'[1,  2]', (), ["3"])  ->  b'[1,  2,  3]'
    """
    text = document.decode()
    spans = find_array(text, path).elements
    end = spans[-1][1]
    separator = text[spans[-2][1] : spans[-1][0]] if len(spans) > 1 else ","
    return splice(text, {(end, end): "".join(separator + record for record in texts)}).encode()


def first_records(document: bytes, path: tuple[str, ...], count: int) -> bytes:
    """Remove all but the first ``count`` records, which must be at least one.

    first_records(b'[1,  2, 3]', (), 2)  ->  b'[1,  2]'
    """
    text = document.decode()
    spans = find_array(text, path).elements
    return splice(text, {(spans[count - 1][1], spans[-1][1]): ""}).encode()


def _before_index(record_path: Sequence[str | int]) -> tuple[str, ...] | None:
    """Return the keys before the first index of a path, None if it has none."""
    for index, step in enumerate(record_path):
        if isinstance(step, int):
            return tuple(map(str, record_path[:index]))
    return None


def _spell(value: Any) -> str:  # noqa: ANN401 - JSON is any value
    if isinstance(value, dict):
        value = {name: item for name, item in value.items() if name not in TAG_NAMES}
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON is any value
    """Spell whole numbers as integers: JavaScript writes 1.0 as 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
