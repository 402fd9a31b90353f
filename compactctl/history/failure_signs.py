"""Signs of how a call ended in the text of its result, for records that do not say so.

They depend on what a tool is for: of an edit the first sentence counts, since the text of the file
may follow; of a command the last line and an exit code; of all else only an error that stands
alone, since a document may begin like one.
"""

import re

from compactctl.history.tool_names import ToolKind
from compactctl.model.message import CallOutcome

# Characters at either end of a result in which a client's words stand.
END_CHARS = 400
# A longer line is data; its start is enough to recognize it.
_MAX_LINE_CHARS = 1_000
# Lines at the end of an output among which its last line is found.
_MAX_LAST_LINES = 8
# Lines that clients add before or after a command's output.
_CLIENT_LINE = re.compile(
    r"<exited with|<returncode>|Process exited|\[?The command completed|Chunk ID:|Wall time:"
    r"|Output:$|Original token count:|\(?\w+ completed with no output|</?\w+>$"
)
# An error of more lines or characters is a document.
_MAX_ERROR_LINES, _MAX_ERROR_CHARS = 3, 600

# A line with an exit code, as clients and harnesses write it: "Exit code: 2", "[Command finished
# with exit code 2]", "<returncode>2</returncode>", "exit status 2".
_CODE_LINE = re.compile(
    r"[\W_]*(?:(?:the |your )?(?:command|process|script|program|shell|tool|task)\b[ \w]{0,30})?"
    r"(?:exit(?:ed)?(?:[ _-]?(?:code|status|value))?|return[ _-]?(?:code|status|value)|status)"
    r"(?:[ _-](?:with|was|of))*(?: (?:an? )?(?:non-zero )?(?:exit )?(?:code|status|value))?"
    r"[ :=>]{1,4}(-?\d{1,10})(?:</\w+>|\W*|(?: in |[:;,.] ).{0,200})",
    re.IGNORECASE,
)
# The same in a JSON object beside the output.
_JSON_CODE = re.compile(r'"(?:exit_?code|return_?code)":\s*(-?\d{1,10})', re.IGNORECASE)
_JSON_OUTPUT = re.compile(r'"(?:output|stdout|stderr)":')

# The last line of a program that failed.
_FAILED_LINE = re.compile(
    r"\W*(?:FAIL(?:ED|URE|S)?\b(?!\W*0\b)|(?:error|fatal|panic)\b.{0,3}:)|.*\bFAIL(?:ED)?$"
    r"|.*(?:: command not found|: No such file or directory)$|make: \*\*\* "
    r"|[A-Za-z_][\w.]{0,60}(?:Error|Exception): ",
    re.IGNORECASE,
)
# A line with which programs report an error, and where it is searched in an output.
_ERROR_LINE = re.compile(
    r"\s*(?:(?:npm )?error\b.{0,40}[: ]|npm ERR!|fatal: |panic: |Traceback |FAIL(?:ED)?\b|--- FAIL"
    r"|[A-Za-z_][\w.]{0,60}(?:Error|Exception): )|.{1,300}(?:\berror [A-Z]+\d|: error\b)"
)
_TAIL_LINES, _TAIL_CHARS = 20, 4_000
_COUNTED = re.compile(r"\b(?P<count>\d{1,9}) (?:failed|failing|errors?|failures?)\b", re.IGNORECASE)
# Words before and behind a count of errors that were repaired.
_REPAIRED = r"(?:auto-?)?(?:fix|resolv|repair|correct|remov|clear|solv)(?:ed|es|e)?"
_REPAIRED_BEFORE = re.compile(rf"\b{_REPAIRED} (?:\w+ )?$", re.IGNORECASE)
_REPAIRED_BEHIND = re.compile(
    rf" (?:(?:was|were|have been|has been|automatically) )*{_REPAIRED}\b|[^\n]*\b0 remaining\b",
    re.IGNORECASE,
)

