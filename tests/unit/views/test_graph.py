"""Graphs of letters: as wide and as high as they may be, and no letter that tells another size."""

from itertools import pairwise
from pathlib import Path

import pytest
from file_commands import stats_of_file
from hypothesis import given
from hypothesis import strategies as st

from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.views.results.stats import stats_terminal
from compactctl.views.terminal.graph import (
    SHADES,
    Graph,
    graph_lines,
    round_values,
    short_count,
    small_bars,
)
from compactctl.views.terminal.screen import PLAIN, item_lines, register

SAMPLES = Path(__file__).parents[3] / "sample_transcripts"
HEIGHT = 14
COLUMNS = st.lists(
    st.tuples(*[st.floats(0, 1e6, allow_nan=False)] * len(SHADES)), min_size=1, max_size=300
)


def drawn(graph: Graph, width: int | None = None) -> list[str]:
    """Return what is drawn right of the axis, the highest row first."""
    return [line.partition("┤")[2] for line in list(graph_lines(graph, width))[:HEIGHT]]


@given(columns=COLUMNS, width=st.integers(30, 200) | st.none())
def test_a_graph_is_no_wider_than_it_may_be(
    columns: list[tuple[float, ...]], width: int | None
) -> None:
    graph = Graph(columns=tuple(columns), top=max(map(sum, columns)) or 1, marks=(0,))
    lines = list(graph_lines(graph, width))
    assert max(map(len, lines)) <= (width or 80)
    assert len(lines) == HEIGHT + 1
    assert lines[-1].count("▲") >= 1


@pytest.mark.parametrize("share", [0, 0.25, 0.5, 0.75, 1])
def test_a_column_is_as_high_as_its_share_and_layers_lie_upon_each_other(share: float) -> None:
    rows = drawn(Graph(columns=((700 * share, 700 * share),), top=1_400))
    filled = [row[:1] for row in rows if row]
    assert abs(len(filled) - HEIGHT * share) <= 0.5
    assert filled == sorted(filled, key=SHADES.index, reverse=True)
    assert abs(filled.count(SHADES[0]) - filled.count(SHADES[1])) <= 1


def test_of_columns_that_share_a_letter_the_highest_is_drawn() -> None:
    columns = ((1.0,),) * 500 + ((100.0,),) + ((1.0,),) * 500
    rows = drawn(Graph(columns=columns, top=100), 60)
    assert rows[0].count(SHADES[0]) == 1


def test_lines_go_across_where_nothing_is_drawn() -> None:
    columns = ((10.0,), (100.0,))
    rows = drawn(Graph(columns=columns, top=100, limits=(99,)), 61)
    half = len(rows[0]) // 2
    assert rows[0] == "─" * half + SHADES[0] * (len(rows[0]) - half)


@given(values=st.lists(st.floats(0, 100), min_size=1, max_size=60))
def test_small_bars_rise_and_fall_with_what_they_show(values: list[float]) -> None:
    bars = small_bars(values, 100, 60)
    assert len(bars) == len(values)
    for (one, other), (low, high) in zip(pairwise(values), pairwise(bars), strict=True):
        assert (one <= other and low <= high) or (one >= other and low >= high)
    assert len(small_bars(values, 100, 8)) == min(8, len(values))


@pytest.mark.parametrize("width", [40, 80, 140, None])
@pytest.mark.parametrize("name", ["claude-code-session.jsonl", "openai-chat.jsonl"])
def test_a_session_is_drawn_with_what_its_letters_mean(name: str, width: int | None) -> None:
    measure = MeasureOptions(counter="chars/4")
    result = stats_of_file(SAMPLES / name, measure=measure, graph=True)
    items = list(stats_terminal(result))
    graph = next(item for item in items if isinstance(item, Graph))
    assert result.timeline
    assert [sum(column) for column in graph.columns] == [
        each.usage.context for each in result.timeline.rounds.rounds
    ]
    lines = [line for item in items for lines, _ in item_lines(item, width) for line in lines]
    text = " ".join(" ".join(lines).split())
    assert f"{len(graph.columns):,} requests, at most " in text
    assert f"{SHADES[0]} " in text
    assert " tokens (" in text
    drawn = lines[: lines.index("", lines.index("") + 3)]
    assert width is None or max(map(len, drawn)) <= width


def test_a_plain_terminal_tells_the_layers_apart() -> None:
    register()
    assert len({shade.encode("ascii", PLAIN) for shade in SHADES}) == len(SHADES)


@pytest.mark.parametrize(
    ("top", "limit", "values"),
    [
        (100, 4, (25, 50, 75, 100)),
        (99, 4, (20, 40, 60, 80)),
        (124, 4, (25, 50, 75, 100)),
        (250, 4, (100, 200)),
        (1_000, 1, (1_000,)),
        (7, 10, (1, 2, 3, 4, 5, 6, 7)),
        (4, 4, (1, 2, 3, 4)),
    ],
)
def test_an_axis_has_as_many_round_values_as_it_may(
    top: float, limit: int, values: tuple[float, ...]
) -> None:
    assert round_values(top, limit) == pytest.approx(values)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(999, "999"), (1_000, "1k"), (2_500, "2.5k"), (999_000, "999k"), (1_000_000, "1M")],
)
def test_a_round_value_takes_few_letters(value: float, shown: str) -> None:
    assert short_count(value) == shown


def test_a_graph_has_labels_limits_and_marks_in_their_rows_and_columns() -> None:
    graph = Graph(columns=((7.0, 3.0), (14.0,)), top=14, limits=(12, 14, 15), marks=(1,))
    assert list(graph_lines(graph, 10)) == [
        "   ┤───███",
        "   ┤───███",
        "   ┤   ███",
        "10 ┤   ███",
        "   ┤▓▓▓███",
        "   ┤▓▓▓███",
        "   ┤▓▓▓███",
        "   ┤██████",
        " 5 ┤██████",
        "   ┤██████",
        "   ┤██████",
        "   ┤██████",
        "   ┤██████",
        "   ┤██████",
        "       ▲▲▲",
    ]


def test_small_bars_are_eighths_of_the_top_and_the_largest_of_those_that_share_one() -> None:
    assert small_bars([0, 1, 3.4, 3.6, 7, 9], 7, 60) == "▁▂▄▅██"
    assert small_bars([1, 7, 2, 3], 7, 2) == "█▄"
    assert small_bars([-5], 7, 1) == "▁"
