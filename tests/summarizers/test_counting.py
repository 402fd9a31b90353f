"""Counts by a command: what it gets, that it is asked once, and how it fails."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from compactctl.errors import UsageError
from compactctl.llm import command_counter as counting
from compactctl.llm.command_counter import CommandCounter, command_counter

WORDS = """
import json, sys
for line in sys.stdin:
    print(len(json.loads(line).split()), flush=True)
"""


def written(tmp_path: Path, code: str) -> str:
    """Return a command that runs this code, as a script in a folder."""
    script = tmp_path / "count.py"
    script.write_text(code)
    return shlex.join([sys.executable, str(script)])


def test_a_text_goes_in_as_json_and_its_count_comes_out(tmp_path: Path) -> None:
    counter = CommandCounter(written(tmp_path, WORDS))
    texts = ["one two", "", "a\nb\r\n\u2028c", "half \ud83d", "one two"]
    assert counter.count_many(texts) == [2, 0, 3, 2, 2]
    assert counter.exactness == "estimate"


def test_many_long_texts_hold_neither_side_up(tmp_path: Path) -> None:
    counter = CommandCounter(written(tmp_path, WORDS))
    texts = [f"{'word ' * 2_000}{number}" for number in range(500)]
    assert counter.count_many(texts) == [2_001] * 500


def test_one_program_is_asked_once_for_each_text(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = f"""
import sys
with open({str(log)!r}, "a") as log:
    print("started", file=log)
    for line in sys.stdin:
        print(line, end="", file=log, flush=True)
        print(1, flush=True)
"""
    counter = CommandCounter(written(tmp_path, code))
    for texts in (["a", "b"], ["b", "c c"], ["a"]):
        counter.count_many(texts)
    assert log.read_text().splitlines() == ["started", '"a"', '"b"', '"c c"']


def test_a_command_has_one_counter_in_a_process() -> None:
    command = "cat"
    assert command_counter(command) is command_counter(command)


def test_the_name_tells_no_folder(tmp_path: Path) -> None:
    name = CommandCounter(f"{written(tmp_path, WORDS)} {tmp_path / 'count.py'}").id
    assert name == f"cmd:{Path(sys.executable).name} count.py"


def test_neither_the_name_nor_an_error_tells_an_argument(tmp_path: Path) -> None:
    counter = CommandCounter(f"{written(tmp_path, 'pass')} --api-key hunter-2 plain-word")
    assert counter.id == f"cmd:{Path(sys.executable).name} count.py"
    with pytest.raises(UsageError) as raised:
        counter.count_many(["text"])
    assert str(raised.value) == f"--counter-cmd {counter.id[4:]}: ended with exit code 0"
    for command in ("no-such-program --key hunter-2", "count 'hunter-2", "cat hunter-2\0"):
        with pytest.raises(UsageError) as raised:
            CommandCounter(command)
        assert "hunter" not in str(raised.value)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("pass", "ended with exit code 0"),
        ("raise SystemExit('no model')", "ended with exit code 1: no model$"),
        ("raise SystemExit('no\\nmodel\\n\\n')", "ended with exit code 1: model$"),
        ("input(); print('many')", "not a count"),
        ("print(input())", "not a count"),
        ("input(); print(-1)", "not a count"),
        ("input(); print(1.5)", "not a count"),
        ("input(); print('9' * 13)", "not a count"),
        ("input(); print(' ')", "not a count"),
        ("input(); print('1\\n2')", "more lines"),
    ],
)
def test_a_program_that_does_not_count_is_a_usage_error_in_one_line(
    code: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        CommandCounter(written(tmp_path, code)).count_many(["secret"])
    assert str(raised.value).startswith("--counter-cmd ")
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_count_has_at_most_12_digits(tmp_path: Path) -> None:
    counter = CommandCounter(written(tmp_path, "input(); print('9' * 12)"))
    assert counter.count_many(["text"]) == [999_999_999_999]


def test_a_program_ends_with_the_process_that_uses_it(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    command = written(tmp_path, f"{WORDS}\nopen({str(ended)!r}, 'w').close()")
    code = (
        "from compactctl.llm.command_counter import CommandCounter; "
        f"print(CommandCounter({command!r}).count_many(['a b']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[2]\n"
    assert ended.exists()


def test_a_silent_program_is_ended_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, late = tmp_path / "number", tmp_path / "late"
    code = f"echo $$ > {number}; read text; echo 1; sleep 1; touch {late}"
    counter = CommandCounter(f"sh -c '{code}'")
    assert counter.count_many(["text"]) == [1]
    monkeypatch.setattr(counting, "ANSWER_TIMEOUT", 0.2)
    with pytest.raises(UsageError, match=r"printed nothing for 0\.2 seconds"):
        counter.count_many(["more"])
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)
    assert not late.exists()


def test_after_a_failure_a_new_program_is_asked(tmp_path: Path) -> None:
    failed = tmp_path / "failed"
    code = f"import os, sys\nif not os.path.exists({str(failed)!r}):\n"
    code += f"    os.mkdir({str(failed)!r}), sys.exit(1)\n"
    counter = CommandCounter(written(tmp_path, code + WORDS))
    with pytest.raises(UsageError):
        counter.count_many(["a b"])
    assert counter.count_many(["a b"]) == [2]


@pytest.mark.parametrize("command", ["", "no-such-program", "a 'b"])
def test_what_cannot_be_run_is_refused_before_any_work(command: str) -> None:
    with pytest.raises(UsageError, match="--counter-cmd"):
        CommandCounter(command)
