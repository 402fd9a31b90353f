"""A process that is killed at any call leaves the old state or the new one, and a way back."""

from functools import partial
from pathlib import Path

import pytest
from examples import LONG
from forked import killed
from store.faults import RENAMES, Killing, Watched
from store.states import (
    AFTER,
    BEFORE,
    appended,
    archive_of,
    names_below,
    operation,
    state_before,
    step,
)


def points(calls: list[str]) -> list[int]:
    """Return the calls to kill at: when a change is tested those around the switch and a few."""
    every = range(1, len(calls) + 1)
    last = max(number for number in every if calls[number - 1] in RENAMES)
    return [number for number in every if LONG or abs(number - last) < 2 or number % 12 == 0]


def lay_out(folder: Path) -> Path:
    folder.mkdir()
    path = folder / "run.jsonl"
    path.write_bytes(BEFORE)
    path.chmod(0o640)
    return path


@pytest.mark.parametrize("name", ["run.jsonl", "run.compacted.jsonl"])
def test_killed_at_every_call(tmp_path: Path, name: str) -> None:
    path = lay_out(tmp_path / "counted")
    watched = Watched()
    step(path, AFTER, target=path.with_name(name), fs=watched)
    states = []
    for point in points([call for call, _ in watched.log]):
        path = lay_out(tmp_path / str(point))
        target = path.with_name(name)
        assert killed(partial(step, path, AFTER, target=target, fs=Killing(point)))
        states.append(state_left(path, target))
        assert_a_retry_succeeds(path, target)
    assert states == sorted(states, reverse=True), "once new, it stays new"
    assert {"new", "old"} == set(states)


def state_left(path: Path, target: Path) -> str:
    """Tell which state a killed run left, after checking that it is one of the two."""
    if target != path:
        assert path.read_bytes() == BEFORE
    if not target.exists():
        return "old"
    found = target.read_bytes()
    assert found in (BEFORE, AFTER)
    if found == AFTER:
        each = operation(BEFORE, AFTER)
        assert archive_of(target).match_transcript([found]) == (each, appended(b""))
        assert state_before(archive_of(target), each.id) == BEFORE
        return "new"
    assert archive_of(target).match_transcript([found]) == (None, appended(b""))
    return "old"


def assert_a_retry_succeeds(path: Path, target: Path) -> None:
    """Whatever was left, the same command works afterwards and leaves no trace of the crash."""
    if path.read_bytes() == BEFORE:
        step(path, AFTER, target=target)
    else:
        step(path, AFTER, kind="rewind")
    assert target.read_bytes() == AFTER
    assert state_before(archive_of(target), operation(BEFORE, AFTER).id) == BEFORE
    assert not {name for name in names_below(path.parent) if ".cctl-" in name}
    assert target.stat().st_mode & 0o777 == 0o640
