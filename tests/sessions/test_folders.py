"""What a command means by a folder: its only transcript, its newest session, or nothing yet."""

import itertools
import os
import re
import shutil
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask
from cli.screens.terminal import ended_after
from sessions.homes import HOUR, MINUTE, Home, Said
from sessions.long_sessions import SMALL, claude, codex

from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.commands.folder_choice import CLOSE, Purpose, choose_in_folder
from compactctl.commands.reading.candidates import NO_CANDIDATES, Candidate
from compactctl.records import replace

FILE = Candidate(name="run.jsonl", n_bytes=1, modified=0, format="")


def session(age: float) -> Session:
    entry = SessionEntry(client="codex", id=f"{age}", path=Path(f"{age}"), modified=-age)
    return Session(entry=entry, details=SessionDetails())


CASES = list(
    itertools.product(
        ("read", "write", "restore", "rescue"),
        (0, 1, 2),
        (False, True),
        ((), (0,), (0, CLOSE), (0, CLOSE - 1)),
    )
)


@pytest.mark.parametrize(("purpose", "n_files", "more", "ages"), CASES)
def test_nothing_is_chosen_that_is_not_clear(
    purpose: Purpose,
    n_files: int,
    more: bool,  # noqa: FBT001 - a case of the table
    ages: tuple[float, ...],
) -> None:
    files = replace(NO_CANDIDATES, files=(FILE,) * n_files, more=int(more))
    sessions = tuple(map(session, ages))
    chosen = choose_in_folder(purpose, files, iter(sessions))
    is_only = n_files == 1 and not more
    newest = sessions[0] if sessions else None
    expected = {
        "read": FILE if is_only else newest,
        "write": FILE if is_only else None,
        "restore": FILE if is_only and not sessions else None,
        "rescue": None if ages == (0, CLOSE - 1) else newest,
    }
    assert chosen == expected[purpose]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a project, in which the program is started."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("write", [claude, codex])
def test_rescue_takes_the_newest_session_of_the_folder(
    home: Home, ask: Ask, project: Path, write: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, Said(name="own", project=str(project), age=HOUR))
    write(home, Said(name="newer", project=str(project.parent / "other"), age=0))
    for words in ((), (".",), (project,)):
        path = ask("rescue", *words, "-n", "--json").json["path"]
        assert Said(name="own").id in path
    monkeypatch.chdir("/")
    assert Said(name="own").id in ask("rescue", project, "-n", "--json").json["path"]


def test_rescue_takes_no_session_of_another_folder(home: Home, ask: Ask, project: Path) -> None:
    path = claude(home, Said(name="other", title="Other", project="/elsewhere"))
    codex(home, Said(name="old", project="/elsewhere", age=2 * HOUR))
    before = sorted(home.root.rglob("*"))
    outcome = ask("rescue", "--target", "40k")
    assert outcome.code == 2
    assert f"no session was started in {project}; the newest of others:" in outcome.err
    ids = [Said(name=name).id[:8] for name in ("other", "old")]
    commands = [f"compactctl rescue {short} --target 40k" for short in ids]
    assert outcome.err.splitlines()[-2:] == commands
    assert sorted(home.root.rglob("*")) == before
    path.unlink()
    shutil.rmtree(home.root / ".codex")
    assert ask("rescue").code == 3


@pytest.mark.parametrize("write", [claude, codex])
def test_a_copy_of_ours_stands_for_its_original_until_somebody_continues_it(
    home: Home, ask: Ask, project: Path, write: type
) -> None:
    said = Said(name="own", title="Harbour", project=str(project))
    path = write(home, said)
    new = ask("compact", path, *SMALL, "--json").json["forkedTo"]
    (copy,) = (path for path in home.root.rglob(f"*{new}*.jsonl") if path.is_file())
    for words in ((), (".",), ("latest",), (said.id,)):
        again = ask("rescue", *words, "--json")
        assert (again.code, again.json["earlier"]) == (0, new)
    assert ask("stats", "--json", "latest").json["path"] == str(copy)
    assert ask("stats", "--json").json["path"] == str(path)
    # Undone, it is a second copy of the whole, and the original is still the one to continue.
    undone = ask("rewind", new)
    assert f"same as   {said.id}, the original, which never changed\n" in undone.err
    assert said.id in undone.err.partition("continue  ")[2].splitlines()[0]
    assert ask("rescue", "-n", "--json").json["path"] == str(path)
    with copy.open("ab") as file:
        file.write(copy.read_bytes().splitlines(keepends=True)[-1])
    assert ask("stats", "--json").json["path"] == str(copy)
    assert ask("rewind", new, "--all", "--json").json["sameAs"] is None
    os.utime(path, (copy.stat().st_mtime + HOUR,) * 2)
    assert ask("stats", "--json").json["path"] == str(path)


