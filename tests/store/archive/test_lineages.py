"""Outputs of several inputs under one name: which of them a state came from."""

import os
from pathlib import Path
from typing import Any

import pytest
from store.states import AFTER, BEFORE, MORE, archive_of, state_before, step

from compactctl.model.operation import OperationId
from compactctl.store.archive.archive import Archive, read_archive
from compactctl.store.archive.names import archives_below
from compactctl.store.files.source import digest_of

# What is left of all of them is the same.
INPUTS = {name: AFTER + BEFORE.replace(b"x", name.encode()) for name in "abc"}


def compacted(path: Path, name: str, after: bytes = AFTER, **fields: Any) -> OperationId:
    """Write the outcome of one of the inputs to ``path``, whatever is there."""
    source = path.with_name(f"{name}.jsonl")
    source.write_bytes(INPUTS[name])
    return step(source, after, target=path, force=True, **fields)[0].id


def lineage_at(path: Path) -> Archive:
    """Return the archive that leads back from the transcript at ``path``."""
    return read_archive(archive_of(path).folder, (path.read_bytes(),))


def origin_of(path: Path) -> bytes:
    """Return the state before the operation that led to the transcript at ``path``."""
    lineage = lineage_at(path)
    operation, _ = lineage.match_transcript((path.read_bytes(),))
    assert operation is not None
    return state_before(lineage, operation.id)


@pytest.mark.parametrize("order", ["ab", "ba", "aba", "abcab", "cbacc", "aabbaa"])
def test_of_equal_outcomes_the_one_written_last_leads_back(path: Path, order: str) -> None:
    for name in order:
        operation = compacted(path, name)
        assert origin_of(path) == INPUTS[name]
        assert lineage_at(path).operations[-1].id == operation
        with path.open("ab") as stream:
            stream.write(MORE)
        assert origin_of(path) == INPUTS[name]


def test_doing_the_newest_thing_again_writes_no_second_archive(path: Path) -> None:
    for name in "abb":
        compacted(path, name)
    assert len(archives_below(archive_of(path).folder)) == 2
    compacted(path, "a")
    assert len(archives_below(archive_of(path).folder)) == 3


def test_a_copy_of_the_folder_knows_what_was_written_last(path: Path) -> None:
    for minute, name in enumerate("cabacbabc"):
        compacted(path, name, recorded_at=f"2026-03-01T10:0{minute}:00Z")
    files = archives_below(archive_of(path).folder)
    for times in (range(len(files)), reversed(range(len(files)))):
        for file, time in zip(files, times, strict=True):
            os.utime(file.path, (time, time))
        assert origin_of(path) == INPUTS["c"]


def test_an_operation_that_was_never_published_makes_no_other_outcome_newer(path: Path) -> None:
    for name in "ab":
        compacted(path, name)
    compacted(path, "a", after=MORE)
    path.write_bytes(AFTER)
    assert origin_of(path) == INPUTS["b"]


def test_the_largest_outcome_counts_before_the_newest(path: Path) -> None:
    compacted(path, "a", after=AFTER + MORE)
    compacted(path, "b")
    path.write_bytes(AFTER + MORE)
    assert origin_of(path) == INPUTS["a"]


def test_an_input_goes_on_the_lineage_that_begins_with_it_before_one_that_it_continues(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(INPUTS, "a", INPUTS["c"] + MORE)
    lineages = [compacted(path, name) and lineage_at(path).folder for name in "bacab"]
    assert lineages[0] == lineages[4] == archive_of(path).folder
    assert lineages[1] == lineages[3] == lineages[0] / digest_of(INPUTS["a"]).sha256[:12]
    assert lineages[2] == lineages[0] / digest_of(INPUTS["c"]).sha256[:12]
