"""Sums over the rows of reports, and what grew since an earlier one."""

import pytest
from unit.commands.batch.rows import REPORTED as ROW

from compactctl.commands.batch.report import (
    Bin,
    GrowthFinding,
    ReportRow,
    RowGroup,
    by_week,
    compare_with_baseline,
    group_by,
    percentile,
    report_row,
    summarize,
)
from compactctl.history.categories import CATEGORIES
from compactctl.records import replace

FAILED = replace(ROW, status="failed", context=0, tokens=0, saved=0, tools={}, categories={})


@pytest.mark.parametrize(
    ("percent", "value"), [(1, 10), (20, 10), (21, 20), (50, 30), (90, 50), (100, 50), (0, 10)]
)
def test_a_percentile_is_the_nearest_rank(percent: int, value: int) -> None:
    assert percentile([10, 20, 30, 40, 50], percent) == value


def test_files_that_failed_are_counted_and_have_no_figures() -> None:
    summary = summarize([ROW, replace(ROW, path="b", context=40_000), FAILED])
    assert (summary.files, summary.statuses) == (3, {"ok": 2, "failed": 1})
    assert (summary.tokens, summary.saved) == (60_000, 20)
    assert summary.categories == {"user": 60_000}
    assert list(summary.tools.items()) == [("Read", 12_000), ("Bash", 6_000)]
    assert summary.percentiles == {50: 20_000, 90: 40_000, 95: 40_000, 99: 40_000}
    assert (summary.counters, summary.is_summed) == (("o200k_base",), True)


def test_of_nothing_there_is_nothing() -> None:
    summary = summarize([FAILED])
    assert (summary.percentiles, summary.bins, summary.models, summary.projects) == ({}, (), (), ())
    assert summarize([]).is_summed


def test_tokens_of_two_counters_cannot_be_added() -> None:
    summary = summarize([ROW, replace(ROW, counter="chars/4"), replace(ROW, counter="")])
    assert (summary.counters, summary.is_summed) == (("chars/4", "o200k_base"), False)


@pytest.mark.parametrize(
    ("sizes", "bins"),
    [
        ([0, 999], [(0, 1_000, 2)]),
        ([1_000, 1_999], [(1_000, 2_000, 2)]),
        ([2_000, 3_999, 4_000], [(2_000, 4_000, 2), (4_000, 8_000, 1)]),
        ([500, 9_000], [
            (0, 1_000, 1), (1_000, 2_000, 0), (2_000, 4_000, 0), (4_000, 8_000, 0),
            (8_000, 16_000, 1),
        ]),
    ],
)  # fmt: skip
def test_sizes_are_counted_by_powers_of_two(
    sizes: list[int], bins: list[tuple[int, int, int]]
) -> None:
    summary = summarize([replace(ROW, context=size) for size in sizes])
    assert summary.bins == tuple(Bin(least=one, below=two, files=n) for one, two, n in bins)


def test_a_group_has_sums_a_median_and_shares() -> None:
    rows = [ROW, replace(ROW, context=30_001, tools={"Read": 1_000}), replace(ROW, reread=0)]
    assert group_by(rows, lambda row: row.model) == (
        RowGroup(
            name="gpt-5",
            files=3,
            tokens=90_000,
            context=20_000,
            reread=6_000 / 90_000,
            tools=19_000 / 90_000,
        ),
    )
    [empty] = group_by([replace(ROW, tokens=0, reread=0, tools={})], lambda row: row.model)
    assert (empty.reread, empty.tools) == (0, 0)


def test_groups_are_sorted_by_tokens_and_then_by_name() -> None:
    rows = [
        replace(ROW, project=name, tokens=tokens)
        for name, tokens in (("b", 5), ("a", 5), ("", 90), ("c", 70))
    ]
    summary = summarize(rows)
    assert [group.name for group in summary.projects] == ["c", "a", "b"]
    assert [group.name for group in summary.models] == ["gpt-5"]


@pytest.mark.parametrize(
    ("ended", "week"),
    [
        (None, []),
        (1_700_000_000.0, ["2023-W46"]),
        (1_704_067_200.0, ["2024-W01"]),
        (1_704_067_199.0, ["2023-W52"]),
        (1e300, []),
    ],
)
def test_a_file_belongs_to_the_week_of_its_end(ended: float | None, week: list[str]) -> None:
    rows = [replace(ROW, ended=ended)]
    assert [group.name for group in summarize(rows).weeks] == week
    assert list(by_week(rows)) == week


