"""A report as a page: its drawings and tables, how much of them is shown, and what is left out."""

from typing import Any

import pytest
from unit.commands.batch.rows import REPORTED
from unit.views.pages.outline import outline

from compactctl.commands.batch.report import (
    BaselineComparison,
    GrowthFinding,
    ReportOptions,
    ReportResult,
    ReportRow,
    summarize,
)
from compactctl.commands.page_choice import PageChoice
from compactctl.records import replace
from compactctl.views.facts import BEFORE_AND_AFTER
from compactctl.views.pages.many import report_page

WEEK = 7 * 86_400
SHOP = replace(REPORTED, path="/srv/in/a.jsonl", saved=6_000)
MILL = replace(
    SHOP, path="/srv/in/b.jsonl", project="mill", model="gpt-4", context=5_000, tokens=10_000,
    saved=0, status="over", ended=1_700_000_000.0 + 2 * WEEK, tools={"Read": 1_000},
    categories={"user": 9_000, "tool results": 1_000},
)  # fmt: skip
UNREAD = replace(
    SHOP, context=0, tokens=0, saved=0, project="", model="", counter="", tools={}, categories={}
)
FAILED = replace(
    UNREAD, path="/srv/in/sub/c.jsonl", status="failed", exit_code=65, error="c.jsonl: is broken"
)
SKIPPED = replace(UNREAD, path="/srv/in/d.txt", status="skipped")


def lines(*rows: ReportRow, redact: bool = False, **changes: Any) -> list[str]:
    options = ReportOptions(paths=("r.parquet",))
    result = ReportResult(options=options, rows=rows, summary=summarize(rows), **changes)
    return outline(report_page(result, PageChoice(path="p.html", redact=redact)))


def below(page: list[str], title: str, end: str | None = None) -> list[str]:
    """Return the lines below a title, up to another line."""
    rest = page[page.index(title) + 1 :]
    return rest[: rest.index(end)] if end else rest


def test_sizes_weeks_projects_and_failures_are_shown() -> None:
    assert lines(SHOP, MILL, FAILED, SKIPPED) == [
        "3 transcripts",
        f"1 ok · 1 over · 1 failed · 1 not a transcript · {BEFORE_AND_AFTER}",
        "Tokens",
        "in all transcripts 40,000",
        "saved 6,000 (15.0%)",
        "median of next requests 5,000",
        "90th percentile of next requests 20,000",
        "95th percentile of next requests 20,000",
        "99th percentile of next requests 20,000",
        "Size of the next request",
        "Transcripts by tokens of their next request.",
        "4,000 to 8,000 1",
        "[s-0 100.0%]",
        "8,000 to 16,000 0",
        "[s-0 0.0%]",
        "16,000 to 32,000 1",
        "[s-0 100.0%]",
        "By week",
        "Tokens of the transcripts that ended in each week, by project.",
        "[s-1 M0 1000H0V123H1V1000H2V708H3V1000Z]",
        "[s-0 M0 1000H0V123H1V1000H3V1000Z]",
        "[grid 0 85.38%]",
        "5k",
        "[grid 0 70.76%]",
        "10k",
        "[grid 0 56.14%]",
        "15k",
        "[grid 0 41.52%]",
        "20k",
        "[grid 0 26.9%]",
        "25k",
        "2023-W46 2023-W48",
        "[s-0 100%] shop",
        "[s-1 100%] mill",
        "Show as a table",
        "Week Files Median request shop mill",
        "2023-W48 1 5,000 0 10,000",
        "2023-W47 0 0",
        "2023-W46 1 20,000 30,000 0",
        "Largest",
        "Tokens of the next request, below /srv/in/",
        "a.jsonl 20,000",
        "[s-0 100.0%]",
        "b.jsonl 5,000 over",
        "[s-1 25.0%]",
        "By category",
        "Tokens in all transcripts.",
        "user 39,000 97.5%",
        "[c-user 100.0%]",
        "tool results 1,000 2.5%",
        "[c-tool-results 2.564%]",
        "By tool",
        "Tokens in all transcripts.",
        "Read 7,000 17.5%",
        "[c-tool-results 100.0%]",
        "Bash 3,000 7.5%",
        "[c-tool-results 42.857%]",
        "Projects",
        "Project Files Tokens Median request Re-read Tools",
        "shop 1 30,000 20,000 10.0% 30.0%",
        "mill 1 10,000 5,000 30.0% 10.0%",
        "Models",
        "Model Files Tokens Median request Re-read Tools",
        "gpt-5 1 30,000 20,000 10.0% 30.0%",
        "gpt-4 1 10,000 5,000 30.0% 10.0%",
        "Failed",
        "exit 65 c.jsonl: is broken",
    ]


def test_tokens_of_two_counters_are_not_added_up() -> None:
    page = lines(SHOP, replace(MILL, counter="chars/4"))
    assert page[2:4] == ["Tokens", "median of next requests 5,000"]
    assert below(page, "By category")[1] == "user 39,000 97.5%"


def test_without_savings_nothing_is_said_of_compaction() -> None:
    page = lines(MILL)
    assert page[1] == "1 over"
    assert page[3:5] == ["in all transcripts 10,000", "median of next requests 5,000"]


def test_nothing_that_was_read_leaves_failures_only() -> None:
    assert lines(FAILED, SKIPPED) == [
        "1 transcript",
        "1 failed · 1 not a transcript",
        "Tokens",
        "in all transcripts 0",
        "Failed",
        "exit 65 c.jsonl: is broken",
    ]


