"""Fixtures shared by all tests."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from examples import HARMLESS, LONG, USUAL, each_choice
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import engine, providers
from transcripts import FOLDER, VARIABLE, check_folder

from compactctl.store.client_folders import VARIABLES
from compactctl.store.files import source
from compactctl.views.terminal.text import RUNNER_VARIABLES

OWN_FOLDER = pytest.StashKey[str]()
ROOT = Path(__file__).resolve().parents[1]

# Tests write below one folder, which is removed after the run (pytest --basetemp=FOLDER keeps their
# files). It is in memory where there is room: the files are many, and each is synced to the disk.
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - only a folder of its own is written to
ENOUGH = 4 << 30

# Tests see neither the developer's settings and sessions nor the CI runner.
for name in (*VARIABLES, *RUNNER_VARIABLES, "GITHUB_STEP_SUMMARY"):
    os.environ.pop(name, None)
os.environ["HOME"] = str(ROOT / "tests" / "no-home")
os.environ["XDG_CONFIG_HOME"] = str(ROOT / "tests" / "no-settings")
for name in [each for each in os.environ if each.startswith("COMPACTCTL_")]:
    if name not in ("COMPACTCTL_LONG_TESTS", VARIABLE):
        del os.environ[name]


# The program waits for the rest of an unfinished last line if the file was just written, as those
# of tests always are.
source.WAIT_SECONDS = 0.0

# The same on every machine: where CI is set, hypothesis itself begins with other settings.
settings.register_profile(
    "any",
    deadline=None,
    suppress_health_check=HARMLESS,
    database=None,
    derandomize=False,
    # Explaining an example takes as long as shrinking it.
    phases=[phase for phase in Phase if phase is not Phase.explain],
    print_blob=True,
    report_multiple_bugs=False,
)
# Everybody tests a change with the same examples; a long run draws new ones.
settings.register_profile("change", settings.get_profile("any"), max_examples=10, derandomize=True)
settings.register_profile("long", settings.get_profile("any"), max_examples=USUAL)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "long" if LONG else "change"))
# In seconds; what fails should not take five minutes to say so.
engine.MAX_SHRINKING_SECONDS = 20
if settings().derandomize:
    # Hypothesis also draws constants of the modules imported so far, which depend on the tests that
    # ran before in the same process.
    providers._get_local_constants = lambda: providers._local_constants
    # It seeds by the signature of a test, where Python 3.13 writes pathlib._local.Path.
    Path.__module__ = "pathlib"


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


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of a run, but refuse one without the transcripts that somebody named."""
    check_folder()
    if "PYTEST_XDIST_WORKER" not in os.environ:
        has_room = os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ENOUGH
        place = IN_MEMORY if has_room and "TMPDIR" not in os.environ else None
        folder = tempfile.mkdtemp(prefix="compactctl-tests-", dir=place)
        config.stash[OWN_FOLDER] = os.environ["TMPDIR"] = folder
        tempfile.tempdir = None
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="cache-")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, unless COMPACTCTL_LONG_TESTS=1 asks for it."""
    if LONG:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if not item.get_closest_marker("long")]


def pytest_collection_finish() -> None:
    """Let garbage collection pass over what stays to the end: modules and all tests.

    It runs a hundredth as often: what one test leaves is small.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(70_000)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder of a run."""
    if OWN_FOLDER in config.stash:
        shutil.rmtree(config.stash[OWN_FOLDER], ignore_errors=True)


@pytest.fixture(scope="session")
def real_transcripts() -> Path:
    """Return the folder of real transcripts, or skip."""
    if not FOLDER.is_dir():
        pytest.skip(f"no real transcripts: {VARIABLE} can name their folder")
    return FOLDER
