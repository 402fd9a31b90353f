"""One history, whatever layouts it went through: inline, split, in place, in any order."""

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from file_commands import rewind_file
from unit.commands.conversations import (
    TALK,
    append,
    group_of,
    jsonl,
    log_of,
    squeeze,
    turn,
    turns,
    view_of,
)

from compactctl.commands.harness.chunks import ChunksOptions, chunks
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import ArchiveError, ChangedError
from compactctl.store.archive.archive import archive_folder


def names(path: Path) -> list[str]:
    """Return all operations, oldest first."""
    return [entry.step.id for entry in log_of(path).operations]


def in_effect(path: Path) -> list[str]:
    return [entry.step.id for entry in log_of(path).operations if entry.in_effect]


def groups(path: Path) -> set[str]:
    return {g.id for e in log_of(path).operations if e.in_effect for g in e.groups}


def inline(path: Path, *stages: str, name: str = "inline.jsonl") -> tuple[Path, str]:
    """Compact into a new file in the inline layout."""
    out = path.with_name(name)
    return out, str(squeeze(path, *stages, output=str(out), layout="inline").change.operation)


@pytest.mark.parametrize("in_place", [False, True])
def test_an_inline_file_that_is_compacted_again_goes_back_to_the_start(
    path: Path, *, in_place: bool
) -> None:
    first, one = inline(path, "prune")
    middle = first.read_bytes()
    last = first if in_place else first.with_name("split.jsonl")
    more = append(first, turn(4))
    two = squeeze(first, "truncate", **({} if in_place else {"output": str(last)})).change.operation
    assert names(last) == in_effect(last) == [one, two]
    rewind_file(last)
    assert last.read_bytes() == middle + more
    rewind_file(last, all=True)
    assert last.read_bytes() == jsonl(TALK) + more
    rewind_file(last, to=two)
    assert in_effect(last) == [one, two]
    rewind_file(last, to=one)
    assert last.read_bytes() == middle + more
    assert len(names(last)) == 6


def test_archives_come_along_with_an_inline_output(path: Path) -> None:
    one = squeeze(path, "prune").change.operation
    more = append(path, turn(4))
    out, two = inline(path, "truncate")
    assert in_effect(out) == [one, two]
    rewind_file(out, all=True)
    assert out.read_bytes() == jsonl(TALK) + more


def test_an_inline_operation_with_an_archive_is_one_operation(path: Path) -> None:
    result = squeeze(path, "truncate", layout="inline")
    assert names(path) == [result.change.operation]
    rewind_file(path)
    assert path.read_bytes() == jsonl(TALK)


def test_many_layouts_one_after_another(path: Path) -> None:
    first, _ = inline(path, "prune", name="1.jsonl")
    second, _ = inline(first, "microcompact", name="2.jsonl")
    third = path.with_name("3.jsonl")
    squeeze(second, "summarize", output=str(third))
    more = append(third, turns(4, 5, 6))
    last, _ = inline(third, "truncate", name="4.jsonl")
    assert in_effect(last) == names(last)
    assert len(names(last)) == len({*names(first), *names(second), *names(third), *names(last)})
    rewind_file(last, all=True)
    assert last.read_bytes() == jsonl(TALK) + more


def test_a_pipe_leaves_archives_where_they_are_and_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = squeeze(path, "prune").change.operation
    middle = path.read_bytes()
    result = squeeze(path, "truncate", output="-", layout="inline")
    assert [str(archive_folder(path)) in line for line in result.warnings] == [True]
    copy = path.with_name("copy.jsonl")
    copy.write_bytes(b"".join(result.data or ()))
    assert [lost.operation for lost in log_of(copy).lost] == [one]
    assert names(copy) == [result.change.operation]
    assert one is not None
    with pytest.raises(ArchiveError, match=one):
        rewind_file(copy, all=True, output=str(path.with_name("gone.jsonl")))
    rewind_file(copy, output=str(path.with_name("gone.jsonl")))
    assert path.with_name("gone.jsonl").read_bytes() == middle
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(copy.read_bytes())))
    assert b"".join(rewind_file(Path("-")).data or ()) == middle


def test_an_archive_that_is_put_beside_what_a_pipe_gave_is_found_again(path: Path) -> None:
    one = squeeze(path, "prune").change.operation
    result = squeeze(path, "truncate", output="-", layout="inline")
    copy = path.with_name("copy.jsonl")
    copy.write_bytes(b"".join(result.data or ()))
    archive_folder(path).rename(archive_folder(copy))
    more = append(copy, turn(4))
    assert in_effect(copy) == [one, result.change.operation]
    hidden = {line.hidden_by for line in view_of(copy, "all").lines} - {None}
    assert hidden == groups(copy)
    rewind_file(copy, all=True)
    assert copy.read_bytes() == jsonl(TALK) + more


def test_rewinding_an_inline_file_can_be_undone(path: Path) -> None:
    out, one = inline(path, "prune", "truncate")
    left = out.read_bytes()
    result = rewind_file(out)
    assert (result.layout, result.redo_options) == ("inline", f"--to {one}")
    assert out.read_bytes() == jsonl(TALK)
    more = append(out, turn(4))
    rewind_file(out, to=one)
    assert out.read_bytes() == left + more


