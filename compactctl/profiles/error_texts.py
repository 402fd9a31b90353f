"""The texts of an error in which its reason stands, whatever wraps it."""

import json
from collections.abc import Iterator
from typing import Any

# An error is short. Anything longer is a log or echoes the request, so only both ends are read.
MAX_TEXT = 32_768
MAX_JSON = 1_000_000
_MAX_DEPTH = 12
_MAX_VALUES = 500
# Positions in a text where an object may begin.
_MAX_STARTS = 8
# The keys under which known libraries describe what happened, as opposed to echoing the request.
_TEXT_KEYS = frozenset({
    "body", "cause", "causes", "code", "data", "detail", "details", "error", "error_description",
    "errors", "exception", "failure", "innererror", "message", "metadata", "msg", "name", "param",
    "raw", "reason", "response", "responsebody", "statustext", "title", "type",
})  # fmt: skip
_STATUS_KEYS = frozenset({"code", "status", "status_code", "statuscode"})
# Token figures that llama.cpp returns as fields.
_FIGURE_KEYS = frozenset({"n_ctx", "n_prompt_tokens"})
_RETRYABLE_KEYS = frozenset({"isretryable", "retryable"})
NOT_RETRYABLE = "not retryable"


def error_texts(text: str) -> tuple[str, ...]:
    """Return the texts to classify, each on one line: those of an error in JSON, or all of it.

    HTTP statuses become ``status 413``. Together they have at most ``MAX_TEXT`` characters; longer
    texts lose their middle.
    """
    value = _parse_json(text)
    if value is not None:
        return tuple(_limit_texts(list(_texts_in(value)) or [text]))
    copies = [text]
    if len(text) <= MAX_TEXT and "\n" in text.strip():
        # Copied from a terminal, which breaks words where its line ends.
        copies.append("".join(map(str.strip, text.splitlines())))
    embedded = [
        words for copy in copies for value in _embedded_values(copy) for words in _texts_in(value)
    ]
    return tuple(_limit_texts([*embedded, *copies]))


def _embedded_values(text: str) -> Iterator[Any]:
    """Yield the first few JSON objects and arrays within a text."""
    if len(text) > MAX_JSON:
        return
    decoder, start = json.JSONDecoder(), 0
    for _ in range(_MAX_STARTS):
        start = _next_start(text, start)
        if start < 0:
            return
        try:
            value, start = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start += 1
        else:
            yield value


def _parse_json(text: str) -> object:
    """Parse a JSON text; None for other text, and for more than ``MAX_JSON`` characters."""
    if len(text) > MAX_JSON or text.lstrip()[:1] not in {"{", "[", '"'}:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _next_start(text: str, start: int) -> int:
    starts = [pos for pos in (text.find("{", start), text.find("[", start)) if pos >= 0]
    return min(starts, default=-1)


def _texts_in(value: object) -> Iterator[str]:
    """Yield the texts in an error, outer ones first, from a bounded number of values."""
    queue: list[tuple[Any, int]] = [(value, 0)]
    for count, (item, depth) in enumerate(queue):
        if count >= _MAX_VALUES:
            return
        inner = _parse_json(item) if isinstance(item, str) else None
        if isinstance(item, str) and inner is None:
            yield item
        elif isinstance(item, dict):
            yield from _field_texts(item)
        if depth < _MAX_DEPTH:
            queue += [(part, depth + 1) for part in _inner_values(item, inner)]


def _inner_values(value: object, inner: object) -> list[Any]:
    """Return the values inside a value that may describe the error; a JSON string is parsed."""
    if isinstance(value, dict):
        return [value[key] for key in value if key.lower() in _TEXT_KEYS]
    if isinstance(value, list):
        return value[:_MAX_VALUES]
    return [] if inner is None else [inner]


def _field_texts(fields: dict[str, Any]) -> Iterator[str]:
    """Yield the fields of an error that matter, formatted as text: figures, status, no retry."""
    figures = [
        f"{key} {fields[key]}" for key in sorted(_FIGURE_KEYS, reverse=True) if key in fields
    ]
    if figures:
        yield " ".join(figures)
    for key, value in fields.items():
        if key.lower() in _STATUS_KEYS and isinstance(value, int | str):
            yield f"status {value}"
        if key.lower() in _RETRYABLE_KEYS and value is False:
            yield NOT_RETRYABLE


def _limit_texts(texts: list[str]) -> Iterator[str]:
    """Yield texts on one line each, up to ``MAX_TEXT`` characters; long ones lose their middle."""
    remaining = MAX_TEXT
    for text in texts:
        half = remaining // 2
        ends = text if len(text) <= remaining else f"{text[:half]} {text[-half:] if half else ''}"
        plain = (
            ends.replace("\\u003e", ">")
            .replace("&gt;", ">")
            .replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
        )
        line = " ".join(plain.split())
        remaining -= len(line)
        yield line
        if remaining <= 0:
            return
