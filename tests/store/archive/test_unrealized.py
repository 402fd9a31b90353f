"""Archives whose operations never took place are told from those that something needs."""

from pathlib import Path

from store.states import AFTER, MORE, archive_of, step

from compactctl.store.archive.archive import archive_folder
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
