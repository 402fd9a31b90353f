"""A kill or a refusal at any call of any command that writes leaves the old state or the new one.

The gate tries some of the calls of some commands; COMPACTCTL_LONG_TESTS=1 all of them.
"""

import errno
from functools import partial
from pathlib import Path

import pytest
from cli.asking import Ask
from cli.faults.old_or_new import points, quietly, reference
from cli.faults.writing import WRITING, contents, disk, drafts, lay_out, ways_back
from examples import LONG
from forked import killed
from store.faults import Failing, Killing
from store.states import names_below

# Of the commands that write, those killed when a change is tested: one for each way of publishing.
KILLED = {
    "compact over an earlier output",
    "compact inline in place",
    "rewind",
    "rewind to a file",
    "batch report",
}
# Those that write several files, one after another.
IN_STEPS = {"batch", "compact with its hidden lines"}
UNDONE = ("nothing was changed", "nothing was written", "was not saved")
DISK_ERROR = 74


each_writer = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in KILLED else pytest.mark.long) for name in WRITING],
)


@each_writer
def test_killed_at_any_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    known = reference(tmp_path / "counted", WRITING[name], ask)
    for point in points(known.log):
        folder = tmp_path / str(point)
        arguments = lay_out(folder, WRITING[name], ask)
        with disk(Killing(point)):
            assert killed(partial(quietly, arguments))
        assert known.is_either(folder), (name, point, known.log[point - 1])
        assert ways_back(folder, ask) == known.ways(folder), (name, point, known.log[point - 1])
        if contents(folder) != known.new:
            assert ask(*arguments).code == 0
            assert contents(folder) == known.new
            assert ways_back(folder, ask) == known.new_ways
        elif drafts(folder):
            # What was replaced has a name yet, until the next run.
            ask(*arguments)
        assert drafts(folder) == [], (name, point, known.log[point - 1])


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC] if LONG else [errno.EACCES])
@each_writer
def test_refused_at_any_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, name: str, number: int
) -> None:
    monkeypatch.chdir(tmp_path)
    known = reference(tmp_path / "counted", WRITING[name], ask)
    for point in points(known.log):
        folder = tmp_path / str(point)
        arguments = lay_out(folder, WRITING[name], ask)
        names = names_below(folder)
        with disk(Failing(point, number)):
            outcome = ask(*arguments)
        what = (name, point, known.log[point - 1], outcome.err)
        assert outcome.code in {0, DISK_ERROR}, what
        assert known.is_either(folder), what
        assert ways_back(folder, ask) == known.ways(folder), what
        assert drafts(folder) == [], what
        if outcome.code == 0:
            assert contents(folder) == known.new, what
        else:
            is_undone = names_below(folder) - made_folders(folder) == names
            told = UNDONE if is_undone else (*UNDONE, "was written before")
            assert any(words in outcome.out + outcome.err for words in told), what
            assert is_undone or name in IN_STEPS, what


def made_folders(folder: Path) -> set[str]:
    """Return the empty folders, which an error may leave behind."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_dir() and not any(each.is_file() for each in path.rglob("*"))
    }
