"""Archive folders are for their owner alone, wherever they came from."""

import os
from pathlib import Path

import pytest
from store.states import AFTER, BEFORE, archive_of, mode, names_below, step

from compactctl.errors import ArchiveError
from compactctl.store.archive.archive import archive_folder
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
        archive_of(path).match_transcript(AFTER)
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


@pytest.mark.skipif(os.geteuid() == 0, reason="to root, its own folders are not a stranger's")
def test_a_folder_of_a_stranger_is_refused(
    path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step(path, AFTER, target=target)
    target.unlink()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(ArchiveError, match="another user"):
        archive_of(target).match_transcript(AFTER)
    with pytest.raises(ArchiveError, match="another user"):
        step(path, AFTER, target=target)
    assert not target.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize(
    ("transcript", "folder", "trusted"), [(1234, 1234, True), (1234, 0, True), (0, 1234, False)]
)
def test_root_trusts_the_owner_of_the_transcript(
    path: Path, transcript: int, folder: int, *, trusted: bool
) -> None:
    each, _ = step(path, AFTER)
    os.chown(path, transcript, transcript)
    os.chown(archive_folder(path), folder, folder)
    if trusted:
        assert archive_of(path).match_transcript(AFTER) == (each, b"")
        return
    with pytest.raises(ArchiveError, match="uid 1234"):
        archive_of(path).match_transcript(AFTER)
    with pytest.raises(ArchiveError, match="uid 1234"):
        step(path, BEFORE, kind="rewind")
    assert path.read_bytes() == AFTER


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
