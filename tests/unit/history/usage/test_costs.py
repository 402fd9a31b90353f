"""What rounds cost, and what that was spent on."""

from typing import Any

import pytest
from builders import assistant, call, result, summary, system, user
from hypothesis import given
from hypothesis import strategies as st
from unit.history.usage.sessions import answer, found
from unit.stages.support.trials import words

from compactctl.history.usage.costs import (
    UNSEEN,
    compute_costs,
    context_shares,
    with_costs,
)
from compactctl.model.message import Message, ReportedUsage
from compactctl.records import replace
from compactctl.tokens.models.prices import Price, PriceTable

PRICE = Price(
    model="m",
    input=10,
    cache_read=1,
    cache_write=12,
    cache_write_1h=20,
    output=100,
    source="",
    date="d",
)
TABLE = PriceTable("mine", (PRICE, replace(PRICE, input=1_000, above_tokens=50_000)))


def reported(context: int, **usage: Any) -> Message:
    sent = ReportedUsage(context=context, **usage)
    return replace(assistant("ok"), response_id=f"r{context}", usage=sent, model="m")


def test_every_kind_of_token_has_its_own_price() -> None:
    usage = {"output": 7, "cache_read": 4_000, "cache_write": 3_000, "cache_write_1h": 1_000}
    made = compute_costs(found(user("go"), reported(10_000, **usage)), TABLE)
    [one] = made.priced_rounds
    million = 3_000 * 10 + 4_000 * 1 + 2_000 * 12 + 1_000 * 20
    assert (one.input, one.output) == pytest.approx((million / 1e6, 700 / 1e6))
    assert one.total == one.input + one.output
    assert made.dates == ("d",)


def test_what_the_provider_sent_again_is_paid_as_well() -> None:
    again = ReportedUsage(context=8_000, cache_read=1_000, cache_write=3_000, cache_write_1h=1_000)
    usage = ReportedUsage(context=5_000, output=7, growth=4_000, resent=again)
    [one] = compute_costs(
        found(user("go"), replace(reported(5_000), usage=usage)), TABLE
    ).priced_rounds
    million = 5_000 * 10 + 4_000 * 10 + 1_000 * 1 + 2_000 * 12 + 1_000 * 20
    assert (one.input, one.output) == pytest.approx((million / 1e6, 700 / 1e6))


def test_input_whose_cache_is_not_reported_costs_as_what_is_not_cached() -> None:
    [one] = compute_costs(found(user("go"), reported(1_000)), TABLE).priced_rounds
    assert one.input == pytest.approx(0.01)


def test_what_is_paid_again_costs_what_reading_it_would_have_saved() -> None:
    talk = found(
        user("go"),
        reported(9_000, cache_read=0, cache_write=9_000),
        reported(10_000, cache_read=0, cache_write=10_000),
    )
    first, second = compute_costs(talk, TABLE).priced_rounds
    assert first.cache_miss_cost == 0
    assert second.cache_miss_cost == pytest.approx(9_000 * (12 - 1) / 1e6)


def test_a_model_without_a_price_is_omitted_and_named() -> None:
    talk = found(user("go"), answer(100, model="other"), answer(200), reported(300))
    made = compute_costs(talk, TABLE)
    assert [cost is None for cost in made.rounds] == [True, True, False]
    assert made.unpriced == {"other": 1, "unknown": 1}


def test_large_requests_have_the_price_of_large_requests() -> None:
    [one] = compute_costs(found(user("go"), reported(60_000)), TABLE).priced_rounds
    assert one.input == 60


def test_a_context_is_shared_out_by_what_has_entered_it() -> None:
    asked = replace(call("a", "Bash"), response_id="r1", usage=ReportedUsage(context=100))
    talk = found(
        system(words(20)), user(words(30)), asked, result("a", words(48)), reported(200), user("x")
    )
    assert context_shares(talk) == [
        pytest.approx({"system prompt": 0.2, "user": 0.3, UNSEEN: 0.5}),
        pytest.approx(
            {
                "system prompt": 0.1,
                "user": 0.15,
                "tool results": 0.24,
                "tool calls": 0.01,
                UNSEEN: 0.5,
            }
        ),
    ]


def test_a_compaction_empties_the_context_and_a_fall_thins_it() -> None:
    before = (user(words(50)), reported(100, output=1))
    compacted = context_shares(found(*before, summary(words(9)), reported(50, output=1)))
    assert compacted[1] == pytest.approx({"summaries": 0.18, "assistant": 0.02, UNSEEN: 0.8})
    fell = context_shares(found(*before, reported(50, output=1)))
    assert fell[1] == pytest.approx({"user": 0.5, "assistant": 0.02, UNSEEN: 0.48})


