"""Whatever a plan holds, it is carried out, or refused with what is wrong in it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.asking import SAMPLES
from unit.commands.planning.planned import FAST, plan_of
from unit.profiles.wrong_values import WRONG_VALUES

from compactctl.commands.measuring.measure import measure
from compactctl.commands.planning.apply_plan import apply_plan
from compactctl.commands.planning.plan_file import PlanFile, plan_text, read_plan
from compactctl.errors import CompactctlError
from compactctl.model.transcript import Transcript

KEYS = (
    "line", "fate", "role", "tools", "tokens", "tokensAfter", "stage", "reason", "says", "id",
    "group", "texts", "kind", "through", "details", "tool", "callId", "text", "sha256", "unknown",
)  # fmt: skip


# Enough messages for every fate.
LINES = 12


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Transcript, PlanFile]:
    path = tmp_path_factory.mktemp("plan") / "chat.jsonl"
    lines = (SAMPLES / "openai-chat.jsonl").read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:LINES]))
    return plan_of(path, "summarize", "prune")


def documents(plan: PlanFile, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield plans that hold a value under one key each, with what they are called."""
    whole = json.loads(plan_text(plan))
    for key in (*whole, "unsent", "unknown"):
        yield key, {**whole, key: value}
    rows = whole["messages"]
    fates = {row["fate"]: n for n, row in reversed([*enumerate(rows)])}
    for fate, at in fates.items():
        for key in KEYS:
            changed = [*rows[:at], {**rows[at], key: value}, *rows[at + 1 :]]
            yield f"{key} of a {fate} message", {**whole, "messages": changed}
        yield f"a {fate} message", {**whole, "messages": [*rows[:at], value, *rows[at + 1 :]]}


@pytest.mark.parametrize("value", WRONG_VALUES, ids=repr)
def test_a_plan_with_a_wrong_value_is_carried_out_or_refused(
    planned: tuple[Transcript, PlanFile], value: Any, tmp_path: Path
) -> None:
    transcript, plan = planned
    measured = measure(transcript, FAST)
    path = tmp_path / "plan.json"
    complaints = []
    for name, document in documents(plan, value):
        path.write_text(json.dumps(document) + "\n")
        try:
            apply_plan(transcript, read_plan(str(path)), measured)
        except CompactctlError as error:
            complaints.append(f"{name}: {error}")
    assert complaints
