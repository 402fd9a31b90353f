"""How a call ended: what a record states, else what its client writes in the result.

Where neither says so, what the tool is for decides which signs of a failure count: of an edit the
first line, of a command the exit code and the last line, of a file that is read only an error that
stands alone.
"""

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from compactctl.history.tool_names import kind_of
from compactctl.model.json_parser import parse_json
from compactctl.model.message import (
    FAILURES,
    CallId,
    CallOutcome,
    Part,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.records import dataclass

# An argument of the tools that run a command and are not in the table of tools.
_COMMAND_KEY = re.compile(r'"(?:command|cmd|script)"')
# Characters at either end of a result in which a client's words stand.
_END_CHARS = 400


class Ending(NamedTuple):
    """How calls ended in whose results a client writes one of these phrases, which are patterns.

    Of a program that goes on, a named group is the name of its process.
    """

    outcome: CallOutcome
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultWording:
    """How one client writes the end of a call in its result.

    Attributes:
        marks_failures: its records mark every call that failed, so one without a mark went well.
        code_first: matches the start of a command's output with its exit code; group 1 is the code.
        code_last: finds the end of such an output.
        starts: what it writes instead of a result, or before one, of which its record does not say
            that the call went well; the first that matches counts.
        despite_success: the same, where its record says so all the same.
        ends: what it writes behind the output of a command, whatever its record says.
    """

    marks_failures: bool = False
    code_first: str = ""
    code_last: str = ""
    starts: tuple[Ending, ...] = ()
    despite_success: tuple[Ending, ...] = ()
    ends: tuple[Ending, ...] = ()


def stated_outcome(flag: object, *, success: bool = True) -> CallOutcome:
    """Return the outcome that a flag of a record states; ``success`` is its value for a success."""
    if not isinstance(flag, bool):
        return "unknown"
    return "ok" if flag is success else "failed"


def with_outcomes(
    parts: tuple[Part, ...], calls: MutableMapping[CallId, ToolCallPart], wording: ResultWording
) -> tuple[Part, ...]:
    """Return the parts of a message, each result with its outcome; add the calls to ``calls``."""
    judged: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCallPart):
            calls[part.call_id] = part
        if isinstance(part, ToolResultPart):
            judged.append(judge(part, calls.get(part.call_id), wording))
        else:
            judged.append(part)
    return tuple(judged)


def judge(
    result: ToolResultPart, call: ToolCallPart | None, wording: ResultWording
) -> ToolResultPart:
    """Return a result with its outcome, the exit code of its command, and whether it is inferred.

    What the record states is refined by the words of its client: a failure may be a denial, and a
    command that a client could run may still have failed.
    """
    stated, tool = result.outcome, call.tool if call else result.tool
    if stated == "unknown" and wording.marks_failures and not result.cleared:
        stated = "ok"
    kind = kind_of(tool)
    runs = kind == "shell" or (
        kind is None and call is not None and _COMMAND_KEY.search(call.arguments) is not None
    )
    if stated != "denied" and (ended := _ending(result.text, stated, wording, runs=runs)):
        return replace(result, outcome=ended.outcome, process=ended.process)
    code = result.exit_code
    # A client that runs patches as commands writes their exit code as well.
    has_code = runs or (kind == "edit" and wording.code_first)
    if code is None and has_code and not (stated == "ok" and wording.marks_failures):
        code = _exit_code(result.text, wording)
    if code is not None and stated not in FAILURES:
        stated = "failed" if code else "ok"
    # Imported late, as below: few results of a client that marks failures need it.
    from compactctl.history.failure_signs import is_placeholder, outcome_of, stopped

    if stated == "failed" and code is None and not wording.starts:
        stated = stopped(result.text) or stated
    is_gone = result.cleared or is_placeholder(result.text)
    if stated in FAILURES or is_gone or (stated == "ok" and not runs):
        return replace(result, outcome=stated, exit_code=code)
    outcome = (
        _outcome_in_output(result.text, call, is_stated=stated == "ok")
        if runs
        else outcome_of(kind, result.text)
    )
    return replace(
        result, outcome=outcome, exit_code=code, is_inferred=stated != "ok" or outcome != "ok"
    )


class _Ended(NamedTuple):
    outcome: CallOutcome
    process: str


def _ending(text: str, stated: CallOutcome, wording: ResultWording, *, runs: bool) -> _Ended | None:
    """Return how the client's words say that a call ended, None if they do not."""
    starts = wording.despite_success
    if stated != "ok":
        starts += wording.starts
    tail = text[-_END_CHARS:] if runs else ""
    matches = (
        *((outcome, _pattern(phrases).match(text)) for outcome, phrases in starts),
        *((outcome, _pattern(phrases).search(tail)) for outcome, phrases in wording.ends),
    )
    for outcome, match in matches:
        if match:
            return _Ended(outcome, next(filter(None, match.groupdict().values()), ""))
    return None


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(phrases))


def _exit_code(text: str, wording: ResultWording) -> int | None:
    """Return the exit code that a client states in the output of a command, None if it does not."""
    if not (wording.code_first or wording.code_last or wording.marks_failures):
        from compactctl.history.failure_signs import plain_exit_code

        return plain_exit_code(text)
    match = _pattern((wording.code_first,)).match(text) if wording.code_first else None
    if not match and wording.code_last:
        match = _pattern((wording.code_last,)).search(text, max(0, len(text) - _END_CHARS))
    return int(match[1]) if match else None


def _outcome_in_output(text: str, call: ToolCallPart | None, *, is_stated: bool) -> CallOutcome:
    """Return how a command ended that no exit code says to have failed.

    If the client says that its shell ended well, this tells nothing of a program whose output goes
    to another one; if that reports an error, nobody knows.
    """
    from compactctl.history.failure_signs import mentions_failure, outcome_of_output

    outcome = outcome_of_output(text)
    has_error = is_stated and mentions_failure(text)
    if outcome == "ok" and not has_error:
        return "ok"
    from compactctl.history.shell_lines import hides_status, only_looks

    command = _command(call) if call else None
    if command is not None and only_looks(command):
        return outcome if outcome not in {"ok", "failed"} and not is_stated else "ok"
    if not is_stated:
        return outcome
    if command is None or not hides_status(command):
        return "ok"
    return "failed" if outcome == "failed" else "unknown"


def _command(call: ToolCallPart) -> str | None:
    from compactctl.history.command_lines import command_line

    try:
        value = parse_json(call.arguments)
    except ValueError:
        return None
    return command_line(call.tool, value) if isinstance(value, Mapping) else None
