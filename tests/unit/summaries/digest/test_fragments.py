"""The lines that may be quoted, what they show, and the entries of lists."""

from collections.abc import Mapping

import pytest
from builders import assistant, attached, call, conversation, result, summary, thinking, user

from compactctl.model.message import Message
from compactctl.summaries.digest.facts import freshness
from compactctl.summaries.digest.fragments import (
    Fragment,
    collect_fragments,
    list_entries,
)
from compactctl.summaries.extract.entities import EntityDemand, Lexicon
from compactctl.summaries.extract.passages import read_passages

DEMAND = {"soil_sensor": 3.0, "rain_gauge": 2.0}


def fragments(
    *messages: Message,
    demand: Mapping[str, float] = DEMAND,
    pinned: Mapping[int, str] | None = None,
) -> list[Fragment]:
    passages = read_passages(conversation(*messages))
    return collect_fragments(passages, pinned or {}, EntityDemand(demand=demand, lexicon=Lexicon()))


def texts(*messages: Message, pinned: Mapping[int, str] | None = None) -> list[str]:
    return [fragment.text for fragment in fragments(*messages, pinned=pinned) if fragment.text]


STATES = "The soil_sensor reads far too high."


def test_lines_about_wanted_names_are_fragments_and_others_are_not() -> None:
    found = fragments(assistant(f"First words.\n{STATES}\nsoil_sensor\nThe leaf_count is three."))
    assert [(f.text, f.describes, f.mentions, f.line.line) for f in found] == [
        ("The leaf_count is three.", (), (), 3),
        ("soil_sensor", (), (), 2),
        (STATES, ("soil_sensor",), (), 1),
    ]


def test_equal_lines_are_quoted_where_they_are_newest() -> None:
    found = fragments(assistant(STATES), user("go"), assistant(f"  {STATES}"))
    assert [fragment.group.passage for fragment in found] == [2]
    assert texts(assistant(STATES), pinned={0: STATES}) == []
    assert texts(assistant(STATES), summary(STATES), pinned={1: STATES}) == []
    assert texts(thinking(STATES)) == []


def test_words_of_the_user_are_not_chosen_by_lines() -> None:
    assert texts(assistant("Fine."), user(STATES), result("a", "x", said=STATES)) == []


def test_what_only_confirms_a_call_is_not_quoted() -> None:
    tasks = call("a", "TaskCreate", subject=STATES), result("a", f"Task #1 created: {STATES}")
    assert texts(*tasks) == []
    failed = call("a", "TaskCreate", subject=""), result("a", STATES, is_error=True)
    assert texts(*failed) == [STATES]
    skill = call("a", "skill", name="gardening"), result("a", f"# Gardening\n{STATES}")
    assert STATES in texts(*skill)
    search = call("a", "ToolSearch", query=STATES), result("a", f"{STATES} 1\n{STATES} 2")
    assert texts(*search) == []


@pytest.mark.parametrize(("count", "describes"), [(12, 12), (13, 12)])
def test_twelve_of_the_newest_lines_about_a_name_are_statements(count: int, describes: int) -> None:
    found = fragments(*(assistant(f"The soil_sensor reads {n} today.") for n in range(count)))
    assert sum(bool(fragment.describes) for fragment in found) == describes
    assert [f.group.passage for f in found if not f.describes] == [0][: count - 12]


@pytest.mark.parametrize(
    ("line", "states"),
    [
        ("soil_sensor reads four", False),
        ("soil_sensor reads four now", True),
        ("soil_sensor reads reads reads", False),
        ("soil_sensor rain_gauge both", False),
        ("soil_sensor rain_gauge both read", True),
    ],
)
def test_a_statement_has_three_words_beside_its_name(line: str, states: bool) -> None:  # noqa: FBT001
    found = fragments(attached("a.txt", line))
    assert any(fragment.describes for fragment in found) is states


def test_what_an_edit_replaced_is_not_quoted_from_older_reads() -> None:
    edit = {
        "file_path": "a.py",
        "old_string": STATES,
        "new_string": "soil_sensor reads as it should",
    }
    read = (
        call("r", "Read", file_path="a.py"),
        result("r", f"{STATES}\nThe rain_gauge reads zero now."),
    )
    done = (call("e", "Edit", **edit), result("e", "ok"))
    failed = (call("e", "Edit", **edit), result("e", "not found", is_error=True))
    assert STATES not in texts(*read, *done)
    assert "The rain_gauge reads zero now." in texts(*read, *done)
    assert STATES in texts(*done, *read)
    other = (call("e", "Edit", **{**edit, "file_path": "b.py"}), result("e", "ok"))
    assert STATES in texts(*read, *other)
    # A failed edit replaced nothing, and its old text is quoted.
    assert f"old_string: {STATES}" in texts(*read, *failed)
    assert f"new_string: {edit['new_string']}" in texts(*read, *done)


