"""Where a rewind goes, what it keeps, and how it refuses."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from file_commands import rewind_file
from unit.commands.conversations import (
    TALK,
    append,
    group_of,
    jsonl,
    log_of,
    said,
    saved,
    squeeze,
    turn,
)

from compactctl.errors import (
    ArchiveError,
    ChangedError,
    CompactctlError,
    IntegrityError,
    MissingArchiveError,
    UsageError,
)
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.archive_file import read_operation, restore


@pytest.mark.parametrize(
    "fields", [{"to": "a", "all": True}, {"group": "g", "all": True}, {"to": "a", "group": "g"}]
)
def test_only_one_goal_can_be_named(path: Path, fields: dict[str, Any]) -> None:
    squeeze(path, "truncate")
    with pytest.raises(UsageError, match="cannot be used together"):
        rewind_file(path, **fields)


def test_without_an_archive_the_likely_file_is_named(path: Path) -> None:
    squeeze(path, "truncate", output=None, in_place=False)
    with pytest.raises(ArchiveError, match=r"did you mean run\.compacted\.jsonl"):
        rewind_file(path)


def test_one_step_goes_one_operation_back_and_all_goes_to_the_start(path: Path) -> None:
    squeeze(path, "prune")
    middle = path.read_bytes()
    squeeze(path, "truncate")
    newest = path.read_bytes()
    assert rewind_file(path).moved
    assert path.read_bytes() == middle
    rewind_file(path)
    assert path.read_bytes() == jsonl(TALK)
    assert not rewind_file(path).moved
    operations = Archive(archive_folder(path)).operations
    rewind_file(path, to=operations[1].id)
    assert path.read_bytes() == newest
    assert len(rewind_file(path, all=True).undone) == 2
    assert path.read_bytes() == jsonl(TALK)


def test_an_operation_is_named_by_the_start_of_its_id(path: Path) -> None:
    result = squeeze(path, "truncate")
    rewind_file(path)
    rewind_file(path, to=str(result.change.operation)[:6])
    assert said(path)[0] == "[Earlier messages"
    with pytest.raises(UsageError, match="not an operation"):
        rewind_file(path, to="zzz")


def test_a_state_is_named_by_every_digest_that_the_log_shows(path: Path) -> None:
    squeeze(path, "prune")
    more = append(path, turn(4))
    squeeze(path, "truncate")
    outcome = path.read_bytes()
    operations = [entry.operation for entry in log_of(path).operations if entry.operation]
    digests = [state for each in operations for state in (each.before, each.after)]
    for state in digests:
        rewind_file(path, to=state.sha256[:12], check=True)
    rewind_file(path, to=digests[0].sha256)
    assert path.read_bytes() == jsonl(TALK) + more
    assert rewind_file(path, to=digests[-1].sha256[:12]).moved
    assert path.read_bytes() == outcome
    assert not rewind_file(path, to=digests[-1].sha256).moved
    with pytest.raises(UsageError, match="not an operation"):
        rewind_file(path, to="0" * 64)


def test_what_came_between_operations_keeps_its_order(path: Path) -> None:
    first = squeeze(path, "prune")
    one = append(path, turn(4))
    squeeze(path, "truncate")
    two = append(path, turn(5))
    assert rewind_file(path, to=first.change.operation).appended.carried == len(two)
    three = append(path, turn(6))
    rewind_file(path)
    assert path.read_bytes() == jsonl(TALK) + one + two + three


def test_an_edit_of_what_the_archive_knows_stops_everything(path: Path) -> None:
    squeeze(path, "truncate")
    edited = path.read_bytes().replace(b"prompt 3", b"Prompt 3")
    path.write_bytes(edited)
    for fields in ({}, {"all": True}, {"check": True}):
        with pytest.raises(ChangedError, match="was edited since"):
            rewind_file(path, **fields)
    assert path.read_bytes() == edited


def test_a_state_is_reached_whose_lines_are_not_in_the_damaged_archive(path: Path) -> None:
    first = squeeze(path, "prune").change.operation
    middle = path.read_bytes()
    squeeze(path, "truncate")
    archive = Archive(archive_folder(path)).files[0].path
    data, out = archive.read_bytes(), path.with_name("middle.jsonl")
    for index in range(4, len(data)):
        archive.write_bytes(data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :])
        with suppress(CompactctlError):
            if read_operation(archive).id == first and not can_be_read(archive):
                break
    rewind_file(path, to=first, output=str(out))
    assert out.read_bytes() == middle
    with pytest.raises(CompactctlError):
        rewind_file(path, all=True, output=str(out), force=True)


def can_be_read(archive: Path) -> bool:
    try:
        return bool(restore(archive))
    except CompactctlError:
        return False


def test_another_output_leaves_the_transcript_and_its_history(path: Path) -> None:
    squeeze(path, "truncate")
    compacted, out = path.read_bytes(), path.with_name("first.jsonl")
    rewind_file(path, output=str(out))
    assert out.read_bytes() == jsonl(TALK)
    assert path.read_bytes() == compacted
    assert len(Archive(archive_folder(path)).operations) == 1


def test_a_compacted_state_elsewhere_is_told_to_be_without_its_archive(path: Path) -> None:
    squeeze(path, "prune")
    squeeze(path, "truncate")
    out = path.with_name("earlier.jsonl")
    (warning,) = rewind_file(path, output=str(out)).warnings
    assert warning.endswith(f"stays in {archive_folder(path)}")
    assert rewind_file(path, output=str(out), all=True).warnings == ()


def test_inline_operations_are_undone_newest_first(path: Path) -> None:
    out = path.with_name("inline.jsonl")
    squeeze(path, "prune", output=str(out), layout="inline")
    middle = out.read_bytes()
    second = path.with_name("second.jsonl")
    squeeze(out, "truncate", output=str(second), layout="inline")
    more = append(second, turn(4))
    result = rewind_file(second)
    assert second.read_bytes() == middle + more
    assert (result.layout, result.appended.carried, len(result.in_effect)) == (
        "inline",
        len(more),
        1,
    )
    rewind_file(second, all=True)
    assert second.read_bytes() == jsonl(TALK) + more


def test_inline_originals_that_were_edited_are_not_passed_off_as_restored(path: Path) -> None:
    out = path.with_name("inline.jsonl")
    squeeze(path, "truncate", output=str(out), layout="inline")
    out.write_bytes(out.read_bytes().replace(b"prompt 0", b"Prompt 0"))
    with pytest.raises(IntegrityError, match="does not restore the recorded bytes"):
        rewind_file(out)


def test_an_unknown_place_in_an_inline_file_is_refused_with_those_there_are(path: Path) -> None:
    out = path.with_name("inline.jsonl")
    result = squeeze(path, "prune", "truncate", output=str(out), layout="inline")
    with pytest.raises(UsageError, match=str(result.change.operation)):
        rewind_file(out, to="x")
    with pytest.raises(UsageError, match=group_of(result, "prune")):
        rewind_file(out, group="nonsense")


@pytest.mark.parametrize("everything", [False, True])
def test_after_an_earlier_inline_group_the_rest_can_be_taken_back(
    path: Path, *, everything: bool
) -> None:
    before = path.read_bytes()
    first = squeeze(path, "prune", output=str(path.with_name("1.jsonl")), layout="inline")
    last = path.with_name("3.jsonl")
    squeeze(
        path.with_name("1.jsonl"),
        "summarize",
        output=str(path.with_name("2.jsonl")),
        layout="inline",
    )
    squeeze(path.with_name("2.jsonl"), "truncate", output=str(last), layout="inline")
    more = append(last, turn(4))
    rewind_file(last, group=group_of(first, "prune"))
    left = sum(entry.in_effect for entry in log_of(last).operations)
    assert left > 0
    for _ in range(1 if everything else left):
        rewind_file(last, all=everything)
    assert last.read_bytes() == before + more


@pytest.mark.parametrize("by_group", [False, True])
def test_tags_that_were_there_before_are_there_once(path: Path, *, by_group: bool) -> None:
    talk = [{**record, "condenseParent": "gone"} for record in TALK]
    saved(path, talk)
    out = path.with_name("inline.jsonl")
    result = squeeze(path, "prune", output=str(out), layout="inline")
    rewind_file(out, **({"group": group_of(result, "prune")} if by_group else {}))
    assert out.read_bytes() == path.read_bytes()


def test_a_copy_without_its_archive_is_not_said_to_be_untouched(path: Path) -> None:
    squeeze(path, "prune")
    shutil.copy(path, path.with_name("copy.jsonl"))
    assert log_of(path.with_name("copy.jsonl")).archive_missing
    with pytest.raises(ArchiveError, match=r"archive not found; .*\.archive matches; pass it"):
        rewind_file(path.with_name("copy.jsonl"))
    assert not log_of(saved(path.with_name("other.jsonl"), TALK)).archive_missing


def test_an_unchanged_copy_can_be_rewound_as_well(path: Path) -> None:
    before = path.read_bytes()
    squeeze(path, "truncate")
    copy = path.with_name("copy.jsonl")
    assert not squeeze(path, "dedup", output=str(copy)).compacted
    rewind_file(copy)
    assert copy.read_bytes() == before


def test_of_a_transcript_that_was_edited_the_originals_can_be_written(path: Path) -> None:
    squeeze(path, "prune")
    middle = path.read_bytes()
    squeeze(path, "truncate")
    path.write_bytes(path.read_bytes().replace(b"answer 3", b"ANSWER 3"))
    edited = path.read_bytes()
    with pytest.raises(ChangedError, match="-o FILE writes the originals") as raised:
        rewind_file(path)
    assert "has rewritten the file" not in str(raised.value)
    newest, first = path.with_name("newest.jsonl"), path.with_name("first.jsonl")
    result = rewind_file(path, output=str(newest))
    assert "messages added since the compaction are not in these originals" in result.warnings[0]
    assert newest.read_bytes() == middle
    rewind_file(path, output=str(first), all=True)
    assert first.read_bytes() == jsonl(TALK)
    assert path.read_bytes() == edited
    with pytest.raises(ChangedError):
        rewind_file(path, output=str(path), force=True)


def test_of_a_transcript_without_its_newest_archive_the_first_state_can_be_written(
    path: Path,
) -> None:
    squeeze(path, "prune")
    squeeze(path, "truncate")
    _, newest = sorted(archive_folder(path).glob("*.parquet"))
    newest.unlink()
    out = path.with_name("out.jsonl")
    for fields in ({"all": True}, {"output": str(out)}):
        with pytest.raises(MissingArchiveError, match="--all -o FILE writes the first state"):
            rewind_file(path, **fields)
    rewind_file(path, output=str(out), all=True)
    assert out.read_bytes() == jsonl(TALK)


def test_what_a_program_wrote_to_the_replaced_file_comes_along(path: Path) -> None:
    with path.open("ab") as client:
        squeeze(path, "truncate", force=True)
        client.write(jsonl(turn(4)))
        client.flush()
        result = rewind_file(path)
    assert path.read_bytes() == jsonl(TALK) + jsonl(turn(4))
    assert result.appended.late == result.appended.carried == len(jsonl(turn(4)))
