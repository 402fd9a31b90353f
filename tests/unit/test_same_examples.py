"""A change is tried with the same examples by everybody."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
# Constants of a module that happens to be imported before would be drawn as well.
DRAW = """
import conftest
from hypothesis import given, settings, strategies as st

if {imports_more}:
    import compactctl.stages.registry

drawn = []

@settings(max_examples=300)
@given(st.text() | st.integers())
def test(value):
    drawn.append(repr(value))

test()
print(drawn)
"""


def drawn(*, imports_more: bool, **variables: str) -> str:
    others = {name: value for name, value in os.environ.items() if name != "CI"}
    run = subprocess.run(
        [sys.executable, "-c", DRAW.format(imports_more=imports_more)],
        env={**others, **variables, "PYTHONPATH": str(TESTS), "HYPOTHESIS_PROFILE": "change"},
        cwd=TESTS.parent,
        capture_output=True,
        check=True,
        text=True,
    )
    return run.stdout


def test_examples_depend_neither_on_the_machine_nor_on_the_tests_before() -> None:
    assert drawn(imports_more=True) == drawn(imports_more=False, CI="true")
