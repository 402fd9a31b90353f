"""Parquet data sets: a row per conversation, the column replaced, and the old file given back."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from batch.inputs import run, transcript, write
from file_commands import rewind_file
from library.loops import loop
from pyarrow import parquet
from transcripts import FOLDER, needs_real

from compactctl import compact_messages
from compactctl.__main__ import run as run_program
from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.columns import row_values
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.verify.verify import VerifyOptions, verify
from compactctl.errors import UsageError
from compactctl.store.archive.archive_file import read_operation
from compactctl.store.archive.names import archive_files, archive_folder
from compactctl.store.files.limits import READ_LIMITS
from compactctl.store.files.parquet_dataset import ParquetDataset, open_dataset

LONG, SHORT = loop(60), loop(1)
FUNCTION = pa.struct([("name", pa.string()), ("arguments", pa.string())])
CALL = pa.struct([("id", pa.string()), ("type", pa.string()), ("function", FUNCTION)])
MESSAGES = pa.list_(
    pa.struct(
        [
            ("role", pa.string()),
            ("content", pa.string()),
            ("tool_call_id", pa.string()),
            ("tool_calls", pa.list_(CALL)),
        ]
    )
)
KEPT = PlanOptions(keep=0.4)
HUGGINGFACE = {b"huggingface": b'{"info": {"features": {}}}'}
REAL = FOLDER / "parquet"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def structs(*values: object, **more: Any) -> pa.Table:
    held = pa.array(values, MESSAGES)
    table = pa.table({"id": [*range(len(values))], "messages": held, "reward": [0.5] * len(values)})
    return table.replace_schema_metadata(HUGGINGFACE | more)


def texts(*values: object, column: str = "conversations") -> pa.Table:
    told = [each if isinstance(each, str | None) else json.dumps(each) for each in values]
    return pa.table({column: pa.array(told, pa.string())})


def put(table: pa.Table, path: str = "data.parquet", rows: int = 2, **options: Any) -> Path:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, path, row_group_size=rows, **options)
    return Path(path)


def statuses(result: BatchResult) -> list[str]:
    return [row.status for row in result.rows]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_conversation_is_a_row_as_a_file_of_its_own_would_be(jobs: int) -> None:
    put(structs(LONG, SHORT, None, LONG, []), rows=1)
    write(Path("alone.jsonl"), b"".join(json.dumps(each).encode() + b"\n" for each in LONG))
    found = run("data.parquet", jobs=jobs).rows
    (alone,) = run("alone.jsonl").rows
    assert [(row.path, row.row) for row in found] == [
        (f"data.parquet#{n}", n) for n in (1, 2, 3, 4, 5)
    ]
    for row in (found[0], found[3]):
        one, other = row_values(row), row_values(alone)
        names = ("tokens_before", "messages", "categories", "tools", "lines")
        assert [one[name] for name in names] == [other[name] for name in names]
    assert [row.tokens for row in (found[2], found[4])] == [0, 0]
    assert {row.status for row in found} == {"ok"}


@pytest.mark.parametrize("table", [structs, texts])
def test_conversations_are_replaced_and_the_old_file_comes_back(table: Any) -> None:
    path = put(table(LONG, SHORT, LONG))
    before = path.read_bytes()
    found = run("data.parquet", output="out", plan=KEPT)
    assert found.exit_code == 0
    made = parquet.read_table("out/data.compacted.parquet")
    column = made.schema.names[-1] if table is texts else "messages"
    values = made[column].to_pylist()
    left = [bare(json.loads(each) if table is texts else each) for each in values]
    assert left == [bare(compact_messages(each, keep=0.4)) for each in (LONG, SHORT, LONG)]
    assert verify(VerifyOptions(paths=("out",))).transcripts[0].verdict == "proven"
    rewind_file("out/data.compacted.parquet")
    assert Path("out/data.compacted.parquet").read_bytes() == before == path.read_bytes()
    assert verify(VerifyOptions(paths=("out",))).transcripts[0].verdict == "proven"
    assert run_program(["log", "out/data.compacted.parquet"]) == 0


def bare(value: Any) -> Any:
    """Return a value without what is null, as structs have it where nothing is."""
    if isinstance(value, dict):
        return {name: bare(each) for name, each in value.items() if each is not None}
    return [bare(each) for each in value] if isinstance(value, list) else value


def test_all_but_the_column_stays_as_it_is() -> None:
    codecs = {"id": "gzip", "reward": "none"}
    names = ("role", "content", "tool_call_id")
    codecs |= {f"messages.list.element.{name}": "zstd" for name in names}
    put(structs(LONG, SHORT, LONG, SHORT, LONG), compression=codecs)
    run("data.parquet", output="out", plan=KEPT)
    old, new = map(parquet.ParquetFile, ("data.parquet", "out/data.compacted.parquet"))
    assert new.schema_arrow.equals(old.schema_arrow, check_metadata=True)
    assert new.schema_arrow.metadata == HUGGINGFACE
    assert new.read(["id", "reward"]).equals(old.read(["id", "reward"]))
    shapes = [
        [
            (group.num_rows, *(group.column(at).compression for at in range(group.num_columns)))
            for group in map(file.metadata.row_group, range(file.num_row_groups))
        ]
        for file in (old, new)
    ]
    assert shapes[0] == shapes[1]


def test_a_conversation_that_fails_stays_and_stops_no_other() -> None:
    put(texts(LONG, "no list", LONG, '[{"from": "human", "value": "Hi"}]'))
    found = run("data.parquet", output="out", plan=KEPT)
    assert statuses(found) == ["ok", "failed", "ok", "failed"]
    assert found.exit_code == 4
    assert "data.parquet#2" in (row_values(found.rows[1])["error"] or "")
    assert "ShareGPT" in (row_values(found.rows[3])["error"] or "")
    values = parquet.read_table("out/data.compacted.parquet")["conversations"].to_pylist()
    assert values[1] == "no list"
    assert statuses(run("data.parquet", plan=PlanOptions(keep=0.4), require_fit=True)) == [
        "ok", "failed", "ok", "failed"
    ]  # fmt: skip


def test_a_data_set_in_which_nothing_changes_is_copied() -> None:
    path = put(structs(SHORT, SHORT))
    found = run("data.parquet", output="out", plan=PlanOptions(stages=("truncate",)))
    assert statuses(found) == ["unchanged"] * 2
    assert Path("out/data.compacted.parquet").read_bytes() == path.read_bytes()
    for row in map(row_values, found.rows):
        assert (row["archive"], row["operation"]) == (None, None)


def test_the_operation_has_what_each_stage_did_to_all_conversations() -> None:
    put(structs(LONG, SHORT, loop(30)))
    rows = run(
        "data.parquet", output="out", plan=PlanOptions(stages=("dedup", "truncate"), keep=0.4)
    ).rows
    [archive] = archive_files(archive_folder(Path("out/data.compacted.parquet")))
    operation = read_operation(archive.path, READ_LIMITS)
    outcomes = [row.outcome for row in rows if row.outcome is not None]
    assert [outcome.operation for outcome in outcomes] == [operation.id, None, operation.id]
    dedup, truncate = operation.stages
    assert (dedup.name, dedup.outcome, dedup.detail, dedup.hidden) == ("dedup", "applied", "", 0)
    assert dedup.tokens_before == (rows[0].tokens or 0) + (rows[2].tokens or 0)
    assert dedup.tokens_after == outcomes[0].after.tokens + outcomes[2].after.tokens
    # All reads of the seven files but the newest of each.
    assert dedup.replaced == 60 - 7 + 30 - 7
    assert dedup.figures["filesDeduped"] == 7 + 7
    assert (truncate.name, truncate.outcome, truncate.tokens_saved) == (
        "truncate", "not-needed", 0
    )  # fmt: skip
    assert "within the target" in truncate.detail


@pytest.mark.parametrize("values", [(), ([],), ([], None, [])])
def test_a_data_set_without_conversations_passes_no_gate(
    values: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    put(structs(*values))
    assert len(run("data.parquet").rows) == len(values)
    for options in ([], ["--fail-over", "80%"], ["--require-fit"], ["--stages", "dedup"]):
        assert run_program(["batch", "data.parquet", *options]) == 3
        assert "no conversation found" in capsys.readouterr().err
    put(structs(*values, SHORT))
    assert run_program(["batch", "data.parquet", "--fail-over", "80%"]) == 0


def test_folders_give_data_sets_and_no_other_tables() -> None:
    put(structs(SHORT), "in/deep/one.parquet")
    put(pa.table({"loss": [0.5]}), "in/metrics.parquet")
    put(pa.table({"prompt": ["Tell me"], "completion": ["No"]}), "in/texts.parquet")
    write(Path("in/run.jsonl"), transcript())
    assert run_program(["batch", "in", "--report", "in/report.parquet"]) == 0
    assert run_program(["batch", "in", "--out", "in/out", "--keep", "0.5"]) == 0
    found = run("in")
    assert [row.path for row in found.rows] == ["in/deep/one.parquet#1", "in/run.jsonl"]
    assert statuses(run("in/metrics.parquet")) == ["failed"]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({}, 4, "--column"),
        ({"column": "wrong"}, 4, "there are n, dialog"),
        ({"column": "n"}, 2, "holds int64"),
        ({"column": "dialog"}, 0, ""),
    ],
)
def test_the_column_can_be_named(options: dict[str, str], code: int, words: str) -> None:
    put(pa.table({"n": [1], "dialog": [json.dumps(SHORT)]}))
    (row,) = run("data.parquet", **options).rows
    assert row.exit_code == code
    assert words in (row_values(row)["error"] or "")


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"PAR1 and so on PAR1", None])
def test_what_is_no_parquet_fails_in_words(damage: bytes | None) -> None:
    if damage is None:
        path = put(structs(LONG, LONG))
        data = bytearray(path.read_bytes())
        data[40:400] = bytes(360)
        path.write_bytes(data)
    else:
        write(Path("data.parquet"), damage)
    for out in (None, "out"):
        found = run("data.parquet", output=out, plan=KEPT)
        assert {row.exit_code for row in found.rows} <= {3, 4}
        assert found.exit_code
        assert all("data.parquet" in (row_values(row)["error"] or "") for row in found.rows)
    assert not list(Path("out").rglob("*.compacted*"))


def test_a_file_that_changes_meanwhile_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(structs(LONG, LONG))
    write_with = ParquetDataset.write_with

    def write_and_change(self: ParquetDataset, *arguments: Any) -> None:
        write_with(self, *arguments)
        data = bytearray(path.read_bytes())
        data[100] ^= 1
        path.write_bytes(data)

    monkeypatch.setattr(ParquetDataset, "write_with", write_and_change)
    (row,) = run("data.parquet", output="out", plan=KEPT).rows
    assert row.exit_code == 8
    assert not list(Path("out").rglob("*.parquet"))


def test_what_is_known_and_what_is_finished_is_taken() -> None:
    put(structs(LONG, SHORT, LONG))
    first = run("data.parquet")
    assert run("data.parquet") == first
    whole = run("data.parquet", output="out", plan=KEPT)
    made = Path("out/data.compacted.parquet").stat().st_ino
    found = run("data.parquet", output="out", plan=KEPT, resume=True)
    assert found.rows == whole.rows
    assert Path("out/data.compacted.parquet").stat().st_ino == made


def test_messages_are_told_of_each_conversation() -> None:
    put(structs(SHORT, SHORT))
    assert run_program(["batch", "data.parquet", "--messages-out", "m.parquet"]) == 0
    rows = parquet.read_table("m.parquet").to_pylist()
    assert {row["path"] for row in rows} == {"data.parquet#1", "data.parquet#2"}
    assert len(rows) == 2 * len(SHORT)


def test_a_list_on_a_terminal_has_a_line_per_data_set(capsys: pytest.CaptureFixture[str]) -> None:
    put(texts(LONG, SHORT, *["no list"] * 9))
    assert run_program(["batch", "data.parquet", "--out", "out", "--keep", "0.5"]) == 4
    told = capsys.readouterr()
    assert [
        line.split()[0] for line in told.out.splitlines() if line.startswith("data.parquet ")
    ] == ["data.parquet"]
    assert told.out.startswith("11 conversations: 9 failed, ")
    assert told.out.count("(exit 4)") == 5
    assert "4 more conversations of data.parquet" in told.out
    assert "wrote 1 transcript;" in told.err


def test_other_commands_say_what_reads_a_data_set(capsys: pytest.CaptureFixture[str]) -> None:
    put(structs(SHORT))
    assert run_program(["stats", "data.parquet"]) == 4
    assert "compactctl batch" in capsys.readouterr().err


def test_two_data_sets_never_share_an_output() -> None:
    put(structs(SHORT), "a/data.parquet")
    put(structs(SHORT), "b/data.parquet")
    with pytest.raises(UsageError, match="both"):
        run("a", "b", output="out")


@pytest.mark.long
@needs_real
def test_real_data_sets_come_back() -> None:
    for path in sorted(REAL.glob("*.messages.parquet")):
        found = run(str(path), output="out", plan=KEPT)
        assert len(found.rows) == parquet.read_metadata(path).num_rows
        assert found.exit_code == 0
        assert all((row.saved or 0) >= 0 for row in found.rows)
        assert any(row.saved for row in found.rows)
        output = row_values(found.rows[0])["output"]
        rewind_file(output, output="back.parquet", force=True)
        assert Path("back.parquet").read_bytes() == path.read_bytes()


def test_a_row_group_knows_its_rows() -> None:
    put(structs(SHORT, SHORT, SHORT))
    groups = open_dataset("data.parquet").groups
    assert [(group.first, group.rows) for group in groups] == [(1, 2), (3, 1)]
    assert all(group.n_bytes for group in groups)
