"""Whoever follows the contributing page adds a thing without touching anything else.

A stage, a format, a command, an option and an output are added to a copy of the checkout.
"""

import json
import os
import re
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest
from adding.additions import ADDITIONS, Addition
from docs.generate import ROOT
from formats.jsonl import write_lines

_NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", "venv", "__pycache__", ".*_cache", ".hypo*")
# What says how these tests are run: those of the copy are the ones of every change.
_OF_THIS_RUN = ("COMPACTCTL_", "COV", "HYPOTHESIS_", "PYTEST_")
_TALK = (
    {"speaker": "person", "said": "Who goes there?"},
    {"speaker": "agent", "said": "A heron."},
    {"speaker": "person", "said": "And where to?"},
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of the checkout with all of it added."""
    copy = Path(shutil.copytree(ROOT, tmp_path / "checkout", ignore=_NOT_COPIED))
    for addition in ADDITIONS:
        addition.write(copy)
    return copy


@pytest.fixture
def python(checkout: Path) -> Path:
    """Return the Python of an environment with the copy, and all else that is installed here."""
    place = checkout.with_name("environment")
    venv.create(place, symlinks=True)
    packages = sysconfig.get_path("purelib", "venv", {"base": str(place)})
    (Path(packages) / "copy.pth").write_text(f"{checkout}\n{sysconfig.get_path('purelib')}\n")
    program = place / "bin" / "compactctl"
    program.write_text(f"#!{place}/bin/python\nfrom compactctl.__main__ import main\n\nmain()\n")
    program.chmod(0o755)
    return place / "bin" / "python"


def ran(python: Path, checkout: Path, *words: str) -> str:
    """Run a Python program in the copy; return what it printed. It has to end well."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(_OF_THIS_RUN)
    }
    environment["PATH"] = f"{python.parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        [python, *words],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_what_is_added_works(checkout: Path, python: Path) -> None:
    def asked(*words: str) -> str:
        return ran(python, checkout, "-m", "compactctl", *words)

    path = write_lines(checkout / "talk.jsonl", *_TALK)
    assert asked("turns", str(path)) == "2 turns\n"
    assert "format = murmur\n" in asked("stats", str(path), "--flat")
    sample = "sample_transcripts/codex-session.jsonl"
    options = ("--stages", "heads", "--heads-words", "40", "--require-savings")
    (stage,) = json.loads(asked("compact", sample, "-n", *options, "--json"))["stages"]
    assert (stage["name"], stage["options"]) == ("heads", {"words": 40})


@pytest.mark.parametrize("addition", ADDITIONS, ids=lambda addition: addition.what)
def test_the_contributing_page_names_every_file(addition: Addition) -> None:
    page = (ROOT / "docs" / "contributing.md").read_text()
    (row,) = re.findall(rf"^\| {addition.what} \| .*$", page, re.MULTILINE)
    named = [re.escape(name).replace("<name>", r"\w+") for name in re.findall(r"`([^`]+)`", row)]
    unnamed = [
        path for path in addition.paths if not any(re.match(f"{n}(/|$)", path) for n in named)
    ]
    assert not unnamed, f"docs/contributing.md: name {unnamed} in the row of {addition.what}"


@pytest.mark.long
def test_the_whole_suite_passes(checkout: Path, python: Path) -> None:
    ran(python, checkout, "tests/docs/generate.py")
    ran(python, checkout, "tests/frozen/frozen.py", "-j", "2", "renew", "*")
    options = ("-n", "2", "-q", "-p", "no:cacheprovider", "--ignore=tests/adding")
    ran(python, checkout, "-m", "pytest", *options)
