"""Signs of how a call ended in the text of its result, for records that do not say so.

They depend on what a tool is for: of an edit the first sentence counts, since the text of the file
may follow; of a command its exit code and last lines; of all else only an error that stands alone,
since a document may begin like one. Colors are removed first, an object is read by its fields, and
only other texts are read as prose.
"""

import re
from collections.abc import Mapping
from itertools import takewhile

from compactctl.history.tool_names import ToolKind
from compactctl.model.json_parser import parse_json
from compactctl.model.message import CallOutcome

# Characters at the start and the end of a result in which signs stand, and of a line.
_HEAD_CHARS, _TAIL_CHARS, _MAX_LINE_CHARS = 1_000, 2_000, 1_000
# Lines at the end of an output among which its last line is found.
_MAX_LAST_LINES = 8
# Lines that a client writes before or behind an output.
_MAX_HEADERS = 6
# Lines that clients add before or after a command's output.
_CLIENT_LINE = re.compile(
    r"<exited with|<returncode>|Process exited|\[?The command completed|Chunk ID:|Wall time:"
    r"|Output:$|Original token count:|\(?\w+ completed with no output|</?\w+>$"
    r"|<shellId: |Exit Code: |Process Group PGID: |Background PIDs: |Signal: "
)
_COLOR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# An error of more lines or characters is a document; a longer object is data.
_MAX_ERROR_LINES, _MAX_ERROR_CHARS, _MAX_OBJECT_CHARS = 3, 600, 20_000

# A line with an exit code, as clients and harnesses write it: "Exit code: 2", "[Command finished
# with exit code 2]", "<returncode>2</returncode>", "exit status 2".
_CODE_LINE = re.compile(
    r"[\W_]*(?:(?:the |your )?(?:command|process|script|program|shell|tool|task)\b[ \w]{0,30})?"
    r"(?:exit(?:ed)?(?:[ _-]?(?:code|status|value))?|return[ _-]?(?:code|status))"
    r"(?:[ _-](?:with|was|of))*(?: (?:an? )?(?:non-zero )?(?:exit )?(?:code|status|value))?"
    r"[ :=>]{1,4}(?P<code>-?\d{1,10})(?:\.0)?"
    r"(?:</\w+>|\W*|\W*\((?:error|failed|failure)\)|(?: in | after |[:;,.] ).{0,200})",
    re.IGNORECASE,
)
# Fields of an object that say how a call ended.
_FLAGS, _ERROR_FLAGS = ("success", "ok", "applied"), ("isError", "is_error")
_STATUSES: Mapping[str, CallOutcome] = {
    "success": "ok",
    "ok": "ok",
    "completed": "ok",
    "error": "failed",
    "failed": "failed",
    "failure": "failed",
    "denied": "denied",
    "rejected": "denied",
    "timeout": "timed out",
    "cancelled": "interrupted",
}
_CODES = ("exit_code", "exitCode", "exit_status", "returncode", "return_code", "returnCode")
_NUMBER = re.compile(r"-?\d{1,10}")
_OUTPUTS = frozenset({"output", "stdout", "stderr", "result"})
_STOPPED_IN = re.compile(r"\b(?:(timed out)|aborted|not executed|was cancelled)\b")
_NO_ERRORS = frozenset({"", "none", "null", "no", "false"})