def test_a_heading_has_the_facts_of_its_call() -> None:
    found = fragments(call("a", "Bash", command="make test"), result("a", "seen\n3 passed"))
    assert [(f.line.line, f.text, [fact.name for fact in f.facts]) for f in found] == [
        (1, "3 passed", ["outcome make test"]),
        (-1, "", ["command make test"]),
    ]
    # A result stands under the heading of its call.
    assert {fragment.group.passage for fragment in found} == {0}


WRITING = call("a", "Edit", file_path="a", new_string="one two three four five")


@pytest.mark.parametrize(
    ("messages", "value"),
    [
        ((WRITING, result("a", "The file a has been updated.")), 0.1),
        # What is in no file is still to be written.
        ((WRITING, result("a", "The text was not found.")), 0.15),
        ((WRITING,), 0.15),
        ((call("a", "Bash", command="make", note="one two three four five"),), 0.15),
        ((call("r", "Read", file_path="a"), result("r", "one two three four five")), 0.05),
        ((call("r", "Bash", command="ls"), result("r", "one two three four five")), 0.05),
        ((assistant("one two three four five"),), 0.03),
        ((call("r", "Bash", command="make"), result("r", "one two three four five")), 0.001),
        ((attached("a.py", "one two three four five"),), 0.001),
    ],
)
def test_the_chance_of_a_line_to_be_written_again(
    messages: tuple[Message, ...], value: float
) -> None:
    found = [f for f in fragments(*messages) if f.text.endswith("five")]
    assert [fragment.reuse_value for fragment in found] == [pytest.approx(1.5 * value)]


@pytest.mark.parametrize(
    ("age", "value"), [(4, 0.05), (5, 0.01), (14, 0.01), (15, 0.001), (99, 0.001)]
)
def test_the_chance_of_a_read_line_falls_with_its_age(age: int, value: float) -> None:
    later = [m for n in range(age) for m in (assistant("ok"), user("on"))]
    read = (call("r", "Read", file_path="a"), result("r", "one two three four five"))
    (found,) = [f for f in fragments(*read, *later) if f.text.endswith("five")]
    assert found.reuse_value == pytest.approx(1.5 * value)


@pytest.mark.parametrize(
    ("line", "reusable"),
    [
        ("one two three four x", True),
        ("one two three four ", False),
        ("onetwothree fourfivesix", False),
        ("onetwothree four fivesix", True),
    ],
)
def test_a_line_of_twenty_characters_and_three_words_may_be_written_again(
    line: str,
    reusable: bool,  # noqa: FBT001
) -> None:
    assert bool(fragments(assistant(line))) is reusable


def test_a_finding_has_a_value_that_falls_with_its_age() -> None:
    finding = "The root cause is the wrong port number."
    (found,) = fragments(assistant(finding), user("on"), assistant("ok"))
    (fact,) = found.facts
    assert fact.name == f"finding {finding}"
    assert fact.value == pytest.approx(0.4 * (0.3 + freshness(1)))
    assert all(not fragment.facts for fragment in fragments(user(finding)))


def test_short_lines_are_quoted_only_for_a_fact() -> None:
    run = (call("a", "Bash", command="make test"), result("a", "ok it"))
    assert "ok it" in texts(*run)
    assert texts(user("abcde")) == []


def test_what_passed_is_not_quoted_from_a_test_run() -> None:
    lines = (
        "tests/test_rain.py::test_rain_gauge_is_read PASSED [ 50%]",
        "tests/test_rain.py::test_the_rain_gauge_is_dry FAILED [ 99%]",
        "=== RUN   TestThe rain_gauge of the roof",
        "test the rain_gauge of the roof ... ok",
        "ok 4 - the rain_gauge of the roof",
        "the rain_gauge of the roof is tested",
    )
    pytest_run = (call("t", "Bash", command="pytest -v"), result("t", "\n".join(lines)))
    assert texts(*pytest_run) == [lines[5], lines[1]]
    other = (call("t", "Bash", command="cat old.log"), result("t", "\n".join(lines)))
    assert set(lines) < set(texts(*other))


def entries(*messages: Message, demand: Mapping[str, float] | None = None) -> list[Fragment]:
    passages, lexicon = read_passages(conversation(*messages)), Lexicon()
    assert set(lexicon.entities(" ".join(demand or {}))) == set(demand or {})
    return list(list_entries(passages, demand or {}, lexicon, None))


