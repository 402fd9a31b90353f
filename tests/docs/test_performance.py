"""The page on performance has the rows of the benchmark, which warns of those that got slower."""

import re

from benchmarks.performance import PAGE, ROWS, Figures, warnings
from docs.generate import ROOT


def measured_rows() -> list[list[str]]:
    """Return the cells of the table between the marks on the page."""
    block = PAGE.read_text().partition("<!-- measured -->")[2].partition("<!-- end of")[0]
    lines = re.findall(r"^\| (.+) \|$", block, re.MULTILINE)[2:]
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def test_the_page_has_rows_and_aims_of_the_benchmark() -> None:
    aims = {row.name: "" if row.aim is None else f"{row.aim:g}" for row in ROWS}
    shown = {cells[0]: cells[1] for cells in measured_rows()}
    assert shown.items() <= aims.items()
    assert {row.name for row in ROWS if row.is_quick} <= shown.keys()


def test_a_missed_aim_is_bold() -> None:
    for _, aim, ratio, _ in measured_rows():
        value = float(re.sub(r"\*|\(.*", "", ratio))
        assert ratio.startswith("**") == (bool(aim) and value > float(aim))


def test_a_row_that_got_slower_is_named() -> None:
    row = next(row for row in ROWS if row.is_quick)
    page = f"| {row.name} | 2 | **2.00** (1.90 to 2.10) | 1.00 s |\n"
    figures = {row: Figures(ratios=(2.9, 3.5, 3.1), amount=1)}
    assert list(warnings(figures, page)) == [f"warning: {row.name} is 3.10, and was 2.00"]
    assert list(warnings(figures, page.replace("2.00", "2.80"))) == []


def test_the_long_run_runs_it() -> None:
    assert "tests/benchmarks/performance.py --quick" in (ROOT / ".ci" / "leg").read_text()
