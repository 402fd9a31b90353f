"""What a compaction is asked for, where it goes, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, rewind_file
from unit.commands.conversations import FAST, TALK, jsonl, said, saved, squeeze, words

from compactctl.commands.compact.place import compacted_name
from compactctl.commands.compact.result import CompactResult
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import DoesNotFitError, NotUnderstoodError, UsageError
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.tokens.budget import TargetSize


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("run.jsonl", "run.compacted.jsonl"),
        ("run.compacted.jsonl", "run.compacted.2.jsonl"),
        ("run.compacted.9.jsonl", "run.compacted.10.jsonl"),
        ("run.jsonl.gz", "run.compacted.jsonl"),
        ("a.b.json", "a.b.compacted.json"),
        ("run", "run.compacted"),
    ],
)
def test_the_default_name_is_counted_up(name: str, expected: str) -> None:
    assert compacted_name(Path("/x") / name) == Path("/x") / expected


@pytest.mark.parametrize(
    ("fields", "advice"),
    [
        ({"in_place": True, "output": "x"}, "cannot be used together"),
        ({"input": InputOptions(path="-"), "in_place": True}, "name a file"),
        ({"output": "-"}, "--layout inline"),
        ({"input": InputOptions(path="-")}, "--layout inline"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    path: Path, fields: dict[str, Any], advice: str
) -> None:
    with pytest.raises(UsageError, match=advice):
        compact_file(path, **fields)


def output_of(result: CompactResult) -> Path:
    assert result.written is not None
    return Path(result.written.output)


def test_by_default_a_new_file_is_written_beside_the_old_one(path: Path) -> None:
    result = squeeze(path, "summarize", output=None, in_place=False)
    assert output_of(result) == path.with_name("run.compacted.jsonl")
    assert path.read_bytes() == jsonl(TALK)
    assert said(output_of(result))[0] == "[Previous conversation"


def test_a_compacted_file_compacted_again_takes_its_history_along(path: Path) -> None:
    first = squeeze(path, "prune", output=None, in_place=False)
    second = squeeze(output_of(first), "summarize", output=None, in_place=False)
    out = output_of(second)
    assert out.name == "run.compacted.2.jsonl"
    assert [o.id for o in Archive(archive_folder(out)).operations] == [
        first.change.operation,
        second.change.operation,
    ]
    rewind_file(out, all=True)
    assert out.read_bytes() == jsonl(TALK)


def test_the_same_run_gives_the_same_bytes_and_operation(path: Path, tmp_path: Path) -> None:
    results = [squeeze(path, "truncate", output=str(tmp_path / name)) for name in ("a", "b")]
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert len({result.change.operation for result in results}) == 1
    other = squeeze(path, "truncate", "prune", output=str(tmp_path / "c"))
    assert other.change.operation != results[0].change.operation


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_another_file_is_not_overwritten_without_force(path: Path, layout: str) -> None:
    other = path.with_name("other.jsonl")
    other.write_bytes(b"precious\n")
    with pytest.raises(UsageError, match="--force"):
        squeeze(path, "truncate", output=str(other), layout=layout)
    assert other.read_bytes() == b"precious\n"
    squeeze(path, "truncate", output=str(other), layout=layout, force=True)
    assert other.read_bytes() != b"precious\n"


def test_without_anything_to_do_the_output_is_a_copy(path: Path) -> None:
    out = path.with_name("copy.jsonl")
    result = squeeze(path, "dedup", output=str(out))
    assert not result.compacted
    assert result.change.operation is None
    assert out.read_bytes() == path.read_bytes()
    assert not archive_folder(out).exists()


def test_without_anything_to_do_nothing_is_written_in_place(path: Path) -> None:
    def identity() -> tuple[int, int, bytes]:
        status = path.stat()
        return status.st_ino, status.st_mtime_ns, path.read_bytes()

    before = identity()
    assert squeeze(path, "dedup").written is None
    assert identity() == before


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_a_file_of_one_line_is_compacted_in_both_layouts(path: Path, layout: str) -> None:
    saved(path, [{"role": "tool", "tool_call_id": "x", "content": "text " * 90}] * 2)
    squeeze(path, "prune", layout=layout)
    assert said(path) == ["[Tool result", "text text"]
    saved(path, TALK[:1])
    assert not squeeze(path, "truncate", layout=layout).compacted


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_a_document_with_a_record_of_another_kind_is_compacted(path: Path, layout: str) -> None:
    before = json.dumps([*TALK[:2], {"kind": "other"}, 17, *TALK[2:]])
    path.write_text(before)
    result = squeeze(path, "truncate", layout=layout)
    assert result.compacted
    assert len(result.opaque) == 2
    rewind_file(path)
    assert path.read_text() == before


def test_strict_names_the_lines_that_are_not_understood(path: Path) -> None:
    path.write_bytes(jsonl(TALK) + b"\xff\n" + jsonl(TALK[:1]))
    with pytest.raises(NotUnderstoodError, match="line 17: not JSON"):
        squeeze(path, "truncate", input=InputOptions(path=str(path), strict=True))
    assert squeeze(path, "truncate").opaque


def test_require_fit_says_what_is_over(path: Path) -> None:
    plan = PlanOptions(stages=("dedup",), target=TargetSize(value=100, unit="tokens"))
    with pytest.raises(DoesNotFitError, match="over the limit of 100"):
        compact_file(path, measure=FAST, plan=plan, require_fit=True)


def test_an_operation_names_the_one_it_follows(path: Path) -> None:
    first = squeeze(path, "prune")
    second = squeeze(path, "summarize")
    one, two = Archive(archive_folder(path)).operations
    assert (one.parent, two.parent) == (None, first.change.operation)
    assert two.id == second.change.operation
    assert one.after == two.before
    assert two.after == second.change.after
    assert [record.name for record in two.stages] == ["summarize"]


@pytest.mark.parametrize(
    ("system", "prompt", "warning"),
    [
        (0, 600, "your words alone take 720 tokens, more than the 500 asked for"),
        (60, 600, "your words alone take 720 tokens, more than the 500 asked for"),
        (250, 300, "your words take 360 tokens, beside 313 in every request: more than the 500"),
        (0, 60, ""),
    ],
)
def test_words_that_are_more_than_was_asked_for_are_kept_and_told(
    tmp_path: Path, system: int, prompt: int, warning: str
) -> None:
    rules = " ".join(f"Never moor at quay {n}." for n in range(prompt // 5))
    asked = {"role": "user", "content": rules}
    front = [{"role": "system", "content": words(system)}] if system else []
    path = saved(tmp_path / "run.jsonl", [*front, asked, *TALK])
    plan = PlanOptions(stages=("distill",), target=TargetSize(value=500, unit="tokens"))
    result = squeeze(path, plan=plan)
    assert asked["content"] in path.read_text()
    assert [text[: len(warning)] for text in result.warnings] == [warning][: bool(warning)]
    assert result.fits == (not warning)


def test_what_a_built_in_summary_loses_is_known_and_no_warning(path: Path) -> None:
    result = squeeze(path, "summarize", compare=True)
    assert [summary.is_built_in for summary in result.summaries] == [True]
    assert result.summaries[0].findings
    assert result.warnings == ()
