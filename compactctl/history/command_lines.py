"""Command lines in tool calls, and their normal form."""

import posixpath
import re
from collections.abc import Mapping
from typing import NamedTuple

from compactctl.history.tool_names import kind_of

_COMMAND_KEYS = ("command", "cmd", "script")
# Leading commands that only choose the folder or the time limit, and what cuts the output short.
_FOLDER = re.compile(r"""\s*cd\s+("[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*""")
_LIMIT = re.compile(
    r"\s*timeout\s+(?:(?:-[ks]|--kill-after|--signal)\s+\S+\s+|-\S+\s+)*[\d.]+[smhd]?\s+"
)
_OUTPUT_FILTER = re.compile(
    r"\s*(?:2>&1|\|\s*(?:tail|head|tee)\b[^|;&]*|;\s*echo\s+[^;&|]*\$\?[^;&|]*)(?=\s|$)"
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
    if kind_of(tool) not in {"shell", None}:
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


def normalize_command(line: str, cwd: str | None = None) -> NormalCommand:
    """Return a command in its normal form; ``cwd`` is the session's working folder.

    cd /w/api && npm test 2>&1 | tail -5  ->  /w/api · npm test
    """
    folder, start = "", 0
    while match := _FOLDER.match(line, start) or _LIMIT.match(line, start):
        start = match.end()
        if match.re is _FOLDER:
            folder = posixpath.join(folder, match[1].strip("\"'"))
    if folder:
        folder = posixpath.normpath(posixpath.join(cwd or "", folder))
    text = _SPACE.sub(" ", _OUTPUT_FILTER.sub("", line[start:])).strip()
    return NormalCommand("" if folder in {".", cwd} else folder, text)
