"""Items of a summary: what they say, under which label, and what they are worth."""

from collections.abc import Iterable

import pytest
from builders import assistant, attached, call, conversation, result, summary, thinking, user

from compactctl.model.message import Message
from compactctl.summaries.document.earlier_summary import earlier_items
from compactctl.summaries.document.labels import previous_summary
from compactctl.summaries.extract.current_work import call_title, current_items, next_items
from compactctl.summaries.extract.decisions import finding_items, is_finding
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.files import file_items, replaced_lines
from compactctl.summaries.extract.items import ItemValue, SummaryItem, clip_middle, clip_to_line
from compactctl.summaries.extract.passages import Passage, read_passages, tool_pairs
from compactctl.summaries.extract.user_words import budget_with


def passages(*messages: Message) -> tuple[Passage, ...]:
    return read_passages(conversation(*messages))


@pytest.mark.parametrize(("age", "value"), [(0, 1.5), (8, 1.25), (24, 1.125)])
def test_the_bonus_for_freshness_halves_within_eight_calls(age: int, value: float) -> None:
    assert ItemValue(1.0, 0.5).at(age) == value
    assert ItemValue(1.0).at(age) == 1.0


@pytest.mark.parametrize(
    ("text", "limit", "clipped"),
    [
        (" one two ", 7, "one two"),
        ("one two three four five six", 18, "one two […] six"),
        ("one two three", 12, "one two […] "),
        ("abcdefghijkl mno", 12, "abcdefghijkl […] mno"),
        ("a,b,c,d,e,f,g,h", 9, "a,b,c, […] g,h"),
        ("abcdefghijklmnop", 5, "abcdefghijklmnop"),
    ],
)
def test_a_text_loses_its_middle(text: str, limit: int, clipped: str) -> None:
    assert clip_middle(text, limit) == clipped


def test_a_text_is_written_on_one_line() -> None:
    assert clip_to_line(" a \n\n b\t c ", 99) == "a b c"
    assert clip_to_line("word " * 100, 20) == "word word […] word"


def items(found: Iterable[SummaryItem]) -> list[tuple[int, str, str, str, float]]:
    return [(i.section, i.label, i.ref, i.text, round(i.value, 4)) for i in found]


def test_files_are_items_by_what_was_done_and_how_often() -> None:
    found = items(
        file_items(
            passages(
                attached("c.py", "x"),
                call("a", "Read", file_path="a.py"),
                result("a", "x"),
                call("b", "Write", file_path="b.py", content="def one():\nclass Two:\n"),
                result("b", "ok"),
                call("d", "Edit", file_path="b.py", old_string="x", new_string="def three():"),
                result("d", "ok"),
                call("e", "Edit", file_path="d.py"),
                result("e", "no", is_error=True),
            ),
            None,
        )
    )
    assert found == [
        (3, "Files:", "L1", "c.py - attached", round(0.06 + 0.2 * 8 / 12 + 0.015, 4)),
        (3, "Files:", "L2", "a.py - read", round(0.06 + 0.2 * 8 / 11 + 0.015, 4)),
        (
            3,
            "Files:",
            "L6",
            "b.py - written, edited; definitions: one, Two, three",
            round(0.5 + 0.3 * 8 / 9 + 0.03, 4),
        ),
        (3, "Files:", "L8", "d.py - failed edit", 0.815),
        (9, "", "", "d.py", 0.12),
        (9, "", "", "b.py", 0.06),
        (9, "", "", "a.py", 0.04),
        (9, "", "", "c.py", 0.03),
    ]
    many = items(file_items(passages(*(attached("a.py", "x") for _ in range(9))), None))
    assert many[0] == (3, "Files:", "L9", "a.py - attached x9", 0.36)


def test_replaced_lines_are_those_that_do_not_come_back() -> None:
    (pair,) = tool_pairs(
        passages(call("a", "Edit", file_path="a", old_string=" x\n y", new_string="y\nz"))
    )
    assert replaced_lines(pair) == {"x"}


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("The root cause is the wrong port.", True),
        ("The root cause is the wrong port:", False),
        ("Is the root cause the wrong port?", False),
        ("It is because 4.", True),
        ("It is because x.", False),
        ("because `x` is", False),
        ("because `x` was", True),
        ("because `" + "x" * 391, True),
        ("because `" + "x" * 392, False),
        ("I will check because it is not the wrong port.", False),
        ("It reads the wrong port number each time.", False),
    ],
)
def test_a_finding_is_specific_and_no_narration(text: str, finding: bool) -> None:  # noqa: FBT001
    assert is_finding(text) is finding


def test_findings_are_told_once_and_thoughts_if_they_were_acted_on() -> None:
    said = "The root cause is the wrong port number."
    thought = "I decided to rename load_port in the end."
    acted = (call("a", "Edit", file_path="a.py", new_string="load_port"), result("a", "ok"))
    found = items(
        finding_items(
            passages(thinking(thought), *acted, assistant(f"{said} {said}"), user("on")), Lexicon()
        )
    )
    label = "Decisions and findings:"
    assert found == [(4, label, "L1", thought, 0.2067), (4, label, "L4", said, 0.3)]
    looked = (call("a", "Read", file_path="load_port"), result("a", "load_port"))
    failed = (acted[0], result("a", "no", is_error=True))
    for later in ((), looked, failed):
        assert items(finding_items(passages(thinking(thought), *later), Lexicon())) == []
    far = [user("x")] * 30
    assert items(finding_items(passages(thinking(thought), *far, *acted), Lexicon())) == []
    near = [user("x")] * 29
    assert len(items(finding_items(passages(thinking(thought), *near, *acted), Lexicon()))) == 1


