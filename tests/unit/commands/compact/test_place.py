"""Where a compaction is written, and which options leave no place for it."""

from pathlib import Path
from typing import Any

import pytest

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.place import (
    check_appending,
    check_contradictions,
    check_output_place,
    compacted_name,
    in_place_if_named,
    target_of,
    with_fork,
)
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError


def options(path: str = "run.jsonl", *, redo: bool = False, **output: Any) -> CompactOptions:
    return CompactOptions(input=InputOptions(path=path), redo=redo, output=OutputOptions(**output))


@pytest.mark.parametrize(
    ("name", "compacted"),
    [
        ("run.jsonl", "run.compacted.jsonl"),
        ("run", "run.compacted"),
        ("run.jsonl.gz", "run.compacted.jsonl"),
        ("run.jsonl.zst", "run.compacted.jsonl"),
        ("run.compacted.jsonl", "run.compacted.2.jsonl"),
        ("run.compacted.9.jsonl", "run.compacted.10.jsonl"),
        ("run.compacted.x.jsonl", "run.compacted.x.compacted.jsonl"),
    ],
)
def test_a_compacted_transcript_has_a_name_of_its_own(name: str, compacted: str) -> None:
    assert compacted_name(Path("in") / name) == Path("in") / compacted


@pytest.mark.parametrize(
    ("chosen", "target"),
    [
        (options(), "run.compacted.jsonl"),
        (options(in_place=True), "run.jsonl"),
        (options(layout="native"), "run.jsonl"),
        (options(path="a/b.jsonl", in_place=False), "a/b.compacted.jsonl"),
    ],
)
def test_it_is_written_beside_its_input_or_over_it(chosen: CompactOptions, target: str) -> None:
    assert target_of(chosen) == Path(target)
    named = options(layout="split")
    assert with_fork(named) == named


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (options(redo=True, layout="inline"), "cannot be used with --layout inline"),
        (
            CompactOptions(
                input=InputOptions(path="a"), output=OutputOptions(path="b", in_place=True)
            ),
            "--in-place and --output cannot be used together",
        ),
        (options("-", in_place=True), "standard input cannot be compacted in place"),
        (options("-"), "standard output has no place for an archive"),
        (
            CompactOptions(input=InputOptions(path="a"), output=OutputOptions(path="-")),
            "standard output has no place for an archive",
        ),
        (options(messages_only=True), "--layout messages only writes to standard output"),
    ],
)
def test_what_leaves_no_place_is_refused(chosen: CompactOptions, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_contradictions(chosen)


@pytest.mark.parametrize(
    "chosen",
    [
        options(),
        options(redo=True),
        options(layout="inline"),
        options("-", dry_run=True),
        options("-", layout="inline"),
        CompactOptions(input=InputOptions(path="-"), output=OutputOptions(path="out.jsonl")),
        CompactOptions(
            input=InputOptions(path="-"), output=OutputOptions(path="-", messages_only=True)
        ),
    ],
)
def test_what_leaves_a_place_is_not(chosen: CompactOptions) -> None:
    check_contradictions(chosen)
    check_output_place(chosen)


def test_an_output_that_is_the_input_means_in_place(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("")
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    for output in (path, link):
        named = CompactOptions(
            input=InputOptions(path=str(path)), output=OutputOptions(path=str(output))
        )
        found = in_place_if_named(named).output
        assert (found.in_place, found.path) == (True, None)
    other = CompactOptions(
        input=InputOptions(path=str(path)), output=OutputOptions(path=str(tmp_path / "o"))
    )
    assert in_place_if_named(other) is other
    assert in_place_if_named(options()) == options()
    piped = CompactOptions(input=InputOptions(path="-"), output=OutputOptions(path="-"))
    assert in_place_if_named(piped) is piped


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (
            options(layout="native", in_place=True),
            "--native and --in-place cannot be used together",
        ),
        (options(layout="native", tags=False), "--native and --no-tags cannot be used together"),
        (options(layout="native", redo=True), "--native and --redo cannot be used together"),
        (options("-", layout="native"), "--native appends to a file; name one"),
    ],
)
def test_what_is_appended_has_one_place(chosen: CompactOptions, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_appending(chosen)


def test_only_what_is_appended_is_checked_for_it() -> None:
    assert check_appending(options("nowhere")) == ""
