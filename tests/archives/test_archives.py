"""What earlier versions wrote is taken back exactly, for ever."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from file_commands import rewind_file

from compactctl.commands.inspect.log import LogOptions, log
from compactctl.commands.inspect.view import ViewOptions, view
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.verify.verify import VerifyOptions, verify
from compactctl.errors import ArchiveError

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/*/expected.json"))


class Case:
    """A copy of what a version wrote, and what it is known to give back."""

    def __init__(self, source: Path, target: Path) -> None:
        folder = Path(shutil.copytree(source, target))
        self.path = next(path for path in folder.glob("session.*") if path.is_file())
        self.folder = folder
        self.expected: dict[str, Any] = json.loads((folder / "expected.json").read_text())

    def reached(self, **where: Any) -> str:
        """Return the digest of the state that a rewind writes elsewhere."""
        out = self.folder / "reached"
        rewind_file(self.path, output=out, **where)
        found = _digest(out)
        out.unlink()
        return found

    def undone(self) -> bool:
        """Undo the last compaction; tell whether there was one."""
        try:
            return rewind_file(self.path).moved
        except ArchiveError:
            return False


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(
    params=[
        # A third of them has every format but the damaged files, and every way of writing.
        pytest.param(path, marks=() if number % 3 == 0 else pytest.mark.long)
        for number, path in enumerate(CASES)
    ],
    ids=[f"{path.parent.name} {path.name}" for path in CASES],
)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    """Return a copy of one case."""
    return Case(request.param, tmp_path / "case")


def test_every_state_is_reached(case: Case) -> None:
    assert case.reached(all=True) == case.expected["first"]
    for operation, state in case.expected["states"].items():
        assert case.reached(to=operation) == state


def test_every_step_is_undone(case: Case) -> None:
    for state in case.expected["undone"]:
        assert case.undone()
        assert _digest(case.path) == state
    assert not case.undone()


def test_everything_is_shown(case: Case) -> None:
    found = log(LogOptions(input=InputOptions(path=str(case.path))))
    shown = view(ViewOptions(input=InputOptions(path=str(case.path)), what="all"))

    archived = [each.operation.id for each in found.operations if each.operation]
    assert [*case.expected["states"]] == archived
    assert found.operations
    assert not found.archive_missing
    assert shown.messages


def test_everything_is_proven(case: Case) -> None:
    """Permissions are not those of an archive folder here, and nothing else is to be repaired."""
    (found,) = verify(VerifyOptions(paths=(str(case.path),), repair=True)).transcripts

    assert (found.verdict, found.operations >= len(case.expected["states"])) == ("proven", True)
    is_open = f"{case.path}.archive: other users may "
    assert all(each.startswith(is_open) for each in found.repaired)