def test_lists_hold_tasks_files_and_names() -> None:
    tasks = [{"content": "Dig", "status": "pending"}, {"content": "Rest", "status": "completed"}]
    found = entries(
        call("t", "TodoWrite", todos=tasks),
        call("r", "Read", file_path="src/a.py"),
        result("r", "x"),
        call("e", "Edit", file_path="src/b.py"),
        result("e", "ok"),
        demand={
            "soil_sensor": 3.0,
            "lib/c.py": 1.0,
            "src/a.py": 1.0,
            "y_" * 59 + "yy": 1.0,
            "x_" * 60 + "x": 1.0,
        },
    )
    assert [(f.group.section, f.group.label, f.text, f.mentions) for f in found] == [
        ("tasks", "", "[pending] Dig", ()),
        ("tasks", "", "[completed] Rest", ()),
        ("files", "", "src/a.py", ("src/a.py",)),
        ("files", "", "src/b.py (edited)", ()),
        ("names", "", "soil_sensor", ("soil_sensor",)),
        ("names", "", "lib/c.py", ("lib/c.py",)),
        ("names", "", "y_" * 59 + "yy", ("y_" * 59 + "yy",)),
    ]
    assert [[(fact.name, fact.value) for fact in f.facts] for f in found[:4]] == [
        [("task 0", 4.0)],
        [("task 1", 0.4)],
        [("file src/a.py", pytest.approx(4 * (0.06 + 0.2 * 8 / 9 + 0.015)))],
        [("file src/b.py", pytest.approx(4 * (0.5 + 0.3 + 0.015)))],
    ]
    assert all(not fragment.facts for fragment in found[4:])


def test_ids_are_listed_if_the_user_or_the_agent_names_them() -> None:
    found = entries(
        user("Look at 0afbd1e7."),
        call("c", "Bash", command="git show 1afbd1e7"),
        result("c", "0afbd1e7 1afbd1e7 2afbd1e7 soil_sensor"),
        demand=dict.fromkeys(("0afbd1e7", "1afbd1e7", "2afbd1e7", "soil_sensor"), 1.0),
    )
    assert [f.text for f in found] == ["0afbd1e7", "1afbd1e7", "soil_sensor"]


def test_files_share_the_folder_above_their_last_two_names() -> None:
    paths = ("x/src/a.py", "x/lib/a.py", "src/a.py", "a.py", "/srv/a.py", "/srv/x/lib/a.py")
    found = entries(*(call(path, "Read", file_path=path) for path in paths))
    assert [(f.group.label, f.text) for f in found] == [
        ("x", "src/a.py"), ("x", "lib/a.py"), ("", "src/a.py"), ("", "a.py"), ("", "/srv/a.py"),
        ("/srv/x", "lib/a.py"),
    ]  # fmt: skip


def test_what_was_done_to_a_file_stands_behind_it() -> None:
    found = entries(
        call("w", "Write", file_path="src/a.py", content="x = 1"),
        result("w", "ok"),
        call("r", "Read", file_path="src/a.py"),
        result("r", "x = 1"),
        *(
            message
            for key in "ef"
            for message in (
                call(key, "Edit", file_path="src/a.py", old_string="x = 1", new_string="x = 2"),
                result(key, "ok"),
            )
        ),
        call("g", "Edit", file_path="src/b.py", old_string="y = 1", new_string="y = 2"),
        result("g", "No such file", is_error=True),
        call("s", "Read", file_path="src/c.py"),
    )
    assert [f.text for f in found] == [
        "src/a.py (written, edited x2)", "src/b.py (failed edit)", "src/c.py",
    ]  # fmt: skip


def test_both_sides_of_a_change_in_a_diff_are_one_fragment() -> None:
    lines = [
        "--- a/soil.py",
        "+++ b/soil.py",
        "@@ -1,5 +1,5 @@ def read():",
        "     soil_sensor = open_port(3)",
        "-    soil_sensor.scale = 1000",
        "+    soil_sensor.scale = 100",
        "+    soil_sensor.flush()",
        "     return soil_sensor.value()",
        "-    rain_gauge.close(soil_sensor)",
    ]
    diff = "\n".join(lines)
    found = [
        fragment.text
        for fragment in fragments(call("d", "Bash", command="git diff"), result("d", diff))
    ]
    change = "-    soil_sensor.scale = 1000\n+    soil_sensor.scale = 100\n+    soil_sensor.flush()"
    assert change in found
    assert "-    rain_gauge.close(soil_sensor)" in found
    assert not [text for text in found if "\n" not in text and "scale" in text]
    # Outside of a diff, such lines are a list.
    listed = "- soil_sensor one two\n+ soil_sensor one three"
    assert all("\n" not in text for text in texts(assistant(listed)))
