"""The texts that Cline and Roo Code put into user messages, and whose words they are."""

import re
from typing import NamedTuple

# Both clients put what a person typed between these tags, to find it again.
_PERSON = ("<task>", "<feedback>", "<answer>", "<user_message>")
ENVIRONMENT = "<environment_details>"
_CLIENT = (
    "[ERROR]",
    "[TASK RESUMPTION]",
    "[NOTE]",
    "# task_progress",
    "# TODO LIST",
    "# Todo List",
    "<explicit_instructions",
)
# "[read_file for 'a.py'] Result:" stands before a result, or alone in the text block before it.
_RESULT = re.compile(r"\[(\w+).*?\] Result:(?:\n|\Z)", re.DOTALL)
# "Tool [read_file] was not executed because ..." is all there is.
_NOT_RUN = re.compile(r"(?:Skipping tool|Tool) \[(\w+)[^\n]*?\] ")
_FAILURES = (
    "The tool execution failed",
    "The user denied this operation",
    '{"status":"error"',
    '{"status":"denied"',
)
_MODEL = re.compile(r"^<model>([^<\n]+)</model>", re.MULTILINE)
_FOLDER = re.compile(r"^# Current (?:Working|Workspace) Directory \((.+?)\)", re.MULTILINE)


class Head(NamedTuple):
    """The start of a tool's answer in a text: the tool, where the head ends, and whether it ran."""

    tool: str
    end: int
    ran: bool


def head_of(text: str) -> Head | None:
    """Return what a text starts with if it answers a tool call."""
    for pattern, ran in ((_RESULT, True), (_NOT_RUN, False)):
        match = pattern.match(text)
        if match:
            return Head(match[1], match.end(), ran)
    return None


def is_environment(text: str) -> bool:
    """Tell whether a text describes the editor, as the client adds it to every request."""
    return text.lstrip().startswith(ENVIRONMENT)


def is_from_person(text: str) -> bool:
    """Tell whether a text holds what a person typed, between the tags for it."""
    return not is_environment(text) and any(tag in text for tag in _PERSON)


def is_from_client(text: str) -> bool:
    """Tell whether a text is one that the client adds on its own."""
    return is_environment(text) or (text.lstrip().startswith(_CLIENT) and not is_from_person(text))


def is_failure(text: str) -> bool:
    """Tell whether a tool's answer says that it failed or was turned down."""
    return text.lstrip().startswith(_FAILURES)


def working_folder(text: str) -> str | None:
    """Return the folder that a description of the editor names."""
    match = _FOLDER.search(text) if is_environment(text) else None
    return match[1] if match else None


def named_model(text: str) -> str | None:
    """Return the model that Roo Code's description of the editor names."""
    match = _MODEL.search(text) if is_environment(text) else None
    return match[1] if match else None
