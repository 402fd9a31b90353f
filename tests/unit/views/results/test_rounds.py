"""Requests of a session in a table, with totals and costs, and as rows of a file."""

from typing import Any

import pytest
from unit.views.results.screens import titles, words

from compactctl.history.usage.costs import Costs, RoundCost
from compactctl.history.usage.rounds import Round, RoundPlace, Rounds
from compactctl.model.message import MessageId, ReportedUsage
from compactctl.records import replace
from compactctl.tokens.models.prices import BUILTIN_PRICES, Price
from compactctl.views.results.rounds import ROUND_TYPES, round_fields, round_row, rounds_terminal

FIRST = Round(
    place=RoundPlace(number=1, conversation=0, turn=1, step=1, message=MessageId("m1"), line=1_203),
    model="gpt-5",
    time=1_700_000_000.5,
    idle=None,
    usage=ReportedUsage(context=9_000, output=1_200, cache_read=4_000),
    output=1_200,
    context_growth=9_000,
    cache_miss_tokens=0,
    entered={"user": 50, "tool results": 900, "file reads": 300, "assistant": 20},
    tools={"Read": 300, "": 900},
    marks=(),
)
SECOND = replace(
    FIRST,
    place=replace(FIRST.place, number=2, step=2, line=1_205),
    usage=ReportedUsage(context=8_000, cache_read=None),
    output=30,
    context_growth=-1_000,
    cache_miss_tokens=None,
    entered={},
    tools={},
)
PRICE = Price(
    model="gpt-5", input=1, cache_read=1, cache_write=1, cache_write_1h=1, output=1,
    above_tokens=0, source="", date="2026-01-02",
)  # fmt: skip
COST = RoundCost(input=0.5, output=0.25, cache_miss_cost=0.125, price=PRICE)
COSTS = Costs(
    prices=BUILTIN_PRICES,
    rounds=(COST, None),
    input_by_category={"user": 0.375, "tool results": 0.125},
    unpriced={"odd\nmodel": 1, "other": 1_200},
)


def rounds(*each: Round, subagents: int = 0) -> Rounds:
    return Rounds(rounds=each, subagent_requests=subagents)


def lines(found: Rounds, costs: Costs | None = None) -> list[str]:
    return words(rounds_terminal(found, costs))


def test_requests_are_rows_and_totals() -> None:
    assert lines(rounds(FIRST, SECOND)) == [
        "2 rounds in 1 turn: 17,000 tokens sent, 24% read from the cache, 0% cache misses",
        "",
        "Turn Line Context New Cached Cache misses Output Marks Entered",
        "─",
        "1.1 1,204 9,000 9,000 4,000 0 1,200 tool results 900, Read 300, user 50",
        "1.2 1,206 8,000 -1,000 ~30",
        "total 17,000 4,000 0 1,230",
        "",
        "cache misses at most 0 tokens in 0 rounds, 0 of them after idle gaps",
        "output counted for 1 round (~), not reported",
        "compactions 0 by the client, 0 by compactctl",
    ]


def test_where_all_requests_are_on_one_line_none_is_shown() -> None:
    same = replace(SECOND, place=FIRST.place)
    assert lines(rounds(FIRST, same))[2].startswith("Turn Context ")
    assert lines(rounds(FIRST))[2].startswith("Turn Line Context ")


@pytest.mark.parametrize(
    ("changes", "marks"),
    [
        ({"marks": ("compacted", "fell")}, "client compacted"),
        ({"marks": ("compactctl", "fell")}, "compactctl compacted"),
        ({"marks": ("fell",)}, "context fell"),
        ({"marks": ("missed",)}, "cache missed"),
        ({"marks": ("model",)}, "now gpt-5"),
        ({"marks": ("model",), "model": None}, "now an unnamed model"),
        ({"marks": ("idle",), "idle": 3_599.0}, "idle 60 min"),
        ({"marks": ("missed", "idle"), "idle": 3_600.0}, "cache missed, idle 1.0 h"),
        ({"marks": ("idle",), "idle": 86_399.0}, "idle 24.0 h"),
        ({"marks": ("idle",), "idle": 86_400.0}, "idle 1.0 d"),
        ({"marks": ("idle",), "idle": None}, "idle 0 min"),
    ],
)
def test_what_happened_before_a_request_is_marked(changes: dict[str, Any], marks: str) -> None:
    found = lines(rounds(FIRST, replace(SECOND, **changes)))
    assert found[5] == f"1.2 1,206 8,000 -1,000 ~30 {marks}"


def test_totals_count_what_is_marked() -> None:
    marked = replace(FIRST, marks=("missed", "idle", "compacted"), cache_miss_tokens=700)
    missed = replace(FIRST, marks=("missed", "compactctl", "compacted"), cache_miss_tokens=0)
    found = lines(rounds(marked, missed, subagents=1_200))
    assert found[8:] == [
        "not listed 1,200 requests of subagents",
        "cache misses at most 700 tokens in 2 rounds, 1 of them after idle gaps",
        "compactions 2 by the client, 1 by compactctl",
    ]


