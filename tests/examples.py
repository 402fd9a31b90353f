"""How much is tried: little when a change is tested, everything in a long run."""

import os
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar
from zlib import crc32

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


class Case(Protocol):
    """What pytest knows of one case of a test: a combination of its parameters' values."""

    @property
    def id(self) -> str: ...

    @property
    def params(self) -> Mapping[str, object]: ...


CaseT = TypeVar("CaseT", bound=Case)


def each_choice(test: str, cases: Sequence[CaseT]) -> list[CaseT]:
    """Return few of one test's cases, in which each value of each of its parameters is tried.

    That is each-choice coverage; the cases of a test are the product of its parameters. Which
    values meet is left to a hash of the cases' names, so that it is the same each time.
    """
    # Values are the same objects in all cases.
    choices = [
        (case, {(name, id(value)) for name, value in case.params.items()})
        for case in sorted(cases, key=lambda case: crc32(f"{test}[{case.id}]".encode()))
    ]
    seen: set[tuple[str, int]] = set()
    chosen: list[CaseT] = []
    while choices := [(case, values - seen) for case, values in choices if not values <= seen]:
        case, values = max(choices, key=lambda choice: len(choice[1]))
        chosen.append(case)
        seen |= values
    return chosen
