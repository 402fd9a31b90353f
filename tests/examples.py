"""How much is tried: little when a change is tested, everything in a long run."""

import os
from collections.abc import Sequence
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

LONG = bool(os.environ.get("COMPACTCTL_LONG_TESTS"))
# What the profile of a long run asks of hypothesis; other profiles scale every test by theirs.
USUAL = 100
# Machines are slow at times; many transcripts that are drawn hold nothing to compact; a folder of
# the test's own may be written to again.
HARMLESS = (
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
    HealthCheck.function_scoped_fixture,
)


def tries(count: int = USUAL) -> settings:
    """Return settings for so many examples in a long run, and for fewer when a change is tested."""
    return settings(max_examples=max(1, count * settings().max_examples // USUAL))


def each_choice(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return few of one test's cases, in which each value of each of its parameters is tried.

    That is each-choice coverage; the cases of a test are the product of its parameters. Which
    values meet is left to a hash of the cases' names, so that it is the same each time.
    """
    left = sorted(items, key=lambda item: crc32(item.nodeid.encode()))
    seen: set[tuple[str, int]] = set()
    chosen: list[pytest.Item] = []
    while fresh := [item for item in left if not _choices(item) <= seen]:
        chosen.append(max(fresh, key=lambda item: len(_choices(item) - seen)))
        seen |= _choices(chosen[-1])
    return chosen


def _choices(item: pytest.Item) -> set[tuple[str, int]]:
    """Return which value each parameter of a case has; values are the same objects in all cases."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) else {}
    return {(name, id(value)) for name, value in parameters.items()}
