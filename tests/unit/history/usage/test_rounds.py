"""Requests one by one: what was new, cached and paid again, and what happened in between."""

from itertools import accumulate, pairwise

import pytest
from builders import assistant, call, result, summary, system, thinking, user
from hypothesis import given
from hypothesis import strategies as st
from unit.history.usage.sessions import answer, found, session
from unit.stages.support.trials import meter, words

from compactctl.history.usage.rounds import (
    CACHE_LIFETIME,
    LONG_CACHE_LIFETIME,
    Rounds,
    counted_rounds,
    find_rounds,
)
from compactctl.model.message import Message, MessageId, ReportedUsage, Tags
from compactctl.model.transcript import PastCompactions
from compactctl.records import replace


def test_without_reported_usage_there_are_no_rounds() -> None:
    assert find_rounds(session(user("hi"), assistant("hello")), meter()) == Rounds(
        rounds=(), subagent_requests=0
    )


def test_rounds_are_numbered_by_turn_and_step() -> None:
    talk = found(
        user("go"),
        answer(100),
        user("well", is_injected=True),
        answer(200),
        user("on"),
        answer(300),
    )
    assert [
        (each.place.number, each.place.turn, each.place.step, each.place.line) for each in talk
    ] == [
        (1, 1, 1, 1),
        (2, 1, 2, 3),
        (3, 2, 1, 5),
    ]


def test_the_lines_of_one_response_are_one_round_with_the_last_output() -> None:
    usage = ReportedUsage(context=500, cache_read=400)
    first = replace(call("a", "Read"), response_id="r", usage=usage)
    second = replace(call("b", "Read"), response_id="r", usage=replace(usage, output=60))
    [one] = found(user("go"), first, result("a", "x"), second, result("b", "y"))
    assert (one.usage.context, one.usage.cache_read, one.output, one.place.line) == (
        500,
        400,
        60,
        1,
    )


def test_an_answer_without_a_reported_size_is_counted() -> None:
    said = replace(answer(100, output=None), parts=assistant(words(7)).parts)
    [one] = found(user("go"), said)
    assert (one.output, one.is_output_reported) == (7, False)


def test_what_entered_is_told_by_category_and_tool() -> None:
    first = replace(call("a", "Bash"), response_id="r1", usage=ReportedUsage(context=50))
    one, two = found(
        system(words(3)),
        user(words(4)),
        first,
        result("a", words(20)),
        user(words(5), is_injected=True),
        answer(90),
        user("never sent"),
    )
    assert one.entered == {"user": 4, "system prompt": 3}
    assert (two.entered, two.tools) == (
        {"tool results": 20, "other": 5, "tool calls": 2},
        {"Bash": 20},
    )
    assert list(two.entered.values()) == [20, 5, 2]


def test_what_was_sent_before_and_is_not_read_from_the_cache_is_paid_again() -> None:
    talk = found(user("go"), answer(9_000, 0), answer(9_500, 8_990), answer(9_900, 2_000))
    assert [each.cache_miss_tokens for each in talk] == [0, 10, 7_500]
    assert [each.context_growth for each in talk] == [9_000, 500, 400]
    assert [each.marks for each in talk] == [(), (), ("missed",)]


def test_where_no_cache_is_reported_nothing_is_said_of_it() -> None:
    talk = found(user("go"), answer(9_000), answer(9_500))
    assert [(each.usage.cache_read, each.cache_miss_tokens, each.marks) for each in talk] == [
        (None, None, ())
    ] * 2


def test_a_cache_that_never_worked_is_not_missed() -> None:
    talk = found(user("go"), answer(9_000, 0), answer(9_500, 0))
    assert [(each.cache_miss_tokens, each.marks) for each in talk] == [(0, ()), (9_000, ())]


def test_what_was_put_into_a_cache_can_be_missed() -> None:
    talk = found(user("go"), answer(9_000, 0, write=9_000), answer(9_500, 0))
    assert talk[1].marks == ("missed",)


def test_prompts_too_short_for_a_cache_are_not_missed_in_it() -> None:
    talk = found(user("go"), answer(900, 0, write=900), answer(950, 0))
    assert talk[1].marks == ()


def test_the_clients_compaction_is_marked_and_nothing_is_paid_again_for_it() -> None:
    talk = (user("go"), answer(9_000, 8_000), summary("all so far"), answer(3_000, 0))
    first, second = found(*talk)
    assert (first.marks, second.marks) == ((), ("compacted", "fell"))
    assert (second.context_growth, second.cache_miss_tokens) == (-6_000, 0)


