"""When a compaction has paid for the prompt cache that it loses, and whether it fits."""

from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file
from unit.commands.conversations import EAGER, FAST, TALK, saved

from compactctl.commands.compact.result import CompactResult
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.errors import DoesNotFitError
from compactctl.history.protection import ProtectOptions
from compactctl.records import replace
from compactctl.tokens.budget import TargetSize
from compactctl.tokens.models.prices import BUILTIN_PRICES


def compacted(folder: Path, *, model: str = "gpt-4.1", **fields: Any) -> CompactResult:
    plan = fields.pop("plan", PlanOptions(stages=("window",), settings={"window": EAGER["window"]}))
    recipe = Recipe(
        measure=replace(FAST, model=model), plan=plan, protect=ProtectOptions(keep_turns=0)
    )
    path = saved(folder / "talk.jsonl", TALK)
    return compact_file(path, recipe=recipe, dry_run=True, **fields)


def test_a_lost_cache_is_paid_for_by_smaller_requests(tmp_path: Path) -> None:
    result = compacted(tmp_path, prices=BUILTIN_PRICES)
    cache, price = result.outcome.cache, BUILTIN_PRICES.price_for("gpt-4.1", 500)
    assert cache is not None
    assert price is not None
    assert cache.saved == result.outcome.before.tokens - result.outcome.after.tokens
    assert result.requested.pays_after == cache.pays_after(price)
    assert result.requested.pays_after is not None


def test_without_a_price_nobody_knows_when(tmp_path: Path) -> None:
    assert compacted(tmp_path).requested.pays_after is None
    unknown = compacted(tmp_path, model="mystery", prices=BUILTIN_PRICES)
    assert unknown.outcome.cache is not None
    assert unknown.requested.pays_after is None


def test_what_does_not_fit_is_refused_only_if_it_has_to_fit(tmp_path: Path) -> None:
    target = TargetSize(value=60, unit="tokens")
    plan = PlanOptions(stages=("dedup",), target=target)
    result = compacted(tmp_path, plan=plan)
    assert not result.fits
    assert (result.limit, result.largest_after) == (60, result.outcome.before.request_tokens)
    with pytest.raises(DoesNotFitError, match="over the limit of 60; nothing was written"):
        compacted(tmp_path, plan=plan, require_fit=True)
    roomy = replace(plan, target=TargetSize(value=9_000, unit="tokens"))
    assert compacted(tmp_path, plan=roomy, require_fit=True).fits