# The last line of a program that failed.
_FAILED_LINE = re.compile(
    r"\W*(?:FAIL(?:ED|URE|S)?\b(?!\W*0\b)|(?:error|fatal|panic)\b.{0,3}:(?! none\b))"
    r"|(?!.*\b0 fail).*\bFAIL(?:ED)?$"
    r"|.*(?:: (?:command )?not found|: No such file or directory|: Permission denied)$"
    r"|make: \*\*\* |[A-Za-z_][\w.]{0,60}(?:Error|Exception)(?:: |$)"
    r"|(?:Segmentation fault|Killed|Aborted)\b|\+ FullyQualifiedErrorId\b",
    re.IGNORECASE,
)
# A line near the end that says so: of test runners, builds, package managers and git.
_FAILED_TAIL = re.compile(
    r"^\W*(?:(?:Tests?|Test (?:Suites|Files)|Failures|Errors)\b[^\n]{0,30}?\b[1-9]\d* fail"
    r"|(?:Failures|Errors): [1-9]|[1-9]\d* (?:failing|failed)\b|BUILD FAIL"
    r"|FAIL(?:ED)?[\t ]|--- FAIL|npm (?:ERR!|error code)|ELIFECYCLE"
    r"|CONFLICT \(|! \[(?:remote )?rejected\])",
    re.MULTILINE,
)
# A line near the end with which programs report an error.
_ERROR_TAIL = re.compile(
    r"^\W{0,20}(?:(?:npm )?error\b.{0,40}[: ]|ERROR\b|fatal: |panic: |Traceback |curl: \("
    r"|[A-Za-z_][\w.]{0,60}(?:Error|Exception)\b)|^.{1,300}(?:\berror [A-Z]+\d|: error\b)",
    re.MULTILINE,
)
# A last line that says that all went well.
_PASSED_LINE = re.compile(
    r"\W*(?:ok|pass(?:ed)?|done|success\w*|finished|completed?|built|compiled|build succe\w+)\b"
    r"|.*\b(?:[1-9]\d* (?:tests? )?pass(?:ed|ing)?|all (?:tests |checks )?(?:good|fine|ok|passed)"
    r"|0 (?:errors|failures|failed|problems)|no (?:errors|issues|problems|warnings)"
    r"|success(?:ful(?:ly)?)?|up[ -]to[ -]date|passed)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\b(?P<count>\d{1,9}) (?:failed|failing|errors?|failures?)\b", re.IGNORECASE)
# Words before and behind a count of errors that were repaired, or meant.
_REPAIRED = r"(?:auto-?)?(?:fix|resolv|repair|correct|remov|clear|solv|handl)(?:ed|es|e)?"
_REPAIRED_BEFORE = re.compile(rf"\b{_REPAIRED} (?:\w+ )?$", re.IGNORECASE)
_REPAIRED_BEHIND = re.compile(
    rf" (?:(?:was|were|have been|has been|automatically|found|and) )*(?:{_REPAIRED}|expected)\b"
    r"|[^\n]*\b0 remaining\b",
    re.IGNORECASE,
)

