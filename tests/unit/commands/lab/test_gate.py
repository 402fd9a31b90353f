"""What figures must reach, and what they must not fall below."""

import json
from pathlib import Path
from typing import Any

import pytest

from compactctl.commands.lab.eval_figures import (
    TOLERANCE,
    Baseline,
    EvalFigures,
    Mean,
    findings,
    parse_gate,
    read_baseline,
)
from compactctl.errors import UsageError
from compactctl.records import replace


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
        verdict="fits",
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
        ("pairs<=0@0.3", 1, ["pairs<=0@0.3: default has 2"]),
        ("pairs<=2@0.3", 1, []),
        ("pairs<=1@0.3", 1, ["pairs<=1@0.3: default has 2"]),
        ("pairs>=3 @ 30%", 1, ["pairs>=3 @ 30%: default has 2"]),
        ("recall>=0.0%@0.3", 0, []),
        ("recall>=0.95@0.3", sum([0.95] * 3) / 3, []),
        ("recall<=0.3@0.3", 0.1 + 0.2, []),
        ("recall>=0.95@0.3", 0.94996, ["recall>=0.95@0.3: default has 0.94996"]),
        ("rules>=1@0.3", 1, ["rules>=1@0.3: nothing was measured"]),
        ("recall>=0.1@0.2", 1, ["recall>=0.1@0.2: nothing was measured"]),
    ],
)
def test_a_gate_tells_what_is_not_kept(text: str, recall: float, found: list[str]) -> None:
    assert list(findings([figure(recall, pairs=2)], [parse_gate(text)], None)) == found


@pytest.mark.parametrize(
    "text", ["recall>=0.1@0.3", "recall<=1@0.3", "kept<=1@0.3", "pairs<=9@0.3"]
)
@pytest.mark.parametrize(
    ("over", "text_of_over"), [(1, "over target in 1 of 2 cuts"), (2, "over target")]
)
def test_a_policy_over_its_target_meets_no_gate(text: str, over: int, text_of_over: str) -> None:
    too_large = replace(figure(0.5), cuts=2, over=over, verdict="over target")
    gate = parse_gate(text)
    assert list(findings([figure(0.5)], [gate], None)) == []
    assert list(findings([too_large], [gate], None)) == [f"{text}: default is {text_of_over}"]


def test_a_policy_may_not_leave_the_target_that_it_kept_to() -> None:
    too_large = replace(figure(1.0), over=1, verdict="over target")
    means = {("default", 0.3, "recall"): 0.9}
    within = Baseline("old.json", means, frozenset({("default", 0.3)}))
    assert list(findings([too_large], [], within)) == [
        "default at 0.3: over target, within it in the baseline"
    ]
    assert list(findings([too_large], [], Baseline("old.json", means))) == []


@pytest.mark.parametrize(
    "text",
    [
        "", "recall", "recall>0.9@0.3", "recall>=0.9", "fame>=0.9@0.3", "recall>=2@0.3",
        "recall>=1.2.3@0.3", "recall>=.@0.3", "recall>=0.9@.", "recall>=0.9@", "recall>=@0.3",
        "recall>=0.9@0", "recall>=0.9@0.3@0.3", "recall>=-0.1@0.3", "recall>=nan@0.3",
        "recall>=inf@0.3", "recall>=1e-1@0.3", "recall>=0,9@0.3", "recall>=0.9%%@0.3",
        "recall>=\u0660.\u0669@0.3", "pairs<=1.5@0.3", "pairs<=-1@0.3", "pairs<=2%@0.3",
        "pairs<=nan@0.3", "recall>=0.9@0.3,pairs<=0@0.3", "pairs==2@0.3",
    ],
)  # fmt: skip
def test_what_is_no_gate_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(UsageError, match=r"^[^\n]*gate[^\n]*; write it as [^\n]*$"):
        parse_gate(text)


@pytest.mark.parametrize(("recall", "count"), [(0.9, 0), (0.9 - TOLERANCE / 2, 0), (0.87, 1)])
def test_a_measure_may_not_fall_below_its_baseline(recall: float, count: int) -> None:
    before = Baseline("old.json", {("default", 0.3, "recall"): 0.9})
    assert len(list(findings([figure(recall)], [], before))) == count


def test_what_is_shown_and_the_verdict_agree() -> None:
    for thousandths in range(1_001):
        for sessions in (1, 3, 7):
            value = sum([thousandths / 1_000] * sessions) / sessions
            gate = parse_gate(f"recall>={thousandths / 1_000}@0.3")
            assert list(findings([figure(value)], [gate], None)) == []
            before = Baseline("old.json", {("default", 0.3, "recall"): value})
            assert list(findings([figure(value - TOLERANCE)], [], before)) == []


def test_each_policy_must_be_measured() -> None:
    other = replace(figure(1.0), policy="roo", measures={})
    gate = parse_gate("recall>=0.5@0.3")
    assert list(findings([figure(1.0), other], [gate], None)) == [
        "recall>=0.5@0.3: nothing was measured for roo"
    ]


def test_what_is_not_measured_any_more_is_a_finding() -> None:
    keys = [("default", 0.3, "recall"), ("default", 0.3, "answers"), ("default", 0.1, "recall"),
            ("roo", 0.3, "recall"), ("roo", 0.3, "rules")]  # fmt: skip
    before = Baseline("old.json", dict.fromkeys(keys, 0.5))
    assert list(findings([figure(1.0)], [], before)) == [
        "default at 0.1: in the baseline, but not measured now",
        "roo at 0.3: in the baseline, but not measured now",
        "answers of default at 0.3: in the baseline, but not measured now",
    ]


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
        *(
            '{"schema": "compactctl.eval/1", "figures": [{"policy": "default", "asked": 0.3, '
            f'"measures": {{"recall": {{"value": {value}}}}}}}]}}'
            for value in ("NaN", "Infinity", "null", "true", '"0.9"', "-0.1", "1.1")
        ),
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
