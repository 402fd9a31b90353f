from collections.abc import Iterable

import pytest
from builders import assistant, call, conversation, message, result, result_part, system, user
from examples import tries
from hypothesis import given
from hypothesis import strategies as st
from unit.stages.support.plans import PLANS, build
from unit.stages.support.trials import view, words

from compactctl.errors import UsageError
from compactctl.history.protection import (
    ProtectionLimits,
    ProtectOptions,
    hideable,
    lines_of,
    protected_messages,
    reasons_to_stay,
)
from compactctl.model.message import Locks, Message, MessageId
from compactctl.records import replace


def chat(turns: int) -> tuple[Message, ...]:
    return conversation(*(m for n in range(turns) for m in (user(f"q {n}"), assistant(f"a {n}"))))


def agent(steps: int) -> tuple[Message, ...]:
    pairs = ((call(f"c{n}", "Read"), result(f"c{n}", words(10))) for n in range(steps))
    return conversation(user("do it"), *(m for pair in pairs for m in pair))


def test_the_newest_turn_of_a_chat_stays() -> None:
    assert list(protected_messages(chat(5))) == ["m8", "m9"]


def test_the_newest_turns_stay_as_asked() -> None:
    assert list(protected_messages(chat(5), ProtectOptions(keep_turns=2))) == [
        "m6",
        "m7",
        "m8",
        "m9",
    ]
    assert list(protected_messages(chat(5), ProtectOptions(keep_turns=0))) == []
    assert len(protected_messages(chat(5), ProtectOptions(keep_turns=9))) == 10


def test_in_a_session_with_one_prompt_the_prompt_and_the_newest_steps_stay() -> None:
    kept = protected_messages(agent(30))
    assert list(kept) == ["m0", *(f"m{n}" for n in range(41, 61))]
    assert kept[MessageId("m0")] == "prompt of the newest turn"
    assert kept[MessageId("m60")] == "in the newest 10 steps"


def test_the_text_of_the_command_that_began_the_newest_turn_stays_with_it() -> None:
    expansion = user("Port every file.", is_injected=True, is_instruction=True)
    messages = conversation(user("/port src"), expansion, *agent(20)[1:])

    kept = protected_messages(messages)

    assert kept[MessageId("m0")] == kept[MessageId("m1")] == "prompt of the newest turn"
    assert MessageId("m2") not in kept


def test_a_short_agent_session_stays_whole() -> None:
    assert len(protected_messages(agent(3))) == 7


def test_steps_of_an_earlier_turn_are_not_the_newest_work() -> None:
    messages = conversation(*agent(20), user(words(500)), assistant("ok"))
    assert list(protected_messages(messages)) == ["m41", "m42"]


def test_what_came_with_the_newest_prompt_stays_with_and_without_earlier_turns() -> None:
    newest = (user("and now"), user(words(20), is_injected=True), assistant("ok"))
    alone = protected_messages(conversation(*newest))
    assert list(alone) == ["m0", "m1", "m2"]
    assert list(protected_messages(conversation(*agent(20), *newest))) == ["m41", "m42", "m43"]
    tight = protected_messages(conversation(*newest), limits=ProtectionLimits(size=len, newest=2))
    assert list(tight) == ["m0", "m2"]


@tries(200)
@given(plan=PLANS, keep_turns=st.none() | st.integers(0, 3))
def test_what_is_protected_stays_protected_once_the_rest_is_hidden(
    plan: list[tuple[str, int, int]], keep_turns: int | None
) -> None:
    messages = build(plan)
    kept = protected_messages(messages, ProtectOptions(keep_turns=keep_turns))
    gone = hideable(view(messages, protected=list(kept)), (m.id for m in messages))
    left = [message for message in messages if message.id not in gone]
    assert kept.keys() <= protected_messages(left, ProtectOptions(keep_turns=keep_turns)).keys()


def test_fixed_records_and_the_system_prompt_stay_with_their_reason() -> None:
    messages = conversation(
        system("be good"),
        user("a"),
        assistant("b", immutable_reason="signed"),
        user("c"),
        system("late"),
    )
    kept = protected_messages(messages, ProtectOptions(keep_turns=0))
    assert kept == {"m0": "system prompt", "m2": "signed"}