def test_weeks_are_in_order_with_their_projects() -> None:
    later = replace(ROW, ended=1_704_067_200.0)
    weeks = by_week([later, replace(ROW, project="x"), ROW, replace(ROW, project=""), FAILED])
    assert {
        week: [(group.name, group.files) for group in groups] for week, groups in weeks.items()
    } == {
        "2023-W46": [("x", 1), ("shop", 1)],
        "2024-W01": [("shop", 1)],
    }
    assert list(weeks) == ["2023-W46", "2024-W01"]


@pytest.mark.parametrize(
    ("before", "after", "tolerance", "has_grown"),
    [
        # A tenth of 20,000 may be added, and a thousand tokens where a tenth is less.
        (20_000, 22_000, 0.1, False),
        (20_000, 22_001, 0.1, True),
        (20_000, 22_001, 0.2, False),
        (5_000, 6_000, 0.1, False),
        (5_000, 6_001, 0.1, True),
        (30_000, 20_000, 0.1, False),
    ],
)
def test_a_request_may_grow_by_its_tolerance_and_by_a_thousand_tokens(
    before: int, after: int, tolerance: float, *, has_grown: bool
) -> None:
    compared = compare_with_baseline(
        [replace(ROW, context=after)], [replace(ROW, context=before)], tolerance
    )
    finding = GrowthFinding(project="shop", figure="context", before=before, after=after)
    assert compared.findings == ((finding,) if has_grown else ())
    assert (compared.compared, compared.fails) == (("shop",), has_grown)


@pytest.mark.parametrize(
    ("before", "after", "has_grown"),
    [(3_000, 3_300, False), (3_000, 3_301, True), (600, 900, False), (600, 901, True)],
)
def test_a_share_may_grow_by_its_tolerance_and_by_a_hundredth(
    before: int, after: int, *, has_grown: bool
) -> None:
    """Of 30,000 tokens, 3,000 may become 3,300 by a tenth; 600 become 900 by a hundredth."""
    reread = compare_with_baseline([replace(ROW, reread=after)], [replace(ROW, reread=before)])
    tools = compare_with_baseline(
        [replace(ROW, tools={"Read": after})], [replace(ROW, tools={"Read": before})]
    )
    assert [finding.figure for finding in reread.findings] == ["reread"] * has_grown
    assert [finding.figure for finding in tools.findings] == ["tools"] * has_grown


def test_projects_are_compared_that_are_in_both_and_counted_alike() -> None:
    def of(project: str, counter: str = "chars/4") -> ReportRow:
        return replace(ROW, project=project, counter=counter)

    now = [of("same"), of("new"), of("other", "cl100k_base"), of("unknown", ""), of("")]
    before = [
        of("gone"),
        of("same"),
        of("other"),
        of("unknown"),
        of(""),
        replace(FAILED, project="x"),
    ]
    compared = compare_with_baseline(now, before)
    assert compared.compared == ("", "same", "unknown")
    assert (compared.recounted, compared.added, compared.gone) == (("other",), ("new",), ("gone",))
    assert compared.fails
    assert compare_with_baseline(now[:2], before[:1]).fails
    assert not compare_with_baseline(now[:1], before[1:2]).fails
    mixed = [of("other"), of("other", "cl100k_base")]
    assert compare_with_baseline(mixed, [of("other")]).compared == ("other",)


def test_an_older_report_may_lack_columns() -> None:
    row = report_row({"path": "a", "status": "ok", "exit_code": None})
    assert row == ReportRow(
        path="a", status="ok", exit_code=0, project="", model="", counter="", context=0,
        tokens=0, saved=0, reread=0, ended=None, error="", categories=dict.fromkeys(CATEGORIES, 0),
        tools={}, values=row.values,
    )  # fmt: skip
    row = report_row(
        {
            "path": "a",
            "status": "failed",
            "exit_code": 65,
            "project": "p",
            "model": "m",
            "counter": "c",
            "context": 1,
            "tokens_before": 2,
            "saved": 3,
            "reread": 4,
            "ended": 5.0,
            "error": "e",
            "tools": '{"Read": 6}',
            "tokens_tool_calls": 7,
        }
    )
    assert (row.exit_code, row.project, row.model, row.counter) == (65, "p", "m", "c")
    assert (row.context, row.tokens, row.saved, row.reread, row.ended) == (1, 2, 3, 4, 5.0)
    assert (row.error, row.tools, row.categories["tool calls"]) == ("e", {"Read": 6}, 7)
    assert not row.is_read
