"""What a compaction does to the conversation: it shrinks, stays whole, and a second run rests."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from examples import tries
from hypothesis import assume, given
from properties.halves import parted
from properties.jobs import FAST, LONG_TRANSCRIPTS, WAYS, Written, bench, read

from compactctl.commands.compact.compact import compact
from compactctl.commands.measuring.measure import measure
from compactctl.commands.planning.plan_file import plan_text, read_plan
from compactctl.commands.reading.transcript import InputOptions, load


@tries(40)
@given(written=LONG_TRANSCRIPTS, way=WAYS)
def test_no_tool_pair_is_parted(written: Written, way: dict[str, Any]) -> None:
    with bench(written.data) as at:
        before = read(at).transcript.effective
        assume(compact(at.options(**way)).compacted)
        after = load(InputOptions(path=str(at.out))).transcript.effective
    assert parted(after) <= parted(before)
    assert before[0].role == "tool" or after[0].role != "tool"


@tries(40)
@given(written=LONG_TRANSCRIPTS, way=WAYS)
def test_tokens_never_increase_and_are_those_of_the_file(
    written: Written, way: dict[str, Any]
) -> None:
    with bench(written.data) as at:
        read(at)
        result = compact(at.options(**way))
        found = load(InputOptions(path=str(at.out))).transcript
        size = measure(found, FAST).meter.total(found.effective)
        unchanged = at.out.read_bytes() == written.data
    repaired = any(r.name == "repair" and r.outcome == "applied" for r in result.stages)
    assert size == result.outcome.after.tokens
    assert repaired or size <= result.outcome.before.tokens
    assert result.outcome.before.tokens - size == sum(
        record.tokens_saved for record in result.stages
    )
    assert unchanged == (not result.compacted)
    for record in result.stages:
        if record.name == "repair" or "unsentRecords" in record.figures:
            # One may add to what is sent, the other takes out only what is not.
            continue
        did_something = record.outcome == "applied"
        assert did_something == (record.tokens_saved > 0) == (record.hidden + record.replaced > 0)


@tries(40)
@given(written=LONG_TRANSCRIPTS, way=WAYS)
def test_a_second_run_changes_nothing(written: Written, way: dict[str, Any]) -> None:
    way["tags"] = True
    with bench(written.data) as at:
        read(at)
        assume(compact(at.options(**way)).compacted)
        again = compact(at.options(**way, path=str(at.out), output=None, dry_run=True))
    assert not again.compacted, [(r.name, r.outcome, r.detail) for r in again.stages]


@tries(15)
@given(written=LONG_TRANSCRIPTS, way=WAYS)
def test_a_dry_run_says_what_a_run_does_and_writes_nothing(
    written: Written, way: dict[str, Any]
) -> None:
    with bench(written.data) as at:
        read(at)
        told = compact(at.options(**way, dry_run=True))
        assert [path.name for path in at.folder.iterdir()] == [at.path.name]
        done = compact(at.options(**way))
    assert (told.change.after, told.stages, told.requested.fates) == (
        done.change.after,
        done.stages,
        done.requested.fates,
    )


def test_the_hash_seed_makes_no_difference() -> None:
    script = Path(__file__).with_name("fingerprint.py")
    outputs = {
        subprocess.run(
            [sys.executable, str(script)],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(script.parents[1])},
            cwd=script.parents[2],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().count(b"\n") == 24


def without_operation(data: bytes) -> bytes:
    return re.sub(rb'"op": ?"[0-9a-f]{12}"', b"", data)


@tries(40)
@given(written=LONG_TRANSCRIPTS, way=WAYS)
def test_a_plan_in_a_file_gives_what_was_planned(written: Written, way: dict[str, Any]) -> None:
    with bench(written.data) as at:
        read(at)
        asked = compact(at.options(**way, dry_run=True, plan_out="plan.json", explain=True))
        assert asked.requested.plan_file is not None
        file = at.folder / "plan.json"
        file.write_text(plan_text(asked.requested.plan_file), encoding="utf-8")
        plan = read_plan(str(file))
        carried = compact(
            at.options(layout=way["layout"], tags=way["tags"], plan_file=plan, explain=True)
        )
        after = load(InputOptions(path=str(at.out))).transcript.effective
        by_plan = without_operation(at.out.read_bytes())
        compact(at.options(**way, force=True))
        by_run = without_operation(at.out.read_bytes())
    assert plan == asked.requested.plan_file
    fates = [
        [(row.id, row.fate, row.tokens_after) for row in result.requested.fates]
        for result in (asked, carried)
    ]
    assert fates[0] == fates[1]
    assert (carried.outcome.after.tokens, len(after)) == (
        asked.outcome.after.tokens,
        asked.outcome.after.messages,
    )
    # Inline, what one stage wrote and a later one hid stays in the file.
    assert way["layout"] == "inline" or by_plan == by_run
