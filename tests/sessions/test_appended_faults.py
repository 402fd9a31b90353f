"""A kill, a refusal or another writer while records are appended to a session."""

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from cli.asking import Ask
from cli.faults.old_or_new import quietly
from cli.faults.writing import disk, drafts
from examples import LONG
from forked import killed
from sessions.homes import Home
from sessions.read_files import PRUNE, goes_on, sent, session
from store.faults import Failing, Killing, Meddling, Watched, appending

HomeAt = Callable[[str], Home]
CHANGED, DISK_ERROR = 8, 74


@pytest.fixture
def home_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HomeAt:
    """Return a function that makes an empty home, which is the user's from then on."""
    monkeypatch.delenv("XDG_CONFIG_HOME")

    def made(name: str) -> Home:
        root = tmp_path / name
        root.mkdir()
        monkeypatch.setenv("HOME", str(root))
        return Home(root=root)

    return made


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


@pytest.mark.parametrize("moment", ["open_append", "fsync"])
def test_what_a_client_writes_meanwhile_stays_and_nothing_else(
    home: Home, ask: Ask, moment: str
) -> None:
    path = session(home)
    before = path.read_bytes()
    line = b'{"type":"mode","mode":"normal","sessionId":"s"}\n'
    watched = Meddling(moment, "", appending(path, line))
    with disk(watched):
        outcome = ask(*compacting(path))
    assert outcome.code == CHANGED or path.read_bytes().endswith(line)
    assert path.read_bytes().startswith(before)
    assert line in path.read_bytes()
    assert ask(*undoing(path)).code == 0
    assert path.read_bytes() == before + line


def test_a_file_that_may_not_be_written_stays_as_it_is(home: Home, ask: Ask) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    path = session(home)
    path.chmod(0o400)
    before = path.read_bytes()
    assert ask(*compacting(path)).code == DISK_ERROR
    assert path.read_bytes() == before
