"""Nothing that lies in a store makes a list of sessions fail."""

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from cli.asking import Ask
from formats.jsonl import write_lines
from hypothesis import given
from hypothesis import strategies as st
from sessions.homes import IN_DATABASES, WRITERS, Home, Said, everything

from compactctl.clients.reading.file_ends import MAX_SCAN, WINDOW, read_ends
from compactctl.commands.sessions import SessionFilter, SessionsResult, sessions
from compactctl.store.client_folders import UserEnvironment

FILES = [name for name in WRITERS if name not in IN_DATABASES]


def listing(home: Home) -> SessionsResult:
    return sessions(SessionFilter(hidden=True), UserEnvironment(home=home.root), home.now)


@pytest.mark.parametrize("client", FILES)
@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"{", b"\0" * 9, b"[[[", b"[1, 2]", b'"a"\n3\nnull', b'{"type": {}}\n' * 3,
     b'{"message": [], "payload": 3, "data": "", "info": 1, "type": "user"}\n',
     b"\xff\xfe" * 99, b'{"a":' * 99_999],
)  # fmt: skip
def test_a_file_that_is_no_session(home: Home, client: str, content: bytes) -> None:
    path = WRITERS[client](home, Said())  # type: ignore[operator]
    path.write_bytes(content)
    result = listing(home)
    assert len(result.rows) == 1
    assert result.notes == ()


@given(data=st.data())
def test_a_file_with_any_values_in_it(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    home = Home(root=tmp_path_factory.mktemp("home"))
    client = data.draw(st.sampled_from(FILES))
    path: Path = WRITERS[client](home, Said())  # type: ignore[operator]
    keys = st.sampled_from(_KEYS)
    leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | keys
    values = st.recursive(
        leaves, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=4)
    )
    records = data.draw(st.lists(st.dictionaries(keys, values, max_size=6), max_size=4))
    write_lines(path, *records)
    assert len(listing(home).rows) == 1


_KEYS = (
    "type", "message", "payload", "data", "info", "usage", "content", "text", "role", "user",
    "assistant", "tokens", "metrics", "modelInfo", "model", "id", "$set", "summary", "cwd",
    "source", "last_token_usage", "total_tokens", "input_tokens", "context", "currentTokens",
    "system", "compact_boundary", "subtype", "session_meta", "token_count", "gemini", "name",
)  # fmt: skip


