"""Attachment records of Claude Code: which text of them the model is sent."""

from collections.abc import Mapping
from typing import Any

from compactctl.formats.records.json_text import json_text
from compactctl.model.message import FilePart, JsonPath, Part, TextPart, ToolDefinitionPart

# Attachment type -> path of its text below the record; found in files of clients 2.1.x.
_FILES: dict[str, tuple[JsonPath, JsonPath]] = {
    "file": (("content", "file", "content"), ("filename",)),
    "edited_text_file": (("snippet",), ("filename",)),
    "nested_memory": (("content", "content"), ("path",)),
}
_DEFINITIONS: dict[str, JsonPath] = {
    "deferred_tools_delta": ("addedLines",),
    "mcp_instructions_delta": ("addedBlocks",),
    "agent_listing_delta": ("addedLines",),
    "skill_listing": ("content",),
}
_REMINDERS: dict[str, JsonPath] = {
    "task_reminder": ("content",),
    "todo": ("content",),
    "queued_command": ("prompt",),
    "hook_additional_context": ("content",),
    "hook_system_message": ("content",),
    "hook_success": ("content",),
    "plan_mode": ("content",),
    "plan_mode_exit": ("content",),
    "auto_mode": ("content",),
    "auto_mode_exit": ("content",),
    "date_change": ("newDate",),
    "compact_file_reference": ("filename",),
}


def attachment_message_parts(record: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return what the model is sent for an attachment; () when that is nothing."""
    attachment = record.get("attachment")
    if not isinstance(attachment, Mapping):
        return ()
    kind = attachment.get("type")
    if not isinstance(kind, str):
        return ()
    if kind in _FILES:
        return _file(attachment, *_FILES[kind])
    if kind in _DEFINITIONS:
        text, path = _text_at(attachment, _DEFINITIONS[kind])
        return (ToolDefinitionPart(name="", text=text, path=path),) if text else ()
    if kind in _REMINDERS:
        text, path = _text_at(attachment, _REMINDERS[kind])
        return (TextPart(text=text, path=path),) if text else ()
    return ()


def _file(
    attachment: Mapping[str, Any], text_path: JsonPath, name_path: JsonPath
) -> tuple[Part, ...]:
    text, path = _text_at(attachment, text_path)
    name, _ = _text_at(attachment, name_path)
    return (FilePart(file_path=name, text=text, path=path),) if text else ()


def _text_at(attachment: Mapping[str, Any], path: JsonPath) -> tuple[str, JsonPath]:
    value: Any = attachment
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return ("" if value is None else _joined(value)), ("attachment", *path)


def _joined(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(json_text(item) for item in value)
    return json_text(value)
