"""What was known before a compaction: errors that last, files in use, names that were discussed."""

import pytest
from builders import assistant, attached, call, conversation, result, thinking, user

from compactctl.audit.losses import (
    KnownFact,
    find_known_facts,
    later_mentions,
    unresolved_errors,
)
from compactctl.audit.mention_index import MentionIndex, visible_texts, without_line_suffix
from compactctl.history.references import SourceRef
from compactctl.model.message import Message
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import read_passages, tool_pairs


def run(name: str, command: str, output: str, *, fails: bool = True) -> tuple[Message, Message]:
    return call(name, "Bash", command=command), result(name, output, is_error=fails)


def unresolved(*messages: Message) -> list[str]:
    found = unresolved_errors(tool_pairs(read_passages(conversation(*messages))))
    return [error.line for error in found]


FAILED = run("a", "pytest tests/a", "error: first line\nerror: second line")


@pytest.mark.parametrize(
    ("later", "lines"),
    [
        ((), ["error: first line"]),
        # The same program with the same subcommand has succeeded since.
        (run("b", "pytest tests/b", "fine", fails=False), []),
        (run("b", "cd x && A=1 sudo timeout 5 pytest -q", "fine", fails=False), []),
        (run("b", "pytest tests/a", "fine", fails=False), []),
        (run("b", "pytest run", "fine", fails=False), ["error: first line"]),
        (run("b", "mypy tests/a", "fine", fails=False), ["error: first line"]),
        ((call("b", "Bash", command="pytest x"),), ["error: first line"]),
        (run("b", "pytest x", "TypeError: again", fails=False), [
            "error: first line", "TypeError: again",
        ]),
    ],
)  # fmt: skip
def test_an_error_lasts_until_its_program_succeeds(
    later: tuple[Message, ...], lines: list[str]
) -> None:
    assert unresolved(*FAILED, *later) == lines


def test_looks_calls_without_a_command_and_lines_that_are_no_errors_do_not_count() -> None:
    assert unresolved(*run("a", "cat log", "fatal: not there")) == []
    edit = (call("a", "Edit", file_path="a"), result("a", "not found in a", is_error=True))
    assert unresolved(*edit) == []
    assert unresolved(*run("a", "make it", "three words here")) == []
    before = run("z", "pytest tests/z", "fine", fails=False)
    assert unresolved(*before, *FAILED) == ["error: first line"]


def facts(after: str, *messages: Message) -> list[KnownFact]:
    index = MentionIndex([after], Lexicon())
    return list(find_known_facts(read_passages(conversation(*messages)), index, None))


def shown(kind: str, *messages: Message, after: str = "") -> list[tuple[str, str, int, bool]]:
    return [
        (fact.loss.text, fact.loss.note, fact.loss.ref.number, fact.is_mentioned)
        for fact in facts(after, *messages)
        if fact.loss.kind == kind
    ]


def read(name: str, path: str, **arguments: int) -> tuple[Message, Message]:
    return call(name, "Read", file_path=path, **arguments), result(name, "text of it")


def test_files_are_listed_with_what_was_done_to_them() -> None:
    talk = (
        *read("a", "src/a.py"),
        *read("b", "src/a.py"),
        call("c", "Edit", file_path="src/b.py"),
        result("c", "ok"),
        attached("src/c.py:1-40", "x"),
        attached("src/c.py:41-80", "x"),
        attached("old/a.py", "x"),
    )
    assert shown("file", *talk) == [("src/b.py", "edited", 5, False)]
    found = {
        text: (note, number, named)
        for text, note, number, named in shown("read", *talk, after="a.py and c.py")
    }
    assert found == {
        "src/a.py": ("read x2", 3, False),
        "src/c.py": ("attached x2", 8, True),
        "old/a.py": ("attached", 9, False),
    }


def test_names_in_use_were_discussed_and_stand_in_two_passages() -> None:
    talk = (
        user("Mind the soil_sensor."),
        assistant("The rain_gauge is next."),
        thinking("leaf_count and leaf_count"),
        *run("a", "check soil_sensor tank_level", "tank_level and roof_tile", fails=False),
        call("e", "Edit", file_path="a.py", new_string="roof_tile = pond_size"),
        result("e", "pond_size"),
    )
    assert sorted(shown("identifier", *talk, after="soil_sensor")) == [
        ("soil_sensor", "named 2 times", 4, True),
        ("tank_level", "named 2 times", 5, False),
    ]


def test_tasks_errors_and_rules_have_their_notes() -> None:
    tasks = [{"content": "Dig", "status": "blocked"}, {"content": "Rest", "status": "completed"}]
    talk = (
        user("Never water the beds."),
        *run("a", "make beds", "error: no water"),
        call("t", "TodoWrite", todos=tasks),
    )
    assert shown("rule", *talk) == [("Never water the beds.", "", 1, False)]
    assert shown("error", *talk) == [("error: no water", "make beds", 2, False)]
    assert shown("task", *talk, after="dig") == [("Dig", "blocked", 4, True)]


def test_the_agent_alone_mentions_something_later() -> None:
    later = read_passages(
        conversation(
            user("the soil_sensor"),
            assistant("the rain_gauge"),
            call("e", "Edit", file_path="src/a.py", text="rain_gauge"),
            result("e", "roof_tile"),
            *read("r", "src/b.py"),
        )
    )
    found = later_mentions(later, None)
    assert found["rain_gauge"] == SourceRef(2)
    assert (found["src/a.py"], found["src/b.py"]) == (SourceRef(3), SourceRef(5))
    assert "soil_sensor" not in found
    assert "roof_tile" not in found


