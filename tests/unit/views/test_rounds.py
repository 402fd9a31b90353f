"""The rounds of a session on a terminal and as JSON."""

from pathlib import Path

import pytest
from builders import user
from file_commands import stats_of_file
from unit.history.usage.sessions import answer, session
from unit.stages.support.trials import meter

from compactctl.commands.inspect.stats import StatsResult
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.history.usage.costs import Costs, compute_costs
from compactctl.history.usage.rounds import Rounds, find_rounds
from compactctl.model.message import Message
from compactctl.records import replace
from compactctl.tokens.models.prices import BUILTIN_PRICES
from compactctl.views.results.rounds import rounds_terminal
from compactctl.views.results.stats import stats_document, stats_terminal
from compactctl.views.terminal.screen import item_lines

SAMPLES = Path(__file__).parents[3] / "sample_transcripts"


def result_of(name: str, *, wanted: bool = True) -> StatsResult:
    measure = MeasureOptions(counter="chars/4")
    return stats_of_file(SAMPLES / name, measure=measure, rounds=wanted)


def shown(found: Rounds, width: int | None = None, costs: Costs | None = None) -> list[str]:
    items = rounds_terminal(found, costs)
    return [line for item in items for lines, _ in item_lines(item, width) for line in lines]


def rounds_of(*messages: Message) -> Rounds:
    return find_rounds(session(*messages), meter())


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("name", ["claude-code-session.jsonl", "codex-session.jsonl"])
def test_the_lines_fit_and_every_round_has_one(name: str, width: int) -> None:
    found = result_of(name).rounds
    assert found
    lines = shown(found, width)
    assert max(map(len, lines)) <= width
    first = next(n for n, line in enumerate(lines) if line.startswith("──")) + 1
    table = lines[first : first + len(found.rounds)]
    assert len(table) == len(found.rounds)
    for line, each in zip(table, found.rounds, strict=True):
        assert line.startswith(f"{each.place.turn}.{each.place.step} ")
        assert f" {each.usage.context:,} " in line


def test_the_rounds_take_the_place_of_the_table_of_categories() -> None:
    result = result_of("codex-session.jsonl")
    lines = [
        line for item in stats_terminal(result) for ls, _ in item_lines(item, None) for line in ls
    ]
    assert "rounds in" in lines[0]
    assert not [line for line in lines if line.startswith("Next request")]
    assert [line for line in lines if line.startswith("cache misses")]


def test_a_row_tells_what_happened_before_it() -> None:
    found = rounds_of(
        user("go"),
        answer(9_000, 0, write=9_000, model="a", timestamp=100.0),
        user("well", timestamp=100.0 + 7 * 60),
        answer(9_500, 0, model="a", timestamp=900.0),
        user("and", timestamp=901.0),
        answer(9_600, 0, model="b", timestamp=902.0, output=None),
    )
    rows = [" ".join(line.split()) for line in shown(found)[4:7]]
    assert rows == [
        "1.1 2 9,000 9,000 0 0 10 user 1",
        "2.1 4 9,500 500 0 9,000 10 cache missed, idle 7 min assistant 1, user 1",
        "3.1 6 9,600 100 0 9,500 ~1 now b assistant 1, user 1",
    ]


def test_what_was_not_reported_is_not_shown_as_nothing() -> None:
    lines = shown(rounds_of(user("go"), answer(9_000), answer(9_500)))
    assert " ".join(lines[5].split()) == "1.2 3 9,500 500 10 assistant 1"
    assert lines[0].endswith("sent, cache use not reported")


def test_a_file_without_reports_says_so_instead_of_an_empty_table() -> None:
    found = result_of("openai-chat.jsonl").rounds
    assert found is not None
    assert shown(found) == ["no rounds to list: the file records no usage"]


def test_rounds_of_several_conversations_say_whose_they_are() -> None:
    found = rounds_of(user("go"), answer(100), replace(answer(90), conversation=1))
    assert [line.split("  ")[0] for line in shown(found)[4:6]] == ["1: 1.1", "2: 0.1"]


def test_the_document_has_every_round_and_sums() -> None:
    result = result_of("claude-code-session.jsonl")
    found = stats_document(result)
    each, totals = found["rounds"], found["roundTotals"]
    assert sum(one["contextTokens"] for one in each) == totals["sentTokens"]
    assert sum(one["paidAgainTokens"] for one in each) == totals["paidAgainTokens"]
    assert sum("missed" in one["marks"] for one in each) == totals["cacheMisses"] > 0
    assert (each[0]["number"], each[0]["newTokens"]) == (1, each[0]["contextTokens"])
    assert all(one["time"].endswith("Z") and one["line"] > 0 for one in each)
    assert all(sum(one["entered"].values()) >= sum(one["results"].values()) for one in each)


def test_without_the_option_the_document_has_none() -> None:
    found = stats_document(result_of("claude-code-session.jsonl", wanted=False))
    assert found["rounds"] is found["roundTotals"] is None


PRICED = "claude-code-session.jsonl"


def priced(name: str) -> StatsResult:
    measure = MeasureOptions(counter="chars/4")
    return stats_of_file(SAMPLES / name, measure=measure, prices=BUILTIN_PRICES)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_prices_add_a_column_and_what_it_comes_to(width: int) -> None:
    result = priced(PRICED)
    assert result.rounds
    assert result.costs
    lines = shown(result.rounds, width, costs=result.costs)
    assert max(map(len, lines)) <= width
    assert any("Cost $" in line for line in lines)
    first = result.costs.priced_rounds[0]
    assert any(f" {first.total:.4f}" in line for line in lines)
    total = sum(each.total for each in result.costs.priced_rounds)
    assert f"${total:,.2f} (estimate): " in "\n".join(lines)
    assert [line for line in lines if line.startswith("prices ") and "builtin" in line]
    assert "Cost of the input by category (estimate)" in lines


def test_a_model_without_a_price_is_named_instead_of_priced() -> None:
    found = rounds_of(user("go"), answer(100, model="new"), answer(200, model="new"))
    lines = shown(found, costs=compute_costs(found.rounds, BUILTIN_PRICES))
    assert [" ".join(line.split()) for line in lines][-1] == "no price 2 rounds of new"
    assert not [line for line in lines if "$0" in line]


def test_without_a_report_of_the_cache_the_cost_is_the_most_that_it_can_be() -> None:
    found = rounds_of(user("go"), answer(100, model="gpt-5"), answer(200, model="gpt-5"))
    lines = [
        " ".join(line.split())
        for line in shown(found, costs=compute_costs(found.rounds, BUILTIN_PRICES))
    ]
    assert found.cache_reports == 0
    assert lines[1].startswith("at most $0.00 (estimate): ")
    assert "of the cost cache reads were not reported" in lines


def test_the_document_has_the_cost_of_every_round_and_of_all() -> None:
    found = stats_document(priced(PRICED))
    each, all_ = found["rounds"], found["costs"]
    assert sum(one["cost"]["input"] for one in each) == pytest.approx(all_["input"])
    assert sum(all_["carried"].values()) == pytest.approx(all_["input"])
    assert all_["total"] == pytest.approx(all_["input"] + all_["output"])
    assert (all_["exactness"], all_["currency"], all_["unpriced"]) == ("estimate", "USD", {})
    assert stats_document(result_of(PRICED))["costs"] is None
