"""A small Parquet file that stands for much more ends with exit code 3 before it takes memory."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from batch.inputs import run
from library.loops import loop
from pyarrow import parquet

from compactctl.commands.batch import tasks
from compactctl.commands.batch.columns import row_values
from compactctl.commands.planning.plan import PlanOptions
from compactctl.store.files.limits import ReadLimits

LINE, WHOLE = 100_000, 300_000
LIMITS = ReadLimits(max_line_bytes=LINE, max_bytes=WHOLE)
MESSAGE = pa.struct([("role", pa.string()), ("content", pa.string())])
MODES: dict[str, dict[str, Any]] = {
    "measured": {},
    "written": {"output": "out", "plan": PlanOptions()},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(size: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": "word " * (size // 5)}]


def texts(*sizes: int, kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"messages": pa.array([json.dumps(said(n)) for n in sizes], kind)})


def structs(*sizes: int, kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"messages": pa.array([said(n) for n in sizes], kind or pa.list_(MESSAGE))})


def batched(table: pa.Table, limits: ReadLimits = LIMITS, **options: Any) -> tuple[int, str]:
    """Return the exit code of a batch over a table, and what is said of it."""
    written = {name: options.pop(name) for name in ("use_dictionary",) if name in options}
    parquet.write_table(table, "data.parquet", row_group_size=50, **written)
    found = run("data.parquet", limits=limits, **options)
    return found.exit_code, " ".join(row_values(row)["error"] or "" for row in found.rows)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", [texts, structs])
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        # A page that is unpacked as a whole.
        ([LINE * 2], "in a page"),
        # Rows that name one text again and again.
        ([LINE - 1_000] * 4, "more than 300,000 bytes"),
        # Row groups that are small, in a file that is not.
        ([20_000 + n for n in range(20)] * 3, "more than 300,000 bytes"),
    ],
)
def test_no_file_takes_more_than_its_limits(
    make: Any, mode: str, sizes: list[int], words: str, *, dictionary: bool
) -> None:
    code, said = batched(make(*sizes), use_dictionary=dictionary, **MODES[mode])
    assert code == 3
    assert words in said or "in a page" in said
    assert not Path("out/data.parquet").exists()


@pytest.mark.parametrize("mode", MODES)
def test_no_row_takes_more_than_a_line(mode: str) -> None:
    part = {"role": "user", "content": "word " * 10_000}
    table = pa.table({"messages": pa.array([[part], [part] * 3], pa.list_(MESSAGE))})
    limits = ReadLimits(max_line_bytes=LINE)
    assert batched(table, limits, **MODES[mode])[1].endswith(
        "has more than 100,000 bytes in row 2; allow more with --max-line"
    )


def test_the_tasks_of_one_file_have_its_limits_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "CHUNK_BYTES", 1)
    # A text in a dictionary, in two row groups that are within the limits and are not together.
    assert batched(structs(*[2_000] * 100)) == (0, " " * 99)
    code, words = batched(structs(*[4_000] * 100))
    assert code == 3
    assert words == "data.parquet: has more than 300,000 bytes; allow more with --max-unpacked"


def test_other_columns_are_held_against_the_limits_where_they_are_written() -> None:
    wide = texts(500, 500).append_column("notes", pa.array(["x" * WHOLE] * 2))
    assert batched(wide)[0] == 0
    assert batched(wide, **MODES["written"])[0] == 3


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize(
    "column",
    [
        pa.array([json.dumps(loop(5))] * 3, pa.large_string()),
        pa.array([said(200)] * 3, pa.large_list(MESSAGE)),
        pa.array([said(200), None, []], pa.list_(MESSAGE)),
        pa.array([said(200)] * 3, pa.list_(pa.struct([("role", pa.large_string()), MESSAGE[1]]))),
    ],
)
def test_what_is_within_them_is_read_in_every_type(column: pa.Array, *, dictionary: bool) -> None:
    code, words = batched(pa.table({"messages": column}), use_dictionary=dictionary)
    assert (code, words) == (0, "  ")
