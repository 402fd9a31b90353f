"""The texts in what a provider answered: a message, a JSON body, or JSON within text."""

import json
from collections.abc import Iterator
from typing import Any

# An error is short; what is longer is a log or an echo of the request. Its two ends are read.
MAX_TEXT = 32_768
MAX_JSON = 1_000_000
_MAX_DEPTH = 12
_MAX_VALUES = 500
# Places in a text where an object may begin.
_MAX_STARTS = 8

# Where errors of the known libraries keep what happened; an echo of the request is elsewhere.
_TEXT_KEYS = frozenset({
    "body", "cause", "causes", "code", "data", "detail", "details", "error", "error_description",
    "errors", "exception", "failure", "innererror", "message", "metadata", "msg", "name", "raw",
    "reason", "response", "responsebody", "statustext", "title", "type",
})  # fmt: skip
_STATUS_KEYS = frozenset({"code", "status", "status_code", "statuscode"})
# TokenFigures that llama.cpp gives as fields.
_FIGURE_KEYS = frozenset({"n_ctx", "n_prompt_tokens"})
_RETRYABLE_KEYS = frozenset({"isretryable", "retryable"})
NOT_RETRYABLE = "not retryable"


def error_texts(text: str) -> tuple[str, ...]:
    """Return the texts to look at, each on one line: of JSON those of an error, else the text.

    Statuses are written as ``status 413``. At most ``MAX_TEXT`` characters come back, from both
    ends of what is longer.
    """
    whole = _parsed(text)
    if whole is not None:
        return tuple(_bounded(list(_words(whole)) or [text]))
    embedded = [words for value in _embedded(text) for words in _words(value)]
    return tuple(_bounded([*embedded, text]))


def _embedded(text: str) -> Iterator[Any]:
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


def _parsed(text: str) -> Any:  # noqa: ANN401 - JSON is any value
    """Return the value of a JSON text; None for other text, and for more than is read."""
    if len(text) > MAX_JSON or text.lstrip()[:1] not in {"{", "[", '"'}:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _next_start(text: str, start: int) -> int:
    found = [at for at in (text.find("{", start), text.find("[", start)) if at >= 0]
    return min(found, default=-1)


def _words(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON is any value
    """Yield the texts of an error, outer ones first, from a bounded number of values."""
    queue: list[tuple[Any, int]] = [(value, 0)]
    for seen, (each, depth) in enumerate(queue):
        if seen >= _MAX_VALUES:
            return
        inner = _parsed(each) if isinstance(each, str) else None
        if isinstance(each, str) and inner is None:
            yield each
        elif isinstance(each, dict):
            yield from _remarks(each)
        if depth < _MAX_DEPTH:
            queue += [(part, depth + 1) for part in _parts(each, inner)]


def _parts(value: Any, inner: Any) -> list[Any]:  # noqa: ANN401 - JSON is any value
    """Return what within a value may tell of the error: of a JSON string its own value."""
    if isinstance(value, dict):
        return [value[key] for key in value if key.lower() in _TEXT_KEYS]
    if isinstance(value, list):
        return value[:_MAX_VALUES]
    return [] if inner is None else [inner]


def _remarks(fields: dict[str, Any]) -> Iterator[str]:
    """Yield what an error says beside its texts, as text."""
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


def _bounded(texts: list[str]) -> Iterator[str]:
    """Yield texts on one line each until there is enough; long ones without their middle."""
    left = MAX_TEXT
    for text in texts:
        half = left // 2
        ends = text if len(text) <= left else f"{text[:half]} {text[-half:] if half else ''}"
        line = " ".join(ends.replace("\\u003e", ">").replace("&gt;", ">").split())
        left -= len(line)
        yield line
        if left <= 0:
            return
