"""JSON values as the compact text that a model is sent."""

import json

import orjson

TOO_DEEP = "(nested too deeply to be shown)"


def json_text(value: object) -> str:
    """Return a JSON value as compact text; a string is returned as it is."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # Lone surrogates, integers beyond 64 bits and deep nesting are refused by orjson.
        pass
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return TOO_DEEP


def json_size(value: object) -> int:
    """Return how many bytes a JSON value takes as compact text."""
    return len(json_text(value).encode("utf-8", "surrogatepass"))