# How harnesses say, at the start of a result, that a call was refused or stopped.
_REFUSING = r"(?:denied|rejected|declined|refused|disallowed|disapproved)"
_REFUSED = re.compile(
    r"\W*(?:error: )?(?:the )?(?:"
    rf"(?:user|human|operator)\b[^\n]{{0,60}}?\b(?:{_REFUSING}|cancell?ed|(?:chose|wants) to skip"
    r"|(?:has|have|had|did|does|do)(?: not|n['\u2019]t) (?:want|approve|grant|allow|permit|accept"
    r"|confirm|agree))"
    r"|(?:tool use|tool(?: call)?|command|operation|request|execution|action|edit|plan|approval"
    rf"|permission(?! denied))\b[^\n]{{0,80}}?\b(?:{_REFUSING}|not (?:approved|allowed|permitted)"
    r"|blocked by)"
    rf"|(?:{_REFUSING}|blocked) by|permission denied by)\b",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(
    r"\W*(?:(?:the )?(?:request|tool(?: (?:execution|call|use))?|command|operation|execution"
    r"|process|task|edit) )?(?:(?:was|has been|is) )?"
    r"(?:interrupted|aborted|cancell?ed|not executed)\b",
    re.IGNORECASE,
)
_TIMED_OUT = re.compile(
    r"\W*(?:error: )?(?:the )?"
    r"(?:(?:command|process|tool|execution|script|operation|request|shell)\b[^\n]{0,60}?\b"
    r"(?:timed out|exceed(?:ed|ing) (?:the |its )?time(?:out| limit))\b"
    r"|timed out after \d|timeout after \d)",
    re.IGNORECASE,
)
_RUNNING = re.compile(
    r"\W*(?:the )?(?:command|process|task)\b[^\n]{0,40}\b"
    r"(?:still running|(?:running|started|moved) (?:in|to) (?:the )?background)\b",
    re.IGNORECASE,
)

_PLACEHOLDER = re.compile(
    r"\s*\[[^\n]{0,300}\b(?:cleared|compacted|evicted|truncated|pruned|removed|omitted|elided"
    r"|refer to)\b[^\n]{0,300}\]\s*",
    re.IGNORECASE,
)
_TOOL_ERROR = "<tool_use_error>"

# The first sentence of what an edit returns, and the paths in it.
_PATH = re.compile(r"[^\s:'\"`]*[/\\][^\s:'\"`]*|[^\s:'\"`/\\]+\.[A-Za-z]\w{0,9}\b")
_SENTENCE_END = re.compile(r"(?<=[.!])\s")
_FAILED_START = re.compile(
    r"\W*(?:<tool_use_error>|(?:\w+ ){0,3}(?:error|failed|failure|invalid|exception)\b"
    r"|cannot\b|can['\u2019]t\b|could(?: not|n['\u2019]t)\b|unable\b|permission denied\b"
    r"|no (?:match|replacement|change|occurrence|such|file)|Traceback"
    r"|(?:found|expected) \d+ (?:match|occurrence)"
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
    r"|already exists|ambiguous|out of range|stale|conflict|no such file|permission denied"
    r"|unsuccessful\w*|mismatch\w*)\b|\[Errno \d",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\bsuccess(?:ful(?:ly)?)?\b|\bsucceeded\b"
    r"|\b(?:updated|created|edited|written|wrote|saved|applied|modified|replaced|overwritten|overwrote"
    r"|deleted|removed|moved|renamed|changed|added|inserted|patched|completed)\b",
    re.IGNORECASE,
)
# Some of several edits were made.
_PARTLY = re.compile(
    r"\b([1-9]\d{0,5}) (?:of|out of) (\d{1,6})\b|\b[1-9]\d* (?:\w+ )?failed\b"
    r"|\bunable to apply all\b"
)
_AGREED = re.compile(r"\b(?:approved|accepted|agreed|confirmed)\b", re.IGNORECASE)
_UNDECIDED = re.compile(
    r"\b(?:not|to be|must be|should be|will be|waiting|awaiting|pending|submitted|once|until|if)\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
# A result that is nothing but an error: of a tool that shows a file or lists names, and of others.
_UNREADABLE = re.compile(
    r"<tool_use_error>|(?:Error|ERROR): |(?:Error|Failed) (?:reading|to read|opening|to open)\b"
    r"|E(?:NOENT|ACCES|ISDIR)\b|(?:No such file|Permission denied|Is a directory)\b"
    r"|(?:The )?(?:[Ff]ile|[Pp]ath|[Dd]irectory|[Ff]older)\b[^\n]{0,200}"
    r"\b(?:not found|does(?: not|n['\u2019]t) exist)\b"
    r"|(?:Could not|Cannot|Unable to) (?:find|read|open)\b"
)
_ERROR_ALONE = re.compile(
    rf"{_UNREADABLE.pattern}|(?:\w+ ){{0,4}}\w{{0,60}}(?i:error|exception|failed|failure)\b"
    r"[^\n:]{0,80}: |(?i:failed to|cannot|could not|couldn['\u2019]t|unable to|unknown tool"
    r"|tool not found) "
)


def is_placeholder(text: str) -> bool:
    """Whether a result was removed, so that its text does not tell how the call ended."""
    return _PLACEHOLDER.fullmatch(text) is not None


def outcome_of(kind: ToolKind | None, text: str, *, is_whole: bool = True) -> CallOutcome:
    """Return how a call of this kind ended, by the text of its result; not for commands.

    Of a result that was shortened (not ``is_whole``), the absence of a sign says nothing.
    """
    if kind in {"read", "search", "find"}:
        is_error = _is_short(text) and _UNREADABLE.match(_first_line(text))
        return "failed" if is_error else "ok"
    if kind == "ask":
        # What the user answers may read like anything.
        return "ok" if text else "unknown"
    if (fields := _object_in(text)) is not None:
        # Its other fields are data.
        return _outcome_in_fields(fields) or ("unknown" if kind == "plan" else "ok")
    match kind:
        case "edit" | "write":
            return _edit(text, is_whole=is_whole)
        case "plan":
            return _plan(text)
        case _:
            return _other(text)


def outcome_of_output(text: str, *, has_status: bool) -> CallOutcome:
    """Return how a command ended, by the lines of its output.

    With ``has_status`` its exit code was that of the program that did the work, though it is not
    known; without, no sign of a failure is none of a success either.
    """
    if (fields := _object_in(text)) is not None and (outcome := _outcome_in_fields(fields)):
        return outcome
    first, last, tail = _first_line(text), last_line(text), _plain(text[-_TAIL_CHARS:])
    if outcome := _stopped(first) if _is_short(text) else _timed_out(first) or _timed_out(last):
        return outcome
    if first.startswith(_TOOL_ERROR) or _reports_failure(last):
        return "failed"
    if _PASSED_LINE.match(last):
        return "ok"
    if _is_short(text) and _ERROR_ALONE.match(first):
        return "failed"
    if _FAILED_TAIL.search(tail):
        return "failed"
    if _ERROR_TAIL.search(tail) or _RUNNING.match(first):
        return "unknown"
    return "ok" if has_status else "unknown"


def plain_exit_code(text: str) -> int | None:
    """Return the exit code that an output begins or ends with, or that an object around it has."""
    fields = _object_in(text)
    if isinstance(fields, Mapping) and not _OUTPUTS.isdisjoint(fields):
        inner = (fields.get(name) for name in ("metadata", "outcome"))
        holders = (fields, *(value for value in inner if isinstance(value, Mapping)))
        for value in (holder.get(name) for holder in holders for name in _CODES):
            if _NUMBER.fullmatch(str(value)):
                return int(str(value))
    head, tail = _plain(text[:_HEAD_CHARS]).lstrip(), _plain(text[-_HEAD_CHARS:]).rstrip()
    lines = [line.strip() for line in head.split("\n")[:_MAX_HEADERS]]
    ends = [line.strip() for line in reversed(tail.split("\n")[-_MAX_HEADERS:])]
    # The lines of a client around an output, and the first and last line of any.
    headers = takewhile(_CLIENT_LINE.match, lines)
    footers = takewhile(_CLIENT_LINE.match, ends)
    for line in (*lines[:1], *headers, *ends[:1], *footers):
        if match := _CODE_LINE.fullmatch(line):
            return int(match["code"])
    return None


def stopped(text: str) -> CallOutcome | None:
    """Return how a failed call was kept from its end, None if its first line does not say so."""
    return _stopped(_first_line(text))


def last_line(text: str) -> str:
    """Return the last line of an output that is not blank and not the client's; "" if none."""
    newest = text.rstrip().rsplit("\n", _MAX_LAST_LINES)[-_MAX_LAST_LINES:]
    lines = (_plain(line[:_MAX_LINE_CHARS]).strip() for line in reversed(newest))
    return next((line for line in lines if line and not _CLIENT_LINE.match(line)), "")


def _object_in(text: str) -> Mapping[str, object] | list[object] | None:
    """Return the object or list that a text is, None for prose and for data of some length."""
    if len(text) > _MAX_OBJECT_CHARS or not text.lstrip().startswith(("{", "[{")):
        return None
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def _outcome_in_fields(value: object) -> CallOutcome | None:
    """Return how a call ended by the fields of its result; of several, the first that failed."""
    if isinstance(value, list):
        outcomes = [_outcome_in_fields(item) for item in value]
        return next((o for o in outcomes if o and o != "ok"), next(filter(None, outcomes), None))
    if not isinstance(value, Mapping):
        return None
    flags = [value[name] for name in _FLAGS if isinstance(value.get(name), bool)]
    status = value.get("status")
    stated = _STATUSES.get(status.casefold()) if isinstance(status, str) else None
    has_error = _is_error(value.get("error")) and True not in flags
    if False in flags or has_error or any(value.get(name) is True for name in _ERROR_FLAGS):
        said = " ".join(str(value.get(name, "")) for name in ("error", "exception_info"))
        if stop := _STOPPED_IN.search(said):
            return "timed out" if stop[1] else "interrupted"
        return stated if stated not in {None, "ok"} else "failed"
    return stated or ("ok" if flags else None)


def _is_error(value: object) -> bool:
    return bool(value) and not (isinstance(value, str) and value.casefold() in _NO_ERRORS)


def _edit(text: str, *, is_whole: bool) -> CallOutcome:
    """Return how an edit or write ended, by the first sentence of its result."""
    line = _PATH.sub("…", _first_line(text))
    if outcome := _stopped(line):
        return outcome
    sentence = _SENTENCE_END.split(line, maxsplit=1)[0]
    if (partly := _PARTLY.search(line)) and (not partly[1] or partly[1] != partly[2]):
        return "unknown"
    if _FAILED_START.match(sentence) or _NEGATED.search(sentence):
        return "failed"
    if _DONE.search(sentence):
        return "ok"
    return "failed" if _FAILED_WORD.search(sentence) else "ok" if is_whole else "unknown"


def _plan(text: str) -> CallOutcome:
    """Return whether a plan was agreed: only if the result says so."""
    line = _first_line(text)
    if outcome := _stopped(line):
        return outcome
    return "ok" if _AGREED.search(line) and not _UNDECIDED.search(line) else "unknown"


def _other(text: str) -> CallOutcome:
    """Return how another call ended: its result is an error only if nothing else is in it."""
    if not _is_short(text):
        return "ok"
    line = _first_line(text)
    return _stopped(line) or ("failed" if _ERROR_ALONE.match(line) else "ok")


def _is_short(text: str) -> bool:
    """Whether a result may be an error alone, and not a document."""
    return len(text) <= _MAX_ERROR_CHARS and text.strip().count("\n") < _MAX_ERROR_LINES


def _stopped(line: str) -> CallOutcome | None:
    """Return how a call was kept from its end, None if a line does not say so."""
    if _REFUSED.match(line):
        return "denied"
    return _timed_out(line) or ("interrupted" if _INTERRUPTED.match(line) else None)


def _timed_out(line: str) -> CallOutcome | None:
    return "timed out" if _TIMED_OUT.match(line) else None


def _reports_failure(line: str) -> bool:
    """Whether the last line of an output says that a program failed: not "Fixed 12 errors"."""
    counts = [
        int(match["count"])
        for match in _COUNTED.finditer(line)
        if not _REPAIRED_BEFORE.search(line[: match.start()])
        and not _REPAIRED_BEHIND.match(line[match.end() :])
    ]
    return any(counts) or (_FAILED_LINE.match(line) is not None and not _COUNTED.search(line))


def _first_line(text: str) -> str:
    return _plain(text[:_HEAD_CHARS].lstrip().partition("\n")[0].rstrip())


def _plain(text: str) -> str:
    """Return a text without colors."""
    return _COLOR.sub("", text) if "\x1b" in text else text
