"""Where a session is cut: before a request, with pairs whole and a future to ask."""

from builders import (
    assistant,
    call,
    call_part,
    conversation,
    message,
    result,
    result_part,
    summary,
    user,
)
from hypothesis import given
from hypothesis import strategies as st
from unit.lab.garden import session

from compactctl.history.pairs import find_orphans
from compactctl.lab.cuts import (
    MIN_LATER_REQUESTS,
    MIN_PREFIX_TOKENS,
    Cut,
    cut_after,
    cuts_at,
    cuts_every,
    split_at_compactions,
)
from compactctl.model.message import Message, MessageId
from compactctl.model.transcript import PastCompactions, Transcript


def characters(message: Message) -> int:
    return sum(len(str(part)) for part in message.parts)


def cut(messages: tuple[Message, ...], share: float = 0.6) -> Cut:
    (found,) = cuts_at(messages, [share], characters)
    return found


def transcript(*messages: Message, compactions: tuple[int, ...] = ()) -> Transcript:
    return Transcript(
        format="openai-chat",
        n_lines=len(messages),
        n_bytes=0,
        messages=messages,
        effective=messages,
        compactions=PastCompactions(lines=compactions),
    )


@given(
    before=st.integers(1, 12),
    after=st.integers(0, 14),
    shares=st.lists(st.floats(0.1, 1), min_size=1, max_size=4),
)
def test_a_cut_keeps_pairs_whole_and_loses_nothing(
    before: int, after: int, shares: list[float]
) -> None:
    messages = session(before=before, after=after)
    found = list(cuts_at(messages, shares, characters))
    assert len(found) <= len(set(shares))
    for each in found:
        behind = [message for request in each.future for message in request]
        assert (*each.prefix, *behind) == messages
        assert not find_orphans(each.prefix)
        assert each.future[0][0].role == "assistant"
        assert len(each.future) >= MIN_LATER_REQUESTS
        assert each.tokens == sum(map(characters, each.prefix)) >= MIN_PREFIX_TOKENS


def test_there_is_no_cut_without_a_past_or_a_future() -> None:
    assert not list(cuts_at(session(before=1, filler=1), [0.1], characters))
    assert not list(cuts_at(session(after=1), [0.9], characters))


def test_a_call_that_is_never_answered_does_not_hinder() -> None:
    lost = session(call("lost", "Bash", command="sleep 9"))
    assert cut(lost).prefix[0] == lost[0]


def test_cuts_come_when_so_many_tokens_have_come_together() -> None:
    messages = session(before=30)
    found = list(cuts_every(messages, 10_000, characters))
    assert len(found) > 2
    assert [each.tokens // 10_000 for each in found] == list(range(1, len(found) + 1))


def test_a_message_with_several_requests_is_cut_between_them() -> None:
    reads = [
        part
        for number in range(20)
        for part in (
            call_part(f"c{number}", "Read", file_path=f"garden/plot_{number}.py"),
            result_part(f"c{number}", "leaf\n" * 400, tool="Read"),
        )
    ]
    messages = conversation(user("Look at all."), message("assistant", *reads))
    parts = messages[1].parts
    (found,) = cuts_at(messages, [0.5], characters)
    asked, answered = found.prefix
    assert (asked.role, answered.parts) == ("user", parts[:20])
    assert [request[0].parts for request in found.future] == [
        parts[at : at + 2] for at in range(20, 40, 2)
    ]


def test_a_stretch_ends_where_the_client_compacted() -> None:
    talk = conversation(user("Go."), assistant("Gone."), summary("So far."), assistant("On."))
    assert list(split_at_compactions(transcript(*talk))) == [talk[:2], talk[2:]]


def test_a_stretch_ends_where_the_client_says_that_it_compacted() -> None:
    talk = conversation(user("Go."), assistant("Gone."), assistant("On."))
    assert list(split_at_compactions(transcript(*talk, compactions=(2,)))) == [talk[:2], talk[2:]]


def test_what_subagents_did_is_omitted() -> None:
    messages = conversation(user("Go."), call("a", "Task", prompt="look"), result("a", "seen"))
    aside = conversation(user("look", is_subagent=True))
    (found,) = split_at_compactions(transcript(*messages, *aside))
    assert found == messages


def test_a_cut_comes_after_a_message() -> None:
    messages = session()
    # A call and its result stay together, and the next request begins behind them.
    for index in (13, 14):
        (found,) = cut_after(messages, messages[index].id, characters)
        assert found.prefix == messages[:15]
    assert list(cut_after(messages, MessageId("nobody"), characters)) == []
    assert list(cut_after(messages, messages[-1].id, characters)) == []


def test_a_cut_needs_a_past_and_a_future_of_some_size() -> None:
    requests = [m for n in range(9) for m in (assistant(f"a{n}"), user("b"))]

    def shares(size: int) -> list[float]:
        sizes = {"m0": size}
        messages = conversation(user("go"), *requests)
        found = cuts_at(messages, [0.0, 0.5, 1.0], lambda message: sizes.get(message.id, 0))
        return [cut.share for cut in found]

    usable = shares(MIN_PREFIX_TOKENS)
    assert usable[0] == 0
    assert shares(MIN_PREFIX_TOKENS - 1) == []
    assert all(9 - round(9 * share) >= MIN_LATER_REQUESTS for share in usable)


def test_the_share_is_that_of_the_requests_before_the_cut() -> None:
    messages = session()
    found = cut(messages)
    requests = sum(message.role == "assistant" for message in messages)
    assert found.share == (requests - len(found.future)) / requests