def test_pins_are_ids_or_patterns_in_any_text() -> None:
    messages = conversation(
        user("deploy to PROD"), call("a", "Read", path="prod.yaml"), result("a", "x"), user("bye")
    )
    kept = protected_messages(messages, ProtectOptions(keep_turns=0, pins=("m2", r"(?i)prod\b")))
    assert kept == {
        "m0": r'pinned by "(?i)prod\b"',
        "m1": r'pinned by "(?i)prod\b"',
        "m2": "pinned by its id",
    }


def test_an_id_of_another_conversation_is_neither_a_mistake_nor_a_pattern() -> None:
    first = conversation(user("a"), assistant("see 2.(x"), user("b"))
    second = tuple(
        replace(message, id=MessageId(f"2.(x{message.id}"), conversation=1) for message in first
    )
    options = ProtectOptions(keep_turns=0, freeze_before="2.(xm1", pins=("2.(xm2",))
    for_each = options.across((*first, *second))
    assert protected_messages(first, for_each) == {}
    assert protected_messages(second, for_each) == {
        "2.(xm0": "protected by --freeze-before",
        "2.(xm2": "pinned by its id",
    }
    with pytest.raises(UsageError, match="neither a message id nor a number"):
        protected_messages(
            first, replace(options, freeze_before="nobody").across((*first, *second))
        )


def test_a_broken_pattern_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="--pin"):
        protected_messages(chat(1), ProtectOptions(pins=("(",)))


def test_calls_and_results_of_protected_tools_stay() -> None:
    messages = conversation(
        user("a"), call("a", "Skill"), result("a", "x"), call("b", "Read"), result("b", "y")
    )
    kept = protected_messages(messages, ProtectOptions(keep_turns=0, tools=("skill",)))
    assert kept == {"m1": "protected tool Skill", "m2": "protected tool Skill"}


def ids(*names: str) -> list[MessageId]:
    return [MessageId(name) for name in names]


def test_a_unit_is_hideable_only_as_a_whole() -> None:
    messages = conversation(user("a"), call("a", "Read"), result("a", "x"), assistant("b"))
    assert hideable(view(messages), ids("m0", "m1", "m3")) == ("m0", "m3")
    assert hideable(view(messages), ids("m3", "m2", "m1")) == ("m1", "m2", "m3")


def test_protected_fixed_and_anchored_messages_hold_their_unit() -> None:
    parts = (result_part("a", "x"), result_part("b", "y"))
    messages = conversation(
        call("a", "Read"), call("b", "Read"), message("user", *parts), user("free")
    )
    every = [m.id for m in messages]
    assert hideable(view(messages, protected=["m0"]), every) == ("m3",)
    anchored = conversation(
        user("a", unmovable_reason="kept by the client"), user("b", immutable_reason="no")
    )
    assert hideable(view(anchored), ids("m0", "m1")) == ()


def test_the_system_prompt_is_never_hideable() -> None:
    messages = conversation(system("be good"), user("a"))
    assert hideable(view(messages), ids("m0", "m1")) == ("m1",)


def test_what_stays_names_the_message_that_keeps_it() -> None:
    parts = (result_part("a", "x"), result_part("b", "y"))
    messages = conversation(
        system("be good"),
        call("a", "Read"),
        call("b", "Read"),
        message("user", *parts),
        user("fixed", immutable_reason="signed"),
        user("anchored", unmovable_reason="kept by the client"),
        user("free"),
    )
    unit = "a call and its result, or one response"
    after = "held in its place by a message that nothing can precede"
    every = [m.id for m in messages]
    assert reasons_to_stay(view(messages, protected=["m2"]), every) == {
        "m0": "system prompt",
        "m1": f"it belongs with line 3 ({unit}), which stays: pinned",
        "m2": "pinned",
        "m3": f"it belongs with line 3 ({unit}), which stays: pinned",
        "m4": "signed",
        "m5": "kept by the client",
    }
    assert reasons_to_stay(view(messages), ids("m1")) == {
        "m1": f"it belongs with lines 3, 4 ({unit}); hide all of them or none"
    }
    late = conversation(
        user("free"),
        call("a", "Read"),
        user("between", unmovable_reason="kept by the client"),
        result("a", "x"),
        user("free"),
    )
    assert list(reasons_to_stay(view(late), [m.id for m in late])) == ["m2"]
    held = conversation(
        replace(call("a", "Read"), locks=Locks(unmovable_reason="anchored")),
        user("between"),
        result("a", "x"),
        user("free"),
    )
    assert reasons_to_stay(view(held), ids("m1", "m3")) == {"m1": after}
    assert hideable(view(held), [m.id for m in held]) == ("m3",)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([0], "line 1"),
        ([0, 1_999], "lines 1, 2,000"),
        (range(6), "lines 1, 2, 3, 4, 5, 6"),
        (range(7), "lines 1, 2, 3, 4, 5, 6 and 1 more"),
        (range(2_000), "lines 1, 2, 3, 4, 5, 6 and 1,994 more"),
    ],
)
def test_an_error_names_a_few_lines(lines: Iterable[int], text: str) -> None:
    assert lines_of(replace(user("a"), line=line) for line in lines) == text