@pytest.mark.parametrize("command", ["stats", "view", "check", "rescue"])
@pytest.mark.parametrize("name", ["codex", "Claude", "claude-code"])
def test_the_name_of_a_client_means_its_newest_session(
    home: Home, ask: Ask, command: str, name: str
) -> None:
    """A title that has the name of a client in it is another session's."""
    codex(home, Said(name="codex", age=2 * HOUR))
    claude(home, Said(name="claude", title="Read codex-clipboard", age=HOUR))
    claude(home, Said(name="old", title="codex", age=3 * HOUR))
    options = ("-n",) if command == "rescue" else ()
    outcome = ask(command, name, *options, "--json")
    assert Said(name=name.casefold().partition("-")[0]).id in outcome.json["path"]


def test_the_name_of_a_client_lists_its_sessions(home: Home, ask: Ask) -> None:
    codex(home, Said(name="codex", title="Tide"))
    claude(home, Said(name="claude", title="Read codex-clipboard tide"))
    for words, ids in {
        ("codex",): ["codex"],
        ("CODEX", "tide"): ["codex"],
        ("clipboard",): ["claude"],
        ("tide",): ["claude", "codex"],
        ("claude", "codex"): [],
    }.items():
        rows = ask("sessions", *words, "--json").json["sessions"]
        assert sorted(row["id"] for row in rows) == sorted(Said(name=name).id for name in ids)


@pytest.mark.parametrize("command", ["stats", "check", "view", "compact"])
def test_the_only_transcript_of_a_folder_is_taken(
    home: Home, ask: Ask, project: Path, command: str
) -> None:
    claude(home, Said(project=str(project)))
    shutil.copy(SAMPLES / "openai-chat.jsonl", project / "run.jsonl")
    options = ("--stages", "truncate", "--keep-turns", "3", "-n") if command == "compact" else ()
    outcome = ask(command, "--json", *options)
    assert outcome.json["path"] == "run.jsonl"
    assert "run.jsonl, the only transcript in this folder" in outcome.err
    os.chdir("/")
    assert ask(command, project, "--json", *options).json["path"] == str(project / "run.jsonl")


@pytest.mark.parametrize("command", ["stats", "check", "view", "log", "compact", "rewind"])
@pytest.mark.usefixtures("home")
def test_of_two_transcripts_none_is_guessed(ask: Ask, project: Path, command: str) -> None:
    for name in ("a", "b"):
        shutil.copy(SAMPLES / "openai-chat.jsonl", project / f"{name}.jsonl")
        assert ask("compact", f"{name}.jsonl", "--target", "5k").code == 0
        if command not in {"rewind", "log"}:
            shutil.rmtree(f"{name}.compacted.jsonl.archive")
            Path(f"{name}.compacted.jsonl").unlink()
    before = sorted(project.rglob("*"))
    outcome = ask(command)
    assert (outcome.code, outcome.out) == (2, "")
    ending = "compacted.jsonl" if command in {"rewind", "log"} else "jsonl"
    commands = {f"compactctl {command} {name}.{ending}" for name in ("a", "b")}
    assert set(outcome.err.splitlines()[-2:]) == commands
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [(b"1\n", 0, "14,225"), (b"2\n", 0, "14,225"), (b"\n", 2, ""), (b"3\n", 2, "from 1 to 2"),
     (b"0\n", 2, "from 1 to 2"), (b"a.jsonl\n", 2, "is not a number"), (b"\x04", 2, "")],
)  # fmt: skip
def test_on_a_terminal_a_number_is_typed(
    tmp_path: Path, typed: bytes, code: int, said: str
) -> None:
    for age, name in enumerate(("a", "b")):
        path = shutil.copy(SAMPLES / "openai-chat.jsonl", tmp_path / f"{name}.jsonl")
        os.utime(path, (HOUR - age * MINUTE,) * 2)
    ended, shown = ended_after(typed, 100, tmp_path, "stats")
    assert (ended, said in shown) == (code, True)
    assert re.search(r"^2 +b\.jsonl", shown, re.MULTILINE)


def test_commands_that_are_proposed_name_a_session_by_its_id(home: Home, ask: Ask) -> None:
    path = claude(home)
    short = path.stem[:8]
    for reference in (short, path.stem, "tide windows", "latest"):
        shown = ask("stats", reference).out
        assert f"compactctl compact -n {short}\n" in shown
        assert f"compactctl stats --details {short}\n" in shown
    assert f"compactctl compact -n {path}" in ask("stats", path).out
