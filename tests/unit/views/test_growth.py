"""What is said of growth since an earlier report."""

import pytest

from compactctl.commands.batch.report import BaselineComparison, Figure, GrowthFinding
from compactctl.records import replace
from compactctl.views.growth import growth_fields, growth_lines


def grown(project: str, figure: Figure, before: float, after: float) -> GrowthFinding:
    return GrowthFinding(project=project, figure=figure, before=before, after=after)


SAME = BaselineComparison(findings=(), compared=("shop", ""))


@pytest.mark.parametrize(
    ("comparison", "lines"),
    [
        (SAME, ["nothing grew by more than 10.0% (2 projects compared)"]),
        (
            replace(SAME, compared=("shop",), added=("new", "")),
            [
                "nothing grew by more than 10.0% (1 project compared)",
                "new: not in the baseline",
                "files without a project: not in the baseline",
            ],
        ),
        (
            replace(SAME, findings=(grown("shop", "context", 1_000.4, 2_000.6),)),
            ["shop: the median request grew from 1,000 to 2,001"],
        ),
        (
            replace(
                SAME,
                findings=(
                    grown("", "reread", 0.1, 0.25),
                    grown("shop", "tools", 0.5, 0.75),
                ),
            ),
            [
                "files without a project: the share of files read again grew from 10.0% to 25.0%",
                "shop: the share of tools grew from 50.0% to 75.0%",
            ],
        ),
        (
            replace(SAME, compared=()),
            ["nothing could be compared: no project is both here and in the baseline"],
        ),
        (
            replace(SAME, compared=(), recounted=("shop",)),
            [
                (
                    "shop: counted with a different counter than the baseline, so growth is "
                    "unknown; write a new baseline"
                )
            ],
        ),
        (
            replace(SAME, gone=("a",)),
            [
                "nothing grew by more than 10.0% (2 projects compared)",
                "1 project of the baseline not measured: a",
            ],
        ),
        (
            replace(SAME, gone=("a", "b", "", "d")),
            [
                "nothing grew by more than 10.0% (2 projects compared)",
                "4 projects of the baseline not measured: a, b, files without a project",
            ],
        ),
    ],
)
def test_what_grew_and_what_could_not_be_compared_is_told(
    comparison: BaselineComparison, lines: list[str]
) -> None:
    assert list(growth_lines(comparison, 0.1)) == lines


def test_projects_have_the_names_that_are_shown() -> None:
    gone = replace(SAME, gone=("shop",))
    assert list(growth_lines(gone, 0.1, str.upper))[-1].endswith("not measured: SHOP")


def test_a_document_has_no_growth_without_a_baseline() -> None:
    assert growth_fields(None) == {"growth": None, "comparedProjects": None}
    finding = grown("shop", "context", 1.0, 2.0)
    assert growth_fields(replace(SAME, findings=(finding,))) == {
        "growth": [{"project": "shop", "figure": "context", "before": 1.0, "after": 2.0}],
        "comparedProjects": {
            "compared": ["shop", ""],
            "recounted": [],
            "incomplete": [],
            "added": [],
            "gone": [],
        },
    }