def test_a_giant_last_line_is_stepped_over(home: Home) -> None:
    said = Said(title="Named")
    path = home.claude(said)
    with path.open("ab") as stream:
        for _ in range(3):
            stream.write(b'{"type":"progress","data":"' + b"x" * (MAX_SCAN // 4) + b'"}\n')
        stream.write(b'{"type":"mode"}\n')
    (row,) = listing(home).rows
    assert row.session.details.title == "Named"
    # A line that is longer still hides what is before it, and no more is read.
    with path.open("ab") as stream:
        stream.write(b'{"type":"progress","data":"' + b"x" * 2 * MAX_SCAN + b'"}\n')
    (row,) = listing(home).rows
    assert row.session.details.context is None
    assert row.session.details.project == said.project


@pytest.mark.parametrize("client", ["claude-code", "codex", "pi", "copilot-cli", "gemini-cli"])
def test_no_more_than_both_ends_are_read(
    home: Home, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path: Path = WRITERS[client](home, Said())  # type: ignore[operator]
    lines = path.read_bytes().splitlines(keepends=True)
    filling = b'{"type":"progress","data":"' + b"x" * 1_000 + b'"}\n'
    path.write_bytes(b"".join([*lines[:-1], filling * 2_000, *lines[-2:]]))
    taken: list[int] = []
    read = os.pread

    def counted(descriptor: int, n_bytes: int, offset: int) -> bytes:
        taken.append(n_bytes)
        return read(descriptor, n_bytes, offset)

    monkeypatch.setattr("os.pread", counted)
    (row,) = listing(home).rows
    # Its details are read from both ends; its size from the end, as far back as needed.
    assert sum(taken) <= 2 * WINDOW + WINDOW // 4 + WINDOW + 4 * WINDOW
    assert row.session.details.context == Said().context
    assert row.session.details.title


@pytest.mark.parametrize("client", ["claude-code", "codex", "pi", "copilot-cli", "gemini-cli"])
@pytest.mark.parametrize(("behind", "is_found"), [(MAX_SCAN // 2, True), (MAX_SCAN * 2, False)])
def test_the_newest_answer_is_looked_for_a_little_further_back(
    home: Home, client: str, behind: int, is_found: object
) -> None:
    path: Path = WRITERS[client](home, Said())  # type: ignore[operator]
    result = b'{"type":"other","text":"' + b"x" * 40_000 + b'"}\n'
    path.write_bytes(path.read_bytes() + result * (behind // len(result)))
    (row,) = listing(home).rows
    assert row.session.details.context == (Said().context if is_found else None)


@pytest.mark.parametrize("client", ["claude-code", "codex", "pi", "copilot-cli", "gemini-cli"])
@pytest.mark.parametrize(("before", "is_found"), [(MAX_SCAN // 2, True), (MAX_SCAN * 2, False)])
def test_the_first_prompt_is_looked_for_a_little_further_on(
    home: Home, client: str, before: int, is_found: object
) -> None:
    path: Path = WRITERS[client](home, Said(prompt="Behind much else"))  # type: ignore[operator]
    first, *others = path.read_bytes().splitlines(keepends=True)
    other = b'{"type":"other","text":"' + b"x" * 40_000 + b'"}\n'
    filling = other * (before // len(other))
    path.write_bytes(b"".join([first, filling, *others, filling]))
    (row,) = listing(home).rows
    assert (row.session.details.title == "Behind much else") == is_found


@pytest.mark.parametrize("size", [0, 1, WINDOW, 2 * WINDOW - 1, 2 * WINDOW, 2 * WINDOW + 1])
@pytest.mark.parametrize(
    "line", [b'{"n": 1}\n', b'{"n": 1}\r\n', b'{"n": ' + b"1" * 70_000 + b"}\n"]
)
def test_lines_at_the_ends_are_whole(tmp_path: Path, size: int, line: bytes) -> None:
    path = tmp_path / "any.jsonl"
    path.write_bytes((line * (size // len(line) + 1))[:size])
    found = read_ends(path)
    whole = set(line.split(b"\n"))
    last = path.read_bytes().rpartition(b"\n")[2]
    assert {*found.head, *found.tail} <= {*whole, last}


def test_a_file_that_goes_away_or_shrinks_meanwhile(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = home.claude(Said(name="gone", title="Gone"))
    shrunk = home.claude(Said(name="shrunk"))
    shrunk.write_bytes(shrunk.read_bytes() + b"\n" * 3 * WINDOW)
    read = os.pread

    def emptied(descriptor: int, n_bytes: int, offset: int) -> bytes:
        gone.unlink(missing_ok=True)
        os.truncate(shrunk, 10)
        return read(descriptor, n_bytes, offset)

    monkeypatch.setattr("os.pread", emptied)
    assert {row.session.id for row in listing(home).rows} == {
        Said(name="gone").id,
        Said(name="shrunk").id,
    }


def test_a_store_that_is_written_to_meanwhile(home: Home) -> None:
    paths = [home.claude(Said(name=str(number))) for number in range(10)]
    done = threading.Event()

    def go_on() -> None:
        while not done.is_set():
            for path in paths:
                with path.open("ab") as stream:
                    stream.write(b'{"type":"progress","da')

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        found = [len(listing(home).rows) for _ in range(5)]
    finally:
        done.set()
        writer.join()
    assert found == [10] * 5


def test_a_locked_database_is_named_and_the_others_are_listed(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compactctl.clients.reading.database.BUSY_TIMEOUT", 0.05)
    everything(home)
    path = home.root / ".local" / "share" / "opencode" / "opencode.db"
    before = path.read_bytes()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("begin exclusive")
        result = listing(home)
        database.execute("rollback")
    assert {row.session.entry.client for row in result.rows} == {*WRITERS} - {"opencode"}
    (note,) = result.notes
    assert "opencode.db: cannot be read (database is locked)" in note
    assert path.read_bytes() == before


def test_a_database_with_a_log_beside_it_is_read_while_it_is_open(home: Home) -> None:
    home.opencode(Said(name="first"))
    path = home.root / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma journal_mode=wal")
        database.execute("update session set title = 'Written last'")
        database.commit()
        (row,) = listing(home).rows
    assert row.session.details.title == "Written last"


@pytest.mark.parametrize(
    "statement", ["drop table message", "drop table session", "alter table session drop title"]
)
def test_a_database_of_another_version(home: Home, statement: str) -> None:
    home.opencode(Said())
    home.claude(Said())
    path = home.root / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
        database.commit()
    assert "claude-code" in {row.session.entry.client for row in listing(home).rows}


@pytest.mark.parametrize("value", ["1e30", "-1e30", "'soon'", "null", "x''"])
def test_a_time_that_no_calendar_has(home: Home, ask: Ask, value: str) -> None:
    home.opencode(Said())
    path = home.root / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        # The values are from above.
        database.execute(f"update session set time_updated = {value}, id = 3, title = x'00ff'")  # noqa: S608
        database.commit()
    for arguments in ((), ("--json",)):
        assert ask("sessions", *arguments).code == 0


def test_a_database_that_is_none(home: Home) -> None:
    path = home.root / ".local" / "share" / "opencode" / "opencode.db"
    home.text(path, "not a database, whatever its name says" * 99, 0)
    assert "opencode.db: cannot be read" in listing(home).notes[0]


def test_a_folder_that_cannot_be_looked_into_is_named(home: Home) -> None:
    home.codex(Said())
    (home.root / ".claude").symlink_to(".claude")
    result = listing(home)
    assert [row.session.id for row in result.rows] == [Said().id]
    assert "projects: cannot be read (Too many levels of symbolic links)" in result.notes[-1]


def test_files_and_pipes_where_folders_are_expected(home: Home) -> None:
    path = home.claude(Said())
    os.mkfifo(path.with_name(f"{Said(name='pipe').id}.jsonl"))
    (path.parent.parent / "stray").touch()
    (path.parent / Said(name="loop").id).symlink_to(path.parent)
    (path.parent / f"{Said(name='dangling').id}.jsonl").symlink_to("nowhere")
    home.text(home.root / ".codex", "a file", 0)
    assert [row.session.id for row in listing(home).rows] == [Said().id]


def test_an_empty_home(home: Home) -> None:
    result = listing(home)
    assert (result.rows, result.n_sessions, result.notes) == ((), 0, ())
