"""Writing outputs that are not transcripts."""

import os
import stat
import sys
from pathlib import Path

import pytest
from store.states import AFTER, mode, names_below, step

from compactctl.errors import ChangedError, UsageError
from compactctl.store.archive.archive import Archive
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import Source, open_input
from compactctl.store.publish.publish import write_output


def state_of(path: Path) -> tuple[Source, Archive]:
    """Return a transcript with the content of a file, so that this is not its only copy."""
    return open_input(path), Archive(path.parent / "none.archive")


def test_an_output_replaces_a_file_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    before = os.umask(0o027)
    try:
        write_output(FileSystem(), path, Content.from_chunks((b"one",)))
        assert (path.read_bytes(), mode(path)) == (b"one", 0o640)
        path.chmod(0o604)
        write_output(FileSystem(), path, Content.from_chunks((b"two",)), state_of=state_of(path))
    finally:
        os.umask(before)
    assert (path.read_bytes(), mode(path)) == (b"two", 0o604)
    assert names_below(tmp_path) == {"report.json"}


def test_an_output_goes_through_a_link_and_into_a_device(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("report.json")
    write_output(FileSystem(), tmp_path / "link", Content.from_chunks((b"one",)))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "report.json").read_bytes() == b"one"
    (tmp_path / "null").symlink_to("/dev/null")
    write_output(FileSystem(), tmp_path / "null", Content.from_chunks((b"one",)))
    assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)


def test_a_dash_is_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_output(FileSystem(), "-", Content.from_chunks((b"\xffone\r\n",)))
    assert capfdbinary.readouterr().out == b"\xffone\r\n"


def test_a_foreign_file_gives_way_only_to_force(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"mine")
    with pytest.raises(UsageError, match="--force"):
        write_output(FileSystem(), path, Content.from_chunks((b"two",)))
    assert path.read_bytes() == b"mine"
    assert names_below(tmp_path) == {"notes.txt"}
    write_output(FileSystem(), path, Content.from_chunks((b"two",)), force=True)
    assert path.read_bytes() == b"two"
    write_output(FileSystem(), path, Content.from_chunks((b"two",)))


def test_a_second_name_is_kept_without_force(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    with pytest.raises(UsageError, match="hard links"):
        write_output(
            FileSystem(),
            tmp_path / "b",
            Content.from_chunks((b"two",)),
            state_of=state_of(tmp_path / "a"),
        )
    assert (tmp_path / "a").samefile(tmp_path / "b")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tell who writes")
def test_a_file_that_a_program_writes_to_is_kept_without_force(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one")
    with path.open("ab"), pytest.raises(ChangedError, match="open for writing"):
        write_output(FileSystem(), path, Content.from_chunks((b"two",)), state_of=state_of(path))
    assert path.read_bytes() == b"one"


def test_a_transcript_with_an_archive_is_not_replaced_by_what_that_does_not_know(
    path: Path,
) -> None:
    step(path, AFTER)
    with pytest.raises(UsageError, match="has its own archive, which would no longer match"):
        write_output(FileSystem(), path, Content.from_chunks((b"two",)), state_of=state_of(path))
    assert path.read_bytes() == AFTER
