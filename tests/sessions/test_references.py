"""Sessions by what people call them: which are taken, which are refused, what is written where."""

import json
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import click
import pytest
from cli.asking import SAMPLES, Ask
from cli.screens.terminal import ended_on_terminal
from excerpts import excerpt
from sessions.bundled_home import fill_home
from sessions.homes import DAY, HOUR, MINUTE, WRITERS, Home, Said, everything

from compactctl.cli.group import Commands, cli
from compactctl.commands.folder_choice import Purpose
from compactctl.commands.reading.candidates import NO_CANDIDATES, Candidates
from compactctl.commands.session_finder import (
    ChosenSession,
    SessionChoices,
    SessionFinder,
    is_file,
)
from compactctl.errors import NoInputError, NotUnderstoodError
from compactctl.records import replace
from compactctl.store.archive.names import archive_folder
from compactctl.store.client_folders import UserEnvironment

READING = ("stats", "check", "view", "log", "simulate", "prompt", "chunks")
WRITING = ("compact", "rewind")
# The quickest way to make a large session smaller.
DEDUP = ("--stages", "dedup")
# Of these two the formats are not read yet.
READ = [name for name in WRITERS if name != "vscode-chat"]


@pytest.fixture
def known(home: Home, tmp_path: Path) -> SessionFinder:
    """Return the sessions of the home, seen from a project of theirs."""
    here = tmp_path / "project"
    here.mkdir()
    return SessionFinder(machine=UserEnvironment(home=home.root), here=here, now=home.now)


def chosen(known: SessionFinder, reference: str, purpose: Purpose = "read") -> str:
    found = known.resolve(reference, purpose)
    assert isinstance(found, ChosenSession), found
    return found.path


def files_in(folder: Path) -> Candidates:
    return replace(NO_CANDIDATES, folder=folder)


def choices(known: SessionFinder, reference: str, purpose: Purpose = "read") -> list[str]:
    found = known.resolve(reference, purpose)
    assert isinstance(found, SessionChoices), found
    return [row.session.details.title for row in found.rows]


@pytest.mark.parametrize(
    "reference", ["-", "run.jsonl", "a/b", "/latest", "./latest", "x.JSON", "x.jsonl.gz", "y.zst"]
)
def test_what_is_written_like_a_file_is_one(reference: str) -> None:
    assert is_file(reference) == (reference != "y.zst")


