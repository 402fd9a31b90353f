"""Archive folders are for their owner alone, wherever they came from."""

import os
from pathlib import Path

import pytest
from store.states import AFTER, BEFORE, appended, archive_of, mode, names_below, step

from compactctl.errors import ArchiveError
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.permissions import (
    check_owner,
    is_open_to_others,
    restrict_to_owner,
    tamper_warning,
)
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.modes import note_mode, noted_modes, strictest_mode
from compactctl.store.files.source import open_input, read_lines


def test_what_was_open_to_others_is_closed(path: Path, tmp_path: Path) -> None:
    step(path, AFTER)
    folder = archive_folder(path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"mine")
    elsewhere.chmod(0o644)
    (folder / "link").symlink_to(elsewhere)
    for each in (folder, *folder.iterdir()):
        each.chmod(0o777)
    elsewhere.chmod(0o644)
    step(path, BEFORE, kind="rewind")
    assert mode(folder) == 0o700
    assert {mode(each) for each in folder.iterdir() if not each.is_symlink()} == {0o600}
    assert mode(elsewhere) == 0o644


def test_the_displaced_file_is_private_and_the_transcript_keeps_its_mode(path: Path) -> None:
    _, published = step(path, AFTER)
    assert published.displaced is not None
    assert (mode(published.displaced), mode(path)) == (0o600, 0o640)


def test_another_name_of_the_displaced_file_keeps_its_mode(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.hardlink_to(path)
    step(path, AFTER, force=True)
    step(path, BEFORE, kind="rewind")
    assert (other.read_bytes(), mode(other)) == (BEFORE, 0o640)


def test_a_linked_folder_is_neither_read_nor_written(path: Path, tmp_path: Path) -> None:
    step(path, AFTER)
    folder = archive_folder(path)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to("elsewhere")
    before = {each: mode(each) for each in tmp_path.rglob("*")}
    with pytest.raises(ArchiveError, match="symbolic link"):
        archive_of(path).match_transcript([AFTER])
    with pytest.raises(ArchiveError, match="symbolic link"):
        step(path, BEFORE, kind="rewind")
    assert {each: mode(each) for each in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("to", ["folder", "file", "nothing"])
def test_a_link_where_the_folder_would_be_made_is_refused(
    path: Path, target: Path, tmp_path: Path, to: str
) -> None:
    place = tmp_path / "there"
    if to == "folder":
        place.mkdir()
    elif to == "file":
        place.touch()
    archive_folder(target).symlink_to(place)
    with pytest.raises(ArchiveError, match="symbolic link"):
        step(path, AFTER, target=target)
    assert not target.exists()
    assert names_below(tmp_path) <= {"run.jsonl", "there", archive_folder(target).name}


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Give a file or folder to another user, or become one; return its owner."""
    if os.geteuid() == 0:
        os.chown(path, 12_345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    return path.stat().st_uid


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give files away")
def test_a_folder_of_a_stranger_is_refused_unless_the_transcript_is_theirs_too(
    path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation, _ = step(path, AFTER, target=target)
    folder = archive_folder(target)
    uid = give_away(folder, monkeypatch)
    stranger = rf"belongs to another user \(uid {uid}\), who could"
    with pytest.raises(ArchiveError, match=stranger):
        archive_of(target).match_transcript([AFTER])
    with pytest.raises(ArchiveError, match=stranger):
        step(target, BEFORE, kind="rewind")
    assert target.read_bytes() == AFTER
    assert str(tamper_warning(folder)).startswith(f"{folder}: belongs to another user (uid {uid})")
    os.chown(target, uid, -1)
    assert archive_of(target).match_transcript([AFTER]) == (operation, appended(b""))
    target.unlink()
    with pytest.raises(ArchiveError, match=stranger):
        step(path, AFTER, target=target)
    assert not target.exists()
    check_owner(target)


@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "is_writable", "is_open"),
    [
        (0o700, 0o600, False, False),
        (0o700, 0o622, False, True),
        (0o750, 0o640, False, True),
        (0o750, 0o600, False, True),
        (0o750, 0o620, True, True),
        (0o705, 0o602, True, True),
        (0o720, 0o600, True, True),
        (0o702, 0o600, True, True),
    ],
)
def test_who_may_change_what_is_restored(
    tmp_path: Path, folder_mode: int, file_mode: int, *, is_writable: bool, is_open: bool
) -> None:
    folder = tmp_path / "run.jsonl.archive"
    assert tamper_warning(folder) is None
    folder.mkdir()
    (folder / "a").touch()
    (folder / "a").chmod(file_mode)
    (folder / "link").symlink_to("a")
    (tmp_path / "shared").touch()
    (tmp_path / "shared").chmod(0o666)
    folder.chmod(folder_mode)
    assert is_open_to_others(folder) == is_open
    (folder / "shared").hardlink_to(tmp_path / "shared")
    assert is_open_to_others(folder) == is_open
    (folder / "shared").unlink()
    warning = tamper_warning(folder)
    assert (warning is not None) == is_writable
    assert warning is None or "other users can write there" in warning
    assert restrict_to_owner(FileSystem(), folder) == ()
    assert (mode(folder), mode(folder / "a"), mode(tmp_path / "shared")) == (0o700, 0o600, 0o666)
    assert not is_open_to_others(folder)
    assert tamper_warning(folder) is None
    (refusal,) = restrict_to_owner(FileSystem(), tmp_path / "none")
    assert refusal.startswith(f"{tmp_path / 'none'}: other users may read it; its permissions")


def test_a_run_knows_what_all_transcripts_it_read_have_in_common(path: Path, target: Path) -> None:
    target.write_bytes(b"{}\n")
    target.chmod(0o604)
    note_mode(0o100600)
    with noted_modes():
        assert strictest_mode() == 0o777
        open_input(target, TEXT_LIMITS)
        assert strictest_mode() == 0o777
        with noted_modes():
            list(read_lines(target))
            assert strictest_mode() == 0o604
        open_input(path)
        assert strictest_mode() == 0o640
        list(read_lines(target))
        assert strictest_mode() == 0o600
    assert strictest_mode() == 0o777
