"""The chain of operations behind a transcript."""

from pathlib import Path

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st
from store.states import AFTER, BEFORE, MORE, a_folder, appended, archive_of, state_before, step

from compactctl.errors import ArchiveError, ChangedError
from compactctl.store.archive.archive import archive_folder
from compactctl.store.files.source import digest_of, split_lines


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def test_a_transcript_without_archive_is_in_its_first_state(path: Path) -> None:
    archive = archive_of(path)
    assert archive.operations == ()
    assert archive.match_transcript([BEFORE]) == (None, appended(b""))
    assert archive.next_number == 1


def test_the_operation_in_effect_and_what_came_after_it(path: Path) -> None:
    first, _ = step(path, AFTER)
    assert archive_of(path).match_transcript([AFTER]) == (first, appended(b""))
    append(path, MORE + b"torn")
    assert archive_of(path).match_transcript([path.read_bytes()]) == (
        first,
        appended(MORE + b"torn"),
    )


def test_every_state_of_a_chain_can_be_reached(path: Path) -> None:
    first, _ = step(path, AFTER)
    append(path, MORE)
    second, _ = step(path, MORE, parent=first.id)
    append(path, MORE)
    third, _ = step(path, AFTER + MORE + MORE, kind="rewind", parent=second.id, head=first.id)
    archive, now = archive_of(path), path.read_bytes()
    assert archive.operations == (first, second, third)
    assert archive.next_number == 4
    assert archive.match_transcript([now]) == (third, appended(b""))
    assert state_before(archive, first.id) == BEFORE
    assert state_before(archive, second.id) == AFTER + MORE
    assert state_before(archive, third.id) == MORE + MORE


def test_archives_sort_by_number_and_name_their_kind(path: Path) -> None:
    first, one = step(path, AFTER)
    _, two = step(path, BEFORE, kind="rewind", parent=first.id)
    assert [each.name.split("-")[:2] for each in (*one.archives, *two.archives)] == [
        ["0001", "compact"],
        ["0002", "rewind"],
    ]


def test_doing_a_thing_again_after_a_rewind_is_known_again(path: Path) -> None:
    first, _ = step(path, AFTER)
    back, _ = step(path, BEFORE, kind="rewind", parent=first.id)
    again, _ = step(path, AFTER)
    assert again == first
    assert archive_of(path).operations == (first, back, again)
    assert archive_of(path).match_transcript([AFTER]) == (again, appended(b""))
    assert state_before(archive_of(path), again.id) == BEFORE


def test_an_operation_that_was_never_published_is_passed_over(path: Path) -> None:
    first, _ = step(path, AFTER)
    step(path, MORE, parent=first.id)
    path.write_bytes(AFTER)
    assert archive_of(path).match_transcript([AFTER]) == (first, appended(b""))
    assert archive_of(path).match_transcript([AFTER + MORE]) == (first, appended(MORE))


def test_a_first_operation_that_was_never_published_leaves_the_first_state(path: Path) -> None:
    step(path, AFTER)
    assert archive_of(path).match_transcript([BEFORE]) == (None, appended(b""))
    assert archive_of(path).match_transcript([BEFORE + MORE]) == (None, appended(MORE))


def test_an_unpublished_shortening_is_not_taken_for_an_appended_tail(path: Path) -> None:
    lines = split_lines(BEFORE)
    first, _ = step(path, b"".join(lines[:3]))
    step(path, b"".join(lines[:2]), parent=first.id)
    path.write_bytes(b"".join(lines[:3]))
    assert archive_of(path).match_transcript([path.read_bytes()]) == (first, appended(b""))


def test_an_edit_by_hand_is_told_from_an_appended_line(path: Path) -> None:
    step(path, AFTER)
    with pytest.raises(ChangedError, match=r"run\.jsonl: was edited since operation \w+"):
        archive_of(path).match_transcript([AFTER.replace(b"0", b"7")])
    with pytest.raises(ChangedError):
        archive_of(path).match_transcript([AFTER[:-1]])


def test_an_unterminated_last_line_is_ended_but_not_continued(path: Path) -> None:
    first, _ = step(path, AFTER[:-1])
    assert archive_of(path).match_transcript([AFTER[:-1]]) == (first, appended(b""))
    assert archive_of(path).match_transcript([AFTER + MORE]) == (
        first,
        appended(b"\n" + MORE, is_mid_line=True),
    )
    with pytest.raises(ChangedError, match="unterminated"):
        archive_of(path).match_transcript([AFTER[:-1] + b"}\n"])


def test_a_state_is_held_by_the_archive_that_restores_it(path: Path) -> None:
    first, _ = step(path, AFTER)
    before, after = digest_of(BEFORE).sha256, digest_of(AFTER).sha256
    archive = archive_of(path)
    assert [archive.holds(digest) for digest in (before, after, "0")] == [True, False, False]
    step(path, MORE, parent=first.id)
    archive = archive_of(path)
    assert archive.holds(after)
    data = bytearray(archive.files[1].path.read_bytes())
    data[200] ^= 1
    archive.files[1].path.write_bytes(data)
    assert not archive_of(path).holds(after)
    path.write_bytes(b"edited\n")
    with pytest.raises(ChangedError, match=r"was edited since .+ \(2026-03-01T10:00:00Z\);"):
        archive.match_transcript([path.read_bytes()])


def test_an_archive_under_a_wrong_name_is_refused(path: Path) -> None:
    _, published = step(path, AFTER)
    published.archives[0].rename(published.archives[0].with_name("0001-compact-abc.parquet"))
    with pytest.raises(ArchiveError, match=r"is archive 0001-compact-\w+\.parquet under"):
        _ = archive_of(path).operations


def test_other_files_in_the_folder_are_ignored(path: Path) -> None:
    first, _ = step(path, AFTER)
    (archive_folder(path) / "notes.parquet").write_text("mine")
    assert archive_of(path).operations == (first,)


def test_the_archive_stands_beside_the_file_and_not_beside_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.jsonl").symlink_to("real/run.jsonl")
    assert archive_folder(tmp_path / "run.jsonl") == tmp_path / "run.jsonl.archive"
    linked = archive_folder(tmp_path / "link.jsonl")
    assert linked == (tmp_path / "real" / "run.jsonl.archive").resolve()


def test_no_archive_holds_an_absolute_path(path: Path, tmp_path: Path) -> None:
    step(path, AFTER)
    for file in archive_folder(path).iterdir():
        assert str(tmp_path).encode() not in file.read_bytes()


LINES = st.lists(st.binary(max_size=6).map(lambda line: b"|" + line.replace(b"\n", b"") + b"\n"))


@tries(40)
@given(LINES.filter(bool), st.lists(st.tuples(st.integers(0, 2**16), LINES), max_size=4))
def test_every_state_of_any_chain_can_be_restored(
    lines: list[bytes], runs: list[tuple[int, list[bytes]]]
) -> None:
    with a_folder() as folder:
        path = folder / "run.jsonl"
        path.write_bytes(b"".join(lines))
        done = []
        for number, (mask, more) in enumerate(runs):
            before = path.read_bytes()
            kept = [line for n, line in enumerate(split_lines(before)) if mask >> n % 16 & 1]
            after = b"kept %d\n" % number + b"".join(kept)
            done.append((before, after, step(path, after, name=str(number))[0]))
            append(path, b"".join(more))
        archive, now = archive_of(path), path.read_bytes()
        for before, _, each in done:
            assert state_before(archive, each.id) == before
        if done:
            _, after, last = done[-1]
            assert archive.match_transcript([now]) == (last, appended(now[len(after) :]))
