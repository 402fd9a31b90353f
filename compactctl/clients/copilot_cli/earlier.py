"""What earlier events of a Copilot CLI session hold that later ones name."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.content.media import media_from_base64
from compactctl.clients.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
    utf16_units,
)
from compactctl.model.message import JsonPath, MediaPart, Part, TextPart
from compactctl.records import replace

SKILL_TEXTS = frozenset({"skill.invoked", "skill.context_delivered"})
"""The types of events whose ``content`` others name by its SHA-256."""
_SKILL_NAMES = frozenset({"skill.invoked_ref", "skill.context_delivered_ref"})


class EarlierEvents:
    """Binary data, texts of skills, tools of calls and commands of the user, by their ids."""

    def __init__(self) -> None:
        self.tools: dict[str, str] = {}
        self._media: dict[str, MediaPart] = {}
        self._skills: dict[str, str] = {}
        self._commands: dict[str, str] = {}

    def add(self, kind: str, data: Mapping[str, Any]) -> None:
        """Add an event."""
        if kind == "session.binary_asset":
            self._media[text_or_empty(data.get("assetId"))] = _inline(data, ())
        elif kind in SKILL_TEXTS:
            text = text_or_empty(data.get("content"))
            self._skills[content_id(text)] = text
        elif kind == "tool.user_requested":
            command = text_or_empty(object_or_empty(data.get("arguments")).get("command"))
            self._commands[text_or_empty(data.get("toolCallId"))] = command
        elif kind == "assistant.message":
            for request in map(object_or_empty, list_or_empty(data.get("toolRequests"))):
                name = text_or_empty(request.get("toolCallId"))
                self.tools[name] = text_or_empty(request.get("name"))

    def command(self, call_id: str) -> str:
        """Return the command that the user ran with a call; "" if it is not recorded."""
        return self._commands.get(call_id, "")

    def skill_text(self, data: Mapping[str, Any]) -> str:
        """Return the text of a skill that an event names; "" if it is not recorded."""
        return self._skills.get(text_or_empty(data.get("contentId")), "")

    def refusal_reason(self, kind: str, data: Mapping[str, Any]) -> str:
        """Return why the client refuses a session with this event, as a clause; "" if it does not.

        As 1.0.102 does.
        """
        if kind not in _SKILL_NAMES:
            return ""
        if text_or_empty(data.get("contentId")) not in self._skills:
            return f"{kind} names a text of a skill that is in no event before it"
        length = utf16_units(self.skill_text(data))
        if data.get("contentLength", length) != length:
            return f"{kind} states another length than that of the text that it names"
        return ""

    def result_media(self, result: Mapping[str, Any], path: JsonPath) -> tuple[MediaPart, ...]:
        """Return the media that are sent with the text of a tool's result at ``path``."""
        items = list_or_empty(result.get("binaryResultsForLlm"))
        return tuple(
            self._media_part(item, (*path, "binaryResultsForLlm", index))
            for index, item in enumerate(items)
            if isinstance(item, Mapping)
        )

    def attachments(self, data: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
        """Yield the parts of a user message's attachments.

        A file that is not sent with its data is a line of text with its path.
        """
        for index, item in enumerate(list_or_empty(data.get("attachments"))):
            if not isinstance(item, Mapping):
                continue
            item_path = (*path, "attachments", index)
            text = text_or_empty(item.get("taggedFilesEntry"))
            if text:
                yield TextPart(text=text, path=(*item_path, "taggedFilesEntry"))
            elif item.keys() & {"assetId", "data"}:
                yield self._media_part(item, item_path)

    def _media_part(self, item: Mapping[str, Any], path: JsonPath) -> MediaPart:
        media = self._media.get(text_or_empty(item.get("assetId")))
        return replace(media, path=path) if media else _inline(item, path)


def content_id(text: str) -> str:
    """Return the id by which later events name a text."""
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _inline(item: Mapping[str, Any], path: JsonPath) -> MediaPart:
    """Return binary data as media; if the data was omitted, only its size is recorded."""
    media_type = text_or_empty(item.get("mimeType")) or "application/octet-stream"
    data = text_or_empty(item.get("data"))
    if data:
        return media_from_base64(data, media_type, path)
    size = item.get("byteLength")
    return MediaPart(media_type=media_type, n_bytes=size if isinstance(size, int) else 0, path=path)
