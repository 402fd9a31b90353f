"""Reads the JSON that clients send to hooks and status lines, and the transcript it names."""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compactctl.store.files.objects import is_object

# Documented by Claude Code, Codex and Gemini CLI; Copilot CLI writes them together.
_TRANSCRIPT = ("transcript_path", "transcriptPath")
_SESSION = ("session_id", "sessionId")
# Copilot CLI names the folder of a session.
_IN_FOLDER = "events.jsonl"
_MAX_BYTES = 64_000_000
"""Bytes that are read; the input of a hook may contain a tool result."""
_OPENS, _NEXT = "{", ","
_SPACE = re.compile(r"[ \t\r\n]*")


def read_hook_input() -> Mapping[str, Any]:
    """Return the JSON object on standard input; empty for anything else, or a terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    try:
        document = json.loads(sys.stdin.buffer.read(_MAX_BYTES))
    except (ValueError, OSError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def transcript_of(hook_input: Mapping[str, Any]) -> str | None:
    """Return the path of the session's transcript, None if the client names none.

    The URL of an object does not count: clients have their sessions on this machine, and a
    transcript that looks like the input of a hook must not open a connection.
    """
    path = next((hook_input[name] for name in _TRANSCRIPT if hook_input.get(name)), None)
    if (
        not isinstance(path, str)
        or is_object(path)
        or not any(name in hook_input for name in _SESSION)
    ):
        return None
    return str(Path(path) / _IN_FOLDER) if os.path.isdir(path) else path  # noqa: PTH112 - any text


def hook_fields_at_start(start: bytes) -> Mapping[str, Any]:
    """Return the complete members in the beginning of a JSON object.

    Clients name the session and its transcript before anything that may be long:

        b'{"session_id": "a", "tool_response": "..'  ->  {"session_id": "a"}
    """
    return dict(_members(start.decode("utf-8", "surrogateescape")))


def _members(text: str) -> Iterator[tuple[str, Any]]:
    decoder = json.JSONDecoder()
    pos, delimiter = _behind_space(text, 0), _OPENS
    try:
        while text[pos : pos + 1] == delimiter:
            name, pos = decoder.raw_decode(text, _behind_space(text, pos + 1))
            value, pos = decoder.raw_decode(text, _behind_space(text, _behind_space(text, pos) + 1))
            yield name, value
            pos, delimiter = _behind_space(text, pos), _NEXT
    except (ValueError, RecursionError):
        return


def _behind_space(text: str, pos: int) -> int:
    match = _SPACE.match(text, pos)
    return pos if match is None else match.end()