def test_more_than_the_context_cannot_be_in_it() -> None:
    [one] = context_shares(found(user(words(300)), reported(100)))
    assert one == {"user": 1.0, UNSEEN: 0.0}


SIZES = st.lists(
    st.tuples(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 400)), max_size=8
)


@given(sizes=SIZES)
def test_what_was_carried_adds_up_to_the_input(sizes: list[tuple[int, int, int]]) -> None:
    talk: list[Message] = []
    for at, (context, read, said) in enumerate(sizes):
        usage = ReportedUsage(context=context, output=1, cache_read=read)
        one = replace(assistant("ok"), response_id=f"r{at}", usage=usage, model="m")
        talk += [user(words(said)), one]
    made = compute_costs(found(*talk), TABLE)
    assert sum(made.input_by_category.values()) == pytest.approx(
        sum(each.input for each in made.priced_rounds)
    )
    assert all(0 <= each.cache_miss_cost <= each.input + 1e-9 for each in made.priced_rounds)
    assert all(amount >= 0 for amount in made.input_by_category.values())


def test_a_session_costs_what_its_rounds_cost() -> None:
    old = replace(PRICE, model="n", date="c", output=50)
    silent = replace(PRICE, model="o", date="")
    talk = found(
        user("go"),
        reported(1_000, output=10, cache_read=0, cache_write=1_000),
        replace(reported(2_000, output=20, cache_read=0), model="n"),
        replace(reported(3_000, output=0, cache_read=2_500), model="o"),
        replace(reported(4_000, output=30), model="nobody"),
    )
    made = compute_costs(talk, PriceTable("mine", (PRICE, old, silent)))
    assert made.input == pytest.approx((12_000 + 20_000 + 5_000 + 2_500) / 1e6)
    assert made.output == pytest.approx((1_000 + 1_000) / 1e6)
    assert made.dates == ("c", "d")
    assert len(made.priced_rounds) == 3
    assert [cost for _, cost in with_costs(talk, made)] == list(made.rounds)
    assert [cost for _, cost in with_costs(talk, None)] == [None] * 4
    assert sum(made.input_by_category.values()) == pytest.approx(made.input)


def test_a_cache_miss_costs_as_the_docstring_computes_it() -> None:
    price = replace(PRICE, input=3, cache_write=3.75, cache_read=0.3)
    talk = found(
        user("go"),
        reported(98_000, cache_read=90_000),
        reported(100_000, cache_read=90_000, cache_write=8_000),
    )
    made = compute_costs(talk, PriceTable("mine", (price,)))
    second = made.priced_rounds[1]
    assert second.input == pytest.approx(0.063)
    assert second.cache_miss_cost == pytest.approx(8_000 * (3.6 - 0.3) / 1e6)
    assert made.cache_miss_cost == pytest.approx(
        second.cache_miss_cost + made.priced_rounds[0].cache_miss_cost
    )


def test_where_all_was_read_from_the_cache_or_reading_is_dearer_nothing_is_lost() -> None:
    whole = found(user("go"), reported(900, cache_read=900), reported(1_000, cache_read=1_000))
    assert [cost.cache_miss_cost for cost in compute_costs(whole, TABLE).priced_rounds] == [0, 0]
    dear = PriceTable("mine", (replace(PRICE, cache_read=99),))
    talk = found(user("go"), reported(900, cache_read=0), reported(1_000, cache_read=1))
    assert [cost.cache_miss_cost for cost in compute_costs(talk, dear).priced_rounds] == [0, 0]


@pytest.mark.parametrize(
    ("context", "shares"),
    [(100, {"user": 0.5, "assistant": 0.01}), (99, {"user": 49 / 99, "assistant": 1 / 99})],
)
def test_a_context_of_the_same_size_holds_what_it_held(
    context: int, shares: dict[str, float]
) -> None:
    again = replace(reported(context), response_id="r2")
    talk = found(user(words(50)), reported(100, output=1), again)
    assert context_shares(talk)[1] == pytest.approx({**shares, UNSEEN: 1 - sum(shares.values())})


def test_another_conversation_begins_empty() -> None:
    talk = found(
        user(words(50)),
        reported(100, output=1),
        user(words(20), conversation=1),
        replace(reported(200, output=1), conversation=1),
    )
    assert context_shares(talk)[1] == pytest.approx({"user": 0.1, UNSEEN: 0.9})


def test_what_was_sent_again_without_a_cache_costs_as_input() -> None:
    usage = ReportedUsage(context=5_000, output=0, resent=ReportedUsage(context=8_000))
    [one] = compute_costs(
        found(user("go"), replace(reported(5_000), usage=usage)), TABLE
    ).priced_rounds
    assert one.input == pytest.approx(13_000 * 10 / 1e6)
