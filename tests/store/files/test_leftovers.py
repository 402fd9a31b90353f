"""What a killed run left under a temporary name is removed by the next one, and nothing else."""

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import running
from store.faults import Meddling
from store.states import mode, names_below

from compactctl.errors import ChangedError, UsageError
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import DiskError, FileSystem
from compactctl.store.files.stale_drafts import remove_stale_drafts
from compactctl.store.files.temp_file import TempFile
from compactctl.store.publish.publish import write_output
from compactctl.store.publish.saved_output import save_output


@pytest.fixture
def dead() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


HOLDER = """
import sys
from pathlib import Path
from compactctl.errors import UsageError
from compactctl.store.files.content import Content
from compactctl.store.files.temp_file import TempFile
from compactctl.store.files.filesystem import DiskError, FileSystem
with TempFile(FileSystem(), Path(sys.argv[1])):
    print("open", flush=True)
    sys.stdin.read()
"""


def test_only_drafts_that_no_process_holds_are_swept(tmp_path: Path, dead: int) -> None:
    left = {f".run.jsonl.cctl-{dead}-0", f".other.cctl-{dead}-3"}
    foreign = {".run.jsonl.cctl-x-1", "cctl-1-1", f".x.cctl-{dead}-9~", f"x.cctl-{dead}-9"}
    for name in left | foreign:
        (tmp_path / name).touch()
    (tmp_path / f".folder.cctl-{dead}-0").mkdir()
    (tmp_path / f".link.cctl-{dead}-0").symlink_to("nowhere")
    kept = names_below(tmp_path) - left
    with TempFile(FileSystem(), tmp_path / "mine") as draft:
        remove_stale_drafts(FileSystem(), tmp_path)
        assert names_below(tmp_path) == kept | {draft.path.name}


def test_a_number_that_another_process_has_by_now_keeps_no_draft(tmp_path: Path) -> None:
    for number in (os.getpid(), os.getppid()):
        (tmp_path / f".run.jsonl.cctl-{number}-0").touch()
    remove_stale_drafts(FileSystem(), tmp_path)
    assert names_below(tmp_path) == set()


def test_the_draft_of_a_living_process_stays(tmp_path: Path) -> None:
    with running(HOLDER, tmp_path / "run.jsonl") as process:
        remove_stale_drafts(FileSystem(), tmp_path)
        assert len(names_below(tmp_path)) == 1
        process.kill()
        process.wait()
    remove_stale_drafts(FileSystem(), tmp_path)
    assert names_below(tmp_path) == set()


def test_without_locks_the_process_number_decides(
    tmp_path: Path, dead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(fd: int, operation: int) -> None:  # noqa: ARG001
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    (tmp_path / f".run.jsonl.cctl-{dead}-0").touch()
    with TempFile(FileSystem(), tmp_path / "mine") as draft:
        remove_stale_drafts(FileSystem(), tmp_path)
        assert names_below(tmp_path) == {draft.path.name}


def test_the_draft_of_another_user_stays(
    tmp_path: Path, dead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f".run.jsonl.cctl-{dead}-0"
    (tmp_path / name).touch()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 4711)
    remove_stale_drafts(FileSystem(), tmp_path)
    assert names_below(tmp_path) == {name}


def test_the_same_output_is_saved_once_and_nothing_else_is_replaced(tmp_path: Path) -> None:
    fs = FileSystem()
    path = save_output(fs, tmp_path / "spill", b"one")
    assert path == save_output(fs, tmp_path / "spill", b"one")
    assert (len(path.stem), mode(path), mode(path.parent)) == (32, 0o600, 0o700)
    path.write_bytes(b"mine")
    with pytest.raises(
        UsageError, match=r"may not be compactctl's own output; name another folder"
    ):
        save_output(fs, tmp_path / "spill", b"one")
    assert path.read_bytes() == b"mine"
    with pytest.raises(DiskError, match=r"File exists; the full output was not saved; name an"):
        save_output(fs, path, b"one")


@pytest.mark.parametrize("call", ["rename_new", "exchange"])
def test_an_output_that_another_run_saves_at_the_same_moment(tmp_path: Path, call: str) -> None:
    folder = tmp_path / "spill"
    if call == "exchange":
        save_output(FileSystem(), folder, b"one")
    fs = Meddling(call, ".txt", lambda: save_output(FileSystem(), folder, b"one"))
    path = save_output(fs, folder, b"one")
    assert fs.deed is None
    assert path.read_bytes() == b"one"
    assert names_below(folder) == {path.name}
    fs = Meddling("exchange", ".txt", lambda: path.write_bytes(b"mine"))
    with pytest.raises(ChangedError, match="another program"):
        save_output(fs, folder, b"one")
    assert path.read_bytes() == b"mine"


def test_the_next_output_sweeps_what_the_last_one_left(tmp_path: Path, dead: int) -> None:
    for folder in ("out", "spill"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f".x.cctl-{dead}-0").touch()
    write_output(FileSystem(), tmp_path / "out" / "report", Content.from_chunks([b"one"]))
    saved = save_output(FileSystem(), tmp_path / "spill", b"two")
    assert names_below(tmp_path) == {"out", "spill", "out/report", f"spill/{saved.name}"}
