"""Where a stage leaves dedup nothing to do, its record says what either order saves."""

from pathlib import Path
from typing import Any

import pytest

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.llm.summarizer_options import SummarizerOptions
from compactctl.model.operation import StageRecord

# One file is read twice, edited, and read twice more, the last time in part.
READS = Path(__file__).parents[3] / "features" / "reads.jsonl"


def records(*stages: str, protect_tokens: int = 400, **recipe: Any) -> tuple[StageRecord, ...]:
    settings = {"prune": {"protect_tokens": protect_tokens, "min_savings": 0}}
    options = CompactOptions(
        input=InputOptions(path=str(READS)),
        recipe=Recipe(
            measure=MeasureOptions(counter="chars/4"),
            plan=PlanOptions(stages=stages, settings=settings),
            **recipe,
        ),
        output=OutputOptions(dry_run=True),
    )
    return compact(options).stages


def test_both_orders_are_measured() -> None:
    prune, dedup = records("prune", "dedup")
    early, late = records("dedup", "prune")
    assert (dedup.outcome, early.outcome) == ("skipped", "applied")
    saved = (prune.tokens_saved, early.tokens_saved + late.tokens_saved)
    assert dedup.detail == (
        "no older file read is repeated in full by a later one; "
        f"prune,dedup saves {saved[0]} tokens; dedup,prune would save {saved[1]}"
    )


def test_all_stages_of_the_other_order_are_named() -> None:
    detail = records("limit", "prune", "dedup", "repair")[2].detail
    assert "limit,prune,dedup,repair saves" in detail
    assert "limit,dedup,prune,repair would save" in detail


@pytest.mark.parametrize("protect_tokens", [0, 10_000])
def test_no_order_is_named_where_it_makes_no_difference(protect_tokens: int) -> None:
    """Where all reads are cleared, or none, dedup says the same in front."""
    records_of_both = records("prune", "dedup", protect_tokens=protect_tokens)
    assert all("would save" not in record.detail for record in records_of_both)


def test_no_model_is_asked_twice() -> None:
    dedup = records(
        "prune", "dedup", summarizer=SummarizerOptions(kind="command", command="false")
    )[1]
    assert dedup.detail.endswith("results that an earlier stage had cleared: 1")
