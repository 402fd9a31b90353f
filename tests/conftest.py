"""Fixtures shared by all tests."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pytest
from examples import HARMLESS, LONG, USUAL, each_choice
from hypothesis import settings

from compactctl.store.client_folders import VARIABLES

ROOT = Path(__file__).resolve().parents[1]
REAL = ROOT.parent / "shared" / "transcripts"

# What the developer has set for their own work, and the sessions of their own agents, are none of
# the tests'.
for name in VARIABLES:
    os.environ.pop(name, None)
os.environ["HOME"] = str(ROOT / "tests" / "no-home")
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="compactctl-cache-")
os.environ["XDG_CONFIG_HOME"] = str(ROOT / "tests" / "no-settings")
for name in [each for each in os.environ if each.startswith("COMPACTCTL_")]:
    if name != "COMPACTCTL_LONG_TESTS":
        del os.environ[name]


settings.register_profile("any", deadline=None, suppress_health_check=HARMLESS)
# A run that decides about a change tries the same examples each time.
settings.register_profile(
    "change", settings.get_profile("any"), max_examples=10, derandomize="CI" in os.environ
)
settings.register_profile("long", settings.get_profile("any"), max_examples=USUAL)
settings.register_profile("nightly", settings.get_profile("any"), max_examples=20 * USUAL)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "long" if LONG else "change"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, unless COMPACTCTL_LONG_TESTS=1 asks for it."""
    if LONG:
        return
    tried = set(_tried(items))
    config.hook.pytest_deselected(items=[item for item in items if item not in tried])
    items[:] = [item for item in items if item in tried]


def _tried(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield what a change is tried with."""
    short = (item for item in items if not item.get_closest_marker("long"))
    for _, cases in groupby(short, key=lambda item: item.nodeid.partition("[")[0]):
        each = list(cases)
        yield from each_choice(each) if each[0].get_closest_marker("each_choice") else each


@pytest.fixture(scope="session")
def real_transcripts() -> Path:
    """Return the folder of real transcripts beside the checkout, or skip."""
    if not REAL.is_dir():
        pytest.skip(f"no real transcripts beside the checkout ({REAL.name} folder is absent)")
    return REAL
