"""The outcomes of tool calls: failures, exit codes, error lines, and each command's newest run."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from compactctl.history.shell_lines import only_looks
from compactctl.records import dataclass
from compactctl.summaries.extract.command_lines import normalize_command
from compactctl.summaries.extract.items import (
    COMMANDS,
    ERRORS,
    ItemValue,
    SummaryItem,
    clip_middle,
    one_line,
)
from compactctl.summaries.extract.passages import ToolPair
from compactctl.summaries.extract.words import word_end

# How clients and shells report a failed command, at the start or end of its output:
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
# A pipe hides the exit code of a command; then only its last line shows a failure.
_FAILED_LAST_LINE = re.compile(
    r"FAIL(?:ED|URE)?\b|.*\bFAIL(?:ED)?$|(?:error|fatal|panic)\b.{0,3}:"
    r"|.*\b[1-9]\d* (?:failed|errors?|failures?)\b",
    re.IGNORECASE,
)
# Lines that clients add before or after a command's output.
_CLIENT_LINE = re.compile(
    r"<exited with|<returncode>|Process exited|\[?The command completed|Chunk ID:|Wall time:"
    r"|Output:$|Original token count:|\(?\w+ completed with no output|</?\w+>$"
)
# Characters at either end of an output that are searched for signs of failure, and lines at its
# end among which its last line is found.
_END_CHARS = 400
_MAX_LAST_LINES = 8
# A longer line is data; its start is enough to recognize it.
_MAX_LINE_CHARS = 1_000

# Characters of a command, of an output line and of an error line.
MAX_COMMAND_CHARS = 240
MAX_OUTPUT_CHARS = 160
MAX_ERROR_CHARS = 220
# Error lines taken from one output, and characters at its end that are searched.
MAX_ERRORS_PER_OUTPUT = 3
MAX_SEARCHED_CHARS = 6_000
# Lines of other lengths are fragments or data.
ERROR_LINE_CHARS = range(8, 400)

_COMMAND_VALUE = ItemValue(0.2, 0.4)
_REPEATED_BONUS = 0.05
_CHECK_BONUS = 0.3
_FRESH_ERROR_VALUE = ItemValue(0.4, 0.7)
_RESOLVED_ERROR_VALUE = ItemValue(0.15, 0.3)
_FAILURE_BONUS = 0.2

# Commands whose outcome shows the state of the work.
_CHECK_COMMAND = re.compile(
    r"\b(?:test|tests|pytest|build|lint|check|tsc|commit|push|deploy|install|run|migrate|release)\b"
)
_CERTAIN_ERROR = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception): |\berror(?:\[\w+\])?: |\bERROR\b|\bFAILED\b|^FAIL\b"
    r"|--- FAIL|Traceback|\bpanic: |\bfatal: |command not found|No such file|✗|✘"
)
_LIKELY_ERROR = re.compile(
    r"error|exception|\bfail(?:ed|ure|s)?\b|panic|not found|cannot |can't |undefined|no such"
    r"|denied|invalid|unexpected|unable",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")


def has_failed(pair: ToolPair) -> bool:
    """Whether the client, the shell or the last line of a command reports a failure."""
    if pair.result is None:
        return False
    text = pair.result.text
    ends = text if len(text) <= 2 * _END_CHARS else text[:_END_CHARS] + "\n" + text[-_END_CHARS:]
    if pair.result.is_error or _reports_failure(ends):
        return True
    changes_state = pair.command is not None and not only_looks(pair.command)
    return changes_state and _FAILED_LAST_LINE.match(last_line(pair)) is not None


@lru_cache(4096)
def _reports_failure(ends: str) -> bool:
    """Whether a client or shell reports a failure at either end of an output.

    Cached, because headings, facts and items of all drafts ask for it.
    """
    return _FAILURE.search(ends) is not None


def exit_code(pair: ToolPair) -> int | None:
    """Return the non-zero exit code of a failed call, None if none is reported."""
    if not has_failed(pair) or pair.result is None:
        return None
    text = pair.result.text
    code = _EXIT_CODE.search(text[:_END_CHARS]) or _EXIT_CODE.search(text[-_END_CHARS:])
    return int(code[1]) if code else None


def last_line(pair: ToolPair) -> str:
    """Return the last non-empty line of a call's output, without the client's lines; "" if none."""
    text = pair.result.text if pair.result else ""
    newest = text.rstrip().rsplit("\n", _MAX_LAST_LINES)[-_MAX_LAST_LINES:]
    lines = (line.strip() for line in reversed(newest))
    last = next((line for line in lines if line and not _CLIENT_LINE.match(line)), "")
    return last[: word_end(last, _MAX_LINE_CHARS)]


@dataclass(frozen=True, slots=True)
class ReportedError:
    """An error line, the call whose result contains it, and whether that call succeeded later."""

    line: str
    pair: ToolPair
    is_resolved: bool


def command_items(pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield each command that is not read-only, with the outcome of its newest run.

    Commands are equal if they differ only in a leading ``cd`` and in how they truncate output.
    """
    runs: dict[str, list[ToolPair]] = {}
    for pair in pairs:
        if pair.command and pair.result and not only_looks(pair.command):
            runs.setdefault(normalize_command(pair.command), []).append(pair)
    for command_runs in runs.values():
        newest = command_runs[-1]
        command = one_line(newest.command or "", MAX_COMMAND_CHARS)
        times = f" x{len(command_runs)}" if len(command_runs) > 1 else ""
        output = one_line(last_line(newest), MAX_OUTPUT_CHARS)
        text = f"`{command}` -> {'FAILED' if has_failed(newest) else 'ok'}{times}"
        bonus = _REPEATED_BONUS * (len(command_runs) > 1) + _CHECK_BONUS * is_check(command)
        yield SummaryItem(
            section=4,
            label=COMMANDS,
            ref=newest.ref.name,
            text=f"{text}: {output}" if output else text,
            value=_COMMAND_VALUE.at(newest.age) + bonus,
            position=newest.ref.position,
        )


