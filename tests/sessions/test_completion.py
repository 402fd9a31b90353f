"""The tab key: sessions, names of options' values, and files beside them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from forked import completed
from sessions.homes import HOUR, Home, Said

BASH = shutil.which("bash")
_COMPLETE = """\
eval "$SCRIPT"
compopt() { echo "compopt $*"; }
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
_compactctl_completion compactctl
printf '%s\\n' "${COMPREPLY[@]}"
"""
OWN = Said().id


def environment(home: Home, **more: str) -> dict[str, str]:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": programs, "HOME": str(home.root), "LC_ALL": "C.UTF-8", **more}


def script(home: Home, folder: Path) -> str:
    """Return what bash reads to complete command lines."""
    told = environment(home, _COMPACTCTL_COMPLETE="bash_source")
    return completed((), folder, told).stdout.decode()


def in_bash(home: Home, folder: Path, line: str) -> list[str]:
    """Return what bash offers at the end of a line, which it takes apart at colons and signs."""
    apart = line.replace(":", " : ").replace("=", " = ")
    words = [*apart.split(), *([""] if line.endswith((" ", ":", "=")) else [])]
    command = ["bash", "--norc", "-c", _COMPLETE, "bash", line, *words]
    told = environment(home, SCRIPT=script(home, folder))
    done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.fixture
def folder(home: Home, tmp_path: Path) -> Path:
    """Return a folder with files, in whose home there are sessions."""
    home.claude(Said(title="Tides"))
    home.codex(Said(name="other", age=2 * HOUR))
    place = tmp_path / "folder"
    (place / "latest runs").mkdir(parents=True)
    (place / "run.jsonl").touch()
    return place


@pytest.mark.long
@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_in_bash(home: Home, folder: Path) -> None:
    both = in_bash(home, folder, "compactctl stats la")
    assert both == ["compopt -o filenames", "latest", "latest runs"]
    everything = in_bash(home, folder, "compactctl compact --in-place ")
    assert {"latest", "claude:latest", OWN, "run.jsonl"} <= set(everything)
    assert {"latest", OWN} <= set(in_bash(home, folder, "compactctl batch "))
    # Where nothing else fits, bash completes files as it always does.
    for line in ("stats ru", "report ", "compact run.jsonl -o ", "compact x --summary-file=r"):
        assert in_bash(home, folder, f"compactctl {line}") == ["compopt -o default", ""]
    assert in_bash(home, folder, "compactctl stats claude:la") == [
        "compopt -o filenames",
        "latest",
        "latest runs",
    ]
    assert in_bash(home, folder, "compactctl stats x.jsonl --profile=neu")[1] == "neurolink"
    assert in_bash(home, folder, "compactctl compact x --stages dedup,pru") == ["dedup,prune"]
    assert in_bash(home, folder, "compactctl sess") == ["sessions"]


OFFERED = {
    "compactctl stats cod": ["codex:latest"],
    f"compactctl view {OWN[:4]}": [OWN],
    "compactctl stats --format cla": ["claude-code"],
    "compactctl stats --profile spring-s": ["spring-sliding", "spring-sliding@code"],
    "compactctl compact --stages sum": ["summarize"],
    "compactctl show stages trun": ["truncate"],
    "compactctl stats --model gpt-5.2-ch": ["gpt-5.2-chat"],
    "compactctl sessions --client vs": ["vscode"],
    "compactctl batch r": [],
    "compactctl compact run.jsonl -o r": [],
    "compactctl stats --nothing": [],
}
WITH_FILES = [
    line
    for line, names in OFFERED.items()
    if "cod" in line or "view" in line or "profile" in line or line.endswith(" r")
]


@pytest.mark.each_choice
@pytest.mark.parametrize("line", OFFERED)
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_in_other_shells(home: Home, folder: Path, shell: str, line: str) -> None:
    typed = line.rpartition(" ")[2]
    position = typed if shell == "fish" else str(len(line.split()) - 1)
    told = environment(
        home,
        COMP_WORDS=line,
        COMP_CWORD=position,
        _COMPACTCTL_COMPLETE=f"{shell}_complete",
    )
    done = completed((), folder, told)
    assert done.stderr == b""
    rows = done.stdout.decode().strip().splitlines()
    if shell == "fish":
        answers = [each.partition("\t")[0].split(",", 1) for each in rows]
    else:
        answers = [[rows[at], rows[at + 1].replace("\\:", ":")] for at in range(0, len(rows), 3)]
    assert [value for kind, value in answers if kind == "plain"] == OFFERED[line]
    assert any(kind == "file" for kind, _ in answers) == (line in WITH_FILES)


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_in_fish(home: Home, folder: Path) -> None:
    lines = ("stats cod", "compact --stages dedup,pru", "batch ru", "stats la")
    asked = "; ".join(f'complete -C "compactctl {line}"' for line in lines)
    script = f"_COMPACTCTL_COMPLETE=fish_source compactctl | source; {asked}"
    command = ["fish", "--no-config", "-c", script]
    done = subprocess.run(
        command, cwd=folder, env=environment(home), capture_output=True, text=True, check=True
    )
    words = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert words == ["codex:latest", "dedup,prune", "run.jsonl", "latest", "latest runs/"]