def test_the_newest_replies_and_calls_are_the_current_work() -> None:
    talk = [m for n in range(5) for m in (assistant(f"reply {n}"), user("x"))]
    calls = [call(f"c{n}", "Bash", command=f"make {n}") for n in range(5)]
    found = passages(*talk, *calls)
    shown = list(current_items(found, tool_pairs(found)))
    assert [(item.ref, item.text) for item in shown] == [
        *((f"L{2 * n + 1}", f"reply {n}") for n in (2, 3, 4)),
        *((f"L{n + 11}", f"Bash make {n}") for n in (1, 2, 3, 4)),
    ]
    assert [item.position for item in shown] == [5, 7, 9, 0, 1, 2, 3]
    assert [round(item.value, 3) for item in shown[:3]] == [
        round(0.7 + 0.3 * 8 / (8 + age), 3) for age in (3, 2, 1)
    ]
    assert {item.value for item in shown[3:]} == {0.2}


def steps(*messages: Message, answered: bool = False) -> list[tuple[str, str, float]]:
    found = next_items(passages(*messages), is_answered=answered)
    return [(item.ref, item.text, round(item.value, 3)) for item in found]


def test_next_steps_are_what_the_newest_reply_intends() -> None:
    reply = (
        "One thing is done. Next I will test it. Then I deploy it. I still need to push."
        " Now let me rest."
    )
    assert steps(user("go"), assistant(reply)) == [
        ("L2", "Then I deploy it.", 0.8),
        ("L2", "I still need to push.", 0.8),
        ("L2", "Now let me rest.", 0.8),
    ]
    assert steps(assistant("All of it is done now."), call("a", "Bash", command="x")) == [
        ("L1", "All of it is done now.", 0.8)
    ]
    assert steps(assistant("All of it is done here.")) == []
    assert steps(user("go")) == [("L1", "The newest request has no reply yet.", 0.8)]
    assert steps(user("go"), answered=True) == []
    assert steps(user("go"), thinking("hm")) == []
    assert steps(user("go"), user("note", is_injected=True)) != []
    assert steps(call("a", "Bash", command="x")) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "title"),
    [
        ("Edit", {"file_path": "a.py"}, "Edit a.py"),
        ("Read", {"file_path": "a.py"}, "Read a.py"),
        ("Bash", {"command": "cd x && make it\nmore"}, "Bash make it"),
        ("Bash", {"command": "cd x && "}, "Bash cd x &&"),
        ("Fetch", {"url": " u "}, "Fetch u"),
    ],
)
def test_the_title_of_a_call(tool: str, arguments: dict[str, str], title: str) -> None:
    (pair,) = tool_pairs(passages(call("a", tool, **arguments)))
    assert call_title(pair, 90) == title


SUMMARY = """This session is being continued from before.
# Pending Tasks
- Dig the bed
```
# Next
code
```
**Errors**
</summary>
---
The pump failed
2. Key Concepts:
Water it
## Nothing known
Still water"""


def test_points_of_an_earlier_summary_are_under_the_heading_they_had() -> None:
    found = list(earlier_items(passages(summary("old: x"), summary(SUMMARY))))
    assert [(item.section, item.text, item.value, item.position) for item in found] == [
        (5, "Dig the bed", 0.6, 0),
        (4, "The pump failed", 0.15, 1),
        (2, "Water it", 0.06, 2),
        (2, "Still water", 0.06, 3),
    ]
    assert {item.label for item in found} == {"Earlier summary [L2]:"}
    later = call("t", "TodoWrite", todos=[{"content": "New"}])
    assert next(iter(earlier_items(passages(summary(SUMMARY), later)))).section == 6
    assert next(iter(earlier_items(passages(later, summary(SUMMARY))))).section == 5
    assert list(earlier_items(passages(user("a")))) == []


def test_the_newest_earlier_summary_is_carried_on() -> None:
    talk = conversation(summary("one"), user("two"), summary("three"), assistant("four"))
    assert previous_summary(talk) == "three"
    assert previous_summary(talk[1:2]) == ""


@pytest.mark.parametrize(
    ("arguments", "budget"),
    [
        ((2_000, 500, 600), 2_000),
        ((2_000, 2_000, 2_100), 2_000),
        ((2_000, 2_001, 2_100), 2_700),
        ((2_000, 5_000, 5_100), 5_700),
        ((300, 5_000, 5_100), 5_400),
        ((0, 5_000, 5_100), 0),
        ((-10, 5_000, 5_100), -10),
        ((100, 50, 60, 200), 100),
        ((100, 101, 160, 200), 460),
        ((-100, 101, 160, 200), 260),
    ],
)
def test_a_budget_is_raised_by_lasting_words(arguments: tuple[int, ...], budget: int) -> None:
    assert budget_with(*arguments) == budget
