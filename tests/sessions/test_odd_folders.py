"""Folders that were removed, that are relative, or whose names no plain quotation can hold."""

import os
import subprocess
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask
from sessions.homes import HOUR, Home, Said
from sessions.long_sessions import SMALL, WRITERS

NAMES = (
    "it's a quay", "two\nlines", "-dash", "$(touch x)", "tab\there", "\x1b[31mred", "##[error]x",
    "\udcff\udcfe", "“quoted”\u202e", "::error::x", "new\\nline",
)  # fmt: skip


def run_in_bash(command: str) -> bytes:
    script = os.fsencode(command) + b" && pwd"
    # A child of the test may not be in the folder of its parent, which may be gone.
    done = subprocess.run(["/bin/bash", "-c", script], check=True, capture_output=True, cwd="/")
    return done.stdout.removesuffix(b"\n")


@pytest.mark.parametrize("name", [name for name in NAMES if "\udcff" not in name])
def test_the_printed_folder_is_the_one_of_the_session(
    home: Home, ask: Ask, tmp_path: Path, name: str
) -> None:
    project = tmp_path / name
    project.mkdir()
    said = Said(project=str(project), context=190_000)
    outcome = ask("compact", WRITERS["claude-code"](home, said), *SMALL)
    assert outcome.code == 0, outcome.err
    [line] = [line for line in outcome.err.splitlines() if line.startswith("continue")]
    folder, resume = line.removeprefix("continue").strip().rsplit(" && ", 1)
    assert resume.startswith("claude --resume ")
    assert run_in_bash(folder) == os.fsencode(project)


@pytest.mark.parametrize("name", NAMES)
def test_the_printed_archive_is_the_one_that_was_named(
    tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run, archive = tmp_path / "run.jsonl", tmp_path / f"archive {name}"
    run.write_bytes((SAMPLES / "openai-chat.jsonl").read_bytes())
    assert ask("compact", "run.jsonl", "--target", "5k", "--in-place").code == 0
    Path("run.jsonl.archive").rename(archive)
    outcome = ask("log", "run.jsonl", "--archive", archive)
    assert outcome.code == 0, outcome.err
    [line] = [line for line in outcome.out.splitlines() if "compactctl rewind" in line]
    _, _, option = line.partition("--archive ")
    assert run_in_bash(f"printf %s {option} && cd {option}").endswith(os.fsencode(archive))


@pytest.mark.parametrize("project", [".", "quay", "./quay", "../quay"])
@pytest.mark.parametrize("client", ["claude-code", "codex", "pi"])
def test_a_relative_folder_is_no_folder(  # noqa: PLR0913 - a place, a client and a session
    home: Home,
    ask: Ask,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    client: str,
    project: str,
) -> None:
    here = tmp_path / "quay"
    (here / "quay").mkdir(parents=True)
    WRITERS[client](home, Said(project=project, context=190_000))
    for folder in (here, here / "quay", Path("/")):
        monkeypatch.chdir(folder)
        assert ask("rescue", "-n").code == 2
        assert "no session matches" in ask("sessions", "--project", folder).out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("stats",), 74),
        (("rescue",), 74),
        (("rescue", "."), 74),
        (("stats", "latest"), 0),
        (("stats", Said().id[:8]), 0),
        (("check", Said().id[:8]), 0),
        (("view", Said().id[:8]), 0),
        (("log", Said().id[:8]), 0),
        (("compact", Said().id[:8], *SMALL), 0),
        (("sessions",), 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_removed_folder_is_needed_only_where_it_decides(  # noqa: PLR0913 - a command and a place
    home: Home,
    ask: Ask,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    arguments: tuple[str, ...],
    code: int,
) -> None:
    WRITERS["claude-code"](home, Said())
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    monkeypatch.chdir(worktree)
    worktree.rmdir()
    outcome = ask(*arguments)
    assert outcome.code == code, outcome.err
    assert ("the current folder no longer exists" in outcome.err) is (code != 0)


@pytest.mark.parametrize("reference", [(), (".",), ("latest",), ("codex",), ("codex:latest",)])
@pytest.mark.parametrize("command", ["stats", "check", "view", "rescue"])
def test_an_archived_session_is_meant_only_by_its_name(  # noqa: PLR0913 - a place and a command
    home: Home,
    ask: Ask,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    command: str,
    reference: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    home.codex(Said(name="in use", age=2 * HOUR, project=str(tmp_path)))
    home.codex(Said(name="put away", age=HOUR, project=str(tmp_path)), archived=True)
    options = ("-n",) if command == "rescue" else ()
    assert Said(name="in use").id[:8] in ask(command, *reference, *options).err
    named = ask(command, Said(name="put away").id[:8], *options)
    assert Said(name="put away").id[:8] in named.err
