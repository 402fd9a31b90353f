"""Numbers as they were meant: fractions, which do not round as floats do."""

from fractions import Fraction
from math import isfinite
from numbers import Number, Rational, Real

_FINEST = 10**9


def exact(number: float) -> Fraction:
    """Return what a finite float stands for: 0.29 is 29/100, and 1 / 3 is a third.

    It is the nearest fraction with a denominator of at most a billion, so that errors of float
    arithmetic vanish: 0.1 + 0.2 is 3/10.
    """
    return Fraction(number).limit_denominator(_FINEST)


def fraction_of(value: object) -> Fraction | None:
    """Return a number of whatever type; None for what is none, is not finite, or is a bool."""
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
