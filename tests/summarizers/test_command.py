"""Summaries by a command: what it gets, what it may answer, and how it fails."""

import signal
import sys
import time
from pathlib import Path

import pytest
from summarizers.talks import program

from compactctl.errors import UsageError
from compactctl.llm.ask import NoAnswerError
from compactctl.llm.command import command_answerer, command_asker, without_arguments
from compactctl.summaries.by_model.answers import ModelAnswer


def ask(code: str, prompt: str = "prompt", timeout: float = 20) -> ModelAnswer:
    return command_asker(program(code), timeout)(prompt, 100)


def test_the_prompt_goes_in_and_the_text_comes_out() -> None:
    answer = ask("import sys; print(sys.stdin.read().upper())", "grüße")
    assert answer == ModelAnswer(text="GRÜSSE\n")


def test_a_command_that_reads_nothing_may_answer_all_the_same() -> None:
    assert ask("print(1)", "long prompt " * 100_000).text == "1\n"


def test_bytes_that_are_no_text_do_not_end_the_run() -> None:
    answer = ask('import sys; sys.stdout.buffer.write(b"a\\xffb")', "half \ud800")
    assert answer.text == "a\ufffdb"


def test_a_failure_is_told_with_its_first_line() -> None:
    with pytest.raises(NoAnswerError, match=r"^exit code 3: no model$"):
        ask('import sys; print("no model\\nat all", file=sys.stderr); sys.exit(3)')


@pytest.mark.parametrize("given", ["--api-key hunter-2", "--api-key=hunter-2"])
def test_a_failure_that_quotes_a_key_is_told_without_it(given: str) -> None:
    code = 'import sys; sys.exit(f"{sys.argv[1:]} was refused")'
    with pytest.raises(NoAnswerError, match=r"^exit code 1: .* was refused$") as raised:
        command_asker(f"{program(code)} {given}", 20)("prompt", 100)
    assert "hunter" not in str(raised.value)


def test_one_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    late = tmp_path / "late"
    child = f"sleep 0.6; touch {late}"
    with pytest.raises(NoAnswerError, match=r"no answer within 0\.3 seconds"):
        command_asker(f"sh -c '({child}) & sleep 5'", 0.3)("prompt", 1)
    time.sleep(0.6)
    assert not late.exists()


def test_an_interrupted_run_ends_the_command(tmp_path: Path) -> None:
    late = tmp_path / "late"

    def interrupt(*_: object) -> None:
        raise SystemExit

    before = signal.signal(signal.SIGUSR1, interrupt)
    command = f"sh -c 'read prompt; kill -USR1 $PPID; sleep 0.3; touch {late}'"
    try:
        with pytest.raises(SystemExit):
            command_asker(command, 20)("prompt\n", 1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not late.exists()


PURPOSE = "name one that reads a prompt on standard input and prints a summary"


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("", f"--summarizer-cmd : no such program; {PURPOSE}"),
        (
            "no-such-program x",
            f"--summarizer-cmd no-such-program: no such program; {PURPOSE}",
        ),
        ("a 'b", "--summarizer-cmd: No closing quotation; close every quote"),
        ("cat \0", "--summarizer-cmd: contains a NUL character; remove it"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_work(command: str, error: str) -> None:
    with pytest.raises(UsageError) as raised:
        command_asker(command, 1)
    assert str(raised.value) == error


@pytest.mark.parametrize(
    ("words", "stderr_line", "shown"),
    [
        (
            ["ask", "--api-key", "hunter-2"],
            "hunter-2 was refused",
            "[REDACTED:credential] was refused",
        ),
        (
            ["ask", "--token=hunter-2"],
            "--token=hunter-2 was refused",
            "--token=[REDACTED:credential] was refused",
        ),
        (["ask", "--api-key", "four"], "not four", "not [REDACTED:credential]"),
        (["ask", "--api-key", "two"], "not two", "not two"),
        (["ask", "--model", "small"], "no model small", "no model small"),
    ],
)
def test_an_error_shows_no_argument_that_is_a_secret(
    words: list[str], stderr_line: str, shown: str
) -> None:
    assert without_arguments(stderr_line, words) == shown


def test_an_answerer_sends_no_secret_and_names_the_command_when_it_fails() -> None:
    answer = command_answerer(program("import sys; print(sys.stdin.read().upper())"), 20)
    assert answer("Is ghp_" + "a1" * 12 + " it?") == "IS [REDACTED:GITHUB-TOKEN] IT?\n"
    failing = command_answerer(f"{program('exit(3)')} --api-key hunter-2", 20)
    with pytest.raises(UsageError) as raised:
        failing("question")
    assert str(raised.value) == (
        f"--answers {Path(sys.executable).name}: exit code 3; fix the command, "
        "or see --answers-timeout"
    )
    with pytest.raises(UsageError, match=r"^--answers none: .* and prints an answer$"):
        command_answerer("none", 20)


def test_no_shell_reads_the_command() -> None:
    assert command_asker("echo $HOME; ls", 5)("", 1).text == "$HOME; ls\n"


def test_a_program_that_cannot_start_gives_no_answer(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x00")
    broken.chmod(0o755)
    with pytest.raises(NoAnswerError, match="it did not start"):
        command_asker(str(broken), 5)("", 1)
