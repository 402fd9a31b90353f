"""Attachment records of Claude Code: the parts of them that are sent to the model."""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.claude_code.record_kinds import ATTACHMENTS, AttachmentKind
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

_MEDIA = {"image": "image/unknown", "pdf": "application/pdf"}
_RESTORED = "the client sends it again where it is missing"
_UNKNOWN = AttachmentKind(form="unread")
# So many of the paths of these forms lead to a text; the rest name a file or a key.
_N_TEXTS = {"file": 1, "list": 1}
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

    Newer clients record the rendered texts, and send those again as recorded, if there are any.
    """
    attachment = record.get("attachment")
    if not isinstance(attachment, Mapping):
        return ()
    if record.get("rendered"):
        return tuple(_rendered(record["rendered"], attachment))
    return tuple(_stored(attachment, kind_of(attachment)))


def without_copy(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record without the attachment from which what it records as sent was made."""
    if not record.get("rendered"):
        return record
    return {key: value for key, value in record.items() if key != "attachment"}


def kind_of(attachment: Mapping[str, Any]) -> AttachmentKind:
    """Return the kind of an attachment; an unknown one may be sent, in whatever words."""
    return ATTACHMENTS.get(text_or_empty(attachment.get("type")), _UNKNOWN)


def restored_reason(record: Mapping[str, Any]) -> str | None:
    """Return why an attachment comes back if it is removed; None if it does not."""
    return _RESTORED if kind_of(object_or_empty(record.get("attachment"))).restored else None


def may_lack_text(record: Mapping[str, Any]) -> bool:
    """Whether an attachment without parts may be sent: its text is nowhere that is read.

    One whose text is empty is not sent.
    """
    attachment = object_or_empty(record.get("attachment"))
    kind = kind_of(attachment)
    if kind.form in ("unsent", "statement"):
        return False
    if not _is_for(kind, attachment):
        return False
    values = [_value_at(attachment, path)[0] for path in kind.paths[: _N_TEXTS.get(kind.form)]]
    return not any(value in ("", []) for value in values)


def _is_for(kind: AttachmentKind, attachment: Mapping[str, Any]) -> bool:
    """Whether the client sends an attachment of the hook event that it names."""
    event = attachment.get("hookEvent")
    return not kind.events or event is None or event in kind.events


def _stored(attachment: Mapping[str, Any], kind: AttachmentKind) -> Iterator[Part]:
    """Yield the parts of an attachment without texts that were recorded as sent."""
    if not _is_for(kind, attachment):
        return
    match kind.form:
        case "file":
            yield from _file(attachment, *kind.paths)
        case "definition":
            text, path = _text_at(attachment, *kind.paths)
            if text:
                yield ToolDefinitionPart(name="", text=text, path=path)
        case "tasks":
            yield _task_reminder(attachment)
        case "list":
            list_path, (key,) = kind.paths
            yield from _listed(attachment, list_path, str(key))
        case "texts":
            for path in kind.paths:
                yield from _reminder(attachment, path)
        case "unread" | "unsent" | "statement":
            pass


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


def _rendered(messages: object, attachment: Mapping[str, Any]) -> Iterator[Part]:
    kind = kind_of(attachment)
    for index, message in enumerate(list_or_empty(messages)):
        path = ("rendered", index, "content")
        for part in content_parts(object_or_empty(message).get("content"), path):
            if not isinstance(part, TextPart):
                yield part
            elif kind.form == "file":
                name, _ = _text_at(attachment, kind.paths[1])
                yield FilePart(file_path=name, text=part.text, path=part.path)
            elif kind.form == "definition":
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
