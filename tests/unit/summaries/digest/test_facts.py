"""The lines that show the state of the work, and how much they are worth."""

import pytest
from builders import (
    assistant,
    attached,
    call,
    conversation,
    raw_call,
    result,
    summary,
    system,
    user,
)

from compactctl.model.message import Message
from compactctl.model.own_texts import heading
from compactctl.summaries.digest.facts import (
    LineIndex,
    facts_by_line,
    freshness,
    speaker,
    title,
)
from compactctl.summaries.digest.lines import quotable_text
from compactctl.summaries.extract.passages import Passage, read_passages


def facts(*messages: Message) -> dict[tuple[int, int], list[tuple[str, float]]]:
    found = facts_by_line(read_passages(conversation(*messages)))
    return {
        (line.passage, line.line): [(fact.name, fact.value) for fact in values]
        for line, values in found.items()
    }


def heading_of(passage: Passage) -> str:
    return heading(speaker(passage), title(passage))


def run(number: int, command: str, output: str, *, fails: bool = False) -> tuple[Message, Message]:
    name = f"c{number}"
    return call(name, "Bash", command=command), result(name, output, is_error=fails)


@pytest.mark.parametrize(("age", "value"), [(0, 1.0), (20, 0.5), (60, 0.25)])
def test_freshness_halves_within_twenty_calls(age: int, value: float) -> None:
    assert freshness(age) == value


def test_a_command_has_a_fact_in_its_heading_and_one_for_its_outcome() -> None:
    found = facts(*run(1, "make test", "first\n3 passed\n"), *run(2, "ls", "a\nb"))
    assert found == {
        (0, -1): [("command make test", 2.5)],
        (1, 1): [("outcome make test", pytest.approx(1.25 * 20 / 21))],
    }


def test_only_the_newest_run_counts_and_a_ruler_is_no_outcome() -> None:
    found = facts(*run(1, "mkdir a", "made"), *run(2, "mkdir a", "made\n-----"))
    assert found == {(2, -1): [("command mkdir a", 0.9)]}


def test_the_six_newest_checks_keep_their_value() -> None:
    runs = [each for n in range(8) for each in run(n, f"make test{n} check", "")]
    values = [values[0][1] for values in facts(*runs).values()]
    old = [0.9 * freshness(7), 0.9 * freshness(6)]
    assert values == pytest.approx([*old, *[2.5] * 6])


def test_the_first_error_and_the_three_newest_keep_their_value() -> None:
    runs = [
        each
        for n, name in enumerate("abcdef")
        for each in run(n, f"mkdir {name}", f"seen\n{name * 9} error here", fails=True)
    ]
    found = facts(*runs)
    errors = {line: values[0][1] for line, values in found.items() if line[0] % 2}
    assert [found[line][0][0] for line in errors] == [f"error {n * 9} error here" for n in "abcdef"]
    assert list(errors.values()) == pytest.approx(
        [3.0, 1.2 * freshness(4), 1.2 * freshness(3), 3.0, 3.0, 3.0]
    )
    assert all(line[1] == 1 for line in errors)


def test_an_error_and_an_outcome_may_be_one_line() -> None:
    found = facts(*run(1, "make it", "TypeError: x is undefined", fails=True))
    assert [name for name, _ in found[1, 0]] == [
        "error TypeError: x is undefined",
        "outcome make it",
    ]


def test_the_last_question_of_a_reply_is_a_fact_once_the_user_answers() -> None:
    asks = assistant("Is it (a)?\nOr (b)? I take (a).\nBoth work.")
    assert facts(user("go"), asks, user("The second.")) == {(1, 1): [("question 1", 2.0)]}
    assert facts(user("go"), asks) == {}
    assert facts(asks, assistant("I took (a)."), user("The second.")) == {}
    assert facts(assistant("Why? " + 60 * "word "), user("Because.")) == {}


def test_headings_name_who_speaks_or_what_was_called() -> None:
    passages = read_passages(
        conversation(
            system("be good"),
            user("go"),
            user("note", is_injected=True),
            assistant("well"),
            summary("before"),
            *run(1, "make it", "Exit code 2\nx"),
            *run(2, "make that", "boom", fails=True),
            *run(3, "make all", "fine"),
            call("q", "AskUser", question="Which?"),
            result("q", "the blue one", said="blue"),
            attached("a.py", "x"),
        )
    )
    assert [heading_of(passage) for passage in passages] == [
        "operator",
        "user",
        "note",
        "agent",
        "earlier summary",
        *["Bash make it (failed, exit code 2)"] * 2,
        *["Bash make that (failed)"] * 2,
        *["Bash make all"] * 2,
        "AskUser Which?",
        "AskUser Which?",
        "user, to AskUser Which?",
        "file a.py",
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("user", "tool user"),
        ("operator", "tool operator"),
        ("earlier summary", "tool earlier summary"),
        ("user, to ask", "tool user, to ask"),
        ("file a.py", "tool file a.py"),
        ("note: x", "tool note: x"),
        ("tool x", "tool tool x"),
        ("users", "users"),
    ],
)
def test_a_tool_that_is_called_like_a_speaker_is_named_as_a_tool(name: str, shown: str) -> None:
    (passage,) = read_passages(conversation(raw_call("c", name, " "), result("c", "done")))[-1:]
    assert heading_of(passage) == shown


def test_an_answer_to_an_unknown_call_is_an_answer_to_a_tool() -> None:
    passages = read_passages(conversation(result("lost", "x", said="no")))
    assert [heading_of(passage) for passage in passages] == ["result", "user, to a tool"]
    assert LineIndex(0, -1) not in facts_by_line(passages)


def test_the_heading_of_a_call_that_asks_is_the_question_alone() -> None:
    options = [{"label": "Left quay", "description": "near"}, {"label": "Right quay"}]
    asked = [{"question": "Which quay?", "header": "Quay", "options": options}]
    passages = read_passages(conversation(user("go"), call("q", "Ask", questions=asked)))
    assert heading_of(passages[-1]) == "Ask Which quay?"
    lines = [line.text for line in quotable_text(passages[-1]).lines]
    assert "label: Left quay" in lines
    assert not any("Which quay?" in line for line in lines)


@pytest.mark.parametrize(
    ("cwd", "path", "shown"),
    [
        (None, r"D:\quay\pump.fish", "D:/quay/pump.fish"),
        (r"D:\quay", r"D:\quay\src\pump.fish", "src/pump.fish"),
        ("/quay", "/quay/src/pump.fish", "src/pump.fish"),
        ("/quay", "./src/pump.fish", "src/pump.fish"),
        (None, "/quay/pump.fish", "/quay/pump.fish"),
    ],
)
def test_a_path_in_the_heading_is_not_quoted_again(cwd: str | None, path: str, shown: str) -> None:
    edit = call("e", "Edit", file_path=path, old_string="a", new_string=r"set bay D:\quay\src")
    passage, _ = read_passages(conversation(edit, result("e", "Updated the file.")), cwd)
    assert heading_of(passage) == f"Edit {shown}"
    assert [line.text for line in quotable_text(passage).lines] == [
        r"new_string: set bay D:\quay\src"
    ]
