"""What figures must reach, and what they must not fall below."""

import json
from pathlib import Path
from typing import Any

import pytest

from compactctl.commands.evaluate.figures import EvalFigures, Mean
from compactctl.commands.evaluate.gate import (
    TOLERANCE,
    Baseline,
    findings,
    parse_gate,
    read_baseline,
)
from compactctl.errors import UsageError


def figure(recall: float, *, asked: float = 0.3, pairs: int = 0) -> EvalFigures:
    return EvalFigures(
        policy="default",
        asked=asked,
        cuts=1,
        kept=Mean(0.29, 0.29, 0.29, 1),
        measures={"recall": Mean(recall, recall, recall, 1)},
        beyond=None,
        pair_errors=pairs,
        over=0,
        milliseconds=1.0,
    )


@pytest.mark.parametrize(
    ("text", "recall", "found"),
    [
        ("recall>=0.95@0.3", 0.95, []),
        ("recall>=95%@30%", 0.95, []),
        ("recall>=0.95@0.3", 0.949, ["recall>=0.95@0.3: default has 0.949"]),
        ("recall<=0.5@0.3", 0.6, ["recall<=0.5@0.3: default has 0.600"]),
        ("kept<=0.25@0.3", 1, ["kept<=0.25@0.3: default has 0.290"]),
        ("pairs<=0@0.3", 1, ["pairs<=0@0.3: default has 2.000"]),
        ("rules>=1@0.3", 1, ["rules>=1@0.3: nothing was measured"]),
        ("recall>=0.1@0.2", 1, ["recall>=0.1@0.2: nothing was measured"]),
    ],
)
def test_a_gate_tells_what_is_not_kept(text: str, recall: float, found: list[str]) -> None:
    assert list(findings([figure(recall, pairs=2)], [parse_gate(text)], None)) == found


@pytest.mark.parametrize(
    "text", ["", "recall", "recall>0.9@0.3", "recall>=0.9", "fame>=0.9@0.3", "recall>=2@0.3"]
)
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_gate(text)


@pytest.mark.parametrize(("recall", "count"), [(0.9, 0), (0.9 - TOLERANCE / 2, 0), (0.87, 1)])
def test_a_measure_may_not_fall_below_its_baseline(recall: float, count: int) -> None:
    before = Baseline("old.json", {("default", 0.3, "recall"): 0.9})
    assert len(list(findings([figure(recall)], [], before))) == count


def test_a_baseline_of_something_else_is_a_finding() -> None:
    before = Baseline("old.json", {("distill", 0.3, "recall"): 0.9})
    assert len(list(findings([figure(1.0)], [], before))) == 1


@pytest.mark.parametrize(
    "document",
    [
        "[]",
        "{",
        '{"schema": "compactctl.stats/1"}',
        '{"schema": "compactctl.eval/1", "figures": [{}]}',
        '{"schema": "compactctl.eval/1", "figures": 3}',
    ],
)
def test_what_is_no_baseline_is_refused(document: Any, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(document)
    with pytest.raises(UsageError, match="is not a baseline"):
        read_baseline(str(path))


def test_a_baseline_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    row = {"policy": "default", "asked": 0.3, "measures": {"recall": {"value": 0.9}}}
    path.write_text(json.dumps({"schema": "compactctl.eval/1", "figures": [row]}))
    assert read_baseline(str(path)).means == {("default", 0.3, "recall"): 0.9}
