"""Measuring and compacting many transcripts."""

import gzip
import hashlib
import json
import os
import re
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from batch.inputs import bytes_below, run, transcript, write
from file_commands import rewind_file, stats_of_file

from compactctl.commands.batch.batch import BatchOptions, BatchResult, BatchRow, batch
from compactctl.commands.batch.columns import row_values
from compactctl.commands.batch.row import RowFailure
from compactctl.commands.compact.compact import CompactOptions, CompactResult, compact
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.discover import FileChoice, Shard
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import NoInputError, UsageError
from compactctl.tokens.budget import utilization
from compactctl.tokens.counters.bpe import BpeCounter
from compactctl.views.results.batch import batch_messages

PLAN = PlanOptions(stages=("dedup", "truncate"))
# Input that is bad whoever reads it, with the exit code of each file.
BROKEN = {
    "binary.jsonl": (bytes(range(256)) * 8, 4),
    "broken.jsonl": (b'{"type": "user", "mess\n', 4),
    "empty.jsonl": (b"", 3),
    "gzip.jsonl.gz": (b"\x1f\x8b\x08\x00 not gzip", 4),
    "cut.json": (b'[{"role": "user", "content": "mend', 4),
}
# Other data, as it lies beside transcripts, which somebody has to call a transcript to fail.
OTHER = {
    "numbers.json": b"[1, 2, 3]\n",
    "empty.json": b"{}\n",
    "parts.jsonl": b'{"name": "bolt", "price": 3}\n' * 3,
    "settings.json": b'{\n  // mode\n  "mode": "dark",\n}\n',
    "wide.json": '{"a": 1}'.encode("utf-16"),
    "words.jsonl": b"not JSON\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mixed() -> None:
    """Write good files, and bad ones of every sort."""
    for name in ("one", "two", "deep/er/three"):
        write(Path(f"in/{name}.jsonl"))
    write(Path("in/packed.jsonl.gz"), gzip.compress(transcript(3), mtime=0))
    for name, (data, _) in BROKEN.items():
        write(Path("in", name), data)
    for name, data in OTHER.items():
        write(Path("in", name), data)
    Path("in/loop.jsonl").symlink_to("loop.jsonl")
    os.mkfifo("in/pipe.jsonl")


def by_status(result: BatchResult, status: str) -> list[str]:
    return [row.path for row in result.rows if row.status == status]


def test_a_skipped_file_that_an_option_would_read_is_told_of() -> None:
    for name, data in OTHER.items():
        write(Path("in", name), data)
    assert not [line for line in batch_messages(run("in")) if "warning" in line]
    turn = {"role": "user", "content": "Mend the gate."}
    write(Path("in/gateway.jsonl"), json.dumps({"sent": {"turns": [turn]}}).encode())
    result = run("in")
    assert "in/gateway.jsonl" in by_status(result, "skipped")
    (warning,) = (line for line in batch_messages(result) if "warning" in line)
    assert warning.endswith(
        "1 skipped file may contain messages elsewhere; see compactctl check in/gateway.jsonl"
    )


@pytest.mark.parametrize("overhead", [0, 30_000])
def test_a_row_holds_what_stats_says(overhead: int) -> None:
    data = transcript(overhead=overhead)
    path = str(write(Path("in/run.jsonl"), data))
    (row,) = run("in").rows
    expected = stats_of_file(path)
    values = row_values(row)
    assert values == {
        **dict.fromkeys(values),
        "path": path,
        "sha256": hashlib.sha256(data).hexdigest(),
        "project": "/home/dev",
        "format": "claude-code",
        "client_version": "2.1.0",
        "model": "claude-sonnet-4-5",
        "counter": expected.measure.counter.id,
        "exactness": expected.measure.counter.exactness,
        "window": expected.measure.budget.window,
        "available": expected.measure.budget.available,
        "tokens_before": expected.breakdown.total,
        "unseen": expected.size.unseen,
        "ratio_before": utilization(expected.usage.tokens, expected.measure.budget.available).ratio,
        "context": expected.usage.tokens,
        "base": "client",
        "base_tokens": expected.measure.limits.compacts_at,
        "used": expected.usage.ratio,
        "level": expected.usage.level,
        "messages": expected.counts.messages,
        "turns": expected.counts.turns,
        "steps": expected.counts.steps,
        "lines": 24,
        "bytes": len(data),
        "opaque_lines": 0,
        "unread_bytes": 0,
        "tools": {
            use.tool: use.call_tokens + use.result_tokens for use in expected.breakdown.tools
        },
        "reread": sum(file.tokens for file in expected.breakdown.rereads),
        "faults": (),
        "orphans": 0,
        "tool_errors": 0,
        "categories": expected.breakdown.categories,
        "status": "ok",
        "verdicts": ("fits",),
        "gates": (),
        "limit": expected.measure.budget.window,
        "flags": (),
        "stages": (),
        "saved_by": {},
        "exit_code": 0,
        "milliseconds": row.milliseconds,
    }


def test_what_every_request_holds_beside_the_transcript_counts_before_and_after() -> None:
    write(Path("run.jsonl"), transcript(overhead=30_000))
    (row,) = run("run.jsonl", plan=PLAN).rows
    assert row.figures is not None
    assert row.measure is not None
    assert row.outcome is not None
    unseen, available = row.figures.totals.unseen, row.measure.available
    assert unseen > 25_000
    assert row.ratio_before == (row.figures.totals.tokens + unseen) / available
    after = (row.ratio_after or 0) * available - row.outcome.after.tokens
    assert 25_000 < after < unseen


def test_bad_files_stop_no_good_ones() -> None:
    mixed()
    result = run("in", "missing.jsonl")
    failed = {row.path: row.exit_code for row in result.rows if row.status == "failed"}
    expected = {f"in/{name}": code for name, (_, code) in BROKEN.items()}
    assert failed == expected | dict.fromkeys(
        ["in/loop.jsonl", "in/pipe.jsonl", "missing.jsonl"], 3
    )
    assert by_status(result, "ok") == [
        "in/deep/er/three.jsonl",
        "in/one.jsonl",
        "in/packed.jsonl.gz",
        "in/two.jsonl",
    ]
    assert by_status(result, "skipped") == [f"in/{name}" for name in sorted(OTHER)]
    totals = result.totals
    assert (
        totals.statuses["ok"],
        totals.statuses["failed"],
        totals.statuses["skipped"],
        totals.files,
    ) == (4, 8, 6, 18)


@pytest.mark.parametrize("name", OTHER)
def test_other_data_fails_where_it_is_said_to_be_a_transcript(name: str) -> None:
    path = str(write(Path("in", name), OTHER[name]))
    write(Path("in/run.jsonl"))
    assert run("in").exit_code == 0
    assert run("in/*").exit_code == 0
    for outcome in (run(path), run("in", path), run("in", input=InputOptions(strict=True))):
        assert outcome.exit_code == 4
    assert run("in", path, skip_unknown=True).exit_code == 0
    # Nothing to look at is not success, unless it was allowed for.
    assert run(f"in/{name[:4]}*").exit_code == 3
    assert run(path, skip_unknown=True).exit_code == 0
    assert run(f"in/{name[:4]}*", shard=Shard(number=1, of=1)).exit_code == 0


def test_a_failed_row_says_what_and_nothing_else() -> None:
    write(Path("empty.jsonl"), b"")
    (row,) = run("empty.jsonl").rows
    assert row == BatchRow(
        path="empty.jsonl",
        failure=RowFailure(
            error_class="NoInputError",
            error="empty.jsonl: is empty; there is nothing to read",
            exit_code=3,
        ),
    )


def test_a_bug_met_by_one_file_is_that_files_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("what the transcript says")

    monkeypatch.setattr("compactctl.commands.batch.one_file.measure", fail)
    write(Path("a.jsonl"))
    (row,) = run("a.jsonl").rows
    assert (row_values(row)["error_class"], row.exit_code) == ("RuntimeError", 70)
    told = (
        r"a\.jsonl: an internal error, RuntimeError at test_batch\.py:\d+ in fail; please report it"
    )
    assert re.fullmatch(told, row_values(row)["error"] or "")


def test_a_row_is_of_what_was_compacted_whatever_the_file_becomes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counting = MeasureOptions(counter="chars/4")
    question, answer = b"Question 0 about the run", b"The run says 0."
    path = write(Path("run.jsonl"))
    expected = stats_of_file(path, measure=counting).breakdown
    swapped = answer.join(
        part.replace(answer, question) for part in transcript(topic="run").split(question)
    )
    changed = write(Path("changed.jsonl"), swapped)
    other = stats_of_file(changed, measure=counting).breakdown
    assert other.total == expected.total
    assert other.categories != expected.categories

    def compact_and_change(options: CompactOptions) -> CompactResult:
        result = compact(options)
        path.write_bytes(swapped)
        return result

    monkeypatch.setattr("compactctl.commands.compact.compact.compact", compact_and_change)
    (row,) = run(str(path), plan=PLAN, measure=counting).rows
    assert (row.status, row.tokens) == ("ok", expected.total)
    assert row_values(row)["categories"] == expected.categories


def test_processes_give_the_same_rows_and_files_as_one() -> None:
    mixed()
    one = run("in", plan=PLAN, output="out", jobs=1)
    files = {
        name: data for name, data in bytes_below(Path("out")).items() if ".archive/" not in name
    }
    Path("out").rename("out-of-one")
    two = run("in", plan=PLAN, output="out", jobs=2)
    assert (two.rows, two.totals) == (one.rows, one.totals)
    again = {
        name: data for name, data in bytes_below(Path("out")).items() if ".archive/" not in name
    }
    assert again == files
    assert len(files) == 4


def test_every_output_rewinds_to_its_input() -> None:
    mixed()
    inputs = bytes_below(Path("in").rename("kept"))
    result = run("kept", plan=PLAN, output="out/nested")
    assert bytes_below(Path("kept")) == inputs
    written = [row for row in result.rows if row.status == "ok"]
    assert [row.output and row.output.path for row in written] == [
        "out/nested/deep/er/three.compacted.jsonl",
        "out/nested/one.compacted.jsonl",
        "out/nested/packed.compacted.jsonl",
        "out/nested/two.compacted.jsonl",
    ]
    for row in written:
        values = row_values(row)
        assert row.saved == values["tokens_before"] - values["tokens_after"]
        assert (row.saved or 0) > 0
        assert values["archive"] == f"{values['output']}.archive"
        assert values["stages"] == ("dedup", "truncate")
        rewind_file(values["output"])
        stored = Path(row.path).read_bytes()
        plain = gzip.decompress(stored) if row.path.endswith(".gz") else stored
        assert Path(values["output"]).read_bytes() == plain


def test_a_second_run_finds_only_the_inputs_and_gives_the_same() -> None:
    write(Path("run.jsonl"))
    first = run(".", plan=PLAN, output=".")
    assert run(".", plan=PLAN, output=".") == first
    assert [row.output and row.output.path for row in first.rows] == ["run.compacted.jsonl"]


def test_an_input_that_grew_is_compacted_again() -> None:
    path = write(Path("run.jsonl"), transcript(5))
    run("run.jsonl", plan=PLAN, output="out")
    path.write_bytes(transcript(9))
    (row,) = run("run.jsonl", plan=PLAN, output="out").rows
    assert row.status == "ok"
    assert row.output is not None
    rewind_file(row.output.path)
    assert Path(row.output.path).read_bytes() == transcript(9)


def test_a_file_that_compactctl_did_not_write_is_not_overwritten() -> None:
    write(Path("run.jsonl"))
    write(Path("out/run.compacted.jsonl"), b"mine\n")
    (row,) = run("run.jsonl", plan=PLAN, output="out").rows
    assert (row.status, row_values(row)["error_class"]) == ("failed", "UsageError")
    assert Path("out/run.compacted.jsonl").read_bytes() == b"mine\n"


@pytest.mark.parametrize("options", [{}, {"output": "out", "dry_run": True}])
def test_stages_without_output_only_say_what_they_would_save(options: dict[str, object]) -> None:
    write(Path("in/run.jsonl"))
    (row,) = run("in", plan=PLAN, **options).rows
    assert (row.status, row.output) == ("ok", None)
    assert (row.saved or 0) > 0
    assert list(bytes_below(Path())) == ["in/run.jsonl"]


@pytest.mark.parametrize("damage", [b"", b"{torn\n"], ids=["whole", "damaged"])
@pytest.mark.parametrize("grown", [b"", transcript(2, topic="other")], ids=["one", "mixed"])
def test_the_figures_are_those_of_what_would_be_written(damage: bytes, grown: bytes) -> None:
    write(Path("in/run.jsonl"), transcript() + damage + grown)
    (told,) = run("in", plan=PLAN).rows
    (done,) = run("in", plan=PLAN, output="out").rows
    assert (told.status, told.figures, told.outcome) == (done.status, done.figures, done.outcome)


def test_much_text_is_counted_alike_by_tiktoken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mixed()
    little = run("in", cached=False)
    monkeypatch.setattr(BpeCounter, "counted_chars", 1 << 40)
    assert run("in", cached=False).rows == little.rows


def test_what_needs_no_compaction_is_copied_and_called_unchanged() -> None:
    data = write(Path("in/run.jsonl")).read_bytes()
    result = run("in", output="out")
    (row,) = result.rows
    values = row_values(row)
    assert (row.status, row.saved, values["stages"], values["archive"]) == (
        "unchanged",
        0,
        (),
        None,
    )
    assert Path("out/run.compacted.jsonl").read_bytes() == data
    assert result.exit_code == 0


def test_two_inputs_with_one_output_are_refused_before_any_work() -> None:
    write(Path("a/run.jsonl"))
    write(Path("b/run.jsonl"))
    with pytest.raises(UsageError, match=r"output of both a/run.jsonl and b/run.jsonl"):
        run("a", "b", output="out")
    assert not Path("out").exists()
    with pytest.raises(UsageError, match="output of both"):
        run("a", "b", output="out", dry_run=True)
    assert run("a", "b", plan=PLAN).exit_code == 0


def test_an_output_that_is_an_input_is_refused() -> None:
    write(Path("run.jsonl"))
    write(Path("run.compacted.jsonl"))
    with pytest.raises(UsageError, match="would overwrite an input"):
        run("run.jsonl", "run.compacted.jsonl", output=".")


def test_a_report_never_overwrites_an_input_or_output() -> None:
    data = write(Path("run.jsonl")).read_bytes()
    for report in ("run.jsonl", "out/run.compacted.jsonl", "out", "missing/report.parquet"):
        with pytest.raises(UsageError, match=report):
            run("run.jsonl", output="out", written_paths=(report,))
    assert Path("run.jsonl").read_bytes() == data
    assert run("run.jsonl", output="out", written_paths=("out/report.parquet",)).exit_code == 0


def test_an_output_folder_that_is_a_file_is_refused() -> None:
    write(Path("run.jsonl"))
    write(Path("out"), b"text")
    with pytest.raises(UsageError, match="out"):
        run("run.jsonl", output="out")


@pytest.mark.parametrize(
    "options",
    [
        {"plan": PlanOptions(stages=("prunne",))},
        {"input": InputOptions(format="claude")},
        {"measure": MeasureOptions(counter="none")},
        {"fail_over": -0.1},
        {"fail_over": float("nan")},
        {"jobs": -1},
    ],
)
def test_options_that_mean_nothing_fail_before_the_first_file(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        run("missing.jsonl", **options)


def test_the_gate_is_about_what_is_left_after_compaction() -> None:
    write(Path("small.jsonl"), transcript(1))
    write(Path("large.jsonl"), transcript(20))
    measured = run("small.jsonl", "large.jsonl")
    small, large = (row.used or 0 for row in measured.rows)
    assert measured.exit_code == 0
    gated = run("small.jsonl", "large.jsonl", fail_over=small)
    assert [(row.status, row.exit_code) for row in gated.rows] == [("ok", 0), ("over limit", 1)]
    assert gated.exit_code == 1
    assert run("large.jsonl", fail_over=large).exit_code == 0
    assert run("large.jsonl", fail_over=large * 0.9, plan=PLAN).exit_code == 0


def test_a_file_that_failed_is_never_success() -> None:
    write(Path("large.jsonl"))
    write(Path("empty.jsonl"), b"")
    write(Path("binary.jsonl"), b"\x00\xff")
    assert run("large.jsonl", "empty.jsonl", fail_over=0).exit_code == 1
    assert run("large.jsonl", "empty.jsonl").exit_code == 3
    assert run("large.jsonl", "empty.jsonl", "binary.jsonl").exit_code == 4
    with pytest.raises(NoInputError):
        run("*.nothing")


def test_strict_refuses_lines_that_are_not_understood() -> None:
    write(Path("torn.jsonl"), transcript() + b'{"torn')
    (row,) = run("torn.jsonl").rows
    assert (row.status, row_values(row)["opaque_lines"]) == ("ok", 1)
    assert run("torn.jsonl", input=InputOptions(strict=True)).exit_code == 4
    assert run("torn.jsonl", input=InputOptions(strict=True), plan=PLAN).exit_code == 4


def test_totals_are_the_sums_of_the_rows() -> None:
    mixed()
    result = run("in", plan=PLAN)
    done = [row for row in result.rows if row.is_read]
    totals = result.totals
    assert totals.tokens_before == sum(row.tokens or 0 for row in done)
    assert totals.tokens_before == sum(totals.categories.values())
    assert totals.saved == totals.tokens_before - (totals.tokens_after or 0)
    assert totals.counters == (row_values(done[0])["counter"],)
    assert run("in/one.jsonl").totals.saved is None


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_is_told_of_every_row(jobs: int) -> None:
    mixed()
    told: list[Any] = []
    result = batch(BatchOptions(files=FileChoice(paths=("in",)), jobs=jobs), told.append)
    assert [each.files for each in told] == list(range(1, 18))
    assert {each.of_files for each in told} == {17}
    assert [each.n_bytes for each in told] == sorted(each.n_bytes for each in told)
    assert {each.of_bytes for each in told} == {told[-1].n_bytes}
    assert sorted(each.path for each in told) == sorted(row.path for row in result.rows)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interruption_ends_the_batch_and_its_workers(jobs: int) -> None:
    mixed()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    # The traceback keeps the batch's variables alive, so only an orderly end can end the workers.
    with pytest.raises(KeyboardInterrupt) as stopped:
        batch(BatchOptions(files=FileChoice(paths=("in",)), jobs=jobs), interrupt)
    assert stopped.traceback
    assert not active_children()
