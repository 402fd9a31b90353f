"""Parse sizes in tokens: ``128k``, ``1.05m``, or numbers such as ``131072``."""

import re
from fractions import Fraction

from compactctl.errors import UsageError
from compactctl.model.numbers import fraction_of

# As in Codebuddy, "k" is 1,000 and not 1,024; "m" follows it.
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_UPPER_BOUND = 10**15
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([km]?)", re.ASCII | re.IGNORECASE)


def parse_token_size(size: object) -> Fraction | None:
    """Parse a text, or convert a number; return None for anything but a positive number."""
    if not isinstance(size, str):
        number = fraction_of(size)
        return number if number is not None and 0 < number < _UPPER_BOUND else None
    match = _SIZE.fullmatch(size.strip())
    if match is None:
        return None
    return Fraction(match[1]) * _UNITS[match[2].lower()] or None


def parse_window(window: object) -> int:
    """Parse a context window in tokens from a text or a number.

    Raises:
        UsageError: ``window`` is not a positive whole number of tokens.
    """
    size = parse_token_size(window)
    if size is None or size.denominator != 1:
        raise UsageError(f"{window!r} is not a context window; write it as 128k, 1m or 131072")
    return size.numerator
