"""What clients tell their hooks and status lines on standard input, and the transcript in it."""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# Documented by Claude Code, Codex and Gemini CLI; Copilot CLI writes them together.
_TRANSCRIPT = ("transcript_path", "transcriptPath")
_SESSION = ("session_id", "sessionId")
# Copilot CLI names the folder of a session.
_IN_FOLDER = "events.jsonl"
_MOST = 64_000_000
"""Bytes that are read; a hook may be told the result of a tool."""
_OPENS, _NEXT = "{", ","
_SPACE = re.compile(r"[ \t\r\n]*")


def read_hook_input() -> Mapping[str, Any]:
    """Return what a client says on standard input; empty for anything but a JSON object."""
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    try:
        told = json.loads(sys.stdin.buffer.read(_MOST))
    except (ValueError, OSError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def transcript_of(told: Mapping[str, Any]) -> str | None:
    """Return the transcript of the session that a client tells of; None where it names none."""
    path = next((told[name] for name in _TRANSCRIPT if told.get(name)), None)
    if not isinstance(path, str) or not any(name in told for name in _SESSION):
        return None
    return str(Path(path) / _IN_FOLDER) if os.path.isdir(path) else path  # noqa: PTH112 - any text


def hook_fields_at_start(start: bytes) -> Mapping[str, Any]:
    """Return the members of a JSON object that are whole in the start of one; empty for none.

    Clients name the session and its transcript before anything that may be long.
    """
    return dict(_members(start.decode("utf-8", "surrogateescape")))


def _members(text: str) -> Iterator[tuple[str, Any]]:
    decoder = json.JSONDecoder()
    at, mark = _behind_space(text, 0), _OPENS
    try:
        while text[at : at + 1] == mark:
            name, at = decoder.raw_decode(text, _behind_space(text, at + 1))
            value, at = decoder.raw_decode(text, _behind_space(text, _behind_space(text, at) + 1))
            yield name, value
            at, mark = _behind_space(text, at), _NEXT
    except (ValueError, RecursionError):
        return


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
