"""How a call ended: what a record states, else what its client writes in the result.

Where neither says so, what the tool is for decides which signs of a failure count: of an edit the
first sentence, of a command the exit code and the last lines, of a file that is read only an error
that stands alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cache
from typing import NamedTuple

from compactctl.history.tool_names import ToolKind, is_editor, kind_of
from compactctl.model.json_parser import parse_json
from compactctl.model.message import (
    FAILURES,
    CallId,
    CallOutcome,
    Part,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.records import Record, replace

# An argument of the tools that run a command and are not in the table of tools.
_COMMAND_KEY = re.compile(r'"(?:command|cmd|script|commands)"')
# An argument with which an editor only shows a file.
_VIEWS = re.compile(r'"command":\s*"view"')
# Characters at either end of a result in which a client's words stand.
_HEAD_CHARS, _TAIL_CHARS = 1_000, 400
# The results of these kinds of tools begin with the client's own words, and not with a text that
# others wrote.
_WORDED_BY_CLIENT: frozenset[ToolKind | None] = frozenset({"edit", "write", "plan", "agent"})


class Ending(NamedTuple):
    """How calls ended in whose results a client writes one of these phrases, which are patterns.

    Of a program that goes on, a named group is the name of its process. ``kind`` is the kind of the
    tools that the phrases are about, where they hold although the record says that all went well.
    """

    outcome: CallOutcome
    phrases: tuple[str, ...]
    kind: ToolKind = "shell"


class ResultWording(Record):
    """How one client writes the end of a call in its result.

    Attributes:
        marks_failures: its records mark every call that failed, so one without a mark went well.
        code_first: matches the start of a command's output with its exit code; group 1 is the code.
        code_last: finds the end of such an output.
        starts: what it writes instead of a result, or before one, of which its record does not say
            that the call went well; the first that matches counts.
        despite_success: the same, where its record says so all the same.
        ends: what it writes behind the output of a command without an exit code.
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
    parts: tuple[Part, ...],
    calls: MutableMapping[CallId, ToolCallPart],
    wording: ResultWording,
    *,
    is_whole: bool = True,
) -> tuple[Part, ...]:
    """Return the parts of a message, each result with its outcome; add the calls to ``calls``.

    Not ``is_whole`` is a message that was shortened, so that the signs of a failure may be gone.
    """
    judged: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCallPart):
            calls[part.call_id] = part
        if isinstance(part, ToolResultPart):
            judged.append(judge(part, calls.get(part.call_id), wording, is_whole=is_whole))
        else:
            judged.append(part)
    return tuple(judged)


def judge(
    result: ToolResultPart,
    call: ToolCallPart | None,
    wording: ResultWording,
    *,
    is_whole: bool = True,
) -> ToolResultPart:
    """Return a result with its outcome, the exit code of its command, and whether it is inferred.

    What the record states is refined by the words of its client: a failure may be a denial, and a
    command that a client could run may still have failed.
    """
    purpose = _purpose_of(result, call)
    stated = _stated(result, wording)
    code = result.exit_code
    if code is None and (purpose.runs or (purpose.kind == "edit" and wording.code_first)):
        code = _exit_code(result.text, purpose, wording, stated)
    ended = replace(result, exit_code=code)
    if stated != "denied":
        words = _words(wording, purpose.kind, stated, code=code if purpose.runs else 0)
        if ending := _ending(result.text, words):
            return replace(ended, outcome=ending.outcome, process=ending.process)
    if code is not None and stated not in FAILURES:
        stated = "failed" if code else "ok"
    if stated in FAILURES or (
        stated == "ok" and not (purpose.runs or purpose.kind in _WORDED_BY_CLIENT)
    ):
        return replace(ended, outcome=stated)
    outcome = _outcome_in(ended, purpose, stated, is_whole=is_whole)
    return replace(ended, outcome=outcome, is_inferred=outcome not in {"unknown", stated})


class _Purpose(NamedTuple):
    """What a call is for: the kind of its tool, and whether it runs a command."""

    kind: ToolKind | None
    runs: bool
    part: ToolCallPart | None

    @property
    def command(self) -> str | None:
        """The command line that it runs, None if that is not known."""
        from compactctl.history.command_lines import command_line

        if self.part is None:
            return None
        try:
            value = parse_json(self.part.arguments)
        except ValueError:
            return None
        return command_line(self.part.tool, value) if isinstance(value, Mapping) else None

    @property
    def only_looks(self) -> bool:
        """Whether it only shows what others wrote."""
        from compactctl.history.shell_lines import only_looks

        command = self.command
        return command is not None and only_looks(command)