def test_what_was_sent_again_by_tools_of_the_provider_is_told() -> None:
    resent = ReportedUsage(context=500, cache_read=100)
    again = replace(FIRST, usage=replace(FIRST.usage, resent=resent))
    found = lines(rounds(again))
    assert found[0] == (
        "1 round in 1 turn: 9,500 tokens sent, 43% read from the cache, 0% cache misses"
    )
    assert found[5:8] == [
        "total 9,000 4,100 0 1,200", "", "sent again 500 tokens, by tools of the provider",
    ]  # fmt: skip
    assert round_row(again, None)["resent"] == 500


def test_costs_are_a_column_and_totals() -> None:
    found = lines(rounds(FIRST, SECOND), COSTS)
    assert found[1] == "$0.75 (estimate): $0.50 for input, $0.25 for output"
    assert found[3] == "Turn Line Context New Cached Cache misses Output Cost $ Marks Entered"
    assert found[5].startswith("1.1 1,204 9,000 9,000 4,000 0 1,200 0.7500 tool results")
    assert found[6:8] == ["1.2 1,206 8,000 -1,000 ~30", "total 17,000 4,000 0 1,230 0.7500"]
    assert found[12:] == [
        "of the cost $0.12 for cache misses",
        "prices builtin, as of 2026-01-02; without discounts and surcharges, not a bill",
        "no price 1 round of odd model",
        "no price 1,200 rounds of other",
        "",
        "Cost of the input by category (estimate)",
        "Cost $ Share For",
        "─",
        "0.3750 75.0% user",
        "0.1250 25.0% tool results",
    ]


def test_without_a_report_of_the_cache_costs_are_a_limit() -> None:
    unread = replace(FIRST, usage=ReportedUsage(context=9_000, output=1))
    costs = replace(COSTS, rounds=(COST,), unpriced={}, input_by_category={})
    found = lines(rounds(unread), costs)
    assert found[:2] == [
        "1 round in 1 turn: 9,000 tokens sent, cache use not reported",
        "at most $0.75 (estimate): $0.50 for input, $0.25 for output",
    ]
    assert "of the cost cache reads were not reported" in found
    unpriced = replace(costs, rounds=(None,))
    assert not [line for line in lines(rounds(unread), unpriced) if "$0" in line]


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (91, "Turn Line Context New Cached Output Cost $ Marks Entered"),
        (77, "Turn Context New Cached Output Cost $ Marks Entered"),
        (70, "Turn Context New Cached Output Cost $ Marks"),
        (52, "Turn Context New Cached Cost $ Marks"),
        (44, "Turn Context Cached Cost $ Marks"),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(width: int, shown_titles: str) -> None:
    assert titles(rounds_terminal(rounds(FIRST, SECOND), COSTS), width)[0] == shown_titles
    assert titles(rounds_terminal(rounds(FIRST, SECOND), COSTS), width + 1)[0] != shown_titles


def test_a_row_of_a_file_has_a_value_for_each_column() -> None:
    row = round_row(replace(FIRST, marks=("missed",)), COST)
    assert list(row) == list(ROUND_TYPES)
    assert (row["conversation"], row["line"], row["resent"], row["output_reported"]) == (
        1,
        1_204,
        0,
        1,
    )
    assert (row["cost_input"], row["cost_output"], row["cost_paid_again"]) == (0.5, 0.25, 0.125)
    assert (row["entered_user"], row["entered_media"]) == (50, 0)
    assert row["results"] == '{"Read": 300, "": 900}'
    bare = round_row(SECOND, None)
    assert (bare["output_reported"], bare["cost_input"], bare["cache_read"]) == (0, None, None)


def test_a_document_has_rounds_totals_and_costs() -> None:
    found = round_fields(rounds(FIRST, SECOND, subagents=3), COSTS)
    first, second = found["rounds"]
    assert (first["number"], first["conversation"], first["line"]) == (1, 1, 1_204)
    assert first["time"] == "2023-11-14T22:13:20.500Z"
    assert first["cost"] == {"input": 0.5, "output": 0.25, "paidAgain": 0.125}
    assert (second["cost"], second["resentTokens"], second["outputReported"]) == (None, 0, False)
    totals = found["roundTotals"]
    assert (totals["rounds"], totals["turns"], totals["subagentRequests"]) == (2, 1, 3)
    assert (totals["sentTokens"], totals["cacheReports"], totals["outputTokens"]) == (
        17_000,
        1,
        1_230,
    )
    assert (found["costs"]["total"], found["costs"]["priceDates"]) == (0.75, ["2026-01-02"])
    assert round_fields(rounds(replace(FIRST, time=None)), None)["rounds"][0]["time"] is None
    assert round_fields(None, None) == {"rounds": None, "roundTotals": None, "costs": None}
