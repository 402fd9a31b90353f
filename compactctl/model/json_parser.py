"""Parse JSON that anyone may have written, however deep it is and however long its numbers are."""

import json
from math import isinf
from typing import Any

MAX_DEPTH = 200
"""Levels of arrays and objects: few enough for functions that call themselves on each level."""
# Every whole number with as many characters fits into a float.
_MAX_DIGITS = 308
_CONTAINERS = (dict, list)


class DepthError(ValueError):
    """JSON that is nested more than MAX_DEPTH levels deep."""

    def __init__(self) -> None:
        super().__init__(TOO_DEEP)


TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"


def check_depth(value: object) -> None:
    """Raise DepthError for a JSON value that is nested too deeply."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            item
            for holder in level
            if isinstance(holder, _CONTAINERS)
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
        if not level:
            return
    raise DepthError


class BoundedDecoder(json.JSONDecoder):
    """A decoder that raises DepthError, a ValueError, for a value that is nested too deeply.

    A number that no float can hold is read as its text: 1e400 as "1e400". Converting it takes
    quadratic time, and written back as a number it would be Infinity, which is not JSON.
    """

    def __init__(self, *, strict: bool = True) -> None:
        super().__init__(parse_int=_integer, parse_float=_float, strict=strict)

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        """Return the value that begins at ``idx``, and where it ends."""
        try:
            value, end = super().raw_decode(s, idx)
        except RecursionError:
            raise DepthError from None
        check_depth(value)
        return value, end


def _integer(text: str) -> int | str:
    return int(text) if len(text) <= _MAX_DIGITS else text


def _float(text: str) -> float | str:
    number = float(text)
    return text if isinf(number) else number


_STRICT_DECODER = BoundedDecoder()
_LENIENT_DECODER = BoundedDecoder(strict=False)


def parse_json(text: str, *, strict: bool = True) -> Any:  # noqa: ANN401 - JSON is any value
    """Parse a JSON text, as ``BoundedDecoder`` does.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    return (_STRICT_DECODER if strict else _LENIENT_DECODER).decode(text)
