"""How many examples a property is tried on."""

from hypothesis import HealthCheck, settings

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