@pytest.mark.parametrize("line", [2, 3])
def test_a_line_that_tells_of_a_compaction_marks_the_next_round(line: int) -> None:
    talk = (user("go"), answer(9_000), user("more"), answer(8_900), answer(9_100))
    marked = [each.marks for each in found(*talk, compactions=PastCompactions(lines=(line,)))]
    assert marked == [(), ("compacted",), ()]


def test_our_compaction_is_marked_where_it_was_made() -> None:
    written = summary("ours", is_synthetic=True, is_injected=True, tags=Tags(through="m2"))
    talk = found(written, user("go"), answer(9_000, 0), answer(4_000, 0))
    assert [each.marks for each in talk] == [(), ("compactctl", "fell")]


def test_our_compaction_is_marked_where_the_same_was_said_before_and_later() -> None:
    written = summary(
        "ours", is_synthetic=True, is_injected=True, tags=Tags(through="x", occurrence=2)
    )
    said = [replace(user("Continue."), id=MessageId(name)) for name in ("x", "x#2", "x#3")]
    between = (answer(9_000, 0), answer(9_100, 0), answer(4_000, 0))
    talk = found(written, *(each for pair in zip(said, between, strict=True) for each in pair))
    assert [each.marks for each in talk] == [(), ("compactctl",), ("fell",)]


def test_what_the_provider_sent_again_is_no_part_of_the_context() -> None:
    again = ReportedUsage(context=40_000, cache_read=15_000, cache_write=2_000)
    usage = ReportedUsage(context=20_000, output=700, growth=20_400, cache_read=5_000, resent=again)
    talk = (replace(answer(20_000), usage=usage), user("go on"), answer(40_500, 40_000))
    first, second = found(user("go"), *talk)
    assert (first.usage.context, first.sent, first.output) == (20_000, 60_000, 700)
    assert (second.context_growth, second.marks) == (20_500, ())
    every = find_rounds(session(user("go"), *talk), meter())
    assert (every.sent, every.cache_read) == (100_500, 60_000)


def test_a_context_that_fell_alone_is_marked_and_paid_again() -> None:
    talk = found(user("go"), answer(9_000, 8_000), answer(5_000, 3_000))
    assert (talk[1].marks, talk[1].cache_miss_tokens) == (("fell",), 2_000)


def test_another_model_explains_why_the_cache_is_missed() -> None:
    talk = found(user("go"), answer(9_000, 8_000, model="a"), answer(9_500, 0, model="b"))
    assert (talk[1].marks, talk[1].cache_miss_tokens) == (("model",), 9_000)


def hourly(context: int, time: float) -> Message:
    usage = ReportedUsage(
        context=context, cache_read=0, cache_write=context, cache_write_1h=context
    )
    return replace(answer(context), usage=usage, timestamp=time)


@pytest.mark.parametrize(
    ("first", "pause", "marks"),
    [
        (answer(9_000, 0, write=9_000, timestamp=1_000.0), CACHE_LIFETIME, ("missed",)),
        (answer(9_000, 0, write=9_000, timestamp=1_000.0), CACHE_LIFETIME + 1, ("missed", "idle")),
        (hourly(9_000, 1_000.0), CACHE_LIFETIME + 1, ("missed",)),
        (hourly(9_000, 1_000.0), LONG_CACHE_LIFETIME + 1, ("missed", "idle")),
    ],
)
def test_a_gap_is_idle_when_it_is_longer_than_a_cache_lasts(
    first: Message, pause: float, marks: tuple[str, ...]
) -> None:
    asked = user("more", timestamp=1_000.0 + pause)
    _, second = found(user("go"), first, asked, answer(9_500, 0, timestamp=9_999.0))
    assert (second.idle, second.marks) == (pause, marks)


def test_where_times_are_not_known_or_go_back_nothing_is_idle() -> None:
    late = answer(9_000, timestamp=5_000.0)
    assert found(user("go"), late, user("more", timestamp=10.0), answer(9_500))[1].idle is None
    assert (
        found(user("go"), answer(9_000), user("more", timestamp=10.0), answer(9_500))[1].idle
        is None
    )


def test_requests_of_subagents_are_no_rounds_of_the_main_conversation() -> None:
    inner = (
        user("look", is_subagent=True),
        answer(700, is_subagent=True),
        answer(800, is_subagent=True),
    )
    session_ = find_rounds(session(user("go"), answer(100), *inner, answer(150)), meter())
    assert [(each.usage.context, each.place.turn) for each in session_.rounds] == [
        (100, 1),
        (150, 1),
    ]
    assert session_.subagent_requests == 2
    alone = find_rounds(session(*inner), meter())
    assert ([each.usage.context for each in alone.rounds], alone.subagent_requests) == (
        [700, 800],
        0,
    )


