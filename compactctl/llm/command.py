"""Summaries written by a command: the prompt on its standard input, the text on its output."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from compactctl.errors import UsageError
from compactctl.llm.ask import AskModel, NoAnswerError
from compactctl.summaries.by_model.answers import ModelAnswer
from compactctl.summaries.by_model.secrets import mask_secrets

_MIN_SECRET = 4


def command_asker(
    command: str, timeout: float, *, option: str = "--summarizer-cmd", prints: str = "a summary"
) -> AskModel:
    """Return what asks a command line, run without a shell, for at most ``timeout`` seconds.

    Raises UsageError when the command line cannot be split or names no program; it names the
    ``option`` and what the program ``prints``.
    """
    words = split_command(command, option, f"reads a prompt on standard input and prints {prints}")
    return partial(_run, words, timeout)


def split_command(command: str, option: str, purpose: str) -> list[str]:
    """Split a command line. UsageError names the ``option``, and what its program ``purpose``."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{option}: {error}; close every quote") from error
    if any("\0" in word for word in words):
        raise UsageError(f"{option}: a NUL character is in it; leave it out")
    if not words or shutil.which(words[0]) is None:
        name = "".join(words[:1])
        raise UsageError(f"{option} {name}: there is no such program; give one that {purpose}")
    return words


def command_name(words: Sequence[str]) -> str:
    """Return the names of a program and of the script that it runs, without folders.

    What else is on a command line may be a key, and is never shown or stored.
    """
    script = [word for word in words[1:2] if os.path.isfile(word)]  # noqa: PTH113 - any text
    return shlex.join(os.path.basename(word) for word in (words[0], *script))  # noqa: PTH119


def without_arguments(stderr_line: str, words: Sequence[str]) -> str:
    """Mask in what a program complained of those of its arguments that look like secrets."""
    shown = mask_secrets(shlex.join(words))
    for word in words[1:]:
        if len(word) >= _MIN_SECRET and word not in shown:
            stderr_line = stderr_line.replace(
                word.rpartition("=")[2] or word, "[REDACTED:credential]"
            )
    return stderr_line


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a program that leads a session of its own, and whatever it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _run(words: Sequence[str], timeout: float, prompt: str, max_tokens: int) -> ModelAnswer:  # noqa: ARG001 - a command is told the size in its prompt
    try:
        # A session of its own, so that what the command starts ends with it.
        process = subprocess.Popen(  # noqa: S603 - the user names the program, no shell reads it
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise NoAnswerError(f"it did not start: {error}") from error
    with process:
        output, complaint = _communicate(process, prompt, timeout)
    if process.returncode != 0:
        stderr_line = complaint.decode("utf-8", "replace").strip().partition("\n")[0]
        stderr_line = without_arguments(stderr_line, words)
        raise NoAnswerError(
            f"exit code {process.returncode}" + (f": {stderr_line}" if stderr_line else "")
        )
    return ModelAnswer(text=output.decode("utf-8", "replace"))


def _communicate(
    process: subprocess.Popen[bytes], prompt: str, timeout: float
) -> tuple[bytes, bytes]:
    try:
        return process.communicate(prompt.encode("utf-8", "replace"), timeout)
    except subprocess.TimeoutExpired as error:
        kill_group(process)
        raise NoAnswerError(f"no answer within {timeout:g} seconds") from error
    except BaseException:
        kill_group(process)
        raise


_OPTION = "--answers"
# An answer is a line; a command is told so in its prompt.
_TOKENS = 200


def command_answerer(command: str, timeout: float) -> Callable[[str], str]:
    """Return what asks a command line, run without a shell, for at most ``timeout`` seconds.

    Raises UsageError when it names no program, and when asked, for a command that fails: no answer
    is not a wrong one. Secrets in a prompt are masked.
    """
    ask = command_asker(command, timeout, option=_OPTION, prints="an answer")
    name = command_name(shlex.split(command))

    def answer(prompt: str) -> str:
        try:
            return ask(mask_secrets(prompt), _TOKENS).text
        except NoAnswerError as error:
            raise UsageError(
                f"{_OPTION} {name}: {error}; mend the command, or see --answers-timeout"
            ) from error

    return answer
