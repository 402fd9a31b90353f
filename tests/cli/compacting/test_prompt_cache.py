"""What a compaction costs where a provider caches prompts, and what leaves its cache alone."""

from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample

PRICED = ("--prices", "builtin")
PRUNED = "dedup,prune --prune-protect-tokens 500 --prune-min-savings 0"


def document(ask: Ask, *arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = ask(*arguments, "--json").json
    return found


def test_a_compaction_tells_what_a_prompt_cache_loses(ask: Ask, sample: Sample) -> None:
    asked = ("compact", sample("codex-session"), "--keep", "40%", "-n", *PRICED)
    found = document(ask, *asked)
    cache = found["promptCache"]
    assert cache["heldTokens"] + cache["sentAnewTokens"] == found["largestRequestTokens"]
    assert cache["paysAfterRequests"] > 1
    shown = ask(*asked).out
    assert f"before line {cache['firstChangedLine']} stay cached" in shown
    assert f"pays off after {cache['paysAfterRequests']} requests" in shown


def test_without_prices_or_changes_less_is_told(ask: Ask, sample: Sample) -> None:
    path = sample("codex-session")
    asked = ("compact", path, "--keep", "40%", "-n")
    assert document(ask, *asked)["promptCache"]["paysAfterRequests"] is None
    unpriced = document(ask, *asked, "--model", "nobodys-model", *PRICED)
    assert unpriced["promptCache"]["paysAfterRequests"] is None
    assert document(ask, "compact", path, "-n", "--stages", "repair")["promptCache"] is None


@pytest.mark.parametrize("stages", ["distill", PRUNED, "window", "summarize"])
def test_a_prefix_that_is_kept_stays_in_the_cache(ask: Ask, sample: Sample, stages: str) -> None:
    path, options = sample("codex-session"), ("--target", "16k", "--stages", *stages.split())
    found = document(ask, "compact", path, "-n", "--explain", *options, "--keep-prefix", "30%")
    reason = "protected by --keep-prefix"
    kept = [row["fate"] for row in found["messages"] if row["reason"] == reason]
    assert len(kept) > 1
    assert set(kept) == {"kept"}
    before = document(ask, "compact", path, "-n", *options)["promptCache"]
    assert found["promptCache"]["heldTokens"] >= before["heldTokens"]


@pytest.mark.parametrize("share", ["much", "120%", "-1"])
def test_what_is_no_share_is_no_prefix(ask: Ask, desk: Path, share: str) -> None:
    found = ask("compact", desk, f"--keep-prefix={share}")
    assert (found.code, "is not a share" in found.err) == (2, True)


def test_a_simulation_tells_what_the_input_costs(ask: Ask, sample: Sample) -> None:
    path = sample("codex-session")
    profiles = ("--profile", "default", "--profile", "spring-tokens")
    asked = ("lab", "simulate", path, "--window", "36k", *profiles)
    found = document(ask, *asked, *PRICED)
    whole = found["uncachedInputCost"]
    assert 0 < found["inputCost"] < whole
    for profile in found["profiles"]:
        assert 0 < profile["inputCost"] < profile["uncachedInputCost"] < whole
    assert document(ask, *asked)["inputCost"] is None
    assert "Uncached $" in ask(*asked, *PRICED).out
    unpriced = ask(*asked, "--model", "nobodys-model", *PRICED).out
    assert "no price for nobodys-model" in unpriced