@pytest.mark.parametrize(
    ("freeze_before", "frozen"),
    [(None, 0), ("0", 0), ("1", 1), ("3", 3), ("4", 4), ("99", 4), ("m2", 2), ("m0", 0)],
)
def test_messages_before_a_number_or_an_id_are_frozen(
    freeze_before: str | None, frozen: int
) -> None:
    options = ProtectOptions(keep_turns=0, freeze_before=freeze_before)
    assert protected_messages(chat(2), options) == dict.fromkeys(
        [f"m{n}" for n in range(frozen)], "protected by --freeze-before"
    )


@pytest.mark.parametrize("freeze_before", ["", "m9", "-1", "1.5", "many"])
def test_a_point_that_nothing_names_is_a_usage_error(freeze_before: str) -> None:
    with pytest.raises(UsageError, match=f"'{freeze_before}' is neither a message id nor"):
        protected_messages(chat(2), ProtectOptions(freeze_before=freeze_before))


@pytest.mark.parametrize(("fitting", "kept"), [(0, 0), (1, 1), (2, 1), (3, 3), (4, 4), (9, 4)])
def test_the_prefix_ends_where_no_pair_is_parted(fitting: int, kept: int) -> None:
    messages = conversation(user("a"), call("a", "Read"), result("a", "x"), assistant("b"))
    options = ProtectOptions(keep_turns=0, keep_prefix=0.5)
    limits = ProtectionLimits(size=len, oldest=fitting)
    assert protected_messages(messages, options, limits) == dict.fromkeys(
        [f"m{n}" for n in range(kept)], "protected by --keep-prefix"
    )
    unasked = protected_messages(messages, ProtectOptions(keep_turns=0), limits)
    assert unasked == {}


@pytest.mark.parametrize(
    ("keep_turns", "reason"), [(1, "in the newest turn"), (2, "in the newest 2 turns")]
)
def test_the_reason_names_the_turns(keep_turns: int, reason: str) -> None:
    kept = protected_messages(chat(5), ProtectOptions(keep_turns=keep_turns))
    assert set(kept.values()) == {reason}


@pytest.mark.parametrize(
    ("fitting", "first", "reason"),
    [
        (99, 41, "in the newest 10 steps"),
        (20, 41, "in the newest 10 steps"),
        (19, 43, "in the newest 9 steps"),
        (4, 57, "in the newest 2 steps"),
        (3, 59, "the newest step"),
        (0, 59, "the newest step"),
    ],
)
def test_as_many_steps_stay_as_fit_but_one_at_least(fitting: int, first: int, reason: str) -> None:
    kept = protected_messages(agent(30), limits=ProtectionLimits(size=len, newest=fitting))
    assert kept == {
        "m0": "prompt of the newest turn",
        **dict.fromkeys([f"m{n}" for n in range(first, 61)], reason),
    }


@pytest.mark.parametrize(("steps", "kept"), [(2, [0, 1, 2, 3]), (3, [0, 2, 3, 4])])
def test_what_came_with_the_prompt_stays_if_the_turn_is_short(steps: int, kept: list[int]) -> None:
    answers = (assistant(f"step {n}") for n in range(steps))
    messages = conversation(user("go"), user("memory", is_injected=True), *answers)
    found = protected_messages(messages, ProtectOptions(keep_steps=3))
    assert list(found) == [f"m{n}" for n in kept]