@pytest.mark.parametrize(
    ("path", "bare"),
    [("a.py:12", "a.py"), ("a.py:12-40", "a.py"), ("a.py:1:2", "a.py"), ("a.py#L5", "a.py"),
     ("a.py#5-9", "a.py"), ("a.py#x", "a.py#x"), ("a.py:", "a.py:")],
)  # fmt: skip
def test_line_numbers_behind_a_path(path: str, bare: str) -> None:
    assert without_line_suffix(path) == bare


def test_the_next_request_sends_all_but_reasoning_and_names_its_files() -> None:
    talk = read_passages(conversation(user("a"), thinking("b"), attached("./c.py", "d")))
    assert visible_texts(talk, None) == ["a", "d", "c.py"]


TEN = "alpha bravo gamma delta epsil zetas etass thetas iotas kappas"


@pytest.mark.parametrize(
    ("text", "rule", "found"),
    [
        # Six of ten content words, close together.
        ("alpha bravo gamma delta epsil zetas", TEN, True),
        ("alpha bravo gamma delta epsil", TEN, False),
        ("running the tests", "run test", False),
        ("testing linters", "tested linter", True),
        ("never push main", "do not push main", True),
        ("push main", "do not push main", False),
        ("push main only", "never push main", True),
        ("anything", "do it", True),
    ],
)  # fmt: skip
def test_most_words_of_a_rule_stand_together(text: str, rule: str, found: bool) -> None:  # noqa: FBT001
    assert MentionIndex([text], Lexicon()).has_paraphrase(rule) is found


@pytest.mark.parametrize(("gap", "found"), [(22, True), (24, False)])
def test_words_are_close_within_two_dozen(gap: int, found: bool) -> None:  # noqa: FBT001
    text = "alpha " + "filler " * gap + "bravo"
    assert MentionIndex([text], Lexicon()).has_paraphrase("alpha bravo") is found


@pytest.mark.parametrize(
    ("text", "path", "only", "found"),
    [
        ("see src/a.py", "src/a.py", False, True),
        ("see a.py", "src/a.py", False, False),
        ("see a.py", "src/a.py", True, True),
        ("see a.py", "a.py", False, True),
        ("see x/src/a.py:3.", "src/a.py", False, True),
        ("see old/a.py", "src/a.py", True, False),
        ("see .../src/a.py", "app/src/a.py", False, True),
        ("see ~/src/a.py~", "src/a.py", False, True),
        ("", "src/a.py", True, False),
    ],
)
def test_a_path_is_named_with_a_folder_or_alone(
    text: str,
    path: str,
    only: bool,  # noqa: FBT001
    found: bool,  # noqa: FBT001
) -> None:
    assert MentionIndex([text], Lexicon()).has_path(path, is_only=only) is found


@pytest.mark.parametrize(
    ("text", "rule", "found"),
    [
        ("log", "logs", False),
        ("logg", "loggs", True),
        ("bas", "bases", True),
        ("go", "going", False),
        ("Tested", "testing", True),
    ],
)
def test_endings_are_left_out_of_longer_words(text: str, rule: str, found: bool) -> None:  # noqa: FBT001
    assert MentionIndex([text], Lexicon()).has_paraphrase(rule) is found


@pytest.mark.parametrize(
    ("text", "entity", "found"),
    [
        ("soil_sensor.value", "soil_sensor", True),
        ("src/soil_sensor", "soil_sensor", True),
        ("soil_sensors", "soil_sensor", False),
        ("see abc1234 there", "abc1234def", True),
        ("see abc1234def5678 there", "abc1234", True),
        ("see abc1235 there", "abc1234def", False),
    ],
)
def test_a_name_is_mentioned_in_a_longer_one_and_an_id_by_its_start(
    text: str,
    entity: str,
    found: bool,  # noqa: FBT001
) -> None:
    assert MentionIndex([text], Lexicon()).has_entity(entity) is found


def test_an_error_that_does_not_count_hides_none_behind_it() -> None:
    assert unresolved(*run("z", "cat log", "fatal: not there"), *FAILED) == ["error: first line"]


def test_files_of_equal_worth_are_listed_by_their_path() -> None:
    found = shown("read", attached("src/b.py", "x"), attached("src/a.py", "x"))
    assert [text for text, *_ in found] == ["src/a.py", "src/b.py"]


def test_what_the_user_named_is_in_use_once_a_tool_showed_it() -> None:
    talk = (user("Mind the pump_house."), *run("a", "make it", "pump_house", fails=False))
    assert shown("identifier", *talk) == [("pump_house", "named 2 times", 3, False)]
    said = (assistant("Mind the pump_house."), *run("a", "make it", "pump_house", fails=False))
    assert shown("identifier", *said) == [("pump_house", "named 2 times", 3, False)]


@pytest.mark.parametrize(("gap", "found"), [(25, True), (40, False)])
def test_the_words_of_a_long_rule_may_be_further_apart(gap: int, found: bool) -> None:  # noqa: FBT001
    text = "alpha bravo gamma " + "filler " * gap + "delta epsil zetas"
    assert MentionIndex([text], Lexicon()).has_paraphrase(TEN) is found