def test_a_file_always_wins(
    home: Home, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.codex(Said())
    monkeypatch.chdir(tmp_path)
    for name in ("latest", Said().id, "codex:latest"):
        shutil.copy(SAMPLES / "neurolink.jsonl", name)
        assert "neurolink" in ask("stats", name).out
    assert "no such file" in ask("stats", "latest.jsonl").err


@pytest.mark.parametrize("client", READ)
def test_each_way_to_name_a_session(
    home: Home, known: SessionFinder, ask: Ask, client: str
) -> None:
    said = Said(prompt="Mend the harbour", title="Mend the harbour", project=str(known.here))
    everything(home)
    WRITERS[client](home, said)  # type: ignore[operator]
    rows = ask("sessions", "harbour", "--json").json["sessions"]
    own, short = rows[0]["id"], rows[0]["shortId"]
    path = chosen(known, own)
    for reference in (short, f"{client}:{own}", "mend HARBOUR", "."):
        assert chosen(known, reference) == path
    for reference in (own, short):
        assert chosen(known, reference, "write") == path
    outcome = ask("stats", short, "--json")
    assert outcome.code == 0
    assert outcome.json["path"] == path
    assert f'session {short} "Mend the harbour"' in outcome.err
    assert ask("stats", own, "--json").err == ""


def test_a_session_that_cannot_be_read_yet(home: Home, ask: Ask) -> None:
    everything(home)
    outcome = ask("stats", "vscode:latest")
    assert outcome.code == 4
    assert "are listed, but cannot be read yet" in outcome.err
    assert "new chat" in outcome.err


def test_the_latest(home: Home, known: SessionFinder) -> None:
    home.claude(Said(name="old", age=2 * HOUR))
    newest = home.codex(Said(name="new", age=HOUR))
    home.codex(Said(name="program", age=0), source="exec")
    assert chosen(known, "latest") == str(newest)
    assert chosen(known, "latest", "write") == str(newest)
    assert chosen(known, "CLAUDE:latest").endswith(f"{Said(name='old').id}.jsonl")


def test_no_latest_is_written_to_when_two_changed_shortly(home: Home, known: SessionFinder) -> None:
    home.claude(Said(name="one", title="One", age=HOUR))
    newest = home.codex(Said(name="two", title="Two", age=HOUR - 4 * MINUTE))
    home.pi(Said(name="three", title="Three", age=HOUR + 20 * MINUTE))
    assert chosen(known, "latest") == str(newest)
    assert choices(known, "latest", "write") == ["Two", "One"]
    assert chosen(known, "codex:latest", "write") == str(newest)
    home.claude(Said(name="one", title="One", age=HOUR + 10 * MINUTE))
    fresh = SessionFinder(machine=known.machine, here=known.here, now=known.now)
    assert chosen(fresh, "latest", "write") == str(newest)


def test_the_latest_to_rewind_is_one_that_was_compacted(home: Home, ask: Ask) -> None:
    """A session and what rescue wrote of it changed within five minutes; one can be rewound."""
    nothing = ask("rewind", "latest")
    assert (nothing.code, nothing.out) == (3, "")
    path = stored(home, 300)
    home.codex(Said(name="other", age=0))
    assert "no compacted session found" in ask("rewind", "latest").err
    before = folder_of(path)
    assert ask("rescue", Said(name="full").id).code == 0
    (new,) = [each for each in path.parent.iterdir() if each.name not in before]
    os.utime(path)
    undone = ask("rewind", "latest")
    assert undone.code == 0
    assert f"wrote     {new}" in undone.err
    assert path.read_bytes() == before[path.name]
    # A second one, and the first with nothing in effect any more.
    assert ask("compact", Said(name="full").id, "--stages", "dedup").code == 0
    os.utime(new)
    again = ask("rewind", "latest")
    assert again.code == 0
    assert f"wrote     {new}" not in again.err
    # Now neither has anything to undo, and which of them goes on is for the user to say.
    assert ask("rewind", "latest").code == 2


@pytest.mark.parametrize("options", [["--in-place"], ["--native", "--while-open"]])
def test_a_compacted_session_whose_archive_is_gone_stays_the_latest_to_rewind(
    home: Home, known: SessionFinder, ask: Ask, options: list[str]
) -> None:
    """Rewind has to say that the archive is missing, not to undo what came before."""
    path = stored(home)
    assert ask("compact", Said(name="full").id, "--stages", "dedup", *options).code == 0
    shutil.rmtree(home.root / ".local" / "state" / "compactctl")
    home.codex(Said(name="other", age=0))
    assert chosen(known, "latest", "restore") == str(path)


@pytest.mark.parametrize("purpose", ["write", "restore"])
def test_a_session_that_no_command_can_do_anything_with_is_no_candidate(
    home: Home, known: SessionFinder, purpose: Purpose
) -> None:
    readable = home.claude(Said(name="one", age=MINUTE))
    shutil.copy(SAMPLES / "claude-code-session.jsonl", readable)
    archive = archive_folder(readable)
    archive.mkdir(parents=True)
    (archive / "0001-compact-0123456789ab.parquet").touch()
    home.vscode(Said(name="closed", age=0))
    home.codex(Said(name="old", age=DAY))
    assert chosen(known, "latest", purpose) == str(readable)


def test_what_is_not_clear_is_listed(home: Home, known: SessionFinder) -> None:
    home.claude(Said(name="1", title="Tide windows", age=HOUR))
    home.codex(Said(name="2", title="Tide tables", age=2 * HOUR))
    assert choices(known, "tide") == ["Tide windows", "Tide tables"]
    assert choices(known, "tide", "write") == ["Tide windows", "Tide tables"]
    assert chosen(known, "tide tables", "write") == chosen(known, "tide tables")
    home.pi(Said(name="3", title="Tide", age=3 * HOUR))
    fresh = SessionFinder(machine=known.machine, here=known.here, now=known.now)
    assert chosen(fresh, "TIDE") == chosen(fresh, Said(name="3").id)


def test_a_choice_is_suggested_with_the_options_that_were_typed(home: Home, ask: Ask) -> None:
    home.claude(Said(name="1", title="Tide windows", age=HOUR))
    home.codex(Said(name="2", title="Tide tables", age=2 * HOUR))
    outcome = ask("compact", "--stages", "dedup", "tide", "--pin", "a b", "-n")
    assert (outcome.code, outcome.out) == (2, "")
    newest = Said(name="1").id[:8]
    assert f"\ncompactctl compact {newest} --stages dedup --pin 'a b' -n" in outcome.err


def test_ids_that_begin_alike(home: Home, known: SessionFinder) -> None:
    for number in (1, 2):
        path = home.pi(Said(name=str(number), title=f"Pi {number}"))
        alike = path.read_text().replace(Said(name=str(number)).id, f"abcdef0{number}")
        home.text(path.with_name(f"t_abcdef0{number}.jsonl"), alike, number * HOUR)
        path.unlink()
    assert choices(known, "abcdef") == ["Pi 1", "Pi 2"]
    assert chosen(known, "abcdef02").endswith("t_abcdef02.jsonl")
    with pytest.raises(NoInputError):
        known.resolve("abc")


@pytest.mark.parametrize("reference", ["nothing", "latest", "claude:latest", ".", "pi:.", " "])
def test_what_means_nothing(known: SessionFinder, reference: str) -> None:
    with pytest.raises(NoInputError):
        known.resolve(reference)


def test_only_sessions_of_this_very_folder_are_here(home: Home, known: SessionFinder) -> None:
    own = home.claude(Said(name="own", title="Own", project=str(known.here), age=2 * HOUR))
    home.claude(Said(name="below", project=f"{known.here}/below", age=HOUR))
    home.codex(Said(name="above", project=str(known.here.parent), age=HOUR))
    assert chosen(known, ".") == str(own)
    assert choices(known, ".", "write") == ["Own"]
    assert isinstance(newest := known.choose_in(files_in(known.here), "read"), ChosenSession)
    assert newest.path == str(own)


@pytest.mark.parametrize("name", ["a😀b", "Straße", "cafe\u0301", "caf\u00e9", "𠮷野", "-x y"])
def test_sessions_of_a_folder_with_any_name_are_found(
    home: Home, known: SessionFinder, name: str
) -> None:
    folder = known.here / name
    folder.mkdir()
    path = home.claude(Said(name="own", project=str(folder)))
    assert chosen(replace(known, here=folder), ".") == str(path)


@pytest.mark.parametrize("command", ["stats", "check", "view", "log"])
def test_a_reading_command_without_a_file_takes_the_newest_of_this_folder(
    home: Home, tmp_path: Path, command: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home.claude(Said(title="Harbour", project=str(project)))
    for name in ("neurolink", "openai-chat"):
        shutil.copy(SAMPLES / f"{name}.jsonl", project)
    code, shown = ended_on_terminal(200, project, command, HOME=str(home.root))
    assert code == 0
    assert f'Claude Code session {Said().id[:8]} "Harbour", 1 hour ago' in shown
    other = tmp_path / "other"
    other.mkdir()
    code, shown = ended_on_terminal(200, other, command, HOME=str(home.root))
    assert code == 3
    assert "Harbour" not in shown


def test_a_writing_command_without_a_file_asks_which_one_is_meant(
    home: Home, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    path = home.claude(Said(title="Harbour", project=str(project)))
    for name in ("neurolink", "openai-chat"):
        shutil.copy(SAMPLES / f"{name}.jsonl", project)
    before = path.read_bytes()
    code, shown = ended_on_terminal(200, project, "compact", HOME=str(home.root))
    assert code == 2
    assert "compactctl compact: name the session or transcript:" in shown
    assert re.search(rf"^1 +{Said().id[:8]} .*Harbour", shown, re.MULTILINE)
    assert re.search(r"^3 +\S+\.jsonl ", shown, re.MULTILINE)
    assert shown.endswith("number (Enter for none): \n")
    code, shown = ended_on_terminal(200, project, "rewind", HOME=str(home.root))
    assert code == 3
    assert "Harbour" not in shown
    assert [path.read_bytes(), *path.parent.iterdir()] == [before, path]


def stored(home: Home, n_lines: int = 100) -> Path:
    """Write a session of Claude Code with something to compact in it."""
    said = Said(name="full")
    path = home.claude(said)
    path.write_bytes(excerpt("claude-code-session", n_lines))
    return path


def folder_of(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_no_copy_is_written_among_a_clients_sessions(home: Home, ask: Ask, layout: str) -> None:
    path = stored(home)
    before = folder_of(path)
    short = Said(name="full").id[:8]
    beside = path.with_name(f"{Said(name='copy').id}.jsonl")
    codex = home.root / ".codex" / "sessions" / "2026" / "x.jsonl"
    given = [("compact", path, "-o", beside), ("compact", path, "-o", codex),
             ("compact", path, "-n", "-o", beside)]  # fmt: skip
    if layout == "inline":
        # What is compacted so is sent whole by the client, so it is not worth a session.
        given += [("compact", short), ("compact", path)]
    for arguments in given:
        outcome = ask(*arguments, "--layout", layout)
        assert outcome.code == 2, arguments
        assert "write elsewhere with -o, or use --in-place" in outcome.err
    piped = ask("compact", "-", "-o", beside, "--layout", layout, stdin=path.read_bytes())
    assert piped.code == 2
    assert folder_of(path) == before
    assert not codex.parent.exists()


def test_a_batch_writes_nothing_among_a_clients_sessions(home: Home, ask: Ask) -> None:
    path = stored(home)
    before = folder_of(path)
    outcome = ask("batch", path, "--stages", "dedup", "--out", path.parent / "small")
    assert outcome.code == 2
    assert "inside a client's session store" in outcome.err
    assert [*path.parent.iterdir()] == [path]
    assert folder_of(path) == before


def test_many_sessions_are_named_at_once(home: Home, ask: Ask, tmp_path: Path) -> None:
    old, new = home.claude(Said(name="old", age=2 * DAY)), home.claude(Said(name="new"))
    other, own = home.codex(Said(name="other", age=DAY)), home.opencode(Said(name="row"))
    short = Said(name="old").id[:8]
    meant: dict[tuple[str | Path, ...], list[str | Path] | None] = {
        ("claude:",): [old, new],
        ("codex:latest", "claude:"): [other, old, new],
        (short, other): [old, other],
        ("opencode:",): [f"opencode:{own}"],
        ("claude:none-such",): None,
        ("pi:",): None,
        ("no-such-folder",): ["no-such-folder"],
        ("run-2",): ["run-2"],
    }
    for names, expected in meant.items():
        outcome = ask("batch", *names, "--json")
        files = outcome.json["files"] if expected else []
        assert [row["path"] for row in files] == list(map(str, expected or []))
        assert outcome.code == (3 if not expected or expected[0] == names[0] else 0)
    before = [folder_of(path) for path in (old, new, other)]
    outcome = ask("batch", "claude:", "codex:", "--keep", "0.5", "--out", tmp_path / "out")
    assert outcome.code == 0
    assert len(list((tmp_path / "out").glob("*.jsonl"))) == 3
    assert [folder_of(path) for path in (old, new, other)] == before


def test_here_is_the_folder_for_commands_about_many(
    home: Home, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home.claude(Said(project=str(project)))
    monkeypatch.chdir(project)
    assert ask("batch", ".").code == 3
    assert ask("verify", ".").code == 3


def test_archives_of_sessions_are_proven_by_name(home: Home, ask: Ask) -> None:
    path = stored(home)
    home.opencode(Said(name="row"))
    assert ask("compact", Said(name="full").id[:8], "--in-place", *DEDUP).code == 0
    for name in ("claude:", "claude:latest", Said(name="full").id[:8]):
        outcome = ask("verify", name)
        assert outcome.code == 0
        assert path.name in outcome.out
    assert ask("verify", "opencode:").code == 3


def test_a_session_is_compacted_to_a_file_elsewhere(home: Home, ask: Ask, tmp_path: Path) -> None:
    path = stored(home)
    before = folder_of(path)
    short = Said(name="full").id[:8]
    assert ask("compact", short, "--dry-run", *DEDUP).code == 0
    assert ask("compact", short, "-o", tmp_path / "small.jsonl", *DEDUP).code == 0
    assert folder_of(path) == before
    assert ask("rewind", tmp_path / "small.jsonl", "-o", tmp_path / "back.jsonl").code == 0
    assert (tmp_path / "back.jsonl").read_bytes() == path.read_bytes()


def test_a_session_is_compacted_in_place_and_taken_back(home: Home, ask: Ask) -> None:
    path = stored(home)
    before = folder_of(path)
    short = Said(name="full").id[:8]
    assert ask("compact", short, "--in-place", *DEDUP).code == 0
    assert len(path.read_bytes()) < len(before[path.name])
    assert "in effect" in ask("log", short).out
    assert ask("rewind", "latest").code == 0
    assert folder_of(path) == before


def test_a_session_in_a_database_is_read_as_its_client_exports_it(
    home: Home, ask: Ask, tmp_path: Path
) -> None:
    own = home.opencode(Said(prompt="In the database"))
    database = home.root / ".local" / "share" / "opencode" / "opencode.db"
    before = database.read_bytes()
    shown = ask("view", own[:8], "--json").json
    assert shown["path"] == f"opencode:{own}"
    assert "In the database" in ask("view", own).out
    assert ask("compact", own, "--in-place").code == 2
    assert "nothing to undo" in ask("rewind", own).out
    small = tmp_path / "small.json"
    assert ask("compact", own, "-o", small, "--stages", "truncate", "--target", "100%").code == 0
    document = json.loads(small.read_text())
    assert document["info"]["id"] == own
    assert document["info"]["directory"] == Said().project
    assert {each["info"]["sessionID"] for each in document["messages"]} == {own}
    assert {part["messageID"] for each in document["messages"] for part in each["parts"]} <= {
        each["info"]["id"] for each in document["messages"]
    }
    assert database.read_bytes() == before
    assert ask("stats", "opencode:ses_none").code == 3


def test_a_locked_database_is_named(home: Home, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compactctl.clients.reading.database.BUSY_TIMEOUT", 0.05)
    own = home.opencode(Said())
    path = home.root / ".local" / "share" / "opencode" / "opencode.db"
    database_path = f"opencode:{own}"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("begin exclusive")
        outcome = ask("stats", database_path)
        database.execute("rollback")
    assert outcome.code == 3


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("update part set data = zeroblob(5000)", "too big"),
        ("update part set data = zeroblob(3000)", "has more than 4,096 bytes on line 1"),
    ],
)
def test_a_session_in_a_database_has_the_limit_of_a_line(
    home: Home, ask: Ask, statement: str, words: str
) -> None:
    own = home.opencode(Said())
    path = home.root / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
        database.commit()
    outcome = ask("stats", f"opencode:{own}", "--max-line", "4K")
    assert outcome.code == 3
    assert words in outcome.err
    assert outcome.err.rstrip().endswith("allow more with --max-line")
    assert ask("sessions").code == 0


def test_references_for_a_shell(home: Home, known: SessionFinder) -> None:
    home.claude(Said(name="a", title="Tides"))
    home.codex(Said(name="b", age=HOUR * 2))
    offered = dict(known.references(""))
    assert list(offered)[:3] == ["latest", "claude:latest", "codex:latest"]
    assert offered[Said(name="a").id] == "Tides"
    assert list(known.references("cod")) == [("codex:latest", "the newest session of Codex")]


def test_a_client_that_cannot_be_read_is_told_of_here_too(home: Home, known: SessionFinder) -> None:
    home.vscode(Said(project=str(known.here)))
    with pytest.raises(NotUnderstoodError):
        known.choose_in(files_in(known.here), "read")


# Their files are reports, outputs of tools and files of a project.
NO_TRANSCRIPTS = {"report", "limit-output", "file-budget"}


def test_every_command_that_takes_transcripts_takes_sessions() -> None:
    context = click.Context(cli)
    commands = Commands()
    files = {
        name: parameter
        for name, command in commands.items()
        for parameter in command.params
        if isinstance(parameter, click.Argument)
        and parameter.name in {"path", "input_path", "paths"}
    }
    assert len(files) > 15
    for name in files.keys() - NO_TRANSCRIPTS:
        completed = files[name].shell_complete(context, "lates")
        assert "latest" in {item.value for item in completed}, (
            f"compactctl/cli: give {name} file_argument or paths_argument, which take sessions"
        )


def test_what_a_compaction_keeps_of_a_session_by_its_id(home: Home, ask: Ask) -> None:
    fill_home(home.root)
    outcome = ask("lab", "eval", "32ee9a45", "--at", "0.3", "--keep", "10%", "--json")
    assert outcome.code == 0, outcome.err
    (session,) = outcome.json["sessions"]
    assert session["path"].endswith("32ee9a45-aee0-53d4-a587-c28c937c29ee.jsonl")


@pytest.mark.parametrize(("count", "more"), [(15, 0), (16, 1), (18, 3)])
def test_of_many_choices_the_newest_are_listed(
    home: Home, known: SessionFinder, count: int, more: int
) -> None:
    for number in range(count):
        home.codex(Said(name=f"{number}", title=f"Tide {number}", age=number * HOUR))
    found = known.resolve("tide")
    assert isinstance(found, SessionChoices)
    titles = [row.session.details.title for row in found.rows]
    assert titles == [f"Tide {number}" for number in range(15)]
    assert found.more == more


def test_all_words_must_begin_words_of_the_title(home: Home, known: SessionFinder) -> None:
    home.codex(Said(name="1", title="Tide windows"))
    walls = home.codex(Said(name="2", title="Harbour walls at low tide", age=2 * HOUR))
    assert chosen(known, "wall tide") == str(walls)
    for reference in ("windows harbour", "alls tide", "nobody:latest", "codex:"):
        with pytest.raises(NoInputError, match="no such file or session"):
            known.resolve(reference)


def test_the_beginning_of_an_id_has_a_length(home: Home, known: SessionFinder) -> None:
    path = home.codex(Said(name="one", title="One"))
    own = Said(name="one").id
    assert chosen(known, own[:4]) == str(path)
    with pytest.raises(NoInputError):
        known.resolve(own[:3])


def test_what_changed_five_minutes_earlier_is_no_candidate(
    home: Home, known: SessionFinder
) -> None:
    newest = home.claude(Said(name="one", title="One", age=HOUR))
    other = home.codex(Said(name="two", title="Two"))
    modified = newest.stat().st_mtime
    os.utime(other, (modified - 5 * MINUTE,) * 2)
    assert chosen(known, "latest", "write") == str(newest)
    os.utime(other, (modified - 5 * MINUTE + 1,) * 2)
    fresh = SessionFinder(machine=known.machine, here=known.here, now=known.now)
    assert choices(fresh, "latest", "write") == ["One", "Two"]


def test_only_what_was_compacted_is_meant_to_be_restored(home: Home, known: SessionFinder) -> None:
    project = str(known.here)
    home.claude(Said(name="one", title="Tide one", project=project))
    compacted = home.claude(Said(name="two", title="Tide two", project=project, age=2 * HOUR))
    assert choices(known, "tide", "restore") == ["Tide one", "Tide two"]
    with pytest.raises(NoInputError):
        known.resolve(".", "restore")
    archive = archive_folder(compacted)
    archive.mkdir(parents=True)
    (archive / "0001-compact-0123456789ab.parquet").touch()
    assert chosen(known, "tide", "restore") == str(compacted)
    assert choices(known, ".", "restore") == ["Tide two"]
    meant: dict[Purpose, list[str]] = {
        "restore": ["Tide two"],
        "write": ["Tide one", "Tide two"],
    }
    for purpose, titles in meant.items():
        here = known.choose_in(files_in(known.here), purpose)
        assert isinstance(here, SessionChoices)
        assert [row.session.details.title for row in here.rows] == titles


@pytest.mark.parametrize("reference", ["goose:latest", "factory-droid:0123", "Cursor:"])
def test_a_client_that_is_not_supported_is_named(ask: Ask, reference: str) -> None:
    for command in (("stats", reference), ("sessions", "--client", reference.partition(":")[0])):
        outcome = ask(*command)
        assert outcome.code == 2
        assert "is not supported; it keeps its sessions in ~/" in outcome.err
