"""How tool calls ended."""

import re

from compactctl.summaries.extract.other_tools import only_looks
from compactctl.summaries.extract.passages import ToolPair
from compactctl.summaries.extract.words import word_end

# How clients and shells say that a command failed, at the start or end of its output:
# Claude Code, Codex (text and JSON), Copilot CLI, mini-swe-agent, OpenHands, Cline.
_FAILURE = re.compile(
    r"\A\s*(?:Exit code [1-9]|Error\b|<tool_use_error>)"
    r"|exited with (?:exit )?code [1-9]"
    r"|\"exit_code\":\s*[1-9]"
    r"|<returncode>[1-9]"
    r"|finished with exit code [1-9]"
    r"|[Cc]ommand failed with exit code",
)
_EXIT_CODE = re.compile(
    r"(?:exit(?:ed with)?(?: exit)? code|\"exit_code\"|<returncode>)[: ]*([1-9]\d{0,9})",
    re.IGNORECASE,
)
# Where a command runs inside a pipe, only its last line tells how it ended.
_LAST_LINE = re.compile(
    r"FAIL(?:ED|URE)?\b|.*\bFAIL(?:ED)?$|(?:error|fatal|panic)\b.{0,3}:"
    r"|.*\b[1-9]\d* (?:failed|errors?|failures?)\b",
    re.IGNORECASE,
)
# Lines around a command's output that clients add and that tell nothing about it.
_FRAME = re.compile(
    r"<exited with|<returncode>|Process exited|\[?The command completed|Chunk ID:|Wall time:"
    r"|Output:$|Original token count:|\(?\w+ completed with no output|</?\w+>$"
)
# Both ends of an output are searched for signs of failure, this many characters of each.
_END = 400
_LAST_LINES = 8
# A longer line is data; its start says what it is.
_LONGEST_LINE = 1_000


def failed(pair: ToolPair) -> bool:
    """Whether the client, the shell or the last line of a command said that the call failed."""
    if pair.result is None:
        return False
    text = pair.result.text
    ends = text if len(text) <= 2 * _END else text[:_END] + "\n" + text[-_END:]
    if pair.result.is_error or _FAILURE.search(ends):
        return True
    acts = pair.command is not None and not only_looks(pair.command)
    return acts and _LAST_LINE.match(last_line(pair)) is not None


def exit_code(pair: ToolPair) -> int | None:
    """Return the exit code that is not 0, where client or shell tell it."""
    if not failed(pair) or pair.result is None:
        return None
    text = pair.result.text
    code = _EXIT_CODE.search(text[:_END]) or _EXIT_CODE.search(text[-_END:])
    return int(code[1]) if code else None


def last_line(pair: ToolPair) -> str:
    """Return the last line of a call's output that says something, "" when there is none."""
    text = pair.result.text if pair.result else ""
    lines = (line.strip() for line in reversed(text.rstrip().rsplit("\n", _LAST_LINES)))
    last = next((line for line in lines if line and not _FRAME.match(line)), "")
    return last[: word_end(last, _LONGEST_LINE)]
