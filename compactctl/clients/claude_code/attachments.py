"""Attachment records of Claude Code: the parts of them that are sent to the model."""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.content.anthropic import content_parts
from compactctl.clients.content.media import media_from_base64
from compactctl.clients.records.json_values import (
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.model.message import (
    FilePart,
    JsonPath,
    MediaPart,
    Part,
    TextPart,
    ToolDefinitionPart,
)
from compactctl.records import replace

# Attachment type -> paths of its text and its file name below the attachment (clients 2.1.x).
_FILES: dict[str, tuple[JsonPath, JsonPath]] = {
    "file": (("content", "file", "content"), ("filename",)),
    "edited_text_file": (("snippet",), ("filename",)),
    "nested_memory": (("content", "content"), ("path",)),
}
# Attachment type -> path of a list below the attachment, and the key of the text in its objects.
_LISTS: dict[str, tuple[JsonPath, str]] = {
    "invoked_skills": (("skills",), "content"),
    "mcp_resource": (("content", "contents"), "text"),
}
_MEDIA = {"image": "image/unknown", "pdf": "application/pdf"}
_DEFINITIONS: dict[str, JsonPath] = {
    "deferred_tools_delta": ("addedLines",),
    "mcp_instructions_delta": ("addedBlocks",),
    "agent_listing_delta": ("addedLines",),
    "skill_listing": ("content",),
}
_REMINDERS: dict[str, JsonPath] = {
    "todo": ("content",),
    "todo_reminder": ("content",),
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
    "total_tokens_reminder": ("text",),
    "critical_system_reminder": ("content",),
    "diagnostics": ("files",),
    "directory": ("content",),
    "hook_blocking_error": ("blockingError", "blockingError"),
    "hook_stopped_continuation": ("message",),
    "plan_file_reference": ("planContent",),
    "selected_lines_in_ide": ("content",),
    "task_progress": ("message",),
    "ultramemory": ("content",),
}
# For these, client 2.1.20 sends nothing (normalizeAttachmentForAPI).
_UNSENT_TYPES = frozenset(
    {
        "already_read_file",
        "autocheckpointing",
        "background_task_status",
        "command_permissions",
        "dynamic_skill",
        "edited_image_file",
        "hook_cancelled",
        "hook_error_during_execution",
        "hook_non_blocking_error",
        "hook_permission_decision",
        "structured_output",
    }
)
# The client sends these again, as new records, once the context no longer has them.
RESTORED_REASONS = dict.fromkeys(
    ("environment", "model", "instructions", "date", "remote_session_change"),
    "the client sends it again where it is missing",
)
# For each task_reminder the client sends 420 characters (about 82 tokens of o200k_base) before any
# tasks. The file does not contain them, so this text of the same size is counted instead.
_TASK_REMINDER = (
    "[Claude Code puts a reminder here whose wording this transcript does not contain. It says that"
    " the functions for managing tasks have remained unused lately, describes how to create, start"
    " and complete an entry, recommends tidying a collection that is outdated, and permits"
    " disregarding all of it where it does not help with the present work. These sentences only"
    " stand in for it: they are counted instead, equally long.]"
)


def attachment_parts(record: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the parts that are sent for an attachment; () if nothing is.

    Newer clients record the rendered texts, and send those again as recorded.
    """
    attachment = record.get("attachment")
    if not isinstance(attachment, Mapping):
        return ()
    kind = attachment.get("type")
    if not isinstance(kind, str):
        return ()
    if "rendered" in record:
        return tuple(_rendered(record["rendered"], kind, attachment))
    if kind in _FILES:
        return _file(attachment, *_FILES[kind])
    if kind in _DEFINITIONS:
        text, path = _text_at(attachment, _DEFINITIONS[kind])
        return (ToolDefinitionPart(name="", text=text, path=path),) if text else ()
    if kind == "task_reminder":
        return (_task_reminder(attachment),)
    if kind in _LISTS:
        return tuple(_listed(attachment, *_LISTS[kind]))
    if kind in _REMINDERS:
        return _reminder(attachment, _REMINDERS[kind])
    return ()


def may_lack_text(record: Mapping[str, Any]) -> bool:
    """Whether an attachment without parts may be sent: its text is nowhere that is read.

    One that is rendered as nothing is not sent, nor is one whose text is empty.
    """
    attachment = object_or_empty(record.get("attachment"))
    kind = text_or_empty(attachment.get("type"))
    if record.get("rendered") == [] or kind in _UNSENT_TYPES:
        return False
    paths = {**_DEFINITIONS, **_REMINDERS, **{name: path for name, (path, _) in _LISTS.items()}}
    path = _FILES[kind][0] if kind in _FILES else paths.get(kind)
    return path is None or _value_at(attachment, path)[0] not in ("", [])


def _reminder(attachment: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Return a text or content blocks; a list of other objects is one text and stays a list."""
    value, path = _value_at(attachment, path)
    objects = [item for item in list_or_empty(value) if isinstance(item, Mapping)]
    if objects and all("type" in item for item in objects):
        return content_parts(value, path)
    text = _text(value)
    return (TextPart(text=text, embedded=bool(objects), path=path),) if text else ()


def _listed(attachment: Mapping[str, Any], path: JsonPath, key: str) -> Iterator[TextPart]:
    """Yield the texts in the objects of a list, each a part of its own."""
    items, list_path = _value_at(attachment, path)
    for index, item in enumerate(map(object_or_empty, list_or_empty(items))):
        text = text_or_empty(item.get(key))
        if text:
            yield TextPart(text=text, path=(*list_path, index, key))


def _rendered(messages: object, kind: str, attachment: Mapping[str, Any]) -> Iterator[Part]:
    for index, message in enumerate(list_or_empty(messages)):
        path = ("rendered", index, "content")
        for part in content_parts(object_or_empty(message).get("content"), path):
            if not isinstance(part, TextPart):
                yield part
            elif kind in _FILES:
                name, _ = _text_at(attachment, _FILES[kind][1])
                yield FilePart(file_path=name, text=part.text, path=part.path)
            elif kind in _DEFINITIONS:
                yield ToolDefinitionPart(name="", text=part.text, path=part.path)
            else:
                yield part


def _task_reminder(attachment: Mapping[str, Any]) -> TextPart:
    """Return the tasks as the client lists them, and its reminder; the record must stay a list."""
    tasks = "\n".join(map(_task, list_or_empty(attachment.get("content"))))
    path = ("attachment", "content")
    return TextPart(text=tasks, added=_TASK_REMINDER, embedded=True, path=path)


def _task(task: object) -> str:
    if not isinstance(task, Mapping):
        return json_text(task)
    return f"#{task.get('id')}. [{task.get('status')}] {task.get('subject')}"


def _file(
    attachment: Mapping[str, Any], text_path: JsonPath, name_path: JsonPath
) -> tuple[Part, ...]:
    text, path = _text_at(attachment, text_path)
    name, _ = _text_at(attachment, name_path)
    if text:
        return (FilePart(file_path=name, text=text, path=path),)
    return _file_media(object_or_empty(attachment.get("content")))


def _file_media(content: Mapping[str, Any]) -> tuple[MediaPart, ...]:
    """Return the image or PDF of an attached file; it is stored in a form of the client's own."""
    file = object_or_empty(content.get("file"))
    data = text_or_empty(file.get("base64"))
    default = _MEDIA.get(text_or_empty(content.get("type")))
    if not data or default is None:
        return ()
    media_type = text_or_empty(file.get("type")) or default
    media = media_from_base64(data, media_type, ("attachment", "content"))
    return (replace(media, embedded=True),)


def _text_at(attachment: Mapping[str, Any], path: JsonPath) -> tuple[str, JsonPath]:
    value, path = _value_at(attachment, path)
    return _text(value), path


def _value_at(attachment: Mapping[str, Any], path: JsonPath) -> tuple[object, JsonPath]:
    value: Any = attachment
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value, ("attachment", *path)


def _text(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(map(json_text, value))
    return "" if value is None else json_text(value)
