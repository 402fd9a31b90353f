from typing import Any

import pytest
from builders import call, conversation, result, user

from compactctl.model.message import Message
from compactctl.summaries.extract.outcomes import command_items, error_items
from compactctl.summaries.extract.passages import read_passages, tool_pairs


def run(number: int, command: str, output: str, **flags: Any) -> tuple[Message, ...]:
    call_id = f"c{number}"
    return call(call_id, "Bash", command=command), result(call_id, output, **flags)


def commands(*messages: Message, cwd: str | None = None) -> list[tuple[str, str]]:
    items = command_items(tool_pairs(read_passages(conversation(*messages))), cwd)
    return [(item.ref, item.text) for item in items]


def errors(*messages: Message) -> list[tuple[str, str]]:
    items = error_items(tool_pairs(read_passages(conversation(*messages))))
    return [(item.ref, item.text) for item in items]


def test_a_command_is_told_once_with_its_newest_outcome() -> None:
    found = commands(
        *run(1, "make test", "Exit code 2\nboom", is_error=True),
        *run(2, "make  test", "12 passed\n"),
    )
    assert found == [("L3", "`make test` -> ok: 12 passed")]


def test_runs_are_counted_if_all_of_them_ended_alike() -> None:
    fine = (*run(1, "make test", "12 passed"), *run(2, "make test", "13 passed"))
    assert commands(*fine) == [("L3", "`make test` -> ok x2: 13 passed")]
    failed = run(3, "make test", "1 failed")
    assert commands(*fine, *failed) == [("L5", "`make test` -> FAILED: 1 failed")]
    ended = run(1, "make test", "", outcome="timed out"), run(2, "make test", "", outcome="denied")
    assert commands(*ended[0], *ended[1]) == [("L3", "`make test` -> denied")]


def test_a_run_without_a_result_is_no_run() -> None:
    late = call("late", "Bash", command="make test")
    assert commands(*run(1, "make test", "12 passed"), late) == [
        ("L1", "`make test` -> ok: 12 passed")
    ]


def test_a_run_in_another_folder_is_another_command() -> None:
    api, web = run(1, "cd /w/api && make", "1 failed"), run(2, "cd /w/web && make", "built")
    assert commands(*api, *web) == [
        ("L1", "`cd /w/api && make` -> FAILED: 1 failed"),
        ("L3", "`cd /w/web && make` -> ok: built"),
    ]
    # One that does not say where it ran is the same if there is one other folder.
    plain = run(3, "make", "built")
    assert commands(*web, *plain) == [("L3", "`make` -> ok x2: built")]
    assert [text for _, text in commands(*api, *web, *plain)] == [
        "`cd /w/api && make` -> FAILED: 1 failed",
        "`cd /w/web && make` -> ok: built",
        "`make` -> ok: built",
    ]
    own = run(4, "cd /w/web && make", "built")
    assert commands(*own, *plain, cwd="/w/web") == [("L3", "`make` -> ok x2: built")]


def test_beside_ok_no_line_is_quoted_that_looks_like_an_error() -> None:
    assert commands(*run(1, "ruff check --fix", "Fixed 12 errors.")) == [
        ("L1", "`ruff check --fix` -> ok")
    ]


def test_news_of_a_process_are_news_of_the_run_that_started_it() -> None:
    started = call("1", "Bash", command="make test"), result("1", "started", process="p7")
    ended = call("2", "BashOutput", bash_id="p7"), result("2", "2 failed")
    assert commands(*started, *ended) == [("L3", "`make test` -> FAILED: 2 failed")]


def test_commands_that_show_more_or_less_of_the_same_are_one() -> None:
    found = commands(
        *run(1, "cd /w && pytest -q 2>&1 | tail -5", "4 passed"),
        *run(2, "pytest -q 2>&1 | head -n 20", "3 passed"),
        *run(3, "pytest -q tests/a.py", "2 passed"),
    )
    assert found == [
        ("L3", "`pytest -q 2>&1 | head -n 20` -> ok x2: 3 passed"),
        ("L5", "`pytest -q tests/a.py` -> ok: 2 passed"),
    ]


@pytest.mark.parametrize("command", ["ls -la", "cd src && grep -rn x .", "git log -3", "cat a.py"])
def test_commands_that_only_look_are_left_out(command: str) -> None:
    assert commands(*run(1, command, "something")) == []


def test_commands_given_as_lists_are_read_too() -> None:
    found = commands(call("1", "shell", command=["bash", "-lc", "make all"]), result("1", ""))
    assert found == [("L1", "`make all` -> ok")]


def test_an_editor_that_names_its_act_command_runs_none() -> None:
    editor = call("1", "str_replace_editor", command="create", path="a.py", file_text="x")
    assert commands(editor, result("1", "File created")) == []


@pytest.mark.parametrize(
    "output",
    [
        "Exit code 1\nwrong",
        "Process exited with code 2\nOutput:\nwrong",
        '{"output":"wrong","metadata":{"exit_code":1}}',
        "<returncode>3</returncode>\nwrong",
        "ok first\nFAIL",
        "[test:unit] FAIL",
        "3 failed, 2 passed in 0.1s",
    ],
)
def test_failures_are_recognised_from_what_clients_and_test_runners_print(output: str) -> None:
    [(_, told)] = commands(*run(1, "make test | tail -5", output))
    assert "-> FAILED" in told


@pytest.mark.parametrize(
    "output", ["0 failed, 5 passed", "no errors", "Process exited with code 0"]
)
def test_success_is_not_taken_for_failure(output: str) -> None:
    [(_, told)] = commands(*run(1, "make test", output))
    assert "-> ok" in told


def test_an_error_that_was_overcome_says_so() -> None:
    found = errors(
        *run(1, "make test", "ValueError: bad input", is_error=True),
        *run(2, "make lint", "error: unused name", is_error=True),
        *run(3, "make test", "all good"),
    )
    assert found == [
        ("L1", "ValueError: bad input (later run ok)"),
        ("L3", "error: unused name"),
    ]


def test_of_errors_that_differ_in_numbers_only_the_last_is_told() -> None:
    found = errors(
        *run(1, "make a", "Error: line 12 is wrong", is_error=True),
        *run(2, "make b", "Error: line 77 is wrong", is_error=True),
    )
    assert found == [("L3", "Error: line 77 is wrong")]


def test_code_that_speaks_of_errors_is_no_error() -> None:
    found = errors(
        call("1", "Read", file_path="a.py"),
        result("1", "raise ValueError: x\nerror: y"),
        *run(2, "grep -rn 'error: ' .", "a.py: error: z"),
    )
    assert found == []


def test_a_failure_without_telling_words_is_told_by_its_last_line() -> None:
    assert errors(*run(1, "make x", "first line\nlast line here", is_error=True)) == [
        ("L1", "last line here")
    ]


def test_a_call_without_result_has_no_outcome() -> None:
    messages = (user("go"), call("1", "Bash", command="make x"))
    assert commands(*messages) == []
    assert errors(*messages) == []
