"""What other projects take from here: the hook and the action, run as their runners would."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from batch.inputs import transcript, write
from conftest import ROOT
from forked import completed

ACTION = yaml.safe_load((ROOT / ".github/actions/compactctl/action.yml").read_text())
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
BASH = shutil.which("bash") or "/bin/bash"
INSTALL, MEASURE = ACTION["runs"]["steps"]
WORKFLOW, PRE_COMMIT = (
    yaml.safe_load(block)
    for block in re.findall(
        r"^```yaml\n(.*?)^```$", (ROOT / "docs/batch.md").read_text(), re.MULTILINE | re.DOTALL
    )
)
WITH_PROGRAM = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(Path("runs/good.jsonl"))
    write(Path("runs/two words.jsonl"))
    return tmp_path


def cut_off() -> Path:
    lines = transcript().splitlines(keepends=True)
    return write(Path("runs/cut.jsonl"), b"".join(lines[:-2]))


def hook(*files: str) -> subprocess.CompletedProcess[bytes]:
    program, *words = shlex.split(HOOK["entry"])
    assert program == "compactctl"
    return completed((*words, *files), Path.cwd(), WITH_PROGRAM)


def step(given: dict[str, Any], **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does: inputs in place of expressions, in the shell that it names."""
    known = {name: told.get("default", "") for name, told in ACTION["inputs"].items()} | inputs
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: known[found[1]], value)
        for name, value in given.get("env", {}).items()
    }
    assert "${{" not in given["run"]
    assert given["shell"] == "bash"
    return subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", given["run"]],
        env={
            **WITH_PROGRAM,
            **variables,
            "GITHUB_ACTION_PATH": str(ROOT / ".github/actions/compactctl"),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_hook_passes_whole_transcripts_and_no_others() -> None:
    assert hook("runs/good.jsonl", "runs/two words.jsonl").returncode == 0
    assert hook("runs/good.jsonl", str(cut_off())).returncode == 1
    assert hook("runs/good.jsonl", "--fail-over-tokens", "100").returncode == 1
    parts = str(write(Path("parts.jsonl"), b'{"name": "bolt"}\n'))
    assert hook(parts).returncode == 0
    assert hook(parts, str(write(Path("torn.jsonl"), transcript()[:90]))).returncode == 4
    assert re.search(HOOK["files"], "runs/a.jsonl.gz")
    assert not re.search(HOOK["files"], "runs/a.json")


def test_the_hook_as_the_page_shows_it() -> None:
    ((shown,),) = (repository["hooks"] for repository in PRE_COMMIT["repos"])
    assert shown["id"] == HOOK["id"]
    assert hook(*shown["args"], "runs/good.jsonl").returncode == 0
    assert hook(*shown["args"], str(cut_off())).returncode == 1


def test_the_workflow_as_the_page_shows_it() -> None:
    *_, shown = WORKFLOW["jobs"]["transcripts"]["steps"]
    assert set(shown["with"]) <= set(ACTION["inputs"])
    write(Path("runs/package.json"), b'{"name": "bolt"}\n')
    done = step(MEASURE, **shown["with"])
    assert done.returncode == 0, done.stderr
    cut_off()
    assert step(MEASURE, **shown["with"]).returncode == 1


def test_the_action_measures_what_it_is_given() -> None:
    write(Path("data/parts.jsonl"), b'{"name": "bolt"}\n')
    paths = "runs/good.jsonl\nruns/two words.jsonl\ndata\n"
    done = step(MEASURE, paths=paths, report="r.csv", junit="j.xml")
    assert done.returncode == 0, done.stderr
    assert len(Path("r.csv").read_text().splitlines()) == 4
    assert Path("j.xml").is_file()


def test_the_action_fails_and_tells_where() -> None:
    cut_off()
    done = step(MEASURE, **{"paths": "runs", "fail-on": "orphans", "fail-over-tokens": "150k"})
    assert done.returncode == 1
    assert "::error file=runs/cut.jsonl,title=compactctl batch::" in done.stderr


def test_nothing_in_an_input_is_a_command() -> None:
    done = step(MEASURE, **{"paths": "runs", "fail-on": 'orphans"; touch made; "$(touch made)'})
    assert done.returncode == 2
    assert not Path("made").exists()


def test_every_input_is_an_option_of_batch() -> None:
    flags = {name for name in ACTION["inputs"] if name != "paths"}
    names = re.search(r"for name in ([A-Z_ ]+);", MEASURE["run"])
    assert names is not None
    where = ".github/actions/compactctl/action.yml: "
    passed = {name.lower().replace("_", "-") for name in names[1].split()}
    assert flags == passed, f"{where}every input stands in the loop over names, and only these"
    variables = {"PATHS", *names[1].split()}
    assert set(MEASURE["env"]) == variables, f"{where}every input is in env, and only these"


@pytest.mark.long
def test_the_action_installs_the_program(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "fresh"], check=True)
    path = f"{tmp_path / 'fresh' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    variables = {
        **os.environ,
        "PATH": path,
        "GITHUB_ACTION_PATH": str(ROOT / ".github/actions/compactctl"),
    }
    subprocess.run([BASH, "-eo", "pipefail", "-c", INSTALL["run"]], env=variables, check=True)
    assert (tmp_path / "fresh/bin/compactctl").is_file()
