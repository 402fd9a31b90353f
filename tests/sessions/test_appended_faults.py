"""A kill, a refusal or another writer while records are appended to a session."""

import errno
import os
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest
from cli.asking import Ask
from cli.faults.old_or_new import quietly
from cli.faults.writing import disk, drafts
from examples import LONG
from forked import killed
from sessions.compacting_clients import compacted_by_claude
from sessions.homes import Home, HomeAt
from sessions.read_files import APPENDED, PRUNE, Appended, goes_on, sent, session
from store.faults import Failing, Killing, Meddling, Watched

CHANGED, DISK_ERROR = 8, 74


def compacting(path: Path) -> list[str]:
    return ["compact", str(path), "--native", *PRUNE]


def undoing(path: Path) -> list[str]:
    return ["rewind", str(path)]


def calls(home: Home, ask: Ask, ways: tuple[list[str], ...]) -> list[int]:
    """Return the calls to try of the last command: in the gate those around the append."""
    watched = Watched()
    for way in ways[:-1]:
        assert ask(*way).code == 0
    if len(ways) > 1:
        goes_on(session_of(home), "And now?")
    with disk(watched):
        assert ask(*ways[-1]).code == 0
    at = next(n for n, (name, _) in enumerate(watched.log, 1) if name == "append")
    return list(range(1, len(watched.log) + 1)) if LONG else [at, at + 1]


def session_of(home: Home) -> Path:
    return next((home.root / ".claude").rglob("*.jsonl"))


def test_killed_at_any_call_of_a_compaction(home_at: HomeAt, ask: Ask) -> None:
    counted = home_at("counted")
    path = session(counted)
    whole = sent(path)
    points = calls(counted, ask, (compacting(path),))
    small = sent(path)
    for point in points:
        path = session(home_at(str(point)))
        before = path.read_bytes()
        with disk(Killing(point)):
            assert killed(partial(quietly, compacting(path)))
        assert path.read_bytes().startswith(before)
        if sent(path) not in (whole, small):
            refused = ask(*compacting(path))
            assert (
                "incomplete append from a killed run; remove it with compactctl rewind"
                in refused.err
            )
            assert ask(*undoing(path)).code == 0
        if path.read_bytes() == before:
            assert ask(*compacting(path)).code == 0
        assert sent(path) == small
        assert ask(*undoing(path)).code == 0
        assert path.read_bytes() == before
        assert drafts(path.parent) == []


def test_killed_at_any_call_of_a_way_back(home_at: HomeAt, ask: Ask) -> None:
    counted = home_at("counted")
    path = session(counted)
    points = calls(counted, ask, (compacting(path), undoing(path)))
    whole = sent(path)
    for point in points:
        path = session(home_at(str(point)))
        assert ask(*compacting(path)).code == 0
        goes_on(path, "And now?")
        before, small = path.read_bytes(), sent(path)
        with disk(Killing(point)):
            assert killed(partial(quietly, undoing(path)))
        assert path.read_bytes().startswith(before)
        if sent(path) not in (whole, small):
            assert ask(*undoing(path)).code == 0
            assert path.read_bytes() == before
        if sent(path) == small:
            assert ask(*undoing(path)).code == 0
        assert sent(path) == whole


def test_refused_at_any_call(home_at: HomeAt, ask: Ask) -> None:
    counted = home_at("counted")
    for point in calls(counted, ask, (compacting(session(counted)),)):
        path = session(home_at(str(point)))
        before = path.read_bytes()
        with disk(Failing(point, errno.ENOSPC)):
            outcome = ask(*compacting(path))
        if outcome.code:
            assert outcome.code == DISK_ERROR
            assert path.read_bytes() == before
            assert ask("log", path, "--json").code == 0
        assert path.read_bytes().startswith(before)
        assert ask(*undoing(path), "--check").code == 0


@pytest.mark.parametrize("client", APPENDED, ids=lambda client: client.format)
@pytest.mark.parametrize("moment", ["open_append", "fsync"])
def test_what_is_said_meanwhile_is_carried(
    home: Home, ask: Ask, client: Appended, moment: str, tmp_path: Path
) -> None:
    path, out = client.session(home), tmp_path / "out.jsonl"
    before, whole = path.read_bytes(), sent(path)
    with disk(Meddling(moment, "", partial(client.goes_on, path, "And now?"))):
        outcome = ask(*compacting(path), *client.insists)
    assert outcome.code == 0, outcome.err
    assert path.read_bytes().startswith(before)
    assert b"\n\n" not in path.read_bytes()
    *small, newest = sent(path)
    assert len(small) == len(whole)
    assert small != whole
    assert "carried   1 line appended meanwhile" in outcome.err
    assert ask("verify", path).code == 0
    assert ask(*undoing(path), "-o", out).code == 0
    assert out.read_bytes().startswith(before)
    assert sent(out) == [*whole, newest]
    assert ask(*undoing(path), *client.insists).code == 0
    assert sent(path) == [*whole, newest]


@pytest.mark.parametrize("client", APPENDED, ids=lambda client: client.format)
def test_beside_a_busy_client_nothing_is_lost(home: Home, ask: Ask, client: Appended) -> None:
    path = client.session(home)
    whole, turns, stopped = sent(path), list[str](), Event()

    def write() -> None:
        while not stopped.wait(0.02):
            turns.append(f"Turn {len(turns)}")
            client.goes_on(path, turns[-1])

    writer = Thread(target=write)
    writer.start()
    try:
        outcome = ask(*compacting(path), "--while-open")
    finally:
        stopped.set()
        writer.join()
    assert outcome.code == 0, outcome.err
    assert "carried " in outcome.err
    assert len(sent(path)) == len(whole) + len(turns)
    assert sent(path)[: len(whole)] != whole
    assert ask(*undoing(path), "--while-open").code == 0
    assert sent(path)[: len(whole)] == whole
    assert len(sent(path)) == len(whole) + len(turns)
    assert ask("verify", path).code == 0


def test_what_the_client_does_otherwise_is_waited_for(home: Home, ask: Ask) -> None:
    path = session(home)
    before = path.read_bytes()
    with disk(Meddling("open_append", "", partial(compacted_by_claude, path))):
        outcome = ask(*compacting(path))
    assert outcome.code == CHANGED
    assert "changed while compactctl was running; nothing was written; try again" in outcome.err
    assert path.read_bytes().startswith(before)
    assert ask("log", path, "--json").code == 0
    assert b"appended" not in path.read_bytes()


def test_a_file_that_may_not_be_written_stays_as_it_is(home: Home, ask: Ask) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    path = session(home)
    path.chmod(0o400)
    before = path.read_bytes()
    assert ask(*compacting(path)).code == DISK_ERROR
    assert path.read_bytes() == before
