"""What is told of a session of each client, and which of its files are sessions."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from cli.asking import Ask
from sessions.homes import DAY, HOUR, IN_DATABASES, WRITERS, Home, Said, recording

from compactctl.clients.session import Session
from compactctl.commands.sessions import SessionFilter, sessions
from compactctl.store.client_folders import UserEnvironment, store_containing

ALL = SessionFilter(hidden=True)
Listed = Callable[..., list[Session]]


@pytest.fixture
def listed(home: Home, machine: UserEnvironment) -> Listed:
    """Return a function that lists the sessions in the home."""

    def found(wanted: SessionFilter = ALL, **environ: str | Path) -> list[Session]:
        given = {name: str(value) for name, value in environ.items()}
        place = UserEnvironment(home=machine.home, environ=given)
        result = sessions(wanted, place, home.now)
        return [row.session for row in result.rows]

    return found


@pytest.mark.parametrize("client", WRITERS)
def test_a_session_is_told_of(home: Home, listed: Listed, client: str) -> None:
    said = Said(prompt="Mend  the\ntide windows", model="claude-opus-4-5", age=3 * HOUR)
    WRITERS[client](home, said)  # type: ignore[operator]
    (session,) = listed()
    details = session.details
    assert session.entry.client == client
    assert details.title == "Mend the tide windows"
    assert details.project == (said.project if client in recording("project") else "")
    assert (details.model, details.kind, details.open) == ("claude-opus-4-5", "main", False)
    assert details.context == (said.context if client in recording("context") else None)
    assert session.entry.modified == pytest.approx(home.now - said.age, abs=1)
    if client not in {*IN_DATABASES, "cline"}:
        assert session.id == said.id


def test_messages_of_opencode_are_in_the_order_of_their_creation(
    home: Home, listed: Listed, ask: Ask
) -> None:
    # Ids hold the time in 48 bits, which wrapped on 14 August 2026: the newest sort first.
    own = home.opencode(Said(prompt="one", model="old-model"))
    newer = (
        ("msg_0001", 3, {"role": "user"}, "three"),
        ("msg_0002", 4, {"role": "assistant", "modelID": "new-model", "tokens": {"input": 9}}, "4"),
    )
    path = home.root / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        for name, time, message, text in newer:
            row = (name, own, time, json.dumps(message))
            database.execute("insert into message values (?, ?, ?, 1, ?)", row)
            part = (f"prt_{name}", name, own, json.dumps({"type": "text", "text": text}))
            database.execute("insert into part values (?, ?, ?, 1, 1, ?)", part)
        database.commit()
    (session,) = listed()
    assert (session.details.model, session.details.context) == ("new-model", 9)
    view = ask("view", own, "--jsonl").out
    places = [view.index(f'"{text}"') for text in ("one", "Done.", "three", "4")]
    assert places == sorted(places)


@pytest.mark.parametrize("client", recording("title"))
def test_a_title_that_was_given_counts_more_than_the_first_prompt(
    home: Home, listed: Listed, client: str
) -> None:
    WRITERS[client](home, Said(title="Tides, again"))  # type: ignore[operator]
    assert listed()[0].details.title == "Tides, again"


def test_titles_of_claude_code_in_its_own_order(home: Home, listed: Listed) -> None:
    titles = [
        {"type": "summary", "summary": "a summary"},
        {"type": "ai-title", "aiTitle": "made up"},
        {"type": "agent-name", "agentName": "an agent"},
        {"type": "custom-title", "customTitle": "old"},
        {"type": "custom-title", "customTitle": "newest"},
    ]
    for count, expected in ((1, "a summary"), (2, "made up"), (3, "an agent"), (5, "newest")):
        home.claude(Said(), *titles[:count])
        assert listed()[0].details.title == expected


def test_a_command_stands_where_nobody_asked_anything_else(home: Home, listed: Listed) -> None:
    said = Said(prompt="<command-name>/clear</command-name>")
    typed = "<command-message>review</command-message>\n<command-name>/review</command-name>"
    home.claude(said, {"type": "user", "message": {"role": "user", "content": typed}})
    assert listed()[0].details.title == "/review"


def test_what_a_client_compacted_says_nothing_of_the_context(home: Home, listed: Listed) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary"}
    home.claude(Said(name="old"), boundary)
    home.claude(Said(name="new"), {**boundary, "compactMetadata": {"postTokens": 9_000}})
    home.codex(Said(name="codex"), {"type": "compacted", "payload": {"message": ""}})
    home.pi(Said(name="pi"), {"type": "compaction", "summary": "s"})
    contexts = {session.entry.id: session.details.context for session in listed()}
    assert contexts[Said(name="new").id] == 9_000
    assert [contexts[Said(name=name).id] for name in ("old", "codex", "pi")] == [None] * 3
    assert all(session.details.model for session in listed())


def test_a_window_that_was_recorded_counts_more_than_that_of_the_model(
    home: Home, machine: UserEnvironment
) -> None:
    home.codex(Said(context=129_200))
    home.claude(Said(context=150_000))
    home.pi(Said(context=150_000, model="a model that nobody knows"))
    rows = sessions(SessionFilter(), machine, home.now).rows
    ratios = {row.session.entry.client: row.ratio for row in rows}
    assert ratios["pi"] is None
    assert ratios["codex"] == 0.5
    assert ratios["claude-code"] == pytest.approx(0.75, abs=0.003)


def test_a_context_above_the_window_shows_that_it_is_a_longer_one(
    home: Home, machine: UserEnvironment
) -> None:
    home.claude(Said(context=400_000, prompt="The tide turns at the sill. " * 45_000))
    (row,) = sessions(SessionFilter(), machine, home.now).rows
    assert row.window == 1_000_000
    assert row.ratio == pytest.approx(0.4, abs=0.001)


def kinds(found: list[Session]) -> dict[str, str]:
    return {session.id: session.details.kind for session in found}


def test_helpers_and_programs_are_left_out(home: Home, listed: Listed) -> None:
    person = Said(name="person")
    main = home.claude(person)
    beside = main.with_name("agent-1a2b3c4.jsonl")
    below = main.with_suffix("") / "subagents" / "agent-a775a67.jsonl"
    for path in (beside, below):
        home.text(path, main.read_text(), 0)
    home.text(main.with_name("notes.jsonl"), main.read_text(), 0)
    home.claude(Said(name="side"), isSidechain=True)
    home.claude(Said(name="printed"), entrypoint="sdk-cli")
    home.codex(Said(name="thread"), source={"subagent": "review"})
    home.codex(Said(name="script"), source="exec")
    parent = home.opencode(Said(name="parent"))
    child = home.opencode(Said(name="child"), parent=parent)
    home.gemini(Said(name="gemini"), kind="subagent")
    home.cline(Said(name="cline"), is_subagent=True)
    shown = {session.id for session in listed(SessionFilter())}
    assert shown == {person.id, parent}
    assert kinds(listed()) | {} == {
        person.id: "main",
        "agent-1a2b3c4": "subagent",
        "agent-a775a67": "subagent",
        Said(name="side").id: "subagent",
        Said(name="printed").id: "headless",
        Said(name="thread").id: "subagent",
        Said(name="script").id: "headless",
        parent: "main",
        child: "subagent",
        Said(name="gemini").id: "subagent",
        f"1795000000000_{Said(name='cline').id[:5]}": "subagent",
    }


def test_a_subtask_of_roo_code_is_listed_and_named(home: Home, listed: Listed) -> None:
    home.roo(Said(), parentTaskId="other")
    assert kinds(listed(SessionFilter())) == {Said().id: "subtask"}


def test_chats_that_nobody_spoke_in_are_left_out(home: Home, listed: Listed) -> None:
    home.vscode(Said(), isEmpty=True, title="New Chat")
    home.gemini(Said(prompt="<session_context>only</session_context>"))
    assert listed(SessionFilter()) == []
    assert {session.details.kind for session in listed()} == {"empty"}


def test_the_title_in_an_editors_index_is_taken(home: Home, listed: Listed) -> None:
    home.vscode(Said(), title="From the index")
    assert listed()[0].details.title == "From the index"


def test_archived_sessions_are_marked(home: Home, listed: Listed) -> None:
    home.codex(Said(name="old"), archived=True)
    home.codex(Said(name="current"))
    archived = home.opencode(Said(name="old"), archived=True)
    current = home.opencode(Said(name="current"))
    assert {session.id: session.entry.archived for session in listed(SessionFilter())} == {
        Said(name="old").id: True,
        Said(name="current").id: False,
        archived: True,
        current: False,
    }


@pytest.mark.parametrize("middle", [0, 3_000])
def test_a_compressed_rollout_is_told_of_like_a_plain_one(
    home: Home, listed: Listed, middle: int
) -> None:
    noise = {"type": "event_msg", "payload": {"type": "background", "message": "x" * 500}}
    path = home.codex(Said(title="Named"))
    first, *rest = path.read_text().splitlines(keepends=True)
    path.write_text("".join([first, *[f"{json.dumps(noise)}\n"] * middle, *rest]))
    packed = path.with_name(f"{path.name}.zst")
    with pa.CompressedOutputStream(str(packed), "zstd") as stream:
        stream.write(path.read_bytes())
    (plain,) = listed()
    assert plain.entry.path == path
    path.unlink()
    (session,) = listed()
    assert session.entry.path == packed
    assert (session.id, session.details.title) == (Said().id, "Named")
    assert session.details.project == Said().project
    assert session.details.context == Said().context
    packed.write_bytes(b"\x28\xb5\x2f\xfd not zstd")
    assert listed()[0].details.title == "Named"


def test_running_clients_have_their_sessions_open(home: Home, listed: Listed) -> None:
    home.claude(Said(name="open"))
    home.claude(Said(name="closed"))
    home.claude_is_open(Said(name="open"), os.getpid())
    home.claude_is_open(Said(name="closed"), 2**22 + 1)
    home.cline(Said(name="cline"), status="running", pid=os.getpid())
    home.cline(Said(name="completed"), status="completed", pid=os.getpid())
    home.cline(Said(name="killed"), status="running", pid=2**22 + 1)
    opened = {session.id for session in listed() if session.details.open}
    assert opened == {Said(name="open").id, f"1795000000000_{Said(name='cline').id[:5]}"}


def test_an_older_task_of_clines_extension(home: Home, listed: Listed) -> None:
    home.cline_task(Said(prompt="An older task"))
    (session,) = listed()
    assert (session.entry.client, session.id) == ("cline", "1769064454592")
    assert session.details.title == "An older task"
    assert session.details.project == Said().project
    assert session.details.context == Said().context


def test_a_session_of_gemini_cli_as_one_document(home: Home, listed: Listed) -> None:
    said = Said()
    tokens = {"input": said.context - 10, "output": 10, "cached": 5, "thoughts": 0}
    chat = {
        "sessionId": said.id,
        "kind": "main",
        "messages": [
            {"id": "m0", "type": "info", "content": "Update successful!"},
            {"id": "m1", "type": "user", "content": said.prompt},
            {"id": "m2", "type": "gemini", "content": 'says "tokens": {"input": 1}',
             "tokens": tokens, "model": "gemini-3-flash"},
        ],
    }  # fmt: skip
    project = home.root / ".gemini" / "tmp" / "0123abcd"
    home.document(home.root / ".gemini/projects.json", {"projects": {"/p": "0123abcd"}}, 0)
    home.document(project / "chats" / f"session-2026-01-02T03-04-{said.id[:8]}.json", chat, 0)
    (session,) = listed()
    assert session.id == said.id
    assert (session.details.title, session.details.project) == (said.prompt, "/p")
    assert (session.details.context, session.details.model) == (said.context, "gemini-3-flash")


MOVES = {
    "CLAUDE_CONFIG_DIR": (Home.claude, ".claude"),
    "CODEX_HOME": (Home.codex, ".codex"),
    "XDG_DATA_HOME": (Home.opencode, ".local/share"),
    "OPENCODE_DB": (Home.opencode, ".local/share/opencode/opencode.db"),
    "KILO_DB": (Home.kilo, ".local/share/kilo/kilo.db"),
    "PI_CODING_AGENT_DIR": (Home.pi, ".pi/agent"),
    "PI_CODING_AGENT_SESSION_DIR": (Home.pi, ".pi/agent/sessions"),
    "COPILOT_HOME": (Home.copilot, ".copilot"),
    "GEMINI_CLI_HOME": (Home.gemini, "."),
    "QWEN_HOME": (Home.qwen, ".qwen"),
    "QWEN_RUNTIME_DIR": (Home.qwen, ".qwen"),
    "CLINE_DIR": (Home.cline, ".cline"),
    "CLINE_DATA_DIR": (Home.cline, ".cline/data"),
    "CLINE_SESSION_DATA_DIR": (Home.cline, ".cline/data/sessions"),
    "XDG_CONFIG_HOME": (Home.roo, ".config"),
}


@pytest.mark.parametrize("variable", MOVES)
def test_a_store_that_was_moved_is_found(
    home: Home, listed: Listed, tmp_path: Path, variable: str
) -> None:
    write, place = MOVES[variable]
    moved = Home(root=tmp_path / "elsewhere", now=home.now)
    write(moved, Said())  # type: ignore[operator]
    assert listed() == []
    (session,) = listed(**{variable: moved.root / place})
    assert session.details.project == Said().project


def test_stores_that_settings_have_moved_are_found(home: Home, listed: Listed) -> None:
    elsewhere = Home(root=home.root / "elsewhere", now=home.now)
    pi = elsewhere.pi(Said(name="pi"))
    home.document(home.root / ".pi/agent/settings.json", {"sessionDir": str(pi.parent)}, 0)
    roo = elsewhere.roo(Said(name="roo")).parents[2]
    settings = f'{{ // mine\n  "roo-cline.customStoragePath": {json.dumps(str(roo))},\n}}'
    home.text(home.editor / "settings.json", settings, 0)
    assert {session.entry.client for session in listed()} == {"pi", "roo"}


@pytest.mark.parametrize("setting", ["a\0", "/\ud800", "~", "/", 5, None, "~other"])
def test_a_setting_that_is_no_folder_of_sessions_moves_nothing(
    home: Home, listed: Listed, setting: object
) -> None:
    path = home.pi(Said())
    other = home.text(home.root / "run.jsonl", path.read_text(), 0)
    home.document(home.root / ".pi/agent/settings.json", {"sessionDir": setting}, 0)
    assert [session.entry.path for session in listed()] == [path]
    machine = UserEnvironment(home=home.root)
    assert store_containing(path, machine) == home.root / ".pi/agent/sessions"
    assert store_containing(other, machine) is None


def test_settings_that_are_a_pipe_are_not_waited_for(home: Home, listed: Listed) -> None:
    path = home.pi(Said())
    settings = home.root / ".pi/agent/settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(settings)
    assert [session.entry.path for session in listed()] == [path]


def test_pi_continues_in_its_default_folder_too(home: Home, listed: Listed) -> None:
    elsewhere = Home(root=home.root / "elsewhere", now=home.now)
    paths = {home.pi(Said()), elsewhere.pi(Said())}
    folder = str(elsewhere.root / ".pi/agent/sessions")
    home.document(home.root / ".pi/agent/settings.json", {"sessionDir": folder}, 0)
    assert {session.entry.path for session in listed()} == paths
    machine = UserEnvironment(home=home.root)
    assert all(store_containing(path, machine) for path in paths)


def test_editors_on_macos_keep_theirs_elsewhere(home: Home) -> None:
    home.roo(Said())
    library = home.root / "Library" / "Application Support"
    library.parent.mkdir(parents=True)
    (home.root / ".config").rename(library)
    result = sessions(SessionFilter(), UserEnvironment(home=home.root, platform="darwin"), home.now)
    assert [row.session.entry.client for row in result.rows] == ["roo"]


def test_where_a_session_of_claude_code_was_moved_to(home: Home, listed: Listed) -> None:
    home.claude(Said(age=DAY), {"type": "relocated", "relocatedCwd": "/srv/quayside"})
    assert listed()[0].details.project == "/srv/quayside"