def _purpose_of(result: ToolResultPart, call: ToolCallPart | None) -> _Purpose:
    kind = kind_of(call.tool if call else result.tool)
    if call is not None and is_editor(call.tool) and _VIEWS.search(call.arguments):
        kind = "read"
    has_command = kind is None and call is not None and _COMMAND_KEY.search(call.arguments)
    return _Purpose(kind, kind in {"shell", "poll"} or bool(has_command), call)


def _stated(result: ToolResultPart, wording: ResultWording) -> CallOutcome:
    """Return the outcome that a record states: by a mark, or by having none."""
    if result.outcome == "unknown" and wording.marks_failures and not result.cleared:
        return "ok"
    if result.outcome == "failed" and result.exit_code is None and not wording.starts:
        # Imported late, as below: few results need it of a client that marks failures.
        from compactctl.history.failure_signs import stopped

        return stopped(result.text) or "failed"
    return result.outcome


class _Ended(NamedTuple):
    outcome: CallOutcome
    process: str


def _words(
    wording: ResultWording, kind: ToolKind | None, stated: CallOutcome, *, code: int | None
) -> Iterator[tuple[Ending, bool]]:
    """Yield the endings that may be in a result, each with whether it is at its start."""
    if stated != "ok" or kind in _WORDED_BY_CLIENT:
        yield from ((ending, True) for ending in wording.starts)
    yield from ((ending, True) for ending in wording.despite_success if ending.kind == kind)
    # What stands behind an output says more of a failure, but does not undo its exit code.
    if code == 0 or (stated == "ok" and wording.marks_failures):
        return
    for ending in wording.ends:
        if code is None or ending.outcome in FAILURES:
            yield ending, False


def _ending(text: str, words: Iterable[tuple[Ending, bool]]) -> _Ended | None:
    """Return how the client's words say that a call ended, None if they do not."""
    head, tail = text[:_HEAD_CHARS], text[-_TAIL_CHARS:]
    for ending, is_start in words:
        pattern = _pattern(ending.phrases)
        if match := pattern.match(head) if is_start else pattern.search(tail):
            return _Ended(ending.outcome, next(filter(None, match.groupdict().values()), ""))
    return None


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(phrases))


def _exit_code(
    text: str, purpose: _Purpose, wording: ResultWording, stated: CallOutcome
) -> int | None:
    """Return the exit code that a client states in the output of a command, None if it does not."""
    if stated == "ok" and wording.marks_failures:
        # A code in the text of a call that is not marked as failed is of the program.
        return None
    first, last = wording.code_first, wording.code_last
    if first or last or wording.marks_failures or stated == "ok":
        match = _pattern((first,)).match(text[:_HEAD_CHARS]) if first else None
        if not match and last:
            match = _pattern((last,)).search(text[-_TAIL_CHARS:])
        return int(match[1]) if match else None
    from compactctl.history.failure_signs import plain_exit_code

    code = plain_exit_code(text)
    # What is only shown may end like this; a search without a match is reported in one line.
    is_shown = code and "\n" in text.strip() and purpose.only_looks
    return None if is_shown else code


def _outcome_in(
    result: ToolResultPart, purpose: _Purpose, stated: CallOutcome, *, is_whole: bool
) -> CallOutcome:
    """Return how a call ended of which no field and no exit code says that it failed.

    That the client's shell ended well tells nothing of a program whose output goes to another one.
    """
    from compactctl.history.failure_signs import (
        is_placeholder,
        outcome_of,
        outcome_of_output,
        plain_exit_code,
    )

    text, is_stated = result.text, stated == "ok"
    if result.cleared or is_placeholder(text):
        return stated
    if not purpose.runs:
        outcome = outcome_of(purpose.kind, text, is_whole=is_whole or is_stated)
        # A plan that its record does not call failed was agreed; else two signs are none.
        return outcome if not is_stated or purpose.kind == "plan" or outcome == "ok" else "unknown"
    from compactctl.history.shell_lines import hides_status

    command = purpose.command
    has_status = command is None or not hides_status(command)
    if is_stated and has_status:
        # A code that the client did not write may be of a program around the command.
        code = plain_exit_code(text) if result.exit_code is None else None
        return "unknown" if code and not purpose.only_looks else "ok"
    outcome = outcome_of_output(text, has_status=has_status and is_whole)
    # What is only shown may speak of any failure.
    return "ok" if outcome in {"failed", "unknown"} and purpose.only_looks else outcome
