"""The kind of work a tool does, by the names that agent clients give their tools."""

import re
from functools import lru_cache
from typing import Literal

ToolKind = Literal["read", "edit", "write", "search", "find", "shell"]

# Names in lower case without "_" and "-", from transcripts of Claude Code, Codex, OpenCode,
# Gemini CLI, Copilot, Cursor, Cline, Roo, Droid, pi, Kiro, OpenHands, SWE-agent and agent-code.
TOOL_KINDS: dict[ToolKind, frozenset[str]] = {
    "read": frozenset(
        {"read", "readfile", "view", "viewfile", "fileread", "openfile", "fsread", "readtextfile"}
    ),
    "edit": frozenset(
        {
            "edit", "multiedit", "fileedit", "editfile", "applypatch", "applydiff", "replace",
            "replaceinfile", "strreplace", "searchreplace", "strreplaceeditor", "notebookedit",
            "strreplacebasededittool", "insertcontent", "insertedit", "replacestringinfile",
            "inserteditintofile", "multireplacestringinfile",
        }
    ),
    "write": frozenset(
        {"write", "filewrite", "writefile", "writetofile", "create", "createfile", "fswrite"}
    ),
    "search": frozenset(
        {
            "grep", "grepsearch", "ripgrep", "rg", "searchfiles", "searchfilecontent",
            "codebasesearch", "findtextinfiles",
        }
    ),
    "find": frozenset(
        {
            "glob", "ls", "list", "listdir", "listdirectory", "listfiles", "findfiles", "find",
            "filesearch", "globfilesearch",
        }
    ),
    "shell": frozenset(
        {
            "bash", "shell", "shellcommand", "execcommand", "executebash", "executecommand",
            "runcommand", "runinterminal", "runshellcommand", "runterminalcmd", "terminal",
            "localshell", "exec", "powershell", "execute", "writestdin", "bashoutput",
        }
    ),
}  # fmt: skip

# Tools that read or edit, depending on their argument "command".
EDITORS = frozenset({"strreplaceeditor", "strreplacebasededittool"})

# Tools that load others, of Claude Code and Codex, and tools whose results of one line confirm what
# the call says: task lists, skills.
_LOADING = frozenset({"toolsearch"})
_CONFIRMING = frozenset(
    {
        "skill", "taskcreate", "taskupdate", "todowrite", "writetodos", "updateplan",
        "managetodolist", "updatetodolist",
    }
)  # fmt: skip

# Only from the start of a line: from each character it would take quadratic time.
_PREFIX = re.compile(r"^.*(?:__|[.:/])", re.MULTILINE)
_KINDS = {name: kind for kind, names in TOOL_KINDS.items() for name in names}


@lru_cache(maxsize=1024)
def plain_name(tool: str) -> str:
    """Return a tool's name in lower case, without server or namespace, "_" and "-"."""
    return _PREFIX.sub("", tool).replace("_", "").replace("-", "").casefold()


def kind_of(tool: str) -> ToolKind | None:
    """Return the kind of a tool, None if its name is not in the table."""
    return _KINDS.get(plain_name(tool))


def loads_tools(tool: str) -> bool:
    """Whether a tool only makes other tools available, which nobody needs to know later."""
    return plain_name(tool) in _LOADING


def is_confirmation(tool: str, result: str) -> bool:
    """Whether the result of a tool says no more than that its call was carried out."""
    return plain_name(tool) in _CONFIRMING and "\n" not in result.strip()
