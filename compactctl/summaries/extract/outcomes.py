"""How tool calls ended."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compactctl.summaries.extract.command_lines import is_read_only, normalize_command
from compactctl.summaries.extract.items import ItemValue, SummaryItem, clip_middle, one_line
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
_MAX_LINE = 1_000


def has_failed(pair: ToolPair) -> bool:
    """Whether the client, the shell or the last line of a command said that the call failed."""
    if pair.result is None:
        return False
    text = pair.result.text
    ends = text if len(text) <= 2 * _END else text[:_END] + "\n" + text[-_END:]
    if pair.result.is_error or _FAILURE.search(ends):
        return True
    acts = pair.command is not None and not is_read_only(pair.command)
    return acts and _LAST_LINE.match(last_line(pair)) is not None


def exit_code(pair: ToolPair) -> int | None:
    """Return the exit code that is not 0, where client or shell tell it."""
    if not has_failed(pair) or pair.result is None:
        return None
    text = pair.result.text
    code = _EXIT_CODE.search(text[:_END]) or _EXIT_CODE.search(text[-_END:])
    return int(code[1]) if code else None


def last_line(pair: ToolPair) -> str:
    """Return the last line of a call's output that says something, "" when there is none."""
    text = pair.result.text if pair.result else ""
    lines = (line.strip() for line in reversed(text.rstrip().rsplit("\n", _LAST_LINES)))
    last = next((line for line in lines if line and not _FRAME.match(line)), "")
    return last[: word_end(last, _MAX_LINE)]


COMMAND = 240
OUTPUT = 160
ERROR = 220
# Error lines taken from one output, and the part of it that is searched, from its end.
ERRORS_PER_OUTPUT = 3
SEARCHED = 6_000
# Lines outside of these lengths are fragments or data.
ERROR_LINE = range(8, 400)

_COMMAND = ItemValue(0.2, 0.4)
_REPEATED = 0.05
_CHECKING = 0.3
_FRESH_ERROR = ItemValue(0.4, 0.7)
_OVERCOME_ERROR = ItemValue(0.15, 0.3)
_REPORTED = 0.2

# Commands whose outcome tells where the work stands.
_CHECK = re.compile(
    r"\b(?:test|tests|pytest|build|lint|check|tsc|commit|push|deploy|install|run|migrate|release)\b"
)
_SURE = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception): |\berror(?:\[\w+\])?: |\bERROR\b|\bFAILED\b|^FAIL\b"
    r"|--- FAIL|Traceback|\bpanic: |\bfatal: |command not found|No such file|✗|✘"
)
_LIKELY = re.compile(
    r"error|exception|\bfail(?:ed|ure|s)?\b|panic|not found|cannot |can't |undefined|no such"
    r"|denied|invalid|unexpected|unable",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class ReportedError:
    """A line that told what went wrong, and whether the same call worked later."""

    line: str
    pair: ToolPair
    is_resolved: bool


def command_items(pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield each command that did something, with the outcome of its newest run.

    Commands that differ only in where they run and in what of their output they show are one.
    """
    runs: dict[str, list[ToolPair]] = {}
    for pair in pairs:
        if pair.command and pair.result and not is_read_only(pair.command):
            runs.setdefault(normalize_command(pair.command), []).append(pair)
    for repeated in runs.values():
        newest = repeated[-1]
        command = one_line(newest.command or "", COMMAND)
        times = f" x{len(repeated)}" if len(repeated) > 1 else ""
        output = one_line(last_line(newest), OUTPUT)
        text = f"`{command}` -> {'FAILED' if has_failed(newest) else 'ok'}{times} {newest.ref}"
        bonus = _REPEATED * (len(repeated) > 1) + _CHECKING * is_check(command)
        yield SummaryItem(
            section=4,
            label="Commands, newest outcome:",
            text=f"{text}: {output}" if output else text,
            value=_COMMAND.at(newest.age) + bonus,
            position=newest.ref.number,
        )


def error_items(pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield the last of each distinct error line, and whether the same call worked later."""
    for error in find_errors(pairs):
        pair = error.pair
        worth = _OVERCOME_ERROR if error.is_resolved else _FRESH_ERROR
        note = " (later run ok)" if error.is_resolved else ""
        yield SummaryItem(
            section=4,
            label="Errors:",
            text=f"{pair.ref} {clip_middle(error.line, ERROR)}{note}",
            value=worth.at(pair.age) + _REPORTED * has_failed(pair),
            position=pair.ref.number,
        )


def find_errors(pairs: Sequence[ToolPair]) -> Iterator[ReportedError]:
    """Yield the last of each distinct error line; what differs in numbers alone is one."""
    last_success = {pair.subject: n for n, pair in enumerate(pairs) if not has_failed(pair)}
    newest: dict[str, tuple[int, str]] = {}
    for index, pair in enumerate(pairs):
        for line in error_lines(pair):
            newest[_DIGITS.sub("#", line)[:80]] = (index, line)
    for index, line in newest.values():
        pair = pairs[index]
        yield ReportedError(line, pair, is_resolved=last_success.get(pair.subject, -1) > index)


def is_check(command: str) -> bool:
    """Whether the outcome of a command line tells where the work stands."""
    return _CHECK.search(command) is not None


def looks_like_error(line: str) -> bool:
    """Whether a line of a result may tell of an error by itself."""
    return _LIKELY.search(line) is not None


def error_lines(pair: ToolPair) -> list[str]:
    """Return the lines of a result that tell what went wrong, none when nothing did."""
    if pair.result is None or (pair.result.is_error and pair.result.said):
        return []
    told, looked = has_failed(pair), is_read_only(pair.command or "")
    if not told and (pair.command is None or looked):
        return []
    # A search that finds nothing fails too, and what it finds may speak of errors.
    sign = _LIKELY if told and not looked else _SURE
    # The first line of what is searched is what a cut left of one.
    searched = f"\n{pair.result.text}"[-SEARCHED:]
    lines = [line.strip() for line in searched.split("\n")[1:]]
    lines = [line for line in lines if len(line) in ERROR_LINE]
    found = [line for line in lines if sign.search(line)]
    if told and not looked and not found:
        found = lines[-1:]
    return found[:ERRORS_PER_OUTPUT]
