"""What the program prints and writes is what it printed and wrote."""

import subprocess
import sys

import pytest
from docs.generate import ROOT

from compactctl.tokens.counters.claude import claude_is_installed

# In a process of its own, in which the clock stands still.
_CHECK = (sys.executable, str(ROOT / "tests" / "frozen" / "frozen.py"))

pytestmark = pytest.mark.skipif(claude_is_installed(), reason="ctok counts Claude in its own way")


def check(*options: str) -> None:
    run = subprocess.run(
        [*_CHECK, *options, "check"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_some_outputs_are_as_frozen() -> None:
    check("--usual")


@pytest.mark.long
def test_all_outputs_are_as_frozen() -> None:
    check("-j", "2")
