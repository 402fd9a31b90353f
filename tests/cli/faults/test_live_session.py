"""A session can be compacted beside the program that goes on writing it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli.asking import Ask
from programs import running

from compactctl.store.files.filesystem import FileSystem

LATE = b'{"role":"user","content":"late"}\n'
CLIENT = """
import itertools, os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
print("ready", flush=True)
for n in itertools.count():
    line = b'{"role":"assistant","content":"live line %d"}\\n' % n
    half = len(line) // 2 if n % 50 == 0 else len(line)
    for piece in (line[:half], line[half:]):
        os.write(fd, piece)
        time.sleep(0.002)
"""


@contextmanager
def written_to(path: Path) -> Iterator[None]:
    """Keep a program running that appends to a transcript, now and then half a line first."""
    with running(CLIENT, path) as client:
        try:
            yield
        finally:
            client.kill()


@pytest.mark.parametrize(("layout", "runs"), [("split", 9), ("inline", 3)])
def test_a_live_session_is_compacted_beside_its_client(
    ask: Ask, desk: Path, layout: str, runs: int
) -> None:
    outputs = [desk.with_name(f"out-{n}.jsonl") for n in range(runs)]
    carried = 0
    with written_to(desk):
        for output in outputs:
            outcome = ask("compact", desk, "--target", "5k", "--layout", layout, "-o", output)
            assert (outcome.code, "Traceback" in outcome.err) == (0, False), outcome.err
            carried += "appended meanwhile" in outcome.err
    assert carried, "the client was writing all the time"
    session = desk.read_bytes()
    for output in outputs:
        restored = output.with_suffix(".restored")
        assert ask("rewind", output, "-o", restored).code == 0
        assert session.startswith(restored.read_bytes())


def grow_while_published(path: Path, late: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Append to a transcript at the moment at which its outcome begins to be published."""
    real = FileSystem.open_lock

    def open_lock(fs: FileSystem, place: Path) -> int:
        monkeypatch.undo()
        with path.open("ab") as stream:
            stream.write(late)
        return real(fs, place)

    monkeypatch.setattr(FileSystem, "open_lock", open_lock)


@pytest.fixture
def growing(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a transcript that grows by two lines and a half while it is published."""
    grow_while_published(desk, LATE + LATE + LATE[:9], monkeypatch)
    return desk


def test_growth_is_told_on_screen(growing: Path, ask: Ask) -> None:
    n_lines = growing.read_bytes().count(b"\n")
    outcome = ask("compact", growing, "--target", "5k")
    assert outcome.code == 0
    assert "carried   2 lines appended meanwhile\n" in outcome.err
    assert f"{growing} from line {n_lines + 3} on, appended since\n" in outcome.err
    small = growing.with_name("openai-chat.compacted.jsonl")
    assert small.read_bytes().endswith(LATE + LATE)


def test_growth_is_told_in_json(growing: Path, ask: Ask) -> None:
    n_lines = growing.read_bytes().count(b"\n")
    found = ask("compact", growing, "--target", "5k", "--json").json
    assert (found["carriedLines"], found["leftOutFrom"]) == (2, n_lines + 3)


def test_growth_is_told_of_a_rewind(ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = desk.read_bytes()
    assert ask("compact", desk, "--target", "5k", "--in-place").code == 0
    grow_while_published(desk, LATE + LATE, monkeypatch)
    outcome = ask("rewind", desk)
    assert outcome.code == 0
    assert "carried   2 lines appended meanwhile\n" in outcome.err
    assert desk.read_bytes() == before + LATE + LATE


def test_a_batch_measures_what_it_compacted(growing: Path, ask: Ask) -> None:
    n_lines = growing.read_bytes().count(b"\n")
    batch = ("batch", growing, "--target", "5k", "--out", growing.parent / "out", "--json")
    found = ask(*batch).json
    assert [(row["status"], row["lines"]) for row in found["files"]] == [("ok", n_lines)]
