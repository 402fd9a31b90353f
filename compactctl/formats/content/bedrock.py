"""What Bedrock Converse has in messages and results: texts, media, documents, search results."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compactctl.formats.content.media import media_from_base64
from compactctl.formats.content.unknown_block import text_and_media, unknown_parts
from compactctl.formats.records.json_values import list_or_empty, object_or_empty, text_or_empty
from compactctl.model.message import (
    FilePart,
    JsonPath,
    MediaPart,
    Part,
    TextPart,
)

_MEDIA = {"image": "image", "video": "video", "audio": "audio", "document": "application"}
_TEXTS = frozenset({"txt", "md", "csv", "html"})


def said_parts(block: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    """Yield what is said by a block that may stand in a message or in a result."""
    kind = next((name for name in _MEDIA if isinstance(block.get(name), Mapping)), None)
    if isinstance(block.get("text"), str):
        yield TextPart(text=block["text"], path=(*path, "text"))
    elif kind is not None:
        yield from _medium(kind, block[kind], path)
    elif isinstance(block.get("searchResult"), Mapping):
        found, at = block["searchResult"], (*path, "searchResult", "content")
        name = text_or_empty(found.get("source"))
        yield from _texts(found.get("content"), at, name)
    else:
        yield from unknown_parts(block, path)


def _medium(kind: str, block: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    """Yield a picture or another medium, or the text that a document is."""
    source, name = object_or_empty(block.get("source")), text_or_empty(block.get("name"))
    at, extension = (*path, kind, "source"), text_or_empty(block.get("format"))
    # Strands puts its bytes into an object, and so does JavaScript.
    data = object_or_empty(source.get("bytes")).get("data", source.get("bytes"))
    text = _decoded(data) if kind == "document" and extension in _TEXTS else None
    if isinstance(source.get("text"), str):
        yield FilePart(file_path=name, text=source["text"], path=(*at, "text"))
    elif isinstance(source.get("content"), list):
        yield from _texts(source["content"], (*at, "content"), name)
    elif text is not None:
        yield FilePart(file_path=name, text=text, path=(*at, "bytes"))
    else:
        media_type = f"{_MEDIA[kind]}/{extension or 'unknown'}"
        part = media_from_base64(text_or_empty(data), media_type, path)
        yield part if isinstance(data, str) else replace(part, n_bytes=_count(data))


def _count(data: object) -> int:
    """Return how many bytes JavaScript has written as numbers."""
    return len(data) if isinstance(data, list | Mapping) else 0


def _decoded(data: object) -> str | None:
    try:
        return base64.b64decode(text_or_empty(data)).decode() if data else None
    except (binascii.Error, ValueError):
        return None


def _texts(items: object, path: JsonPath, name: str) -> Iterator[Part]:
    for index, item in enumerate(map(object_or_empty, list_or_empty(items))):
        if isinstance(item.get("text"), str):
            yield FilePart(file_path=name, text=item["text"], path=(*path, index, "text"))


def result_content(items: object, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:
    """Return the text and the media of a result, which is rewritten as a whole at ``path``."""
    if not isinstance(items, list):
        return text_and_media(items, path)
    texts: list[str] = []
    media: list[MediaPart] = []
    for item in map(object_or_empty, items):
        if "json" in item:
            text, inner = text_and_media(item["json"], path)
            texts.append(text)
            media += inner
            continue
        for part in said_parts(item, path):
            if isinstance(part, MediaPart):
                media.append(part)
            elif isinstance(part, TextPart | FilePart):
                texts.append(part.text)
    return "\n".join(texts), tuple(media)


def with_text(path: JsonPath, current: object, text: str) -> object:
    """Return what stands in place of a text or a medium once that is ``text``."""
    if path[-1] == "bytes":
        return base64.b64encode(text.encode("utf-8", "replace")).decode()
    return text if isinstance(current, str) else {"text": text}
