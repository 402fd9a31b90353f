import pytest
from builders import assistant, conversation, user
from hypothesis import given
from hypothesis import strategies as st

from compactctl.commands.measuring.next_request import (
    CacheUse,
    RequestModel,
    SentRequest,
    cache_use,
    common_prefix,
    input_cost,
)
from compactctl.history.usage.calibration import MessageWeights
from compactctl.model.message import Message
from compactctl.records import replace
from compactctl.tokens.counters.estimates import CharsCounter
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.prices import Price, PriceTable

METER = Meter(CharsCounter(1.0))
REQUEST = RequestModel(fixed=100, weights=MessageWeights(visible=METER.message), meter=METER)
PRICE = Price(model="m", input=3, cache_read=0.3, cache_write=3.75, cache_write_1h=6, output=15)
TALK = conversation(user("a" * 10), assistant("b" * 20), user("c" * 30), assistant("d" * 40))


def tokens(*messages: Message) -> int:
    return REQUEST.tokens(messages)


def test_what_stands_before_the_first_change_stays_in_the_cache() -> None:
    after = (TALK[0], *conversation(user("short")), TALK[3])
    found = cache_use(TALK, after, REQUEST)
    assert found == CacheUse(
        line=TALK[1].line,
        held=tokens(TALK[0]),
        resent=tokens(*after) - tokens(TALK[0]),
        saved=tokens(*TALK) - tokens(*after),
    )


def test_nothing_is_lost_where_only_the_end_grew() -> None:
    assert cache_use(TALK[:2], TALK, REQUEST) is None
    assert cache_use(TALK, TALK, REQUEST) is None


def test_what_is_gone_from_the_end_is_a_change() -> None:
    found = cache_use(TALK, TALK[:2], REQUEST)
    assert found is not None
    assert (found.line, found.resent) == (TALK[2].line, 0)


def test_equal_messages_need_not_be_the_same_objects() -> None:
    assert common_prefix(TALK, tuple(replace(message) for message in TALK)) == len(TALK)


@given(before=st.integers(1, 10**6), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_after_so_many_requests_and_not_one_earlier_it_has_paid(
    before: int, shares: tuple[float, float]
) -> None:
    after = int(before * shares[0])
    held = int(after * shares[1])
    use = CacheUse(line=0, held=held, resent=after - held, saved=before - after)
    count = use.pays_after(PRICE)
    if count is None:
        assert after == before
        return

    def gained(requests: int) -> float:
        first = held * PRICE.cache_read + (after - held) * PRICE.cache_write
        rest = (requests - 1) * after * PRICE.cache_read
        return requests * before * PRICE.cache_read - first - rest

    assert gained(count) >= -1e-6 * before
    assert count == 1 or gained(count - 1) < 1e-6 * before


def test_where_reading_a_cache_costs_nothing_no_compaction_pays() -> None:
    use = CacheUse(line=0, held=0, resent=10, saved=10)
    assert use.pays_after(replace(PRICE, cache_read=0)) is None


def test_requests_cost_what_is_read_and_what_is_new() -> None:
    requests = [SentRequest(1_000_000, 0), SentRequest(2_000_000, 1_000_000)]
    cost = input_cost(requests, PriceTable("mine", (PRICE,)), "m")
    assert cost is not None
    assert cost.cached == pytest.approx(3.75 + 0.3 + 3.75)
    assert cost.uncached == pytest.approx(3 + 6)
    assert input_cost(requests, PriceTable("mine", (PRICE,)), "another") is None
