"""Writing outputs that are no transcripts."""

import os
import stat
from pathlib import Path

import pytest
from store.states import mode, names_below

from compactctl.store.filesystem import FileSystem
from compactctl.store.publish import write_output


def test_an_output_replaces_a_file_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    before = os.umask(0o027)
    try:
        write_output(FileSystem(), path, b"one")
        assert (path.read_bytes(), mode(path)) == (b"one", 0o640)
        path.chmod(0o604)
        write_output(FileSystem(), path, b"two")
    finally:
        os.umask(before)
    assert (path.read_bytes(), mode(path)) == (b"two", 0o604)
    assert names_below(tmp_path) == {"report.json"}


def test_an_output_goes_through_a_link_and_into_a_device(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("report.json")
    write_output(FileSystem(), tmp_path / "link", b"one")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "report.json").read_bytes() == b"one"
    (tmp_path / "null").symlink_to("/dev/null")
    write_output(FileSystem(), tmp_path / "null", b"one")
    assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)


def test_a_dash_is_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_output(FileSystem(), "-", b"\xffone\r\n")
    assert capfdbinary.readouterr().out == b"\xffone\r\n"
