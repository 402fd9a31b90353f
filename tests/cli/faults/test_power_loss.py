"""After a power cut at any moment a transcript is old or new, and never without its way back.

The gate tries the commands that matter most; COMPACTCTL_LONG_TESTS=1 all of them, and a second run
from every state.
"""

from pathlib import Path

import pytest
from cli.asking import Ask
from cli.faults.old_or_new import Reference, reference
from cli.faults.writing import WRITING, contents, disk, drafts, lay_out, ways_back
from examples import LONG
from store.power import Powerless, materialised

VITAL = ("compact", "compact in place", "rewind", "batch")
NAMES = tuple(WRITING) if LONG else ("compact", "rewind")


def check(fs: Powerless, known: Reference, place: Path, ask: Ask, every: int = 1) -> list[Path]:
    """Return folders as a power cut may leave them; each file is old or new and can go back.

    Of the states that may be found, one in ``every`` is looked at.
    """
    place.mkdir()
    folders = []
    for number, state in enumerate([*fs.states.values()][::every]):
        folder = place / str(number)
        materialised(state, fs.root, folder)
        what = (number, sorted(str(path.relative_to(fs.root)) for path in state))
        assert known.is_either(folder), what
        assert ways_back(folder, ask) == known.ways(folder), what
        folders.append(folder)
    return folders


@pytest.mark.parametrize("name", NAMES)
def test_a_power_cut_leaves_old_or_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    known = reference(tmp_path / "counted", WRITING[name], ask)
    arguments = lay_out(tmp_path / "cut", WRITING[name], ask)
    fs = Powerless(tmp_path / "cut")
    with disk(fs):
        assert ask(*arguments).code == 0
    fs.note()
    every = 1 if LONG else 4
    folders = check(fs, known, tmp_path / "states", ask, every)
    for folder in folders if LONG else folders[:: len(folders) // 2]:
        if contents(folder) == known.old:
            monkeypatch.chdir(folder)
            assert ask(*arguments).code == 0
            assert contents(folder) == known.new
            assert ways_back(folder, ask) == known.new_ways
            assert drafts(folder) == []


@pytest.mark.long
@pytest.mark.parametrize("name", VITAL if LONG else VITAL[:1])
def test_a_power_cut_after_a_killed_run_leaves_old_or_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    known = reference(tmp_path / "counted", WRITING[name], ask)
    calls = range(1, len(known.log) + 1)
    checked: set[object] = set()
    # The second call makes the archive folder durable, which the killed run made.
    for kill_at in calls if LONG else (2,):
        arguments = lay_out(tmp_path / f"cut {kill_at}", WRITING[name], ask)
        fs = Powerless(tmp_path / f"cut {kill_at}", kill_at)
        with disk(fs):
            ask(*arguments)
            fs.revive()
            if contents(fs.root) == known.old:
                assert ask(*arguments).code == 0
        fs.note()
        fs.states = {key: state for key, state in fs.states.items() if key not in checked}
        checked |= fs.states.keys()
        check(fs, known, tmp_path / f"states {kill_at}", ask)
