"""Estimates for models whose own vocabulary is not at hand."""

from collections.abc import Sequence
from fractions import Fraction

from compactctl.tokens.counters.counter import Exactness, TokenCounter


class RatioCounter:
    """Multiplies another counter's counts by a factor measured for a family of models.

    Each count is rounded up; ``family`` names whom the factor was measured for.
    """

    exactness: Exactness = "estimate"

    def __init__(self, base: TokenCounter, factor: float, family: str) -> None:
        self.base = base
        self.factor = factor
        self.family = family
        self.id = f"{base.id} x{factor:g}"
        # The decimal the factor is written as: in binary 10 x 1.1 would round up to 12.
        self._exact_factor = Fraction(repr(factor))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Estimate each text; an empty text has no tokens."""
        top, bottom = self._exact_factor.as_integer_ratio()
        return [-(-count * top // bottom) for count in self.base.count_many(texts)]
