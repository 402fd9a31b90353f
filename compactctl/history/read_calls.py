"""Which file and lines a tool call reads, and which files it changes."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from compactctl.history.tool_names import is_editor, kind_of, plain_name
from compactctl.model.json_parser import parse_json
from compactctl.model.message import ToolCallPart
from compactctl.records import Record

PATH_KEYS = (
    "file_path", "filePath", "path", "notebook_path", "file", "target_file", "absolute_path",
    "absolutePath",
)  # fmt: skip
FIRST_KEYS = ("start_line", "startLine", "start_line_one_indexed", "offset")
LAST_KEYS = ("end_line", "endLine", "end_line_one_indexed_inclusive")
# Arguments of edits with the replaced text and the new one: Claude Code, OpenCode, the editor of
# SWE-agent and OpenHands, pi.
OLD_TEXTS = frozenset({"old_string", "oldString", "old_str", "oldText"})
NEW_TEXTS = frozenset({"new_string", "newString", "new_str", "newText"})
COMMAND_KEYS = ("command", "cmd")
FOLDER_KEYS = ("workdir", "cwd")

_PATH = (
    r"""(?:"(?P<double>[^"$`\\\n]+)"|'(?P<single>[^'\n]+)'"""
    r"""|(?P<bare>[\w./@%+=:,~][\w./@%+=:,~-]*))"""
)
_SHELL_READS = tuple(
    re.compile(rf"\s*{form}\s+{_PATH}\s*")
    for form in (
        r"cat",
        r"""sed\s+-n\s+(?P<quote>['"]?)(?P<first>\d{1,9}),(?P<last>\d{1,9}|\$)p(?P=quote)""",
        r"head\s+-(?:n\s*)?(?P<last>\d{1,9})",
    )
)
# The header of a file in a patch: what happens to it, its path, and its new path.
_PATCHED = re.compile(
    r"^\*\*\* (Update|Add|Delete) File: (.+?)[^\S\n]*$(?:\n\*\*\* Move to: (.+?)[^\S\n]*$)?",
    re.MULTILINE,
)
_APPLIES_PATCH = re.compile(r"(?:^|[;&|(\n])[^\S\n]*(?:\S*/)?apply_?patch\b")
_PATCH_ACTIONS = {"Add": "written", "Update": "edited", "Delete": "deleted"}
_SHELL_ARGV_LENGTH = 3


class LineRange(Record, kw_only=False):
    """The lines that a call requests, numbered as its tool does; ``last`` is None for the end."""

    first: int
    last: int | None

    def is_within(self, other: "LineRange | None") -> bool:
        """Whether ``other`` includes all of these lines; None is the whole file."""
        if other is None or other.last is None:
            return other is None or other.first <= self.first
        return other.first <= self.first and self.last is not None and self.last <= other.last


class ReadRequest(Record, kw_only=False):
    """A request to read a file; ``lines`` is None for the whole file."""

    path: str
    lines: LineRange | None


class ExtraReadTools(Record):
    """Names of additional tools that read a file, and of arguments that hold its path."""

    tools: tuple[str, ...] = ()
    path_keys: tuple[str, ...] = ()

    def include(self, tool: str) -> bool:
        """Whether a tool is one of them; server prefix, case, "_" and "-" do not matter."""
        return plain_name(tool) in {plain_name(name) for name in self.tools}


NO_EXTRA_TOOLS = ExtraReadTools()


def read_request(
    call: ToolCallPart, *, cwd: str | None = None, extra_tools: ExtraReadTools = NO_EXTRA_TOOLS
) -> ReadRequest | None:
    """Return the file and lines that a tool call reads; None unless it reads a single file.

    Of shell commands, only ``cat PATH``, ``sed -n 'A,Bp' PATH`` and ``head -n N PATH`` count.
    """
    return _read_request(call.tool, call.arguments, cwd, extra_tools)


# Stages look up the same calls over and over.
@lru_cache(maxsize=4096)
def _read_request(
    tool: str, text: str, cwd: str | None, extra_tools: ExtraReadTools
) -> ReadRequest | None:
    kind = kind_of(tool)
    if kind == "shell":
        return _shell_read(_arguments(text), cwd)
    reads = kind == "read" or extra_tools.include(tool)
    if not (reads or is_editor(tool)):
        return None
    arguments = _arguments(text)
    if reads or arguments.get("command") == "view":
        path = first_text(arguments, (*extra_tools.path_keys, *PATH_KEYS))
        return ReadRequest(normal_path(path, cwd), _line_range(arguments)) if path else None
    return None


def edited_paths(call: ToolCallPart, *, cwd: str | None = None) -> tuple[str, ...]:
    """Return the files that a tool call writes, edits or patches."""
    kind = kind_of(call.tool)
    if kind not in ("edit", "write", "shell"):
        return ()
    arguments = _arguments(call.arguments)
    if arguments.get("command") == "view":
        return ()
    path = None if kind == "shell" else first_text(arguments, PATH_KEYS)
    patch = "\n".join(_texts(arguments)) or call.arguments
    # In a shell, only what is given to the program for patches is one.
    is_patch = kind != "shell" or _APPLIES_PATCH.search(patch) is not None
    patched = [name for _, name in patched_files(patch)] if is_patch else []
    paths = [path] if path else patched or list(_nested_paths(arguments))
    return tuple(dict.fromkeys(normal_path(path, cwd) for path in paths))


def patched_files(patch: str) -> Iterator[tuple[str, str]]:
    """Yield what a patch does to each file, and the file's path; a new path after the old one."""
    for header, path, new_path in _PATCHED.findall(patch):
        yield "moved" if new_path else _PATCH_ACTIONS[header], path
        if new_path:
            yield "edited", new_path


def _nested_paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths in the objects of an argument that is a list, as in several edits at once."""
    for value in arguments.values():
        items = value if isinstance(value, list) else ()
        paths = (first_text(item, PATH_KEYS) for item in items if isinstance(item, Mapping))
        yield from filter(None, paths)


def normal_path(path: str, cwd: str | None = None) -> str:
    r"""Normalize a path: ``/`` for ``\``, no ``./`` or ``//``, relative to ``cwd`` if inside."""
    plain = posixpath.normpath(re.sub("/{2,}", "/", path.strip().replace("\\", "/")))
    folder = normal_path(cwd).rstrip("/") + "/" if cwd else "/"
    return plain.removeprefix(folder) if folder != "/" else plain


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        value = parse_json(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {"input": value}


def _texts(arguments: Mapping[str, Any]) -> Iterator[str]:
    for value in arguments.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))


