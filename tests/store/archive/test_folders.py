"""Where archives are, which transcript they belong to, and what else is in their folder."""

from pathlib import Path

import pytest
from store.states import AFTER, BEFORE, operation

from compactctl.records import replace
from compactctl.store.archive.contents import FolderContents, read_contents
from compactctl.store.archive.names import (
    ArchiveFile,
    archive_files,
    archive_folder,
    archive_name,
    folders_for,
    readme_text,
    transcript_of,
)
from compactctl.store.archive.sealed import is_sealed_text, sealed_text


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_archives_are_beside_the_transcript_or_behind_its_link(home: Path) -> None:
    path, link = home / "run.jsonl", home / "links" / "link.jsonl"
    link.parent.mkdir()
    link.symlink_to(path)
    for transcript in (path, link):
        assert archive_folder(transcript) == home / "run.jsonl.archive"
    assert folders_for(home) == (home,)
    assert transcript_of(home / "run.jsonl.archive") == path
    assert transcript_of(Path()) == Path()


def test_archives_of_sessions_are_in_the_state_folder(home: Path) -> None:
    project = home / ".claude" / "projects" / "-p"
    project.mkdir(parents=True)
    session, beside = project / "s.jsonl", project / "s.jsonl.archive"
    state = home / ".local" / "state" / "compactctl" / "archives" / str(project)[1:]
    assert archive_folder(session) == state / "s.jsonl.archive"
    assert folders_for(project) == (project, state)
    assert transcript_of(state / "s.jsonl.archive") == session
    # An earlier version put it beside the session, where it stays.
    beside.mkdir()
    assert archive_folder(session) == beside
    assert transcript_of(beside) == session
    (state / "s.jsonl.archive").mkdir(parents=True)
    assert archive_folder(session) == state / "s.jsonl.archive"


def test_the_readme_names_the_transcript(home: Path) -> None:
    text = readme_text(home / "it's.jsonl.archive").decode()
    assert "it's.jsonl" in text
    assert str(home) not in text
    assert "Keep it beside the transcript." in text
    state = home / ".local" / "state" / "compactctl" / "archives" / "p" / "s.jsonl.archive"
    text = readme_text(state).decode()
    assert "/p/s.jsonl" in text
    assert "so this folder is elsewhere" in text


def test_archives_sort_by_number(home: Path) -> None:
    for name in ("10000-compact-a.parquet", "0002-undo-b-c_d.parquet", "0003-rewind-e.parquet"):
        (home / name).touch()
    others = ("003-undo-x.parquet", "0004-other-x.parquet", "0005-undo-x.parquet.old",
              "0006-undo-é.parquet", "\u0660\u0660\u0660\u0667-undo-x.parquet")  # fmt: skip
    for name in others:
        (home / name).touch()
    assert archive_files(home) == (
        ArchiveFile(2, "b-c_d", home / "0002-undo-b-c_d.parquet"),
        ArchiveFile(3, "e", home / "0003-rewind-e.parquet"),
        ArchiveFile(10_000, "a", home / "10000-compact-a.parquet"),
    )


def test_an_archive_is_named_by_its_number_and_operation() -> None:
    each = operation(BEFORE, AFTER)
    assert archive_name(7, each) == f"0007-compact-{each.id}.parquet"
    assert archive_name(12_345, each) == f"12345-compact-{each.id}.parquet"
    with pytest.raises(ValueError, match="'a/b' cannot be part of a file name"):
        archive_name(7, replace(each, id="a/b"))  # type: ignore[arg-type]


def test_the_contents_of_an_archive_folder(home: Path) -> None:
    nothing = FolderContents(archives=(), misnamed=(), displaced=(), unknown=(), has_readme=False)
    assert read_contents(home / "none") == nothing
    names = ("0001-compact-a.parquet", "b.parquet", "README", "lock", ".x.cctl-7-1", "notes.txt",
             "displaced-c", ".cctl-7-1")  # fmt: skip
    for name in names:
        (home / name).touch()
    (archive,) = archive_files(home)
    assert read_contents(home) == FolderContents(
        archives=(archive,),
        misnamed=(home / "b.parquet",),
        displaced=(home / "displaced-c",),
        unknown=(home / ".cctl-7-1", home / "notes.txt"),
        has_readme=True,
    )


def test_a_sealed_text_is_recognized_until_it_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    for text in (b"# Page\n", b"# Page", b""):
        sealed = sealed_text(text)
        path.write_bytes(sealed)
        assert is_sealed_text(path)
        assert sealed.startswith(text)
        for other in (b"x" + sealed, sealed + b"\n", sealed.replace(b"seal ", b"seal 0"), text):
            path.write_bytes(other)
            assert not is_sealed_text(path)
    path.write_bytes(sealed_text(b"# Page\n"))
    (tmp_path / "link.md").symlink_to(path)
    assert is_sealed_text(tmp_path / "link.md")
    assert not is_sealed_text(tmp_path / "none.md")
    assert not is_sealed_text(tmp_path)


def test_a_seal_is_on_a_line_of_its_own() -> None:
    sealed = sealed_text(b"# Page")
    assert sealed == sealed_text(b"# Page\n")
    assert sealed.startswith(b"# Page\n<!-- compactctl.seal ")


def test_a_text_too_long_for_a_page_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.md"
    sealed = sealed_text(b"# Page\n")
    path.write_bytes(sealed)
    for limit, is_sealed in ((len(sealed), True), (len(sealed) - 1, False)):
        monkeypatch.setattr("compactctl.store.archive.sealed._MAX_BYTES", limit)
        assert is_sealed_text(path) == is_sealed
