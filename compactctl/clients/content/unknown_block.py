"""JSON values of unknown shape: counted as JSON text, and never rewritten."""

import re
from collections.abc import Mapping
from typing import Any

from compactctl.clients.content.media import (
    base64_bytes,
    image_size,
    media_from_base64,
    media_from_url,
)
from compactctl.clients.records.json_values import json_text, text_or_empty
from compactctl.model.message import JsonPath, MediaPart, Part, TextPart
from compactctl.records import replace

# Keys under which the APIs of Anthropic, OpenAI, Google, AWS and MCP store binary data, and those
# that name its type. The common keys also hold other things.
_AUDIO = "audio"
_DATA_KEYS = frozenset(
    {"bytes", "blob", "base64", "b64_json", "file_data", "image", "image_url", _AUDIO}
)
_COMMON_KEYS = frozenset({"data", "url"})
_TYPE_KEYS = ("media_type", "mediaType", "mimeType", "mime_type")
_UNKNOWN_TYPE = "application/octet-stream"
# Only the provider can read these: search results, program output, reasoning.
_ENCRYPTED = "encrypted_"
# Prose of this length has spaces in it.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{256,}")


def unknown_parts(value: object, path: JsonPath) -> tuple[Part, ...]:
    """Return a value as a text that is never edited, and the media in it."""
    text, media = text_and_media(value, path)
    return (TextPart(text=text, typed="", embedded=True, path=path), *media)


def text_and_media(value: object, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:
    """Return the JSON text of a value without its base64 data, and that data as media.

    A string is returned unchanged, and null as "".
    """
    if value is None:
        return "", ()
    text = json_text(value)
    if isinstance(value, str) or not _BASE64.search(text):
        return text, ()
    media: list[MediaPart] = []
    try:
        stripped = _without_data(value, media)
    except RecursionError:
        return text, ()
    # Nobody reads them as images, so what they really are does not matter.
    parts = (replace(part, embedded=True, real_type=None, path=path) for part in media)
    return json_text(stripped), tuple(parts)


def _without_data(value: object, media: list[MediaPart]) -> object:
    """Return a copy of a value without base64 data; append that to ``media``."""
    if isinstance(value, list):
        return [_without_data(item, media) for item in value]
    if not isinstance(value, Mapping):
        return value
    copy: dict[str, Any] = {}
    for key, item in value.items():
        part = _media(value, key, item)
        if part is None:
            copy[key] = _without_data(item, media)
        else:
            copy[key] = ""
            media.append(part)
    return copy


def _media(holder: Mapping[str, Any], key: str, item: object) -> MediaPart | None:
    if not isinstance(item, str):
        return None
    if key.startswith(_ENCRYPTED) and _BASE64.search(item):
        return MediaPart(media_type=_UNKNOWN_TYPE, n_bytes=base64_bytes(item))
    if key not in _DATA_KEYS | _COMMON_KEYS:
        return None
    media_type = next(filter(None, (text_or_empty(holder.get(k)) for k in _TYPE_KEYS)), "")
    if item.startswith("data:"):
        return media_from_url(item, media_type or _UNKNOWN_TYPE, ())
    if not _BASE64.fullmatch(item.rstrip("=")):
        return None
    if not media_type and key == _AUDIO:
        media_type = "audio/unknown"
    if not media_type and any(image_size(item)):
        media_type = "image/unknown"
    if not media_type and key in _COMMON_KEYS:
        return None
    return media_from_base64(item, media_type or _UNKNOWN_TYPE, ())