def test_a_rewind_follows_all_that_it_put_back_into_the_file(path: Path) -> None:
    first, one = inline(path, "prune")
    two = squeeze(first, "truncate", output=str(first), layout="inline").change.operation
    squeeze(first, "summarize")
    rewind_file(first)
    three = squeeze(first, "window").change.operation
    for archive in sorted(archive_folder(first).glob("*.parquet"))[:-2]:
        archive.unlink()
    steps = [entry.step for entry in log_of(first).operations]
    assert [step.is_rewind for step in steps] == [False, False, True, False]
    assert [step.id for step in steps if not step.is_rewind] == [one, two, three]


@pytest.mark.parametrize("stage", ["prune", "truncate"])
def test_a_group_of_an_inline_file_that_comes_back_can_go_again(path: Path, stage: str) -> None:
    out = path.with_name("inline.jsonl")
    result = squeeze(path, "prune", "truncate", output=str(out), layout="inline")
    more = append(out, turn(4))
    left, found = out.read_bytes(), groups(out)
    done = rewind_file(out, group=group_of(result, stage))
    assert groups(out) == found - {group_of(result, stage)}
    rewind_file(out, to=(done.redo_options or "").removeprefix("--to "))
    assert out.read_bytes() == left
    rewind_file(out, all=True)
    assert out.read_bytes() == jsonl(TALK) + more


@pytest.mark.parametrize("stages", [("prune",), ("prune", "truncate")])
def test_a_group_inside_the_file_comes_back_beneath_archived_operations(
    path: Path, stages: tuple[str, ...]
) -> None:
    out = path.with_name("inline.jsonl")
    first = squeeze(path, *stages, output=str(out), layout="inline")
    more = append(out, turns(4, 5))
    second = squeeze(out, "summarize")
    latest = append(out, turn(6))
    left = out.read_bytes()
    done = rewind_file(out, group=group_of(first, "prune"))
    assert group_of(first, "prune") not in groups(out)
    assert group_of(second, "summarize") in groups(out)
    assert out.read_bytes().endswith(latest)
    assert len(in_effect(out)) == len(stages)
    rewind_file(out, to=(done.redo_options or "").removeprefix("--to "))
    assert out.read_bytes() == left
    rewind_file(out, all=True)
    assert out.read_bytes() == jsonl(TALK) + more + latest


def test_the_messages_behind_a_summary_are_looked_up_through_all_layouts(path: Path) -> None:
    first, _ = inline(path, "summarize")
    append(first, turns(4, 5))
    squeeze(first, "prune")
    found = chunks(ChunksOptions(input=InputOptions(path=str(first))))
    assert found.conversations
    rewind_file(first, all=True)
    assert jsonl(TALK) in first.read_bytes()


def test_a_copy_without_changes_takes_archive_and_appended_lines_along(path: Path) -> None:
    squeeze(path, "truncate")
    more = append(path, turn(4))
    copy = path.with_name("copy.jsonl")
    assert not squeeze(path, "dedup", output=str(copy)).compacted
    rewind_file(copy)
    assert copy.read_bytes() == jsonl(TALK) + more


def test_an_output_that_is_the_input_is_rewound_in_place(path: Path) -> None:
    result = squeeze(path, "truncate")
    left = path.read_bytes()
    done = rewind_file(path, output=str(path.parent / "." / path.name))
    assert path.read_bytes() == jsonl(TALK)
    assert done.redo_options == f"--to {result.change.operation}"
    rewind_file(path, to=str(result.change.operation))
    assert path.read_bytes() == left


@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_a_client_ends_an_unterminated_line_and_goes_on(
    path: Path, layout: str, ending: bytes
) -> None:
    first = jsonl(TALK).removesuffix(b"\n")
    path.write_bytes(first)
    assert squeeze(path, "truncate", layout=layout).compacted
    compacted = path.read_bytes()
    assert compacted.endswith(b"\n")
    rewind_file(path)
    assert path.read_bytes() == first
    with path.open("ab") as stream:
        stream.write(ending + jsonl(turn(4)))
    assert log_of(path).operations[0].in_effect is False
    assert view_of(path, "all").messages
    rewind_file(path, to=names(path)[0])
    assert path.read_bytes() == compacted + jsonl(turn(4))
    rewind_file(path)
    assert path.read_bytes() == first + ending + jsonl(turn(4))
    assert squeeze(path, "prune").compacted
    rewind_file(path, all=True)
    assert path.read_bytes() == first + ending + jsonl(turn(4))


def test_what_continues_an_unterminated_line_is_an_edit(path: Path) -> None:
    path.write_bytes(jsonl(TALK) + b'{"role": "user", "content": "a"')
    squeeze(path, "truncate")
    rewind_file(path)
    with path.open("ab") as stream:
        stream.write(b"}\n")
    edited = path.read_bytes()
    for write in (rewind_file, lambda where: squeeze(where, "prune")):
        with pytest.raises(ChangedError, match="unterminated"):
            write(path)
    logged = log_of(path)
    assert "unterminated" in logged.changed
    assert logged.exit_code == ChangedError.exit_code
    assert path.read_bytes() == edited


def test_a_document_keeps_its_end(path: Path) -> None:
    path.write_text(json.dumps({"messages": TALK}, indent=1))
    squeeze(path, "truncate")
    assert not path.read_bytes().endswith(b"\n")
