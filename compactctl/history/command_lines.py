"""Command lines in tool calls, and their normal form."""

import posixpath
import re
from collections.abc import Mapping
from typing import NamedTuple

from compactctl.history.read_calls import PATH_KEYS
from compactctl.history.tool_names import kind_of

_COMMAND_KEYS = ("command", "cmd", "script")
# Arguments beside which a "command" is a subcommand, of an editor or of a task list.
_OTHER_KEYS = frozenset({*PATH_KEYS, "file_text", "old_str", "task_list", "todos", "id"})
# A leading command that only chooses the folder, one that limits the time, and what cuts the output
# short.
_FOLDER = re.compile(r"""\s*(?:cd|pushd)\s+("[^"]*"|'[^']*'|[^\s;&|]+)[^\S\n]*(?:&&|;|\n)\s*""")
_TIMEOUT = re.compile(r"\s*timeout\s+(?=\S)")
_TIMEOUT_VALUES = frozenset({"-k", "-s", "--kill-after", "--signal"})
_SUBSHELL = re.compile(r"\s*\(([^()]*)\)\s*")
_OUTPUT_FILTER = re.compile(
    r" ?(?:2>&1|\|&? ?(?:tail|head)\b[^|;&]*|\| ?tee (?:-a )?[\w./-]{1,200}\.(?:log|txt|out)"
    r"|; ?echo [^;&|]*\$\?[^;&|]*)(?= |$)"
)
_SPACE = re.compile(r"\s+")


class NormalCommand(NamedTuple):
    """A command without what says where it runs and how much of its output is shown.

    ``folder`` is where it runs, "" if the line does not say so, or if it is the session's own.
    """

    folder: str
    text: str


def command_line(tool: str, arguments: Mapping[str, object]) -> str | None:
    """Return the command line that a call runs, None if its tool runs none."""
    kind = kind_of(tool)
    if kind not in {"shell", None} or (kind is None and not _OTHER_KEYS.isdisjoint(arguments)):
        return None
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, list) and value:
            # The script is the last word of ["bash", "-lc", SCRIPT].
            script = {"-c", "-lc"} & {str(word) for word in value}
            value = str(value[-1]) if script else " ".join(map(str, value))
        if isinstance(value, str) and value.strip():
            return value
    return None


def normalize_command(
    line: str, cwd: str | None = None, folder: str | None = None
) -> NormalCommand:
    """Return a command in its normal form.

    ``cwd`` is the session's working folder, ``folder`` the one that the call names.

        cd /w/api && timeout 60 npm test 2>&1 | tail -5  ->  /w/api · npm test
    """
    if subshell := _SUBSHELL.fullmatch(line):
        line = subshell[1]
    place, start = folder or "", 0
    while match := _FOLDER.match(line, start):
        start = match.end()
        place = posixpath.join(place, match[1].strip("\"'"))
    if place:
        place = posixpath.normpath(posixpath.join(cwd or "", place))
    text = _OUTPUT_FILTER.sub("", _SPACE.sub(" ", _without_timeout(line[start:])))
    return NormalCommand("" if place in {".", cwd} else place, text.strip())


def _without_timeout(line: str) -> str:
    """Remove a leading ``timeout`` with its options and the time."""
    match = _TIMEOUT.match(line)
    if match is None:
        return line
    word, _, rest = line[match.end() :].partition(" ")
    while word.startswith("-"):
        _, _, rest = rest.partition(" ") if word in _TIMEOUT_VALUES else ("", "", rest)
        word, _, rest = rest.partition(" ")
    return rest
