import pytest
from builders import assistant, call, conversation, message, result, summary, system, user
from unit.stages.support.trials import (
    carried_out,
    hidden,
    inserted,
    joined,
    propose,
    skipped,
    skips,
    view,
    words,
)

from compactctl.history.pairs import find_orphans
from compactctl.model.message import Message
from compactctl.stages import truncate
from compactctl.stages.window import STAGE


def chat(turns: int, size: int = 30) -> tuple[Message, ...]:
    pairs = ((user(words(size)), assistant(words(size))) for _ in range(turns))
    return conversation(*(m for pair in pairs for m in pair))


def numbered(count: int) -> list[str]:
    return [f"m{number}" for number in range(count)]


def test_what_is_older_than_the_window_is_hidden_behind_a_marker() -> None:
    of = view(chat(15))
    proposal = propose(STAGE, of)
    assert hidden(proposal) == numbered(10)
    insert = inserted(proposal)
    assert insert.before == "m0"
    assert insert.message.id.startswith("window-")
    assert insert.message.text == "[10 earlier messages are outside of the window]"
    assert (insert.message.role, insert.message.kind) == ("user", "marker")
    assert proposal.notes == ("messages hidden: 10",)


@pytest.mark.parametrize(("snap", "count"), [("forward", 26), ("back", 24), ("none", 25)])
def test_a_cut_inside_of_a_turn_moves_as_asked(snap: str, count: int) -> None:
    proposal = propose(STAGE, view(chat(15)), max=5, snap=snap)
    assert hidden(proposal) == numbered(count)


def test_turns_are_counted_from_the_first_prompt() -> None:
    messages = joined(system("be good"), user("memory", is_injected=True), *chat(12))
    assert hidden(propose(STAGE, view(messages), unit="turns")) == ["m2", "m3", "m4", "m5"]


def test_tokens_take_what_fits_beside_the_summaries() -> None:
    messages = joined(summary(words(50)), *chat(10))
    assert len(hidden(propose(STAGE, view(messages), unit="tokens", max=290))) == 12
    assert len(hidden(propose(STAGE, view(messages), unit="tokens", max=289))) == 14


def test_the_system_prompt_summaries_and_markers_are_in_front_and_do_not_count() -> None:
    messages = joined(system("be good"), summary("before"), *chat(3))
    reason = skipped(STAGE, view(messages), max=6).reason
    assert reason == "the window holds 6 events, the conversation has 6"
    cut = carried_out(view(chat(20)), propose(truncate.STAGE, view(chat(20))))
    after = carried_out(cut, propose(STAGE, cut, max=6)).messages
    assert [m.id.split("-")[0] for m in after] == [
        "window", "truncation", *(f"m{n}" for n in range(34, 40)),
    ]  # fmt: skip


def test_tool_pairs_stay_whole() -> None:
    pairs = ((call(f"c{n}", "Bash"), result(f"c{n}", words(30))) for n in range(10))
    of = view(conversation(user("go"), *(m for pair in pairs for m in pair)))
    proposal = propose(STAGE, of, max=5, snap="none", min_keep_turns=0)
    assert hidden(proposal) == numbered(15)
    assert find_orphans(carried_out(of, proposal).messages) == frozenset()


def test_a_result_in_a_later_turn_keeps_its_call() -> None:
    messages = joined(
        *chat(3), user(words(30)), call("a", "Bash"), user(words(30)), result("a", words(30))
    )
    assert hidden(propose(STAGE, view(messages), max=2)) == numbered(7)


def test_one_long_turn_stays_unless_the_window_may_begin_inside_of_it() -> None:
    messages = conversation(user("go"), *(assistant(words(30)) for _ in range(40)))
    refused = skipped(STAGE, view(messages))
    assert refused.reason == "no message before the window can be hidden"
    assert refused.detail == "see --window-snap and --window-min-keep-turns"
    proposal = propose(STAGE, view(messages), snap="none", min_keep_turns=0)
    assert hidden(proposal) == numbered(21)


def test_so_many_turns_stay_whatever_the_window_holds() -> None:
    assert hidden(propose(STAGE, view(chat(10)), max=2, min_keep_turns=4)) == numbered(12)
    assert skips(STAGE, view(chat(10)), max=2, min_keep_turns=11)


def test_protected_messages_stay() -> None:
    of = view(chat(10), protected=["m3", "m8", "m9"])
    proposal = propose(STAGE, of, max=4)
    assert hidden(proposal) == [name for name in numbered(16) if name not in ("m3", "m8", "m9")]
    assert skips(STAGE, carried_out(of, proposal), max=4)


def test_a_target_changes_nothing_but_what_is_told() -> None:
    of = view(chat(10), target=100)
    proposal = propose(STAGE, of, max=4)
    assert hidden(proposal) == numbered(16)
    assert proposal.notes == ("messages hidden: 16", "still over the target")


@pytest.mark.parametrize("unit", ["events", "turns", "tokens"])
def test_a_second_run_finds_nothing_until_something_is_added(unit: str) -> None:
    size = {"events": 4, "turns": 2, "tokens": 130}[unit]
    of = view(chat(10))
    after = carried_out(of, propose(STAGE, of, unit=unit, max=size))
    assert skips(STAGE, after, unit=unit, max=size)
    more = [message("user", *user(words(30)).parts, id=f"n{n}") for n in range(3)]
    later = propose(STAGE, view((*after.messages, *more)), unit=unit, max=size)
    # The marker counts the sixteen that the earlier one stands for, which is gone.
    assert hidden(later)[:2] == [after.messages[0].id, "m16"]
    count = len(hidden(later)) - 1 + 16
    assert inserted(later).message.text == f"[{count} earlier messages are outside of the window]"


def test_nothing_is_older_than_a_window_on_nothing() -> None:
    assert skips(STAGE, view(()))
    assert skips(STAGE, view(conversation(system("be good"))), unit="turns")


def test_a_marker_must_pay_for_itself() -> None:
    outcome = skipped(STAGE, view(chat(3, size=1)), max=2)
    assert outcome.reason == "the messages that can be hidden are no larger than the marker"
