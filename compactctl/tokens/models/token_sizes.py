"""Sizes in tokens as people write them, ``128k``, ``1.05m``, or as numbers, ``131072``."""

import re
from fractions import Fraction

from compactctl.errors import UsageError
from compactctl.model.numbers import fraction_of

# Codebuddy: "k" is 1,000, not 1,024; "m" follows it.
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_MOST = 10**15
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([km]?)", re.ASCII | re.IGNORECASE)


def parse_token_size(size: object) -> Fraction | None:
    """Return the number that a text writes, or that is given; None when it is not positive."""
    if not isinstance(size, str):
        number = fraction_of(size)
        return number if number is not None and 0 < number < _MOST else None
    match = _SIZE.fullmatch(size.strip())
    if match is None:
        return None
    return Fraction(match[1]) * _UNITS[match[2].lower()] or None


def parse_window(window: object) -> int:
    """Return a context window in tokens, from a text or a number.

    Raises:
        UsageError: ``window`` is not a positive whole number of tokens.
    """
    size = parse_token_size(window)
    if size is None or size.denominator != 1:
        raise UsageError(f"{window!r} is not a context window; write it as 128k, 1m or 131072")
    return size.numerator
