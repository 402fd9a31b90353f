"""Places on a drawing of stacked areas."""

import re
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.views.pages.drawing import HEIGHT, areas, grid

ORDER = ("ground", "middle", "top")
COLUMNS = st.lists(
    st.fixed_dictionaries({name: st.integers(0, 10**6) for name in ORDER}), min_size=1
)


def heights(path: str, columns: int) -> list[int]:
    """Return how high an area reaches in each column, told by what its path draws."""
    moves = [(int(x), int(y)) for x, y in re.findall(r"H(\d+)V(\d+)", path)]
    found, at, height = [], 0, 0
    for x, y in moves:
        found += [height] * (x - at)
        at, height = x, HEIGHT - y
    assert (at, height) == (columns, 0)
    return found


@given(columns=COLUMNS)
def test_each_area_reaches_from_the_ground_over_those_below_it(
    columns: list[dict[str, int]],
) -> None:
    top = max(sum(column.values()) for column in columns) or 1
    found = {area.name: area.path for area in areas(columns, ORDER, top)}
    assert set(found) == {name for name in ORDER if any(column[name] for column in columns)}
    for name, path in found.items():
        below = ORDER[: ORDER.index(name) + 1]
        sums = [sum(column[each] for each in below) for column in columns]
        told = heights(path, len(columns))
        assert all(
            abs(one - HEIGHT * size / top) <= 1 for one, size in zip(told, sums, strict=True)
        )


def test_the_highest_is_drawn_first_so_that_the_lower_cover_it() -> None:
    columns = [{"ground": 1, "middle": 2, "top": 3}]
    assert [area.name for area in areas(columns, ORDER, 10)] == ["top", "middle", "ground"]


@pytest.mark.parametrize("top", [0.004, 1, 7, 999, 200_000, 1_234_567])
def test_lines_are_few_and_at_round_values(top: float) -> None:
    lines = grid(top, repr)
    values = [float(line.label) for line in lines]
    assert 1 <= len(lines) <= 5
    assert list(accumulate([values[0]] * len(values))) == pytest.approx(values)
    assert float(f"{values[0]:.2g}") == pytest.approx(values[0])
    assert all(0 < line.at < 100 for line in lines)
