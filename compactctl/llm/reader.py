"""A reader of contexts: a command that answers questions about what it is shown."""

import shlex
from collections.abc import Callable

from compactctl.errors import UsageError
from compactctl.llm.ask import NoAnswerError
from compactctl.llm.command import asking_command, command_name
from compactctl.summaries.by_model.secrets import masked

_OPTION = "--answers"
# An answer is a line; a command is told so in its prompt.
_TOKENS = 200


def answering_command(command: str, timeout: float) -> Callable[[str], str]:
    """Return what asks a command line, run without a shell, for at most ``timeout`` seconds.

    Raises UsageError when it names no program, and when asked, for a command that fails: no answer
    is not a wrong one. Secrets in a prompt are masked.
    """
    ask = asking_command(command, timeout, option=_OPTION, prints="an answer")
    name = command_name(shlex.split(command))

    def answer(prompt: str) -> str:
        try:
            return ask(masked(prompt), _TOKENS).text
        except NoAnswerError as error:
            raise UsageError(
                f"{_OPTION} {name}: {error}; mend the command, or see --answers-timeout"
            ) from error

    return answer