def test_one_week_is_no_growth() -> None:
    assert "By week" not in lines(SHOP, replace(MILL, ended=SHOP.ended))
    assert "By week" not in lines(replace(SHOP, ended=None))


def test_weeks_are_those_of_two_years_at_most() -> None:
    def weeks(count: int) -> list[str]:
        assert SHOP.ended is not None
        page = lines(SHOP, replace(SHOP, path="b", ended=SHOP.ended + count * WEEK))
        return below(page, "Week Files Median request shop", "Largest")

    assert len(weeks(103)) == len(weeks(104)) == 104
    assert (weeks(1)[-1].split()[0], weeks(104)[-1].split()[0]) == ("2023-W46", "2023-W47")


def test_the_largest_projects_have_a_color_and_the_others_share_one() -> None:
    assert SHOP.ended is not None
    rows = [
        replace(
            SHOP, path=f"{n}", project=f"p{n}", tokens=9_000 - n, ended=SHOP.ended + n % 2 * WEEK
        )
        for n in range(8)
    ]
    page = lines(*rows)
    titles = "Week Files Median request p0 p1 p2 p3 p4 p5 others"
    newest, oldest = below(page, titles, "Largest")
    assert newest == "2023-W47 4 20,000 0 8,999 0 8,997 0 8,995 8,993"
    assert oldest == "2023-W46 4 20,000 9,000 0 8,998 0 8,996 0 8,994"
    assert below(page, "2023-W46 2023-W47")[:7] == [
        *(f"[s-{n} 100%] p{n}" for n in range(6)), "[c-other 100%] others",
    ]  # fmt: skip
    # A project that only older weeks have is no column.
    assert "others" not in " ".join(lines(*rows[:6]))


@pytest.mark.parametrize(("count", "rest"), [(20, []), (21, ["1 {}"]), (25, ["5 {}s"])])
def test_of_many_rows_the_first_are_shown(count: int, rest: list[str]) -> None:
    rows = [
        replace(
            SHOP, path=f"{n:02}", project=f"p{n}", context=9_000 - n, tokens=90 - n,
            model=f"m{n}", tools={f"tool{n:02}": 90 - n},
        )
        for n in range(count)
    ]  # fmt: skip
    page = lines(*rows)
    largest = below(page, "Largest", "By category")
    assert [largest[1], largest[39]] == ["00 9,000", "19 8,981"]
    assert largest[41:] == [line.format("smaller transcript") for line in rest]
    tools = below(page, "By tool", "Projects")
    assert [tools[1].split()[0], tools[39].split()[0]] == ["tool00", "tool19"]
    assert tools[41:] == [line.format("other") for line in rest]
    projects = below(page, "Projects", "Models")
    assert [line.split()[0] for line in projects[1:21]] == [f"p{n}" for n in range(20)]
    assert projects[21:] == [f"{count - 20} more"] * (count > 20)


@pytest.mark.parametrize(("count", "rest"), [(50, []), (51, ["1 more"])])
def test_of_many_failures_the_first_are_shown(count: int, rest: list[str]) -> None:
    page = lines(*[FAILED] * count)
    assert below(page, "Failed") == ["exit 65 c.jsonl: is broken"] * 50 + rest


@pytest.mark.parametrize(
    ("paths", "shown", "folder"),
    [
        (("/a/b/one", "/a/b/two"), ("one", "two"), "/a/b/"),
        (("/a/bc/one", "/a/bd/two"), ("bc/one", "bd/two"), "/a/"),
        (("C:\\in\\one", "C:\\in\\two"), ("one", "two"), "C:\\in\\"),
        (("one", "two"), ("one", "two"), ""),
        (("/a/b/one",), ("one",), "/a/b/"),
    ],
)
def test_the_folder_of_all_is_named_once(
    paths: tuple[str, ...], shown: tuple[str, ...], folder: str
) -> None:
    page = lines(*(replace(SHOP, path=path, context=9_000 - n) for n, path in enumerate(paths)))
    note, *bars = below(page, "Largest")
    assert note == "Tokens of the next request" + (f", below {folder}" if folder else "")
    assert tuple(line.split()[0] for line in bars[: 2 * len(paths) : 2]) == shown


def test_a_status_is_named_and_colored_unless_all_is_well() -> None:
    rows = [
        replace(SHOP, path=f"{n}", context=9_000 - n, status=status)
        for n, status in enumerate(("ok", "unchanged", "over limit", "flagged", "over"))
    ]
    _, *bars = below(lines(*rows), "Largest", "By category")
    assert [line.split()[2:] for line in bars[::2]] == [
        [], [], ["over", "limit"], ["flagged"], ["over"],
    ]  # fmt: skip
    assert [line.split()[0] for line in bars[1::2]] == ["[s-0", "[s-0", "[s-1", "[s-1", "[s-1"]


def test_growth_is_told_below_the_sizes() -> None:
    finding = GrowthFinding(project="shop", figure="context", before=1_000, after=20_000)
    growth = BaselineComparison(findings=(finding,), compared=("shop",))
    told = below(lines(SHOP, growth=growth), "Since the baseline", "Largest")
    assert told[0].startswith("shop: the median request grew from 1,000 to 20,000")
    assert "Since the baseline" not in lines(SHOP)


def test_a_redacted_page_has_numbers_for_names() -> None:
    page = lines(SHOP, MILL, FAILED, redact=True)
    assert below(page, "Largest", "By category")[:2] == [
        "Tokens of the next request",
        "file 1 20,000",
    ]
    assert below(page, "By tool", "Projects")[1::2] == ["read 7,000 17.5%", "shell 3,000 7.5%"]
    assert below(page, "Failed") == ["exit 65 file 3"]
