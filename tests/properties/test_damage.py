"""Damage and sudden death: the way back is proven or refused, and no file is left half-written."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from examples import tries
from forked import killed
from hypothesis import assume, given
from hypothesis import strategies as st
from properties.claude import claude_session
from properties.jobs import FAST, LONG_TRANSCRIPTS, WAYS, Written, bench, read
from properties.plans import KINDS, Step
from store.faults import RENAMES, Killing, Watched

from compactctl.commands.client_sessions import write as written
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.errors import CompactctlError
from compactctl.store.files.filesystem import FileSystem

PLAN = tuple(Step(kind, number % 8, 40, 0) for number, kind in enumerate(KINDS[:8] * 3))


@tries(20)
@given(
    written=LONG_TRANSCRIPTS,
    way=WAYS,
    places=st.lists(st.tuples(st.booleans(), st.floats(0, 1), st.integers(1, 255)), min_size=8),
)
def test_a_flipped_byte_is_found_or_harmless(
    written: Written, way: dict[str, Any], places: list[tuple[bool, float, int]]
) -> None:
    with bench(written.data) as at:
        read(at)
        assume(compact(at.options(**way)).compacted)
        archives = sorted(at.folder.rglob("*.parquet"))
        for in_archive, where, flip in places:
            path = archives[0] if in_archive and archives else at.out
            sound = path.read_bytes()
            path.write_bytes(flipped(sound, where, flip))
            restored_or_untouched(at.out, written.data)
            path.write_bytes(sound)


def flipped(data: bytes, where: float, flip: int) -> bytes:
    """Return data with one byte changed."""
    at = min(int(where * len(data)), len(data) - 1)
    return data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]


def restored_or_untouched(path: Path, first: bytes) -> None:
    """Rewind to another file; refuse with a code for damage, or restore exactly."""
    found = {each: each.read_bytes() for each in path.parent.rglob("*") if each.is_file()}
    elsewhere = path.with_name("restored")
    code = 0
    try:
        rewind(
            RewindOptions(
                input=InputOptions(path=str(path)), output=OutputOptions(path=str(elsewhere))
            )
        )
    except CompactctlError as error:
        code = error.exit_code
    if elsewhere.exists():
        assert elsewhere.read_bytes() == first
        elsewhere.unlink()
    # 4: an inline transcript of a single line may not be JSON at all any more.
    assert code in {0, 4, 6, 7, 8}
    assert {each: each.read_bytes() for each in found} == found


@tries(15)
@given(written=LONG_TRANSCRIPTS, way=WAYS, where=st.floats(0, 1, exclude_max=True))
def test_a_cut_archive_is_refused(written: Written, way: dict[str, Any], where: float) -> None:
    with bench(written.data) as at:
        read(at)
        assume(compact(at.options(**way, in_place=True)).compacted)
        (archive,) = at.folder.rglob("*.parquet")
        archive.write_bytes(archive.read_bytes()[: int(where * archive.stat().st_size)])
        compacted = at.path.read_bytes()
        with pytest.raises(CompactctlError) as refused:
            rewind(RewindOptions(input=InputOptions(path=str(at.path))))
        assert refused.value.exit_code in {6, 7}
        assert at.path.read_bytes() == compacted


# Between two of these the disk holds the same for a later run; test_crash kills at every call.
TURNING_POINTS = {*RENAMES, "link", "unlink", "mkdir", "rmdir"}


@pytest.mark.parametrize(
    ("layout", "in_place"), [("split", False), ("split", True), ("inline", True)]
)
def test_killed_at_every_step_there_is_a_way_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, layout: str, in_place: bool
) -> None:
    first = claude_session(PLAN)
    watched = Watched()
    compact_in(tmp_path / "counted", first, layout, monkeypatch, watched, in_place=in_place)
    states = []
    calls = [call for call, _ in watched.log]
    points = [n for n, call in enumerate(calls, 1) if call in TURNING_POINTS]
    for point in (*points, points[-1] + 1):
        folder = tmp_path / str(point)
        fs = Killing(point)
        assert killed(
            partial(compact_in, folder, first, layout, monkeypatch, fs, in_place=in_place)
        )
        monkeypatch.undo()
        target = folder / ("run.jsonl" if in_place else "run.compacted.jsonl")
        states.append(target.exists() and target.read_bytes() != first)
        assert_recoverable(target, first)
    assert states == sorted(states), "once new, it stays new"
    assert set(states) == {False, True}


def compact_in(  # noqa: PLR0913
    folder: Path,
    data: bytes,
    layout: Any,
    monkeypatch: pytest.MonkeyPatch,
    fs: FileSystem,
    *,
    in_place: bool,
) -> None:
    """Compact a transcript in a new folder on a file system that may fail."""
    folder.mkdir()
    path = folder / "run.jsonl"
    path.write_bytes(data)
    monkeypatch.setattr(written, "FileSystem", lambda: fs)
    options = CompactOptions(
        input=InputOptions(path=str(path)),
        recipe=Recipe(measure=FAST, plan=PlanOptions(stages=("summarize", "truncate"))),
        output=OutputOptions(layout=layout, in_place=in_place),
    )
    assert compact(options).compacted


def assert_recoverable(target: Path, first: bytes) -> None:
    """Whatever a killed run left, the first bytes are there or come back."""
    if target.exists() and target.read_bytes() != first:
        rewind(RewindOptions(input=InputOptions(path=str(target)), all=True))
        assert target.read_bytes() == first
    assert (target.parent / "run.jsonl").read_bytes() == first