def test_conversations_in_one_file_are_told_apart() -> None:
    one = (user("go"), answer(5_000, 4_000))
    other = (user("hi", conversation=1), answer(100, 0, conversation=1))
    talk = found(*one, *other)
    assert [
        (each.place.number, each.place.conversation, each.place.turn, each.context_growth)
        for each in talk
    ] == [
        (1, 0, 1, 5_000),
        (2, 1, 1, 100),
    ]
    assert talk[1].marks == ()


def test_numbers_that_cannot_be_are_taken_for_the_nearest_that_can() -> None:
    usage = ReportedUsage(context=100, cache_read=-5, cache_write=900, cache_write_1h=-1)
    strange = replace(answer(100), usage=usage)
    [one] = found(user("go"), strange)
    assert (one.usage.cache_read, one.usage.cache_write, one.usage.cache_write_1h) == (0, 100, 0)
    [small] = found(user("go"), answer(100, output=-7), answer(10**400, output=3))
    assert (small.usage.context, small.output) == (100, 0)


CONTEXTS = st.lists(
    st.tuples(st.integers(1, 10**6), st.integers(-10, 10**6) | st.none()), max_size=12
)


@given(sizes=CONTEXTS)
def test_new_tokens_add_up_to_the_context(sizes: list[tuple[int, int | None]]) -> None:
    said = [answer(size, read, f"r{at}") for at, (size, read) in enumerate(sizes)]
    talk = found(user("go"), thinking("hm"), *said)
    assert list(accumulate(each.context_growth for each in talk)) == [size for size, _ in sizes]
    assert [each.place.number for each in talk] == list(range(1, len(sizes) + 1))


@given(sizes=CONTEXTS)
def test_what_is_paid_again_was_sent_before_and_not_read(
    sizes: list[tuple[int, int | None]],
) -> None:
    said = [answer(size, read, f"r{at}") for at, (size, read) in enumerate(sizes)]
    for before, after in pairwise(found(user("go"), *said)):
        if after.cache_miss_tokens is None or after.usage.cache_read is None:
            assert after.cache_miss_tokens is after.usage.cache_read is None
        else:
            assert 0 <= after.cache_miss_tokens <= min(before.usage.context, after.usage.context)
            assert after.cache_miss_tokens + after.usage.cache_read <= max(
                after.usage.context, after.usage.cache_read
            )


@pytest.mark.parametrize(("context", "marks"), [(8_100, ()), (8_099, ("fell",))])
def test_a_context_falls_by_more_than_a_tenth(context: int, marks: tuple[str, ...]) -> None:
    assert found(user("go"), answer(9_000), answer(context))[1].marks == marks


@pytest.mark.parametrize(
    ("context", "read", "marks"),
    [
        (1_024, 511, ("missed",)),
        (1_024, 512, ()),
        (1_023, 0, ()),
        (2_000, 999, ("missed",)),
        (2_000, 1_000, ()),
    ],
)
def test_less_than_half_of_what_can_be_cached_is_a_miss(
    context: int, read: int, marks: tuple[str, ...]
) -> None:
    talk = found(user("go"), answer(context, 0, write=context), answer(context + 1, read))
    assert talk[1].marks == marks


@pytest.mark.parametrize(
    ("hour", "pause", "idle"),
    [
        (0, 300.0, False),
        (0, 300.5, True),
        (4_500, 300.5, True),
        (4_501, 300.5, False),
        (9_000, 3_600.0, False),
        (9_000, 3_600.5, True),
    ],
)
def test_a_cache_lasts_five_minutes_or_an_hour(
    hour: int,
    pause: float,
    idle: bool,  # noqa: FBT001
) -> None:
    usage = ReportedUsage(context=9_000, cache_read=0, cache_write=9_000, cache_write_1h=hour)
    first = replace(answer(9_000), usage=usage, timestamp=1_000.0)
    # A round that writes nothing leaves the cache as it is.
    second = answer(9_100, 9_000, write=0, timestamp=1_000.0)
    asked = user("more", timestamp=1_000.0 + pause)
    third = found(user("go"), first, second, asked, answer(9_500, 9_000))[2]
    assert ("idle" in third.marks, third.idle) == (idle, pause)


def test_an_answer_at_the_same_time_was_not_idle_at_all() -> None:
    first, asked = answer(9_000, timestamp=5.0), user("more", timestamp=5.0)
    assert found(user("go"), first, asked, answer(9_500))[1].idle == 0
    # Without a time of what was sent, that of the answer is taken.
    later = answer(9_500, timestamp=8.0)
    assert found(user("go"), first, user("more"), later)[1].idle == 3
    assert found(user("go"), first, user("more"), later)[0].idle is None
    # The last record of an answer ends it.
    slow = replace(answer(9_000, name="r9000"), timestamp=6.0)
    assert found(user("go"), first, slow, user("more"), later)[1].idle == 2


