"""Tables fit the width there is, and lose as little as that takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.views.terminal.screen import Fact, Facts, item_lines
from compactctl.views.terminal.tables import bar, cell_width, number, table, table_lines, text

COLUMNS = (
    number("Tokens"),
    text("Tool", "end", min_width=8),
    text("File", "start", min_width=8),
    text("Note", spare=1),
)
CELLS = st.text(st.characters(exclude_categories=("C", "Z", "M")), max_size=40)
ROWS = st.lists(st.tuples(st.integers(0, 10**9).map("{:,}".format), CELLS, CELLS, CELLS))
# The numbers and what the other columns may be cut to, with gaps of two.
NARROWEST = 13 + 2 + 8 + 2 + 8


@given(rows=ROWS, width=st.integers(NARROWEST, 200))
def test_a_table_is_never_wider_than_asked_for(rows: list[tuple[str, ...]], width: int) -> None:
    lines = table_lines(table(COLUMNS, rows), width)
    assert max(map(cell_width, lines)) <= width
    assert len(lines) == 2 + len(rows)


@given(rows=ROWS)
def test_without_a_width_nothing_is_lost(rows: list[tuple[str, ...]]) -> None:
    lines = table_lines(table(COLUMNS, rows), None)
    for row, line in zip(rows, lines[2:], strict=True):
        assert all(cell in line for cell in row)


@given(rows=ROWS, width=st.integers(NARROWEST, 60))
def test_numbers_stay_whole(rows: list[tuple[str, ...]], width: int) -> None:
    lines = table_lines(table(COLUMNS, rows), width)
    for row, line in zip(rows, lines[2:], strict=True):
        assert line.lstrip().startswith(row[0])


def test_spare_columns_go_first_and_a_path_keeps_its_end() -> None:
    rows = [("1,024", "Read", "/home/dev/project/src/main.py", "a note")]
    assert table_lines(table(COLUMNS, rows), 29) == [
        "Tokens  Tool  File",
        "─" * 29,
        " 1,024  Read  …ct/src/main.py",
    ]


PATHS = (text("File", "middle", min_width=8, comfort=20), text("Model", "end", spare=1))
LONG_PATH = "/home/dev/project/src/main.py"


@given(path=CELLS, width=st.integers(8, 60))
def test_a_path_is_cut_in_the_middle(path: str, width: int) -> None:
    *_, shown = table_lines(table(PATHS[:1], [(path,)]), width)
    if cell_width(path) <= width:
        assert shown == path
    else:
        head, _, tail = shown.partition("…")
        assert path.startswith(head)
        assert path.endswith(tail)
        assert width - 2 <= cell_width(shown) <= width


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (60, f"{LONG_PATH}  claude-sonnet-4-5-20250929"),
        (45, f"{LONG_PATH}  claude-sonnet…"),
        (43, f"{LONG_PATH}  claude-sonn…"),
        (40, "/home/de…oject/src/main.py  claude-sonn…"),
        (33, LONG_PATH),
        (20, "/home/…t/src/main.py"),
    ],
)
def test_a_model_is_cut_and_left_out_before_a_path(width: int, line: str) -> None:
    rows = [(LONG_PATH, "claude-sonnet-4-5-20250929")]
    assert table_lines(table(PATHS, rows), width)[-1] == line


def test_the_total_is_the_last_row() -> None:
    lines = table_lines(table((text("What"), number("N")), [("a", "1")], ("all", "1")), None)
    assert lines == ["What  N", "───────", "a     1", "all   1"]


def test_wide_letters_keep_columns_aligned() -> None:
    rows = [("日本語", "x"), ("abc", "y")]
    _, _, wide, narrow = table_lines(table((text("A"), text("B")), rows), None)
    assert wide == "日本語  x"
    assert narrow == "abc     y"


@pytest.mark.parametrize(
    ("share", "shown"), [(0, ""), (0.5, "█" * 12), (1, "█" * 24), (7, "█" * 24)]
)
def test_a_bar_shows_a_share(share: float, shown: str) -> None:
    assert bar(share) == shown


def test_facts_are_wrapped_beside_their_labels() -> None:
    facts = Facts((Fact("used", "12 % of the available input, plenty of room"), Fact("by", "me")))
    shown = [line for lines, _ in item_lines(facts, 34) for line in lines]
    assert shown == ["used  12 % of the available input,", "      plenty of room", "by    me"]


def test_facts_stand_below_their_labels_where_it_is_narrow() -> None:
    facts = Facts((Fact("used", "12 % of the available input"),))
    shown = [line for lines, _ in item_lines(facts, 20) for line in lines]
    assert shown == ["used  12 % of the", "  available input"]


def test_the_last_column_may_be_wrapped_and_stays_whole() -> None:
    columns = (text("Stage"), number("Saved"), text("Changes", "wrap", min_width=10))
    grid = table(columns, [("prune", "0", "would save 3 tokens, below 5"), ("dedup", "1", "")])
    assert table_lines(grid, 28) == [
        "Stage  Saved  Changes",
        "───────────────────────────",
        "prune      0  would save 3",
        "              tokens, below",
        "              5",
        "dedup      1",
    ]
    assert table_lines(grid, None)[2] == "prune      0  would save 3 tokens, below 5"
