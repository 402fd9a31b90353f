"""Command lines in tool calls, and their normal form."""

import re
from collections.abc import Mapping

from compactctl.history.tool_names import kind_of

_COMMAND_KEYS = ("command", "cmd", "script")
# A leading cd, and what cuts the output short.
_LEADING_CD = re.compile(r"^\s*cd\s+[^;&|]+(?:&&|;)\s*")
_OUTPUT_FILTER = re.compile(r"\s*(?:2>&1|\|\s*(?:tail|head)\b[^|;&]*)(?=\s|$)")
_SPACE = re.compile(r"\s+")


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


def normalize_command(command: str) -> str:
    """Remove a leading ``cd`` and what cuts the output short, as ``| tail -5``."""
    return _SPACE.sub(" ", _OUTPUT_FILTER.sub("", _LEADING_CD.sub("", command))).strip()
