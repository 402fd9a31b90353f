"""The operations behind a transcript: what is in effect, what was appended, and what is missing."""

import shutil
from pathlib import Path

from file_commands import rewind_file
from unit.commands.conversations import append, log_of, squeeze, turns

from compactctl.errors import ArchiveError
from compactctl.store.archive.names import archive_files, archive_folder


def test_what_was_never_compacted_has_no_history(path: Path) -> None:
    result = log_of(path)
    assert (result.operations, result.by_client, result.appended_bytes) == ((), (), 0)
    assert (result.archive_missing, result.advice, result.exit_code) == (False, "", 0)


def test_operations_are_numbered_and_have_their_groups(path: Path) -> None:
    done = squeeze(path, "window")
    append(path, turns(4, 5))
    squeeze(path, "window")
    first, second = log_of(path).operations
    assert (first.number, first.in_effect, second.number, second.in_effect) == (1, True, 2, True)
    [group] = first.groups
    [record] = done.stages
    assert (group.stage, group.messages, group.in_effect) == ("window", record.hidden, True)
    # Three of four turns that are equally long are hidden.
    assert group.tokens == record.tokens_before * 3 // 4 > 0
    archives = archive_files(archive_folder(path))
    assert [entry.archive_bytes for entry in (first, second)] == [
        archive.path.stat().st_size for archive in archives
    ]


def test_what_was_appended_since_is_counted_in_bytes(path: Path) -> None:
    squeeze(path, "window")
    assert log_of(path).appended_bytes == 0
    more = append(path, turns(4))
    assert log_of(path).appended_bytes == len(more)


def test_an_operation_that_was_undone_is_not_in_effect(path: Path) -> None:
    squeeze(path, "window")
    rewind_file(path)
    result = log_of(path)
    assert [entry.in_effect for entry in result.operations] == [False, False]
    assert not any(group.in_effect for entry in result.operations for group in entry.groups)
    assert (result.appended_bytes, result.exit_code) == (0, 0)


def test_a_group_inside_the_transcript_is_known_by_its_id_alone(path: Path) -> None:
    output = path.with_name("inline.jsonl")
    squeeze(path, "window", layout="inline", output=str(output))
    [entry] = log_of(output).operations
    assert (entry.operation, entry.archive_bytes, entry.in_effect) == (None, 0, True)
    [group] = entry.groups
    assert (group.stage, group.messages, group.tokens, group.in_effect) == ("", None, None, True)


def test_a_missing_archive_is_told(path: Path) -> None:
    squeeze(path, "window")
    shutil.rmtree(archive_folder(path))
    result = log_of(path)
    assert (result.operations, result.archive_missing) == ((), True)
    assert result.advice
    assert result.exit_code == ArchiveError.exit_code


def test_a_missing_archive_of_several_is_told_by_its_number(path: Path) -> None:
    squeeze(path, "window")
    append(path, turns(4, 5))
    squeeze(path, "window")
    archive_files(archive_folder(path))[0].path.unlink()
    result = log_of(path)
    [lost] = result.lost
    assert "has no archive 0001" in lost.why
    assert [entry.in_effect for entry in result.operations] == [True]
    assert result.exit_code == ArchiveError.exit_code