_REFUSED = re.compile(
    r"\b(?:user|human|operator|tool use|operation|request|approval|plan|permission(?! denied))\b"
    r"[^\n]{0,80}\b(?:denied|rejected|declined|refused|disallowed|disapproved|not approved)\b"
    r"|\b(?:denied|rejected|declined|refused|disapproved|blocked) by (?:the |your )?"
    r"(?:user|human|operator|policy|hook|permission|sandbox|admin)"
    r"|\b(?:doesn['\u2019]t|does not|did not|didn['\u2019]t) (?:approve|grant|allow"
    r"|want to (?:proceed|take this action))\b|\bhaven['\u2019]t granted\b|\bnot approved\b",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(
    r"\W*(?:(?:the )?(?:request|tool(?: (?:execution|call|use))?|command|operation|execution"
    r"|process|task|edit) )?(?:(?:was|has been|is) )?"
    r"(?:interrupted|aborted|cancell?ed|not executed)\b",
    re.IGNORECASE,
)
_TIMED_OUT = re.compile(
    r"\W*(?:error: )?(?:(?:the )?(?:command|process|tool|execution|script|operation|request|shell)"
    r"\b[^\n]{0,60}\b)?(?:timed out\b|timeout (?:of|after|exceeded|reached))"
    r"|[^\n]{0,60}\bexceed(?:ed|ing) (?:the )?time(?:out| limit)\b",
    re.IGNORECASE,
)

_PLACEHOLDER = re.compile(
    r"\s*\[[^\n]{0,300}\b(?:cleared|compacted|evicted|truncated|pruned|removed|omitted|elided"
    r"|refer to)\b[^\n]{0,300}\]\s*",
    re.IGNORECASE,
)
_TOOL_ERROR = "<tool_use_error>"

# The first sentence of what an edit returns.
_SENTENCE_END = re.compile(r"(?<=[.!])\s")
_FAILED_START = re.compile(
    r"\W*(?:<tool_use_error>|(?:\w+ ){0,3}(?:error|failed|failure|invalid|exception)\b"
    r"|cannot\b|can['\u2019]t\b|could(?: not|n['\u2019]t)\b|unable\b|permission denied\b"
    r"|no (?:match|replacement|change|occurrence|such|file)|Traceback"
    r"|E(?:NOENT|ACCES|PERM|ISDIR)\b)",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|nothing|never|cannot"
    r"|no (?:match(?:es|ing)?|replacements?|changes?|edits?|occurrences?)"
    r"|0 (?:of \d+ )?(?:replacements?|occurrences?|edits?|match(?:es)?|changes?|hunks?))\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
_FAILED_WORD = re.compile(
    r"\b(?:error|fail(?:s|ed|ure)?|denied|rejected|refused|invalid|unable|aborted|cancell?ed|skipped"
    r"|interrupted|missing|multiple (?:match(?:es)?|occurrences)|must (?:be )?(?:first )?read"
    r"|already exists|ambiguous|out of range|stale|conflict|no such file|permission denied)\b"
    r"|\[Errno \d",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\bsuccess(?:ful(?:ly)?)?\b|\bsucceeded\b"
    r"|\b(?:updated|created|edited|written|wrote|saved|applied|modified|replaced|overwritten|overwrote"
    r"|deleted|removed|moved|renamed|changed|added|inserted|patched|completed)\b",
    re.IGNORECASE,
)
_AGREED = re.compile(r"\b(?:approved|accepted|agreed|confirmed)\b", re.IGNORECASE)
# A result that is nothing but an error: of a tool that shows a file or lists names, and of others.
_UNREADABLE = re.compile(
    r"<tool_use_error>|(?:Error|ERROR): |(?:Error|Failed) (?:reading|to read|opening|to open)\b"
    r"|E(?:NOENT|ACCES|ISDIR)\b|(?:No such file|Permission denied|Is a directory)\b"
    r"|(?:The )?(?:[Ff]ile|[Pp]ath|[Dd]irectory|[Ff]older)\b[^\n]{0,200}"
    r"\b(?:not found|does(?: not|n['\u2019]t) exist)\b"
    r"|(?:Could not|Cannot|Unable to) (?:find|read|open)\b"
)
_ERROR_ALONE = re.compile(
    rf"{_UNREADABLE.pattern}|\{{\s*\"(?:error|isError)\":(?!\s*(?:null|false|\"\"|\{{\}}|\[\]))"
    r"|(?:\w+ ){0,4}(?i:error|exception|failed|failure)\b[^\n:]{0,80}: "
    r"|(?i:failed to|cannot|could not|couldn['\u2019]t|unable to|unknown tool|tool not found) "
)


def is_placeholder(text: str) -> bool:
    """Whether a result was removed, so that its text does not tell how the call ended."""
    return _PLACEHOLDER.fullmatch(text) is not None


def outcome_of(kind: ToolKind | None, text: str) -> CallOutcome:
    """Return how a call of this kind ended, by the text of its result; not for commands."""
    match kind:
        case "edit" | "write":
            return _edit(text)
        case "plan":
            return _plan(text)
        case "ask":
            # What the user answers may read like anything.
            return "ok" if text else "unknown"
        case "read" | "search" | "find":
            return "failed" if _is_short(text) and _UNREADABLE.match(text.lstrip()) else "ok"
        case _:
            return _other(text)


def _edit(text: str) -> CallOutcome:
    """Return how an edit or write ended, by the first sentence of its result."""
    line = _first_line(text)
    if outcome := _stopped(line):
        return outcome
    sentence = _SENTENCE_END.split(line, maxsplit=1)[0]
    if _FAILED_START.match(sentence) or _NEGATED.search(sentence):
        return "failed"
    return "ok" if _DONE.search(sentence) or not _FAILED_WORD.search(sentence) else "failed"


def _plan(text: str) -> CallOutcome:
    """Return whether a plan was agreed: only if the result says so."""
    line = _first_line(text)
    if outcome := _stopped(line):
        return outcome
    return "ok" if _AGREED.search(line) and not _NEGATED.search(line) else "unknown"


def outcome_of_output(text: str) -> CallOutcome:
    """Return how a command ended, by the first and the last line of its output."""
    first, last = _first_line(text), last_line(text)
    if outcome := _stopped(first) or _stopped(last):
        return outcome
    return "failed" if first.startswith(_TOOL_ERROR) or _reports_failure(last) else "ok"


def _other(text: str) -> CallOutcome:
    """Return how another call ended: its result is an error only if nothing else is in it."""
    if not _is_short(text):
        return "ok"
    line = _first_line(text)
    return _stopped(line) or ("failed" if _ERROR_ALONE.match(line) else "ok")


def _is_short(text: str) -> bool:
    """Whether a result may be an error alone, and not a document."""
    return len(text) <= _MAX_ERROR_CHARS and text.strip().count("\n") < _MAX_ERROR_LINES


def stopped(text: str) -> CallOutcome | None:
    """Return how a failed call was kept from its end, None if its first line does not say so."""
    return _stopped(_first_line(text))


def plain_exit_code(text: str) -> int | None:
    """Return the exit code that an output begins or ends with, or that an object around it has."""
    if text.lstrip().startswith("{"):
        ends = text[:END_CHARS], text[-END_CHARS:]
        has_output = any(map(_JSON_OUTPUT.search, ends))
        codes = [match for end in ends if (match := _JSON_CODE.search(end))] if has_output else []
    else:
        lines = _first_line(text), _last_visible_line(text)
        codes = [match for line in lines if (match := _CODE_LINE.fullmatch(line))]
    return int(codes[0][1]) if codes else None


def mentions_failure(text: str) -> bool:
    """Whether one of the last lines of an output reports an error, of whichever program in it."""
    return any(map(_ERROR_LINE.match, text[-_TAIL_CHARS:].rstrip().split("\n")[-_TAIL_LINES:]))


def last_line(text: str) -> str:
    """Return the last line of an output that is not blank and not the client's; "" if none."""
    newest = text.rstrip().rsplit("\n", _MAX_LAST_LINES)[-_MAX_LAST_LINES:]
    lines = (line.strip() for line in reversed(newest))
    return next((line for line in lines if line and not _CLIENT_LINE.match(line)), "")


def _stopped(line: str) -> CallOutcome | None:
    """Return how a call was kept from its end, None if a line does not say so."""
    line = line[:_MAX_LINE_CHARS]
    if _REFUSED.search(line):
        return "denied"
    if _TIMED_OUT.match(line):
        return "timed out"
    return "interrupted" if _INTERRUPTED.match(line) else None


def _reports_failure(line: str) -> bool:
    """Whether the last line of an output says that a program failed: not "Fixed 12 errors"."""
    line = line[:_MAX_LINE_CHARS]
    if _FAILED_LINE.match(line):
        return True
    return any(
        int(match["count"]) > 0
        and not _REPAIRED_BEFORE.search(line[: match.start()])
        and not _REPAIRED_BEHIND.match(line[match.end() :])
        for match in _COUNTED.finditer(line)
    )


def _first_line(text: str) -> str:
    return text[:END_CHARS].lstrip().partition("\n")[0].rstrip()


def _last_visible_line(text: str) -> str:
    return text[-END_CHARS:].rstrip().rpartition("\n")[2].strip()
