"""The kind of work a tool does, by the names that agent clients give their tools."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

ToolKind = Literal[
    "read", "edit", "write", "search", "find", "shell", "plan", "ask", "agent", "tasks", "poll"
]

# What the tools of each client do, from its sessions and its source of the version named; names
# are in lower case without "_" and "-". Several words for one thing are tools of several versions.
CLIENT_TOOLS: Mapping[str, Mapping[ToolKind, str]] = {
    "Claude Code 1.0 to 2.1": {
        "read": "read",
        "edit": "edit multiedit notebookedit",
        "write": "write",
        "search": "grep",
        "find": "glob ls",
        "shell": "bash powershell",
        "poll": "bashoutput taskoutput",
        "plan": "exitplanmode",
        "ask": "askuserquestion",
        "agent": "task agent",
        "tasks": "todowrite taskcreate taskupdate",
    },
    "Codex 0.58 to 0.142": {
        "edit": "applypatch",
        "find": "listdir",
        "shell": "shell shellcommand execcommand localshell exec writestdin",
        "ask": "requestuserinput",
        "tasks": "updateplan",
    },
    "OpenCode 1.2": {
        "read": "read",
        "edit": "edit multiedit patch applypatch",
        "write": "write",
        "search": "grep",
        "find": "glob list",
        "shell": "bash",
        "ask": "question",
        "agent": "task",
        "tasks": "todowrite",
    },
    "Gemini CLI 0.1 to 0.56": {
        "read": "readfile",
        "edit": "replace",
        "write": "writefile",
        "search": "searchfilecontent",
        "find": "glob listdirectory",
        "shell": "runshellcommand",
        "plan": "exitplanmode",
        "ask": "askuser",
        "tasks": "writetodos",
    },
    "Copilot CLI 1.0": {
        "read": "view",
        "edit": "edit strreplaceeditor applypatch",
        "write": "create",
        "search": "grep rg",
        "find": "glob",
        "shell": "bash powershell",
        "plan": "exitplanmode",
        "ask": "askuser",
        "tasks": "updatetodo",
    },
    "VS Code Copilot Chat 0.42": {
        "read": "readfile",
        "edit": "replacestringinfile multireplacestringinfile inserteditintofile applypatch",
        "write": "createfile",
        "search": "grepsearch findtextinfiles",
        "find": "filesearch listdir",
        "shell": "runinterminal",
        "ask": "vscodeaskquestions",
        "tasks": "managetodolist",
    },
    "Cursor, sessions of 2025": {
        "read": "readfile",
        "edit": "editfile searchreplace",
        "write": "write",
        "search": "grep codebasesearch",
        "find": "globfilesearch listdir",
        "shell": "runterminalcmd",
        "tasks": "todowrite",
    },
    "Cline 3 and Roo Code, source of April 2026": {
        "read": "readfile",
        "edit": "replaceinfile applydiff insertcontent applypatch editor",
        "write": "writetofile",
        "search": "searchfiles",
        "find": "listfiles",
        "shell": "executecommand runcommand runcommands",
        "ask": "askfollowupquestion",
        "tasks": "updatetodolist",
    },
    "Factory Droid, a session of 2025": {
        "read": "read",
        "edit": "edit multiedit applypatch",
        "write": "create",
        "search": "grep",
        "find": "glob ls",
        "shell": "execute",
        "tasks": "todowrite",
    },
    "pi 0.58": {
        "read": "read",
        "edit": "edit",
        "write": "write",
        "search": "grep",
        "find": "find ls",
        "shell": "bash",
        "ask": "ask askuser question",
    },
    "Kiro, a session of 2025": {"read": "fsread", "write": "fswrite", "shell": "executebash"},
    "OpenHands V0 of November 2025 and SWE-agent": {
        "read": "openfile",
        "edit": "strreplaceeditor strreplacebasededittool",
        "shell": "executebash bash terminal",
        "tasks": "tasktracker",
    },
    "agent-code, source of August 2026": {
        "read": "fileread",
        "edit": "fileedit",
        "write": "filewrite",
        "search": "grep",
        "find": "glob",
        "shell": "bash",
    },
    "servers of files": {
        "read": "readtextfile viewfile",
        "edit": "editfile strreplace insertedit",
        "write": "writefile",
        "search": "ripgrep",
        "find": "listdirectory findfiles",
    },
}

# Tools that read or edit, depending on their argument "command".
_EDITORS = frozenset({"strreplaceeditor", "strreplacebasededittool"})

# Tools that load others, of Claude Code and Codex, and tools beside task lists whose results of one
# line confirm what the call says.
_LOADING = frozenset({"toolsearch"})
_CONFIRMING = frozenset({"skill"})
# What tools do that look at things or change them.
_WORK: frozenset[ToolKind | None] = frozenset(
    {"read", "edit", "write", "search", "find", "shell", "poll"}
)

# Only from the start of a line: from each character it would take quadratic time.
_PREFIX = re.compile(r"^.*(?:__|[.:/])", re.MULTILINE)
_KINDS: Mapping[str, ToolKind] = {
    name: kind
    for tools in CLIENT_TOOLS.values()
    for kind, names in tools.items()
    for name in names.split()
}


@lru_cache(maxsize=1024)
def plain_name(tool: str) -> str:
    """Return a tool's name in lower case, without server or namespace, "_" and "-"."""
    return _PREFIX.sub("", tool).replace("_", "").replace("-", "").casefold()


def kind_of(tool: str) -> ToolKind | None:
    """Return the kind of a tool, None if its name is not in the table."""
    return _KINDS.get(plain_name(tool))


def does_work(tool: str) -> bool:
    """Whether a tool is known to look at things or to change them."""
    return kind_of(tool) in _WORK


def is_editor(tool: str) -> bool:
    """Whether a tool reads or edits, depending on its argument "command"."""
    return plain_name(tool) in _EDITORS


def loads_tools(tool: str) -> bool:
    """Whether a tool only makes other tools available, which nobody needs to know later."""
    return plain_name(tool) in _LOADING


def is_confirmation(tool: str, result: str) -> bool:
    """Whether the result of a tool says no more than that its call was carried out."""
    confirms = kind_of(tool) == "tasks" or plain_name(tool) in _CONFIRMING
    return confirms and "\n" not in result.strip()
