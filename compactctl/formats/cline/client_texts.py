"""The texts that Cline and Roo Code put into user messages, and whose words they are."""

import json
import re
from typing import NamedTuple

from compactctl.formats.records.json_values import object_or_empty, text_or_empty

# The clients put what a person typed between these tags, to find it again; the last two are of
# Cline's SDK.
_USER_TAG = re.compile(
    r"^[ \t]*<(task|feedback|answer|user_message|user_input|user_command)\b[^>\n]*>"
    r"(.*?)(?:</\1>|\Z)",
    re.DOTALL | re.MULTILINE,
)
ENVIRONMENT = "<environment_details>"
_CLIENT = (
    "[ERROR]",
    "[TASK RESUMPTION]",
    "[NOTE]",
    "# task_progress",
    "# TODO LIST",
    "# Todo List",
    "<explicit_instructions",
    "<SYSTEM_NOTICE>",
    "<SYSTEM>\nEarlier context was compacted",
)
# "[read_file for 'a.py'] Result:" stands before a result, or alone in the text block before it.
_RESULT = re.compile(r"\[(\w+).*?\] Result:(?:\n|\Z)", re.DOTALL)
# "Tool [read_file] was not executed because ..." is all there is.
_NOT_RUN = re.compile(r"(?:Skipping tool|Tool) \[(\w+)[^\n]*?\] ")
# Tools whose result is what a person answers.
_ASKING = frozenset(
    {"ask_followup_question", "attempt_completion", "plan_mode_respond", "new_task", "condense"}
)
# What they said with their verdict on a call, or while a command ran.
_SAID = re.compile(
    r"^The user [^\n]*\n<(feedback|user_message)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.MULTILINE
)
_VERDICTS = ('{"status":"denied"', '{"status":"approved"')
_FAILURES = (
    "The tool execution failed",
    "The user denied this operation",
    '{"status":"error"',
    '{"status":"denied"',
)
_MODEL = re.compile(r"^<model>([^<\n]+)</model>", re.MULTILINE)
_FOLDER = re.compile(r"^# Current (?:Working|Workspace) Directory \((.+?)\)", re.MULTILINE)


class ResultHeader(NamedTuple):
    """The start of a tool's answer in a text: the tool, where the head ends, and whether it ran."""

    tool: str
    end: int
    ran: bool


def result_header(text: str) -> ResultHeader | None:
    """Return what a text starts with if it answers a tool call."""
    for pattern, ran in ((_RESULT, True), (_NOT_RUN, False)):
        match = pattern.match(text)
        if match:
            return ResultHeader(match[1], match.end(), ran)
    return None


def is_environment(text: str) -> bool:
    """Tell whether a text describes the editor, as the client adds it to every request."""
    return text.lstrip().startswith(ENVIRONMENT)


def user_words(text: str) -> str:
    """Return what a person typed in a text of the client, from between the tags for it."""
    if is_environment(text):
        return ""
    return "\n".join(words for match in _USER_TAG.finditer(text) if (words := match[2].strip()))


def user_words_in_result(tool: str, text: str) -> str:
    """Return what a person typed in a result: an answer, or why they turned the call down."""
    if tool in _ASKING:
        return user_words(text)
    if text.lstrip().startswith(_VERDICTS):
        return _feedback(text)
    return "\n".join(match[2].strip() for match in _SAID.finditer(text))


def _feedback(verdict: str) -> str:
    """Return what a person said with the verdict on a call, a JSON object of Roo Code."""
    try:
        value = json.loads(verdict)
    except (ValueError, RecursionError):
        return user_words(verdict)
    return text_or_empty(object_or_empty(value).get("feedback"))


def is_client_text(text: str) -> bool:
    """Tell whether a text is one that the client adds on its own."""
    return is_environment(text) or (text.lstrip().startswith(_CLIENT) and not user_words(text))


def is_failure(text: str) -> bool:
    """Tell whether a tool's answer says that it failed or was turned down."""
    return text.lstrip().startswith(_FAILURES)


def working_folder(text: str) -> str | None:
    """Return the folder that a description of the editor names."""
    match = _FOLDER.search(text) if is_environment(text) else None
    return match[1] if match else None


def model_in_environment(text: str) -> str | None:
    """Return the model that Roo Code's description of the editor names."""
    match = _MODEL.search(text) if is_environment(text) else None
    return match[1] if match else None
