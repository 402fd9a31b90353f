"""Scales of drawings: round values, and how they are written in a few letters."""

from collections.abc import Iterator

# Times a power of ten: people can divide by them in their heads.
_STEPS = (1, 2, 2.5, 5)
_LEAST = 1e-6
_THOUSAND, _MILLION = 1_000, 1_000_000


def round_values(top: float, most: int) -> tuple[float, ...]:
    """Return at most so many round values up to ``top``, evenly apart, without 0."""
    step = next(each for each in _round_steps() if top / each < most + 1)
    return tuple(step * number for number in range(1, most + 1) if step * number <= top)


def short_count(value: float) -> str:
    """Return a round number of tokens in a few letters: 250k, 1M."""
    if value >= _MILLION:
        return f"{value / _MILLION:g}M"
    return f"{value / _THOUSAND:g}k" if value >= _THOUSAND else f"{value:g}"


def _round_steps() -> Iterator[float]:
    power = _LEAST
    while True:
        yield from (step * power for step in _STEPS)
        power *= 10