def first_text(arguments: Mapping[str, object], keys: tuple[str, ...]) -> str | None:
    """Return the first of the named arguments that is a string and not blank; None if none is."""
    values = (arguments.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _line_range(arguments: Mapping[str, Any]) -> LineRange | None:
    match arguments.get("view_range"):
        case [int(start), int(end)]:
            # An end of -1 means the end of the file.
            return LineRange(start, end if end >= start else None)
        case _:
            pass
    first = _first_number(arguments, FIRST_KEYS)
    last = _first_number(arguments, LAST_KEYS)
    limit = _first_number(arguments, ("limit",))
    if first is None and last is None and limit is None:
        return None
    if last is None and limit is not None:
        last = (1 if first is None else first) + limit - 1
    return LineRange(1 if first is None else first, last)


def _first_number(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    values = (arguments.get(key) for key in keys)
    return next((v for v in values if isinstance(v, int) and not isinstance(v, bool)), None)


def _shell_read(arguments: Mapping[str, Any], cwd: str | None) -> ReadRequest | None:
    command = _command(arguments)
    match = next((m for form in _SHELL_READS if (m := form.fullmatch(command))), None)
    if match is None:
        return None
    groups = match.groupdict()
    path = groups["double"] or groups["single"] or groups["bare"]
    folder = first_text(arguments, FOLDER_KEYS)
    path = posixpath.join(folder, path) if folder else path
    return ReadRequest(normal_path(path, cwd), _matched_range(groups))


def _matched_range(groups: Mapping[str, str | None]) -> LineRange | None:
    first, last = groups.get("first"), groups.get("last")
    if last is None:
        return None
    return LineRange(int(first or 1), None if last == "$" else int(last))


def _command(arguments: Mapping[str, Any]) -> str:
    value = next((arguments[key] for key in COMMAND_KEYS if key in arguments), "")
    if not isinstance(value, list):
        return value if isinstance(value, str) else ""
    words = [str(word) for word in value]
    # ["bash", "-lc", SCRIPT] is how Codex and others run a script.
    if len(words) == _SHELL_ARGV_LENGTH and words[1] in ("-c", "-lc"):
        return words[2]
    return "" if any(" " in word for word in words) else " ".join(words)
