"""Archives whose operations never took place are told from those that something needs."""

import shutil
from pathlib import Path

from store.states import AFTER, MORE, archive_of, step

from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.unrealized import leaves_gap, unrealized_archives

OTHER = b'{"n":1}\n'


def names(path: Path) -> list[str]:
    return [archive.name[:4] for archive in unrealized_archives(archive_folder(path), path)]


def remove_displaced(path: Path) -> None:
    for link in archive_folder(path).glob("displaced-*"):
        link.unlink()


def test_all_that_led_to_a_transcript_took_place(path: Path) -> None:
    assert names(path) == []
    first, _ = step(path, AFTER)
    second, _ = step(path, OTHER, parent=first.id)
    step(path, AFTER, kind="rewind", parent=second.id, head=first.id)
    assert names(path) == []
    path.write_bytes(path.read_bytes() + MORE)
    assert names(path) == []


def test_what_another_output_replaced_took_place(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    step(path, AFTER, target=target)
    step(path, OTHER, target=target)
    assert names(target) == []
    target.unlink()
    # The first outcome is displaced; nobody can tell whether the second was ever there.
    assert names(target) == ["0002"]


def test_what_was_never_written_did_not_take_place(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    step(path, AFTER, target=target)
    state = target.read_bytes()
    step(path, OTHER, target=target)
    target.write_bytes(state)
    assert names(target) == ["0002"]
    target.unlink()
    remove_displaced(target)
    assert names(target) == ["0002", "0001"]


def test_an_operation_upon_one_that_never_took_place_does_not_prove_it(path: Path) -> None:
    first, _ = step(path, AFTER)
    step(path, OTHER, parent=first.id)
    remove_displaced(path)
    path.write_bytes(AFTER)
    assert names(path) == ["0002"]
    path.write_bytes(b"something else\n")
    assert names(path) == ["0002", "0001"]


def test_a_gap_is_left_unless_another_archive_has_the_number(path: Path) -> None:
    step(path, AFTER)
    step(path, OTHER)
    first, second = (file.path for file in archive_of(path).files)
    assert [leaves_gap(first), leaves_gap(second)] == [True, False]
    first.with_name("0001-compact-0123456789ab.parquet").touch()
    assert [leaves_gap(first), leaves_gap(second)] == [False, False]


def test_only_what_took_place_counts_of_archives_with_one_number(
    path: Path, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    first, _ = step(path, AFTER, target=one)
    second, published = step(path, OTHER, target=two)
    (loser,) = published.archives
    shutil.copy(loser, archive_folder(one))
    assert archive_of(one).operations == (first,)
    one.write_bytes(OTHER)
    assert archive_of(one).operations == (second,)
    # The only copy of what happened is not passed over, even if nothing tells what happened.
    one.unlink()
    assert {op.id for op in archive_of(one).operations} == {first.id, second.id}


def test_an_archive_that_has_a_number_of_its_own_elsewhere_is_passed_over(
    path: Path, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    _, published = step(path, AFTER, target=one)
    second, other = step(path, OTHER, target=two)
    shutil.copy(other.archives[0], archive_folder(one))
    lineage = archive_folder(one) / "0123456789ab"
    lineage.mkdir()
    shutil.copy(published.archives[0], lineage)
    shutil.copy(two, archive_folder(one) / "displaced-0123456789ab")
    assert archive_of(one).operations == (second,)


def test_a_lineage_that_is_read_alone_counts_what_took_place(path: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    first, published = step(path, AFTER, target=one)
    _, other = step(path, OTHER, target=two)
    lineage = archive_folder(one) / "0123456789ab"
    lineage.mkdir()
    shutil.move(published.archives[0], lineage)
    shutil.copy(other.archives[0], lineage)
    assert Archive(lineage).operations == (first,)
