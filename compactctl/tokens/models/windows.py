"""Sizes in tokens as people write them: ``128k``, ``1.05m``, ``131072``."""

import re
from fractions import Fraction

from compactctl.errors import UsageError

# Codebuddy: "k" is 1,000, not 1,024; "m" follows it.
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([km]?)", re.ASCII | re.IGNORECASE)


def parse_size(text: str) -> Fraction | None:
    """Return the number that ``text`` writes, or None when it writes none that is positive."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    return Fraction(match[1]) * _UNITS[match[2].lower()] or None


def parse_window(text: str) -> int:
    """Return a context window in tokens.

    Raises:
        UsageError: ``text`` is not a positive whole number of tokens.
    """
    size = parse_size(text)
    if size is None or size.denominator != 1:
        raise UsageError(f"{text!r} is not a context window; write it as 128k, 1m or 131072")
    return size.numerator
