"""What a call's output tells of its outcome."""

from typing import Any

import pytest
from builders import call, conversation, result

from compactctl.model.message import Message
from compactctl.summaries.digest.facts import title
from compactctl.summaries.extract.outcomes import (
    command_items,
    error_items,
    error_lines,
    find_errors,
    is_check,
    last_line,
    looks_like_error,
)
from compactctl.summaries.extract.passages import ToolPair, read_passages, tool_pairs


def pairs(*messages: Message) -> tuple[ToolPair, ...]:
    return tool_pairs(read_passages(conversation(*messages)))


def run(output: str | None, command: str = "make it", tool: str = "Bash", **flags: Any) -> ToolPair:
    answer = () if output is None else (result("c", output, **flags),)
    (pair,) = pairs(call("c", tool, command=command), *answer)
    return pair


def test_the_exit_code_of_a_call_is_told_unless_it_is_zero() -> None:
    made = call("c", "Bash", command="make")
    outputs = ("fine", "Exit code 0\nfine", "Exit code 2\nboom", "boom: Permission denied")
    titles = [title(read_passages(conversation(made, result("c", o)))[0]) for o in outputs]
    ends = [told.removeprefix("Bash make") for told in (title(read_passages([made])[0]), *titles)]
    assert ends == ["", "", "", " (failed, exit code 2)", " (failed)"]


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (None, ""),
        ("", ""),
        ("one\ntwo\n\n  ", "two"),
        ("one\n  two  \nProcess exited with code 0\n</output>", "two"),
        ("(Bash completed with no output)", ""),
        ("kept\n" + "Wall time: 1\n" * 7, "kept"),
        ("lost\n" + "Wall time: 1\n" * 8, ""),
        ("word " * 300, ("word " * 200).rstrip()),
    ],
)
def test_the_last_line_is_that_of_the_command(output: str | None, line: str) -> None:
    assert last_line(run(output)).rstrip() == line


@pytest.mark.parametrize(
    ("command", "output", "flags", "lines"),
    [
        ("make it", None, {}, []),
        ("make it", "all is fine", {}, []),
        (
            "make it",
            "TypeError: x is undefined\nfine words here",
            {"is_error": True},
            ["TypeError: x is undefined"],
        ),
        # If nobody knows how it ended, only lines that are certain.
        ("make it", "TypeError: x is undefined\nfine words", {}, ["TypeError: x is undefined"]),
        ("make it", "TypeError: x is undefined\n3 passed", {}, []),
        ("make it", "an unexpected guest", {}, []),
        ("make it", "TypeError: x", {"cleared": True}, []),
        (
            "make it",
            "TypeError: x is undefined",
            {"outcome": "interrupted"},
            ["TypeError: x is undefined"],
        ),
        # Certain ones go before likely ones, and lines of tests that passed are none.
        ("make it", "an unexpected guest\nfatal: no disk", {"is_error": True}, ["fatal: no disk"]),
        (
            "make it",
            "PASSED tests/error.py\nok 3 handles the error\ntest error::exit ... ok\nexit 2 here",
            {"is_error": True},
            ["exit 2 here"],
        ),
        ("make it", "an unexpected guest", {"is_error": True}, ["an unexpected guest"]),
        ("make it", "first line here\nlast line here", {"is_error": True}, ["last line here"]),
        ("make it", "short\nerror\nlast line here", {"is_error": True}, ["last line here"]),
        ("make it", "1234567", {"is_error": True}, []),
        ("make it", "12345678", {"is_error": True}, ["12345678"]),
        ("make it", "x" * 399, {"is_error": True}, ["x" * 399]),
        ("make it", "x" * 400, {"is_error": True}, []),
        (
            "make it",
            "\n".join(f"error {n} here" for n in range(5)),
            {"is_error": True},
            ["error 0 here", "error 1 here", "error 2 here"],
        ),
        # What a search shows may mention errors.
        ("grep x a", "an unexpected guest", {"is_error": True}, []),
        ("grep x a", "fatal: no such file", {"is_error": True}, ["fatal: no such file"]),
        ("grep x a", "fatal: no such file", {}, []),
        ("make it", "denied: no access", {"is_error": True, "said": "no"}, []),
    ],
)
def test_the_first_error_lines_of_a_result(
    command: str, output: str | None, flags: dict[str, Any], lines: list[str]
) -> None:
    assert error_lines(run(output, command, **flags)) == lines


def test_a_call_that_runs_nothing_has_error_lines_only_if_it_failed() -> None:
    failed = pairs(call("c", "Edit", file_path="a"), result("c", "not found in a", is_error=True))
    fine = pairs(call("c", "Edit", file_path="a"), result("c", "TypeError: x in a"))
    assert [error_lines(pair) for pair in (*failed, *fine)] == [["not found in a"], []]


def test_the_end_of_an_output_is_searched_but_for_a_line_cut_off() -> None:
    rest = "word word\n" * 600
    assert error_lines(run(f"TypeError: gone\n{rest}", is_error=True)) == ["word word"]
    near = "TypeError: x\n" + "word word\n" * 598
    assert error_lines(run(near, is_error=True)) == ["TypeError: x"]