@pytest.mark.parametrize(
    ("usage", "written"),
    [
        (ReportedUsage(context=100, cache_write=0, cache_write_1h=5), (0, 0)),
        (ReportedUsage(context=100, cache_write_1h=5), (None, 0)),
        (ReportedUsage(context=100, cache_write=100, cache_write_1h=100), (100, 100)),
        (ReportedUsage(context=100, cache_write=100, cache_read=30), (70, 0)),
        (ReportedUsage(context=100, cache_write=60, cache_write_1h=61), (60, 60)),
    ],
)
def test_what_is_written_fits_in_what_was_not_read(
    usage: ReportedUsage, written: tuple[int | None, int]
) -> None:
    [one] = found(user("go"), replace(answer(100), usage=usage))
    assert (one.usage.cache_write, one.usage.cache_write_1h) == written


def test_what_was_sent_again_and_thought_is_limited_too() -> None:
    again = ReportedUsage(context=50, cache_read=60)
    usage = ReportedUsage(context=100, output=9, reasoning=-3, resent=again)
    [one] = found(user("go"), replace(answer(100), usage=usage))
    assert one.usage.reasoning == 0
    assert one.usage.resent == replace(again, cache_read=50)


def test_a_trillion_tokens_is_the_most() -> None:
    talk = found(user("go"), answer(10**12, output=10**12 + 1), answer(10**12 + 1))
    assert [(each.usage.context, each.output) for each in talk] == [(10**12, 10**12)]


def test_rounds_are_summed_up() -> None:
    again = ReportedUsage(context=40, cache_read=15)
    usage = ReportedUsage(context=2_000, output=7, cache_read=5, resent=again)
    first = replace(answer(2_000), usage=usage)
    talk = session(
        user("go"),
        first,
        answer(3_000, 0, model="m"),
        user("on"),
        answer(3_100, model="m"),
        answer(2_000, 0, "again", model="m"),
    )
    every = find_rounds(talk, meter())
    assert (every.turns, every.sent, every.output) == (2, 2_040 + 3_000 + 3_100 + 2_000, 37)
    assert (every.cache_read, every.cache_reports) == (20, 3)
    assert [each.cache_miss_tokens for each in every.rounds] == [0, 2_000, None, 2_000]
    assert every.cache_miss_tokens == 4_000
    assert [each.marks for each in every.rounds] == [(), ("model",), (), ("fell", "missed")]
    assert every.count_marked("missed") == every.count_marked("missed", "fell") == 1
    assert every.count_marked("missed", "model") == 0
    assert every.count_marked() == 4


def test_a_compaction_told_before_all_messages_marks_nothing() -> None:
    talk = found(user("go"), answer(9_000), answer(9_100), compactions=PastCompactions(lines=(0,)))
    assert [each.marks for each in talk] == [(), ()]


def test_what_takes_no_tokens_is_not_listed() -> None:
    talk = found(user(""), call("a", "Bash"), result("a", ""), answer(100))
    assert (talk[0].entered, talk[0].tools) == ({"tool calls": 2}, {})


def test_rounds_are_counted_where_nothing_was_reported() -> None:
    talk = session(
        system(words(5)),
        user(words(3)),
        thinking(words(4)),
        call("a", "Bash"),
        result("a", words(20)),
        assistant(words(2)),
        user("next"),
    )
    every = counted_rounds(talk, meter()).rounds
    assert [each.usage.context for each in every] == [8, 12, 34]
    assert [each.output for each in every] == [4, 2, 2]
    assert {each.cache_miss_tokens for each in every} == {None}
    assert counted_rounds(session(assistant("first")), meter()).rounds == ()


def test_the_records_of_a_counted_answer_are_one_round() -> None:
    talk = session(
        user(words(3)),
        assistant(words(4), response_id="r"),
        replace(call("a", "Bash"), response_id="r", usage=ReportedUsage(context=999)),
        result("a", words(20)),
        user(words(1), conversation=1),
        assistant(words(2), conversation=1),
    )
    every = counted_rounds(talk, meter()).rounds
    assert [(each.usage.context, each.output) for each in every] == [(3, 6), (1, 2)]
    assert [(each.place.number, each.place.conversation) for each in every] == [(1, 0), (2, 1)]


def test_what_was_sent_again_without_a_cache_was_not_read_from_it() -> None:
    usage = ReportedUsage(context=20, output=7, resent=ReportedUsage(context=40))
    every = find_rounds(session(user("go"), replace(answer(20), usage=usage)), meter())
    assert (every.cache_read, every.cache_reports, every.sent) == (0, 0, 60)
