"""Run a user's command as a summarizer: the prompt on its stdin, the answer on its stdout."""

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
from compactctl.secrets.mask import mask_secrets
from compactctl.summaries.by_model.answers import ModelAnswer

_MIN_SECRET = 4
_ANSWERS_OPTION = "--answers"
# An answer is one line; a command learns that from its prompt.
_ANSWER_TOKENS = 200


def command_asker(
    command: str, timeout: float, *, option: str = "--summarizer-cmd", prints: str = "a summary"
) -> AskModel:
    """Return a function that runs a command line without a shell, for up to ``timeout`` seconds.

    Raises UsageError, which names the ``option`` and what the program ``prints``, when the command
    line cannot be split or names no program.
    """
    words = split_command(command, option, f"reads a prompt on standard input and prints {prints}")
    return partial(_run, words, timeout)


def split_command(command: str, option: str, purpose: str) -> list[str]:
    """Split a command line into words.

    Raises UsageError when it cannot be split or names no program; it suggests one that ``purpose``
    (a verb phrase).
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{option}: {error}; close every quote") from error
    if any("\0" in word for word in words):
        raise UsageError(f"{option}: contains a NUL character; remove it")
    if not words or shutil.which(words[0]) is None:
        name = "".join(words[:1])
        raise UsageError(f"{option} {name}: no such program; name one that {purpose}")
    return words


def command_name(words: Sequence[str]) -> str:
    """Return the names of a program and of the script it runs, without folders.

    Other arguments are never shown or stored: one may be a key.
    """
    script = [word for word in words[1:2] if os.path.isfile(word)]  # noqa: PTH113 - any text
    return shlex.join(os.path.basename(word) for word in (words[0], *script))  # noqa: PTH119


def without_arguments(stderr_line: str, words: Sequence[str]) -> str:
    """Mask the arguments that look like secrets where a program's error repeats them."""
    shown = mask_secrets(shlex.join(words))
    for word in words[1:]:
        if len(word) >= _MIN_SECRET and word not in shown:
            stderr_line = stderr_line.replace(
                word.rpartition("=")[2] or word, "[REDACTED:credential]"
            )
    return stderr_line


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads its own process group, and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _run(words: Sequence[str], timeout: float, prompt: str, max_tokens: int) -> ModelAnswer:  # noqa: ARG001 - the prompt states the size
    try:
        # In a new session, so that killing the group also ends the command's children.
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
        output, errors = _communicate(process, prompt, timeout)
    if process.returncode != 0:
        stderr_line = errors.decode("utf-8", "replace").strip().partition("\n")[0]
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


def command_answerer(command: str, timeout: float) -> Callable[[str], str]:
    """Return a function that answers prompts by a command line, for up to ``timeout`` seconds each.

    Secrets in a prompt are masked. Raises UsageError when the command names no program. So does
    the function when the command fails, since a missing answer must not count as a wrong one.
    """
    ask = command_asker(command, timeout, option=_ANSWERS_OPTION, prints="an answer")
    name = command_name(shlex.split(command))

    def answer(prompt: str) -> str:
        try:
            return ask(mask_secrets(prompt), _ANSWER_TOKENS).text
        except NoAnswerError as error:
            raise UsageError(
                f"{_ANSWERS_OPTION} {name}: {error}; fix the command, or see --answers-timeout"
            ) from error

    return answer