def test_the_newest_of_equal_errors_counts_and_may_be_resolved() -> None:
    found = list(
        find_errors(
            pairs(
                call("a", "Bash", command="make a"),
                result("a", "TypeError: at line 12", is_error=True),
                call("b", "Bash", command="make b"),
                result("b", "TypeError: at line 99", is_error=True),
                call("c", "Bash", command="make c"),
                result("c", "OSError: disk full", is_error=True),
                call("d", "Bash", command="make c"),
                result("d", "fine"),
            )
        )
    )
    assert [(error.line, error.pair.ref.number, error.is_resolved) for error in found] == [
        ("TypeError: at line 99", 3, False),
        ("OSError: disk full", 5, True),
    ]


def edit(name: str, old: str, new: str, *, path: str = "a.py") -> Message:
    return call(name, "Edit", file_path=path, old_string=old, new_string=new)


OLD_LINES = "def read():\n    open_gate()"
READ_ERROR = call("a", "Read", file_path="a.py"), result("a", "OSError: no disk", is_error=True)
EDIT_ERROR = edit("a", OLD_LINES, "x"), result("a", "Error: no match", is_error=True)
RUN_ERROR = (
    call("a", "Bash", command="cd /w && make test | tail -3"),
    result("a", "OSError: no disk", is_error=True),
)


@pytest.mark.parametrize(
    ("failed", "later", "resolved"),
    [
        (RUN_ERROR, call("b", "Bash", command="cd /w && make  test"), True),
        (RUN_ERROR, call("b", "Bash", command="make test"), True),
        (RUN_ERROR, call("b", "Bash", command="cd /v && make test"), False),
        (RUN_ERROR, call("b", "Bash", command="make tests"), False),
        (EDIT_ERROR, edit("b", "    open_gate()  # now", "open_gate()"), True),
        (EDIT_ERROR, edit("b", "close_gate()", "y"), False),
        (EDIT_ERROR, edit("b", OLD_LINES, "x", path="b.py"), False),
        (EDIT_ERROR, call("b", "Write", file_path="a.py", content="z"), True),
        (EDIT_ERROR, call("b", "Read", file_path="a.py"), False),
        (READ_ERROR, call("b", "Read", file_path="a.py"), True),
        (READ_ERROR, edit("b", "x", "y"), False),
    ],
)
def test_an_error_is_resolved_by_the_same_attempt_that_succeeds_later(
    failed: tuple[Message, ...],
    later: Message,
    resolved: bool,  # noqa: FBT001
) -> None:
    (error,) = find_errors(pairs(*failed, later, result("b", "All is well.")))
    assert error.is_resolved is resolved
    for outcome in ("unknown", "failed", "denied"):
        again = result("b", "", outcome=outcome, cleared=True)
        (error,) = find_errors(pairs(*failed, later, again))
        assert not error.is_resolved


def test_errors_have_a_value_by_age_failure_and_whether_they_last() -> None:
    items = list(
        error_items(
            pairs(
                call("a", "Bash", command="make a"),
                result("a", "OSError: disk full", is_error=True),
                call("b", "Bash", command="make a"),
                result("b", "fine"),
                call("c", "Bash", command="make c"),
                result("c", "TypeError: x is undefined\nrest of it", is_error=True),
            )
        )
    )
    assert [(item.section, item.label, item.ref, item.text, item.position) for item in items] == [
        (4, "Errors:", "L1", "OSError: disk full (later run ok)", 1),
        (4, "Errors:", "L5", "TypeError: x is undefined", 5),
    ]
    # Two calls ago, and now.
    assert [item.value for item in items] == pytest.approx([0.15 + 0.3 * 0.8 + 0.2, 1.1 + 0.2])


def test_commands_have_a_value_by_age_repetition_and_what_they_check() -> None:
    items = list(
        command_items(
            pairs(
                call("a", "Bash", command="mkdir out"),
                result("a", ""),
                call("b", "Bash", command="make test"),
                result("b", "3 failed"),
                call("c", "Bash", command="make test"),
                result("c", "3 passed"),
                call("d", "Bash", command="never answered"),
            )
        )
    )
    assert [(item.section, item.label, item.ref, item.text, item.position) for item in items] == [
        (4, "Commands, newest outcome:", "L1", "`mkdir out` -> ok", 1),
        (4, "Commands, newest outcome:", "L5", "`make test` -> ok: 3 passed", 5),
    ]
    # A call with what follows it is one step: three steps ago, and one.
    assert [item.value for item in items] == pytest.approx(
        [0.4 + 0.4 * 8 / 11, 0.4 + 0.4 * 8 / 9 + 0.05 + 0.3]
    )


@pytest.mark.parametrize(
    ("text", "check", "error"),
    [
        ("npm run build", True, False),
        ("make tests", True, False),
        ("mkdir latest", False, False),
        ("git push", True, False),
        ("cannot open", False, True),
        ("it fails", False, True),
        ("terror", False, True),
        ("all is well", False, False),
    ],
)
def test_words_of_checks_and_errors(text: str, check: bool, error: bool) -> None:  # noqa: FBT001
    assert (is_check(text), looks_like_error(text)) == (check, error)
