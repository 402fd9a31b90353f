"""A compaction of lines in memory: what fits, and what a column of structs can hold."""

import json

import pyarrow as pa
import pytest
from unit.commands.conversations import FAST, TALK, jsonl

from compactctl.commands.compact.in_memory import (
    CompactedLines,
    compact_lines,
    lines_of,
    value_of,
    without_nulls,
)
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.tokens.budget import TargetSize


def compacted(target: int, *stages: str, lines: list[bytes] | None = None) -> CompactedLines:
    recipe = Recipe(
        measure=FAST,
        plan=PlanOptions(stages=stages, target=TargetSize(value=target, unit="tokens")),
        protect=ProtectOptions(keep_turns=0),
    )
    lines = lines or jsonl(TALK).splitlines(keepends=True)
    return compact_lines(lines, InputOptions(path="run"), recipe)


def test_a_request_of_just_the_limit_fits() -> None:
    size = compacted(10_000, "dedup").largest_after
    assert compacted(size, "dedup").judgment.is_within
    assert not compacted(size - 1, "dedup").judgment.is_within
    smaller = compacted(size // 2, "truncate")
    assert (smaller.judgment.is_within, smaller.limit) == (True, size // 2)
    assert smaller.tokens_after < size


KIND = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string()), ("name", pa.string())]))
ROWS = [
    {"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} " + "word " * 40, "name": None}
    for n in range(8)
]


def test_structs_are_lines_without_nulls_and_unchanged_ones_come_back_as_they_were() -> None:
    lines = lines_of(ROWS, KIND)
    assert lines == [json.dumps(without_nulls(row)).encode() + b"\n" for row in ROWS]
    assert b"null" not in b"".join(lines)
    same = compacted(10_000, "truncate", lines=lines)
    assert value_of(ROWS, KIND, same.lines) == ROWS
    text = b"".join(lines).decode()
    assert lines_of(text, pa.string()) == [text.encode()]
    assert value_of(text, pa.string(), same.lines) == text


def test_what_has_no_place_in_the_column_is_refused() -> None:
    kind = pa.list_(pa.struct([("role", pa.int64()), ("content", pa.string())]))
    changed = compacted(100, "truncate", lines=lines_of(ROWS, KIND))
    assert len(changed.lines) < len(ROWS)
    with pytest.raises(UsageError, match="do not fit the column's type"):
        value_of(ROWS, kind, changed.lines)
    narrow = pa.list_(pa.struct([("content", pa.string())]))
    with pytest.raises(UsageError, match="have fields that the column's type lacks"):
        value_of(ROWS, narrow, changed.lines)
