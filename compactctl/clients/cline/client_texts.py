"""Separate the client's texts in user messages of Cline and Roo Code from what the user typed."""

import re
from typing import NamedTuple

from compactctl.clients.records.json_values import object_or_empty, text_or_empty
from compactctl.model.json_parser import parse_json

# Tools whose result is the user's answer.
_ASKING_TOOLS = frozenset({"ask_followup_question", "attempt_completion", "plan_mode_respond"})
# The clients put what the user typed between these tags, behind nothing but sentences and blocks of
# theirs or the header of an answer; the last two are of Cline's SDK. The closing tag ends the text,
# or a mentioned file follows: tags further on are in that.
_TAGGED = re.compile(
    r"\s*(?:<explicit_instructions\b[^>]*>.*?</explicit_instructions>\s*)?"
    r"(?:(?:\[TASK RESUMPTION\]|New instructions for task continuation:|The user )[\s\S]*?\n"
    rf"|\[(?:{'|'.join(sorted(_ASKING_TOOLS))})[^\n]*\] Result:\s)?[ \t]*"
    r"<(task|feedback|answer|user_message|user_input|user_command)\b[^>\n]*>"
    r"(.*?)(?:</\1>(?=\s*\Z|\n\n<)|\Z)",
    re.DOTALL,
)
# What a mentioned file or page holds, in a text of its own.
_MENTIONED = re.compile(r"\[(?:read_file|list_files|fetch_url|url) for '[^'\n]*'\]\n")
ENVIRONMENT = "<environment_details>"
_CLIENT_PREFIXES = (
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
# "[read_file for 'a.py'] Result:" is before a result, or alone in the text block before it.
_RESULT = re.compile(r"\[(\w+).*?\] Result:(?:\n|\Z| (?=\S))", re.DOTALL)
# "Tool [read_file] was not executed because ..." is a whole result.
_NOT_RUN = re.compile(r"(?:Skipping tool|Tool) \[(\w+)[^\n]*?\] ")
# Tools whose results begin with the client's own words. What others return begins with words of
# whoever wrote the file or page.
_OWN_WORDS = frozenset(
    {
        "apply_diff",
        "apply_patch",
        "delete_file",
        "edit",
        "edit_file",
        "execute_command",
        "insert_content",
        "new_rule",
        "replace_in_file",
        "run_command",
        "search_and_replace",
        "search_replace",
        "switch_mode",
        "update_todo_list",
        "write_file",
        "write_to_file",
    }
)
# What the user typed when approving or denying a call, at the start of its result.
_COMMENT = re.compile(
    r"\s*The user (?:approved|denied|provided)[^\n]*\n<(feedback|user_message)>(.*?)</\1>",
    re.DOTALL,
)
# What the user typed while a command ran, at the end of its output.
_MEANWHILE = re.compile(
    r"\s*Command is still running.*\nThe user provided the following feedback:\n"
    r"<(feedback|user_message)>(.*)</\1>\s*",
    re.DOTALL,
)
_VERDICTS = ('{"status":"denied"', '{"status":"approved"')
_MODEL = re.compile(r"^<model>([^<\n]+)</model>", re.MULTILINE)
_FOLDER = re.compile(r"^# Current (?:Working|Workspace) Directory \((.+?)\)", re.MULTILINE)


class ResultHeader(NamedTuple):
    """The header of a tool's result in a text: the tool, the header's end, and whether it ran."""

    tool: str
    end: int
    ran: bool


def result_header(text: str) -> ResultHeader | None:
    """Return the header that a text starts with, or None if it is not a tool's result."""
    for pattern, ran in ((_RESULT, True), (_NOT_RUN, False)):
        match = pattern.match(text)
        if match:
            return ResultHeader(match[1], match.end(), ran)
    return None


def is_environment(text: str) -> bool:
    """Return whether a text is the description of the editor that is added to every request."""
    return text.lstrip().startswith(ENVIRONMENT)


def user_words(text: str) -> str:
    """Return what the user typed, from between the client's tags in a text; "" if nothing."""
    match = None if is_environment(text) else _TAGGED.match(text)
    return match[2].strip() if match else ""


def user_words_in_result(tool: str, text: str) -> str:
    """Return what the user typed in a tool's result: an answer, or a comment on the call."""
    if tool in _ASKING_TOOLS:
        return user_words(text)
    if tool not in _OWN_WORDS:
        return ""
    if text.lstrip().startswith(_VERDICTS):
        return _feedback(text)
    comment = _MEANWHILE.fullmatch(text) or _COMMENT.match(text)
    return comment[2].strip() if comment else ""


def _feedback(verdict: str) -> str:
    """Return the feedback in a verdict, which Roo Code writes as a JSON object."""
    try:
        value = parse_json(verdict)
    except ValueError:
        return user_words(verdict)
    return text_or_empty(object_or_empty(value).get("feedback"))


def asks_user(tool: str) -> bool:
    """Return whether the result of a tool is what the user says."""
    return tool in _ASKING_TOOLS


def begins_as_client(text: str) -> bool:
    """Return whether a text begins with words of the client that begin no tool's result."""
    is_mentioned = _MENTIONED.match(text) is not None
    return is_environment(text) or is_mentioned or text.lstrip().startswith(_CLIENT_PREFIXES)


def is_client_text(text: str) -> bool:
    """Return whether the client wrote a text, with nothing that the user typed in it."""
    return begins_as_client(text) and not user_words(text)


def working_folder(text: str) -> str | None:
    """Return the working folder in a description of the editor, or None."""
    match = _FOLDER.search(text) if is_environment(text) else None
    return match[1] if match else None


def model_in_environment(text: str) -> str | None:
    """Return the model in Roo Code's description of the editor, or None."""
    match = _MODEL.search(text) if is_environment(text) else None
    return match[1] if match else None
