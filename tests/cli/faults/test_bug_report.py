"""An error of our own: a report that can be pasted, with no content of the transcript."""

import subprocess
import sys
from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.stages import dedup

PRIVATE = "what-a-person-wrote"


@pytest.fixture
def report(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a broken stage makes the program say."""

    def broken(*_: object) -> None:
        raise LookupError(PRIVATE)

    path = tmp_path / "private-name.jsonl"
    path.write_text('{"role":"user","content":"x"}\n' * 9)
    monkeypatch.setattr(dedup, "_FINDERS", {"identical": broken})
    outcome = ask("compact", path, "--stages", "dedup", f"--pin={PRIVATE}")
    assert outcome.code == 70
    assert outcome.out == ""
    return outcome.err


def test_it_says_what_failed_and_where(report: str) -> None:
    assert report.startswith("compactctl: an internal error; no file is left half-written.")
    assert "\n  LookupError\n" in report
    assert "\n  stages/dedup.py:" in report
    assert "\n  command: compact --stages --pin\n" in report


def test_it_holds_no_content_and_no_names(report: str) -> None:
    assert PRIVATE not in report
    assert "private-name" not in report
    assert str(Path(__file__).parents[3]) not in report


def test_it_is_no_traceback(report: str) -> None:
    assert "Traceback" not in report


# In a process of its own: standard output is let go of, which pytest reads in this one.
REFUSED = """
import sys
from compactctl.__main__ import run
from compactctl.commands.inspect import stats

def refused(*_):
    raise OSError(5, "Input/output error", "some/file")

stats.scan = refused
sys.exit(run(["stats", sys.argv[1]]))
"""


def test_an_error_of_the_system_is_one_line(desk: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSED, desk], capture_output=True, check=False, text=True
    )
    assert done.returncode == 74
    assert done.stderr.startswith("compactctl: some/file: Input/output error; ")
    assert done.stderr.count("\n") == 1
