"""How much is tried: little when a change is tested, everything in a long run."""

import os

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
