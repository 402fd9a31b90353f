"""Places of lines, bars and curves on a page, in percent, and their labels."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.commands.lab.eval_figures import EvalFigures, Mean
from compactctl.views.pages.drawing import (
    ChartLine,
    across,
    areas,
    class_of,
    dollars,
    down,
    grid,
    percent,
    series,
)
from compactctl.views.pages.evaluation import recall_chart
from compactctl.views.results.evaluate import Curve


def test_an_area_is_drawn_in_steps_from_the_base_line_and_back() -> None:
    columns = [{"a": 1, "b": 1}, {"a": 1}, {"a": 2, "b": 8}, {}]
    found = [(area.name, area.path) for area in areas(columns, ["a", "x", "b"], 5)]
    assert found == [
        ("b", "M0 1000H0V600H1V800H2V0H3V1000H4V1000Z"),
        ("a", "M0 1000H0V800H2V600H3V1000H4V1000Z"),
    ]
    assert areas([{}], ["a"], 5) == []


def test_lines_of_a_scale_leave_room_for_their_labels() -> None:
    assert grid(100, "{:g}".format) == (
        ChartLine(label="20", at=80.0),
        ChartLine(label="40", at=60.0),
        ChartLine(label="60", at=40.0),
        ChartLine(label="80", at=20.0),
    )
    assert [line.label for line in grid(100, "{:g}".format, 1)] == ["50"]


@pytest.mark.parametrize(
    ("found", "place"),
    [
        (down(0, 8), 100.0),
        (down(1, 3), 66.67),
        (down(8, 8), 0.0),
        (across(1, 3), 33.333),
        (percent(1, 3), 33.333),
        (percent(1, 0), 0.0),
        (percent(4, 4), 100.0),
    ],
)
def test_places_are_in_percent(found: float, place: float) -> None:
    assert found == place


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "$0.0000"), (0.99999, "$1.0000"), (1, "$1.00"), (1_234.5, "$1,234.50")],
)
def test_small_amounts_have_more_decimals(amount: float, text: str) -> None:
    assert dollars(amount) == text


def test_colors_have_names_and_come_again() -> None:
    assert class_of("tool results") == "c-tool-results"
    assert [series(index) for index in (0, 5, 6, 13)] == ["s-0", "s-5", "s-0", "s-1"]


def point(kept: float, recall: float, sessions: int = 2) -> EvalFigures:
    return EvalFigures(
        policy="mine",
        asked=kept,
        cuts=1,
        kept=Mean(kept, kept, kept, sessions),
        measures={"recall": Mean(recall, recall - 0.25, recall + 0.25, sessions)},
        beyond=None,
        pair_errors=0,
        over=0,
        verdict="fits",
        milliseconds=1,
    )


def test_a_curve_leaves_room_above_and_beside_it() -> None:
    curve = Curve(name="mine", is_control=True, points=(point(0.25, 0.5), point(0.5, 0.75, 1)))
    found = recall_chart([curve], ["shown"])
    assert found is not None
    assert found["curves"] == [
        {
            "label": "shown",
            "mark": "A",
            "name": "s-control",
            "is_control": True,
            "path": "M48.0 52.0L96.0 28.0",
            "dots": [
                {
                    "x": 48.0, "is_left": False, "y": 52.0, "low": 76.0, "high": 28.0,
                    "says": "shown: 50.0% recall at 25.0% kept, 95% from 25.0 to 75.0",
                    "label": "A 25%", "label_y": 52.0,
                },
                {
                    "x": 96.0, "is_left": True, "y": 28.0, "low": 52.0, "high": 4.0,
                    "says": "shown: 75.0% recall at 50.0% kept",
                    "label": "A 50%", "label_y": 28.0,
                },
            ],
        }
    ]  # fmt: skip
    assert found["across"] == [
        ChartLine(label="20%", at=80.8),
        ChartLine(label="40%", at=61.6),
        ChartLine(label="60%", at=42.4),
        ChartLine(label="80%", at=23.2),
        ChartLine(label="100%", at=4.0),
    ]
    assert found["down"] == [
        ChartLine(label="10%", at=19.2),
        ChartLine(label="20%", at=38.4),
        ChartLine(label="30%", at=57.6),
        ChartLine(label="40%", at=76.8),
        ChartLine(label="50%", at=96.0),
    ]
    assert recall_chart([], []) is None
    tiny = recall_chart([Curve(name="x", is_control=False, points=(point(0.01, 0.5),))], ["x"])
    assert tiny is not None
    assert tiny["down"][-1] == ChartLine(label="5%", at=96.0)  # type: ignore[index]


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_labels_of_points_lie_apart_and_inside(points: list[tuple[float, float]]) -> None:
    curves = [
        Curve(name=f"p{index}", is_control=index > 5, points=(point(kept, recall),))
        for index, (kept, recall) in enumerate(points)
    ]
    chart = recall_chart(curves, [curve.name for curve in curves])
    assert chart is not None
    drawn: Any = chart["curves"]
    labels = [(dot["x"], dot["label_y"]) for curve in drawn for dot in curve["dots"]]
    assert [curve["mark"] for curve in drawn] == list("ABCDEFGHIJKLMNOPQRST"[: len(points)])
    assert all(0 < y < 100 for _, y in labels)
    for (x, y), (other_x, other_y) in combinations(labels, 2):
        assert abs(x - other_x) > 5 or abs(y - other_y) > 3.9
    colors = [curve["name"] for curve in drawn if not curve["is_control"]]
    assert len(set(colors)) == len(colors)
