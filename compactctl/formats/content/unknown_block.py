"""JSON values of unknown shape: counted as the text that they are, and never rewritten."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compactctl.formats.content.media import (
    base64_bytes,
    image_size,
    media_from_base64,
    media_from_url,
)
from compactctl.formats.records.json_values import json_text, text_or_empty
from compactctl.model.message import JsonPath, MediaPart, Part, TextPart

# Where the APIs of Anthropic, OpenAI, Google, AWS and MCP put binary data, and what names its type.
# Other things stand under the second ones as well.
_AUDIO = "audio"
_DATA_KEYS = frozenset(
    {"bytes", "blob", "base64", "b64_json", "file_data", "image", "image_url", _AUDIO}
)
_COMMON_KEYS = frozenset({"data", "url"})
_TYPE_KEYS = ("media_type", "mediaType", "mimeType", "mime_type")
_UNKNOWN_TYPE = "application/octet-stream"
# What only its provider can read: results of searches, output of programs, reasoning.
_ENCRYPTED = "encrypted_"
# Prose of this length has spaces in it.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{256,}")


def unknown_parts(value: object, path: JsonPath) -> tuple[Part, ...]:
    """Return a value as a text that stays as it is, and the media in it."""
    text, media = text_and_media(value, path)
    return (TextPart(text=text, typed="", embedded=True, path=path), *media)


def text_and_media(value: object, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:
    """Return the JSON text of a value without the base64 data in it, and that data as media.

    A string is returned as it is, and null as no text.
    """
    if value is None:
        return "", ()
    text = json_text(value)
    if isinstance(value, str) or not _BASE64.search(text):
        return text, ()
    media: list[MediaPart] = []
    try:
        rest = _without_data(value, media)
    except RecursionError:
        return text, ()
    return json_text(rest), tuple(replace(part, embedded=True, path=path) for part in media)


def _without_data(value: object, media: list[MediaPart]) -> object:
    """Return a copy of a value without base64 data, which is added to ``media``."""
    if isinstance(value, list):
        return [_without_data(item, media) for item in value]
    if not isinstance(value, Mapping):
        return value
    rest: dict[str, Any] = {}
    for key, item in value.items():
        part = _media(value, key, item)
        if part is None:
            rest[key] = _without_data(item, media)
        else:
            rest[key] = ""
            media.append(part)
    return rest


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
