"""Fixtures shared by all tests."""

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from examples import HARMLESS, LONG, USUAL, each_choice
from hypothesis import settings
from transcripts import FOLDER, VARIABLE, check_folder

from compactctl.store.client_folders import VARIABLES

ROOT = Path(__file__).resolve().parents[1]

# What the developer has set for their own work, and the sessions of their own agents, are none of
# the tests'.
for name in VARIABLES:
    os.environ.pop(name, None)
os.environ["HOME"] = str(ROOT / "tests" / "no-home")
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="compactctl-cache-")
os.environ["XDG_CONFIG_HOME"] = str(ROOT / "tests" / "no-settings")
for name in [each for each in os.environ if each.startswith("COMPACTCTL_")]:
    if name not in ("COMPACTCTL_LONG_TESTS", VARIABLE):
        del os.environ[name]


settings.register_profile("any", deadline=None, suppress_health_check=HARMLESS)
# A run that decides about a change tries the same examples each time.
settings.register_profile(
    "change", settings.get_profile("any"), max_examples=10, derandomize="CI" in os.environ
)
settings.register_profile("long", settings.get_profile("any"), max_examples=USUAL)
settings.register_profile("nightly", settings.get_profile("any"), max_examples=20 * USUAL)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "long" if LONG else "change"))


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Make only the cases that a change is tested with: most of a product would be thrown away."""
    yield
    if LONG:
        return
    cases = [
        case for case in metafunc._calls if not any(mark.name == "long" for mark in case.marks)
    ]
    definition = metafunc.definition
    if definition.get_closest_marker("long"):
        del cases[1:]
    elif definition.get_closest_marker("each_choice"):
        cases = each_choice(definition.nodeid, cases)
    metafunc._calls[:] = cases or metafunc._calls[:1]


def pytest_configure() -> None:
    """Refuse to run without the transcripts that somebody named."""
    check_folder()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, unless COMPACTCTL_LONG_TESTS=1 asks for it."""
    if LONG:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if not item.get_closest_marker("long")]


def pytest_collection_finish() -> None:
    """Let garbage collection pass over what stays to the end: modules and all tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def real_transcripts() -> Path:
    """Return the folder of real transcripts, or skip."""
    if not FOLDER.is_dir():
        pytest.skip(f"no real transcripts: {VARIABLE} can name their folder")
    return FOLDER
