import json

from builders import assistant, call, conversation, message, result, result_part, user
from unit.stages.support.trials import (
    carried_out,
    joined,
    meter,
    propose,
    rewritten,
    skipped,
    skips,
    view,
    words,
)

from compactctl.history.reads import stub_for
from compactctl.model.edit import Replace
from compactctl.model.message import Message, ToolCallPart
from compactctl.stages.strip import STAGE

LONG = words(60)
GONE = f"[Tool result truncated — originally {len(LONG)} chars]"


def pairs(count: int, text: str = LONG) -> tuple[Message, ...]:
    made = ((call(f"c{n}", "Bash", command="ls"), result(f"c{n}", text)) for n in range(count))
    return conversation(*(m for pair in made for m in pair))


def test_long_results_before_the_newest_four_messages_are_replaced() -> None:
    assert rewritten(propose(STAGE, view(pairs(5)))) == dict.fromkeys(("m1", "m3", "m5"), GONE)


def test_a_result_of_just_two_hundred_characters_stays() -> None:
    messages = joined(
        call("a", "Bash"), result("a", "w " * 100),
        call("b", "Bash"), result("b", "w " * 100 + "w"),
        *pairs(2),
    )  # fmt: skip
    replaced = rewritten(propose(STAGE, view(messages)))
    assert replaced == {"m3": "[Tool result truncated — originally 201 chars]"}


def test_long_arguments_are_replaced_and_stay_json_of_the_same_shape() -> None:
    edit = call("a", "Edit", path="src/a.py", old=LONG, lines=[1, 2], nested={"new": LONG})
    messages = joined(edit, result("a", "ok"), *pairs(2))
    assert json.loads(rewritten(propose(STAGE, view(messages)))["m0"]) == {
        "path": "src/a.py",
        "old": "[args truncated]",
        "lines": [1, 2],
        "nested": {"new": "[args truncated]"},
    }
    assert skips(STAGE, view(messages), args=False)


def test_the_replaced_arguments_are_measured() -> None:
    messages = joined(call("a", "Write", path="a", text=LONG), result("a", "ok"), *pairs(2))
    of = view(messages)
    after = carried_out(of, propose(STAGE, of))
    part = after.messages[0].parts[0]
    assert isinstance(part, ToolCallPart)
    assert "[args truncated]" in part.arguments
    assert meter().total(of.messages) - meter().total(after.messages) == 58


def test_other_units_can_be_counted() -> None:
    messages = conversation(
        user("one"), call("a", "Bash", command=LONG), result("a", LONG),
        user("two"), call("b", "Bash"), call("c", "Bash", command=LONG),
        message("user", result_part("b", LONG), result_part("c", LONG)),
        call("d", "Bash"), result("d", LONG), assistant("done"),
    )  # fmt: skip

    def old(unit: str, keep: int) -> list[tuple[str, int]]:
        proposal = propose(STAGE, view(messages), keep_recent=keep, unit=unit)
        return [(e.id, e.part) for e in proposal.edits if isinstance(e, Replace)]

    first = [("m1", 0), ("m2", 0)]
    both = [("m5", 0), ("m6", 0), ("m6", 1)]
    assert old("messages", 0) == [*first, *both, ("m8", 0)]
    assert old("messages", 4) == [*first, ("m5", 0)]
    assert old("turns", 1) == first
    assert old("steps", 2) == [*first, *both]
    # A call is as new as its result.
    assert old("results", 2) == [*first, ("m6", 0)]


def test_nothing_to_strip_is_said() -> None:
    reason = "nothing over 200 characters before the newest 4 messages"
    assert skipped(STAGE, view(())).reason == reason
    assert skipped(STAGE, view(pairs(2))).reason == reason
    assert skipped(STAGE, view(pairs(9, "short"))).reason == reason


def test_protected_tools_pinned_messages_and_referred_reads_stay() -> None:
    messages = joined(
        call("a", "Skill", text=LONG), result("a", LONG),
        call("b", "Read", path="a.py"), result("b", stub_for("a.py")),
        call("c", "Read", path="a.py"), result("c", LONG),
        *pairs(3),
    )  # fmt: skip
    of = view(messages, protected=["m7"])
    assert skips(STAGE, of, protect_tools=("SKILL",))
    assert list(rewritten(propose(STAGE, of))) == ["m0", "m1"]


def test_a_placeholder_is_never_replaced_by_another() -> None:
    of = view(pairs(5))
    after = carried_out(of, propose(STAGE, of, over=3))
    assert skips(STAGE, after, over=3)
    own = carried_out(of, propose(STAGE, of, over=3, placeholder="[{chars} gone (see +)]"))
    assert skips(STAGE, own, over=3, placeholder="[{chars} gone (see +)]")
