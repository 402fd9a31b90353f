"""Bounds of numbers, and numbers as fractions: ``0.29`` is 29/100, not the nearest binary float."""

from fractions import Fraction
from math import isfinite
from numbers import Number, Rational, Real
from typing import Annotated

from msgspec import Meta

Integer = Annotated[int, Meta()]
"""Any integer; users who are asked for an ``int`` may not set a negative one."""
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]

_FINEST = 10**9


def exact(number: float) -> Fraction:
    """Return the nearest fraction with a denominator of at most a billion, for a finite float.

    This undoes rounding errors: 0.29 is 29/100, 1 / 3 is a third, and 0.1 + 0.2 is 3/10.
    """
    return Fraction(number).limit_denominator(_FINEST)


def fraction_of(value: object) -> Fraction | None:
    """Convert a number of any type; return None for a bool, NaN, infinity or another value."""
    if isinstance(value, bool) or not isinstance(value, Number):
        return None
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    try:
        # Decimal is a Number, but no Real.
        number = float(value) if isinstance(value, Real) else float(str(value))
    except (ValueError, OverflowError):
        return None
    return exact(number) if isfinite(number) else None
