"""A plan in a file, evaluated by what its session went on to need."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.asking import SAMPLES, Ask

FAST = ("--counter", "chars/4")


@pytest.fixture
def plan(ask: Ask, session: Path, tmp_path: Path) -> Path:
    """Return a plan that was made when the session had 110 lines."""
    then, plan = tmp_path / "then.jsonl", tmp_path / "plan.json"
    then.write_bytes(b"".join(session.read_bytes().splitlines(keepends=True)[:110]))
    made = ask("compact", then, "-n", "--target", "20k", *FAST, "--plan-out", plan)
    assert made.code == 0, made.err
    return plan


def evaluated(ask: Ask, session: Path, plan: Path, *options: str) -> dict[str, Any]:
    found = ask("lab", "eval", session, "--plan", plan, *FAST, "--json", *options)
    assert found.code == 0, found.err
    document: dict[str, Any] = found.json
    return document


def test_a_plan_is_held_against_controls_of_its_size(ask: Ask, session: Path, plan: Path) -> None:
    document = evaluated(ask, session, plan, "--profile", "default")
    rows = {row["policy"]: row for row in document["figures"]}
    assert list(rows) == ["none", "newest", "random", "mask", "plan", "default"]
    share = rows["plan"]["asked"]
    assert {row["asked"] for name, row in rows.items() if name != "none"} == {share}
    assert share - 0.001 <= rows["plan"]["kept"]["value"] <= share
    recalls = {name: row["measures"]["recall"]["value"] for name, row in rows.items()}
    assert recalls["plan"] > recalls["newest"]


def test_what_is_pinned_by_hand_is_kept(ask: Ask, session: Path, plan: Path) -> None:
    before = evaluated(ask, session, plan)
    document = json.loads(plan.read_text())
    rows = [row for row in document["messages"] if row["fate"] != "written"]
    document["messages"] = [{**row, "fate": "kept"} for row in rows]
    plan.write_text(json.dumps(document))
    after = evaluated(ask, session, plan)
    kept, all_of_it = (
        next(row["kept"]["value"] for row in each["figures"] if row["policy"] == "plan")
        for each in (before, after)
    )
    assert kept < all_of_it
    recall = next(row for row in after["figures"] if row["policy"] == "plan")["measures"]["recall"]
    assert recall["value"] == 1


def test_a_session_that_has_not_gone_on_tells_nothing(ask: Ask, plan: Path) -> None:
    found = ask("lab", "eval", plan.with_name("then.jsonl"), "--plan", plan, *FAST)
    assert found.code == 2
    assert "last message, so there is nothing to evaluate" in found.err


def test_a_session_that_begins_otherwise_is_refused(ask: Ask, plan: Path) -> None:
    found = ask("lab", "eval", SAMPLES / "codex-session.jsonl", "--plan", plan, *FAST)
    assert found.code == 8
    assert "does not match the plan" in found.err


@pytest.mark.parametrize("option", [("--keep", "30%"), ("--at", "0.5"), ("--every", "9000")])
def test_where_to_cut_and_how_much_to_keep_is_decided(
    ask: Ask, session: Path, plan: Path, option: tuple[str, str]
) -> None:
    found = ask("lab", "eval", session, "--plan", plan, *option)
    assert found.code == 2
    assert f"--plan and {option[0]} cannot be used together" in found.err
