"""Compare the versions of clients that records name."""

import re

_NUMBER = re.compile(r"\d{1,9}")


def is_older(version: str | None, than: tuple[int, int, int]) -> bool:
    """Return whether a version such as 1.0.64-1 is known and older than another."""
    numbers = tuple(map(int, _NUMBER.findall(version or "")))[:3]
    return bool(numbers) and numbers < than