def error_items(pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield the newest of each distinct error line, and whether the same call succeeded later."""
    for error in find_errors(pairs):
        pair = error.pair
        value = _RESOLVED_ERROR_VALUE if error.is_resolved else _FRESH_ERROR_VALUE
        note = " (later run ok)" if error.is_resolved else ""
        yield SummaryItem(
            section=4,
            label=ERRORS,
            ref=pair.ref.name,
            text=clip_middle(error.line, MAX_ERROR_CHARS) + note,
            value=value.at(pair.age) + _FAILURE_BONUS * has_failed(pair),
            position=pair.ref.position,
        )


def find_errors(pairs: Sequence[ToolPair]) -> Iterator[ReportedError]:
    """Yield the newest of each distinct error line; lines that differ only in digits are equal."""
    last_success = {pair.subject: n for n, pair in enumerate(pairs) if not has_failed(pair)}
    newest: dict[str, tuple[int, str]] = {}
    for index, pair in enumerate(pairs):
        for line in error_lines(pair):
            newest[_DIGITS.sub("#", line)[:80]] = (index, line)
    for index, line in newest.values():
        pair = pairs[index]
        yield ReportedError(line, pair, is_resolved=last_success.get(pair.subject, -1) > index)


def is_check(command: str) -> bool:
    """Whether the outcome of a command shows the state of the work: tests, builds, pushes."""
    return _CHECK_COMMAND.search(command) is not None


def looks_like_error(line: str) -> bool:
    """Whether a line contains a word that is typical of error messages."""
    return _LIKELY_ERROR.search(line) is not None


def error_lines(pair: ToolPair) -> list[str]:
    """Return the first error lines in a result, [] if the call did not fail."""
    # The answer or refusal that the user typed is not an error message.
    if pair.result is None or (pair.result.is_error and pair.result.said):
        return []
    is_failure, is_query = has_failed(pair), only_looks(pair.command or "")
    if not is_failure and (pair.command is None or is_query):
        return []
    # A search fails if nothing matches, and what it matches may mention errors.
    tail = f"\n{pair.result.text}"[-MAX_SEARCHED_CHARS:]
    return list(_error_lines(tail, is_certain=not is_failure or is_query))


@lru_cache(1024)
def _error_lines(tail: str, *, is_certain: bool) -> tuple[str, ...]:
    """Return the first error lines, only certain ones if so; else the last line may be one."""
    pattern = _CERTAIN_ERROR if is_certain else _LIKELY_ERROR
    # Skip the first line, which may be cut off at its start.
    lines = [line.strip() for line in tail.split("\n")[1:]]
    lines = [line for line in lines if len(line) in ERROR_LINE_CHARS]
    errors = list(islice(filter(pattern.search, lines), MAX_ERRORS_PER_OUTPUT))
    return tuple(errors if errors or is_certain else lines[-1:])
