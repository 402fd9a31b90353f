"""What was run and what went wrong."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compactctl.summaries.extract.items import SummaryItem, Worth, clipped, one_line
from compactctl.summaries.extract.other_tools import essence, only_looks
from compactctl.summaries.extract.outcomes import failed, last_line
from compactctl.summaries.extract.passages import ToolPair

COMMAND = 240
OUTPUT = 160
ERROR = 220
# Error lines taken from one output, and the part of it that is searched, from its end.
ERRORS_PER_OUTPUT = 3
SEARCHED = 6_000
# Lines outside of these lengths are fragments or data.
ERROR_LINE = range(8, 400)

_COMMAND = Worth(0.2, 0.4)
_REPEATED = 0.05
_CHECKING = 0.3
_FRESH_ERROR = Worth(0.4, 0.7)
_OVERCOME_ERROR = Worth(0.15, 0.3)
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
class ErrorSeen:
    """A line that told what went wrong, and whether the same call worked later."""

    line: str
    pair: ToolPair
    overcome: bool


def command_items(pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield each command that did something, with the outcome of its newest run.

    Commands that differ only in where they run and in what of their output they show are one.
    """
    runs: dict[str, list[ToolPair]] = {}
    for pair in pairs:
        if pair.command and pair.result and not only_looks(pair.command):
            runs.setdefault(essence(pair.command), []).append(pair)
    for repeated in runs.values():
        newest = repeated[-1]
        command = one_line(newest.command or "", COMMAND)
        times = f" x{len(repeated)}" if len(repeated) > 1 else ""
        output = one_line(last_line(newest), OUTPUT)
        text = f"`{command}` -> {'FAILED' if failed(newest) else 'ok'}{times} {newest.spot}"
        bonus = _REPEATED * (len(repeated) > 1) + _CHECKING * checks(command)
        yield SummaryItem(
            section=4,
            label="Commands, newest outcome:",
            text=f"{text}: {output}" if output else text,
            value=_COMMAND.at(newest.age) + bonus,
            place=newest.spot.number,
        )


def error_items(pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield the last of each distinct error line, and whether the same call worked later."""
    for error in errors(pairs):
        pair = error.pair
        worth = _OVERCOME_ERROR if error.overcome else _FRESH_ERROR
        note = " (later run ok)" if error.overcome else ""
        yield SummaryItem(
            section=4,
            label="Errors:",
            text=f"{pair.spot} {clipped(error.line, ERROR)}{note}",
            value=worth.at(pair.age) + _REPORTED * failed(pair),
            place=pair.spot.number,
        )


def errors(pairs: Sequence[ToolPair]) -> Iterator[ErrorSeen]:
    """Yield the last of each distinct error line; what differs in numbers alone is one."""
    last_success = {pair.subject: n for n, pair in enumerate(pairs) if not failed(pair)}
    newest: dict[str, tuple[int, str]] = {}
    for index, pair in enumerate(pairs):
        for line in error_lines(pair):
            newest[_DIGITS.sub("#", line)[:80]] = (index, line)
    for index, line in newest.values():
        pair = pairs[index]
        yield ErrorSeen(line, pair, overcome=last_success.get(pair.subject, -1) > index)


def checks(command: str) -> bool:
    """Whether the outcome of a command line tells where the work stands."""
    return _CHECK.search(command) is not None


def names_error(line: str) -> bool:
    """Whether a line of a result may tell of an error by itself."""
    return _LIKELY.search(line) is not None


def error_lines(pair: ToolPair) -> list[str]:
    """Return the lines of a result that tell what went wrong, none when nothing did."""
    if pair.result is None or (pair.result.is_error and pair.result.said):
        return []
    told, looked = failed(pair), only_looks(pair.command or "")
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
