"""The examples in help work as they are, on files of the names that they use."""

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask, Outcome, first_turns
from forked import completed
from sessions.bundled_home import fill_home
from sessions.homes import DAY, Home, Said

from compactctl.cli.group import COMMANDS, Commands, cli, words_of

EXAMPLES = {name: command.examples for name, command in Commands().items()}
LINES = dict.fromkeys(
    (
        *(line for lines in EXAMPLES.values() for line in lines),
        *(line.partition("  ")[0] for line in cli.examples),
    )
)
# Some examples lead to a finding: a gate, a compaction that is due, an error that is none.
FOUND = {0, 1}
SERVER = "compactctl client mcp"
REPORTS = ("report", "monday", "sunday")


def parts(line: str) -> tuple[list[str], str | None]:
    """Return the words of the command in a line, and the file that it reads as its input."""
    words = shlex.split(line.rpartition("| ")[2])
    if ">" in words:
        words = words[: words.index(">")]
    if "<" in words:
        return words[: words.index("<")], words[-1]
    return words, None


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with sessions, and in it a folder with the files that examples name."""
    home = tmp_path_factory.mktemp("home")
    fill_home(home)
    # The examples find what they need in the first turns of the largest session.
    session = max(home.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    written = session.stat()
    session.write_bytes(first_turns(tmp_path_factory.mktemp("brief")).read_bytes())
    os.utime(session, ns=(written.st_atime_ns, written.st_mtime_ns))
    folder = home / "work"
    for name in ("runs", "src"):
        (folder / name).mkdir(parents=True)
    for name in ("run.jsonl", "runs/one.jsonl"):
        shutil.copy(SAMPLES / "openai-chat.jsonl", folder / name)
    for name in ("session.jsonl", "runs/two.jsonl"):
        shutil.copy(SAMPLES / "gemini-cli-session.jsonl", folder / name)
    (folder / "src/main.py").write_text("print(1)\n")
    error = json.dumps({"error": {"message": "prompt is too long"}})
    for name, text in (("error", error), ("event", "{}"), ("status", "{}")):
        (folder / f"{name}.json").write_text(text)
    environment = {**os.environ, "HOME": str(home)}
    for name in ("run", "session"):
        line = ["compact", f"{name}.jsonl", "--keep", "50%"]
        assert completed(line, folder, environment).returncode == 0
    reports = [word for name in REPORTS for word in ("--report", f"{name}.parquet")]
    assert completed(["batch", "runs/", *reports], folder, environment).returncode == 0
    return home


@pytest.fixture(name="folder")
def _folder(furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of the folder, at home in a copy of the home."""
    home = shutil.copytree(furnished, tmp_path / "home")
    monkeypatch.setenv("HOME", str(home))
    folder = home / "work"
    # Rescue takes a session of the folder.
    (session,) = home.rglob("32ee9a45*.jsonl")
    copy = Home(root=home).claude(Said(project=str(folder)))
    for old, new in (("/home/dev/quayside", str(folder)), (session.stem, copy.stem)):
        copy.write_text(session.read_text().replace(old, new))
        session = copy
    os.utime(copy, (DAY, DAY))
    monkeypatch.chdir(folder)
    return folder


def outcome_of(ask: Ask, line: str, folder: Path) -> Outcome:
    words, source = parts(line)
    if "--group" in words:
        log = ask("log", words[2], "--json").json
        words[-1] = log["operations"][0]["groups"][0]["id"]
    if "src/*.py" in words:
        words[words.index("src/*.py")] = "src/main.py"
    return ask(*words[1:], stdin=(folder / source).read_bytes() if source else b"a line\n")


@pytest.mark.parametrize("line", [line for line in LINES if line != SERVER])
def test_an_example_works(ask: Ask, folder: Path, line: str) -> None:
    outcome = outcome_of(ask, line, folder)
    assert outcome.code in FOUND, outcome.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_of_its_own(name: str) -> None:
    assert EXAMPLES[name], f"compactctl/cli: give {name} an example"
    assert all(" ".join(("compactctl", *words_of(name))) in line for line in EXAMPLES[name])
