"""Summaries by a command: what it gets, what it may answer, and how it fails."""

import time
from pathlib import Path

import pytest
from summarizers.talks import program

from compactctl.errors import UsageError
from compactctl.llm.ask import NoAnswerError
from compactctl.llm.command import command_asker
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


@pytest.mark.parametrize(
    ("command", "words"),
    [("", "no such program"), ("no-such-program x", "no such program"), ("a 'b", "close every")],
)
def test_what_cannot_be_run_is_refused_before_any_work(command: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        command_asker(command, 1)


def test_no_shell_reads_the_command() -> None:
    assert command_asker("echo $HOME; ls", 5)("", 1).text == "$HOME; ls\n"


def test_a_program_that_cannot_start_gives_no_answer(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x00")
    broken.chmod(0o755)
    with pytest.raises(NoAnswerError, match="it did not start"):
        command_asker(str(broken), 5)("", 1)
