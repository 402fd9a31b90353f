"""What an agent may look up: sessions of its project, a bounded piece at a time, and no other."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from formats.claude_code.sessions import boundary, said, user
from formats.jsonl import write_lines
from planted_secrets import PLANTED
from sessions.homes import Home, Said, everything, uuid_of

from compactctl.commands.integrations.project_history import (
    EXCERPT,
    MAX_SESSIONS,
    PAGE,
    PIECE,
    ProjectHistory,
)
from compactctl.errors import CompactctlError, NoInputError
from compactctl.records import replace
from compactctl.store.client_folders import UserEnvironment

WORD = "the harbour master's word"
Question = Callable[[ProjectHistory, str], Any]
QUESTIONS: dict[str, Question] = {
    "stats": lambda history, session: history.stats(session),
    "search": lambda history, session: history.search("word", session),
    "show": lambda history, session: history.show("u1", session),
}


def compacted(project: Path, *texts: str) -> list[dict[str, Any]]:
    """Return records of Claude Code that said these and were compacted by it."""
    records = []
    parent = None
    for number, text in enumerate(texts, 1):
        records += [
            user(f"u{number}", parent, text),
            said(f"a{number}", f"u{number}", "Done."),
        ]
        parent = f"a{number}"
    records += [
        boundary("b", parent),
        user("s", "b", "We spoke of the tides.", isCompactSummary=True),
        said("after", "s", "And now?"),
    ]
    return [{**record, "cwd": str(project)} for record in records]


def put(home: Home, project: Path, name: str, *texts: str) -> str:
    """Write a session that was begun in a project; return its id."""
    project.mkdir(parents=True, exist_ok=True)
    told = Said(name=name, project=str(project))
    path = home.claude(told)
    lines = [{**each, "sessionId": told.id} for each in compacted(project, *texts)]
    write_lines(path, *lines)
    return told.id


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(root=tmp_path / "home")


@pytest.fixture
def mine(home: Home, tmp_path: Path) -> str:
    """Return a session of this project."""
    return put(home, tmp_path / "mine", "mine", "The tide turns at six. " + WORD, "x" * 40_000)


@pytest.fixture
def other(home: Home, tmp_path: Path) -> str:
    """Return a session of another project."""
    return put(home, tmp_path / "other", "other", f"Not for others: {WORD}")


@pytest.fixture
def history(home: Home, tmp_path: Path, mine: str, other: str) -> ProjectHistory:
    assert mine != other
    return ProjectHistory(machine=UserEnvironment(home=home.root), here=tmp_path / "mine")


def test_the_sessions_of_the_project_are_listed_and_no_others(
    history: ProjectHistory, mine: str, other: str
) -> None:
    assert [each["id"] for each in history.sessions()["sessions"]] == [mine]
    everywhere = replace(history, all_projects=True).sessions()
    assert {each["id"] for each in everywhere["sessions"]} == {mine, other}


def test_what_left_the_context_is_found_and_shown_whole(history: ProjectHistory, mine: str) -> None:
    found = history.search("HARBOUR tide")
    assert (found["session"], found["found"]) == (mine, 1)
    (message,) = found["messages"]
    assert (message["id"], message["hidden"]) == ("u1", True)
    assert history.show("u1")["text"].endswith(WORD)
    assert history.search("we spoke of")["found"] == 0
    assert history.show("s")["text"] == "We spoke of the tides."


def test_no_answer_holds_a_secret(home: Home, tmp_path: Path) -> None:
    texts = [f"needle {planted.text}" for planted in PLANTED[::5]]
    put(home, tmp_path / "mine", "mine", *texts)
    history = ProjectHistory(machine=UserEnvironment(home=home.root), here=tmp_path / "mine")
    found = history.search("needle")
    assert found["found"] == len(texts)
    for number, planted in enumerate(PLANTED[::5], 1):
        answers = (history.show(f"u{number}"), history.search(planted.secret), history.sessions())
        assert not planted.is_in(str((found, *answers)))


def test_a_long_message_is_shown_in_pieces(history: ProjectHistory) -> None:
    offset: int | None = 0
    pieces = []
    while offset is not None:
        answer = history.show("u2", offset=offset)
        pieces.append(answer["text"])
        assert len(answer["text"]) <= PIECE
        offset = answer["nextOffset"]
    assert "".join(pieces) == "x" * 40_000


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_way_leads_to_a_session_of_another_project(
    history: ProjectHistory, question: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(history.here)
    ask, home = QUESTIONS[question], history.machine.home
    (path,) = home.rglob(f"{other}.jsonl")
    # Where an agent may write: a link in its project, one among its sessions, and one by the name
    # under which a session in a database is read.
    (history.here / "link.jsonl").symlink_to(path)
    (history.here / "opencode:ses_1").symlink_to(path)
    (own_store,) = {each.parent for each in home.rglob("*.jsonl")} - {path.parent}
    (own_store / f"{uuid_of('link')}.jsonl").symlink_to(path)
    tricks = [
        other, other[:12], f"claude:{other}", str(path), os.path.relpath(path), "link.jsonl",
        str(history.here / ".." / "other"), f"../other/{other}", f"{other}.jsonl", "latest",
        "claude:latest", ".", "..", "*", "opencode:ses_1", uuid_of("link"), f"{other}\0", " ",
    ]  # fmt: skip
    for trick in tricks:
        with pytest.raises(NoInputError) as refused:
            ask(history, trick)
        assert WORD not in str(refused.value)
    unknown = uuid_of("nobody's")
    said_of = {}
    for session in (other, unknown):
        with pytest.raises(NoInputError) as refused:
            ask(history, session)
        said_of[session] = str(refused.value).replace(session, "it")
    # It does not tell whether another project has it.
    assert said_of[other] == said_of[unknown]
    assert "Not for others" not in json.dumps(history.search(WORD.rsplit(maxsplit=1)[-1]))


def test_a_folder_that_became_a_link_to_this_one_stays_another_project(
    history: ProjectHistory, tmp_path: Path, other: str
) -> None:
    (tmp_path / "other").rmdir()
    (tmp_path / "other").symlink_to(history.here)
    assert other not in json.dumps(history.sessions())
    with pytest.raises(NoInputError):
        history.stats(other)


def test_a_project_that_is_entered_through_a_link_is_the_same_one(
    history: ProjectHistory, home: Home, tmp_path: Path, mine: str
) -> None:
    link = tmp_path / "link"
    link.symlink_to(history.here)
    named = put(home, link, "named", "Said under the other name")
    entered = replace(
        history, machine=UserEnvironment(home=home.root, environ={"PWD": str(link)})
    ).sessions()
    assert {each["id"] for each in entered["sessions"]} == {mine, named}


def test_a_file_that_is_called_as_a_session_in_a_database_is_not_read_instead(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "mine"
    project.mkdir()
    home.opencode(Said(project=str(project)))
    monkeypatch.setenv("HOME", str(home.root))
    monkeypatch.chdir(project)
    history = ProjectHistory(machine=UserEnvironment(home=home.root), here=project)
    (row,) = history.sessions()["sessions"]
    assert history.stats(row["id"])["session"] == row["id"]
    (project / f"opencode:{row['id']}").write_text("{}")
    with pytest.raises(NoInputError, match=r"is named .*, like the session"):
        history.stats(row["id"])


@pytest.mark.parametrize("letter", ["ß", "İ", "ﬃ", "s", "😀"])
@pytest.mark.parametrize("count", [0, 1, 5_000])
def test_an_excerpt_shows_what_was_found(
    home: Home, tmp_path: Path, letter: str, count: int
) -> None:
    text = f"{letter * count} NEEDLE {letter * count}"
    session = put(home, tmp_path / "mine", "mine", text)
    history = ProjectHistory(
        machine=UserEnvironment(home=home.root, environ={}), here=tmp_path / "mine"
    )
    (message,) = history.search("needle", session)["messages"]
    assert "NEEDLE" in message["excerpt"]
    assert len(message["excerpt"].strip("…")) == min(EXCERPT, len(text))


def test_every_answer_is_bounded(home: Home, tmp_path: Path) -> None:
    project = tmp_path / "mine"
    for number in range(MAX_SESSIONS + 3):
        put(home, project, f"session {number}", "word")
    texts = ["word", *(f"{'word ' * 30_000}{number}" for number in range(PAGE + 4))]
    big = put(home, project, "big", *texts)
    history = ProjectHistory(machine=UserEnvironment(home=home.root), here=project)
    listed = history.sessions()
    assert (len(listed["sessions"]), listed["more"]) == (MAX_SESSIONS, 4)
    first, second = (history.search("word", big, page) for page in (1, 2))
    assert [len(each["messages"]) for each in (first, second)] == [PAGE, 5]
    assert all(len(each["excerpt"]) <= EXCERPT + 2 for each in first["messages"])
    answers = [listed, first, second, history.stats(big), history.show("u1", big)]
    assert all(len(json.dumps(each)) < 2 * PIECE for each in answers)


@pytest.mark.parametrize(("text", "page"), [("", 1), ("  \n", 1), ("word", 0), ("word", -1)])
def test_a_search_for_nothing_is_refused(history: ProjectHistory, text: str, page: int) -> None:
    with pytest.raises(CompactctlError, match="at least one word"):
        history.search(text, page=page)


def test_every_client_is_served_and_nothing_is_written(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home.root))
    project = tmp_path / "quayside"
    project.mkdir()
    everything(home, str(project))
    before = {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()}
    history = ProjectHistory(machine=UserEnvironment(home=home.root), here=project)
    rows = history.sessions()["sessions"]
    assert len({row["client"] for row in rows}) > 5
    for row in rows:
        assert history.stats(row["id"])["session"] == row["id"]
        assert history.search("word", row["id"])["session"] == row["id"]
    assert {path: path.read_bytes() for path in before} == before
    there = {path for path in home.root.rglob("*") if path.is_file()}
    # Where SQLite reads a database that others may write, it keeps notes beside it.
    assert {path.name for path in there - before.keys()} <= {
        "opencode.db-wal",
        "opencode.db-shm",
        "sessions.db-wal",
        "sessions.db-shm",
    }


def test_an_archived_session_is_read_by_its_id_only(home: Home, tmp_path: Path) -> None:
    project = tmp_path / "mine"
    mine = put(home, project, "mine", "The tide turns at six.")
    archived = Said(name="archived", project=str(project), age=0)
    home.codex(archived, archived=True)
    machine = UserEnvironment(home=home.root, environ={})
    history = ProjectHistory(machine=machine, here=project, all_projects=False)
    assert history.stats()["session"] == mine
    assert history.stats(archived.id)["session"] == archived.id
