"""Content of Bedrock Converse messages and results: text, media, documents, search results."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.content.media import (
    media_from_base64,
    media_from_bytes,
    media_from_text,
)
from compactctl.clients.content.unknown_block import text_and_media, unknown_parts
from compactctl.clients.records.json_values import list_or_empty, object_or_empty, text_or_empty
from compactctl.model.message import (
    FilePart,
    JsonPath,
    MediaPart,
    Part,
    TextPart,
)

_TYPE_PREFIXES = {"image": "image", "video": "video", "audio": "audio", "document": "application"}
_TEXT_FORMATS = frozenset({"txt", "md", "csv", "html"})


def content_block_parts(block: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    """Yield the parts of a block that both messages and results may contain."""
    kind = next((name for name in _TYPE_PREFIXES if isinstance(block.get(name), Mapping)), None)
    if isinstance(block.get("text"), str):
        yield TextPart(text=block["text"], path=(*path, "text"))
    elif kind is not None:
        yield from _media_parts(kind, block[kind], path)
    elif isinstance(block.get("searchResult"), Mapping):
        search_result, content_path = block["searchResult"], (*path, "searchResult", "content")
        name = text_or_empty(search_result.get("source"))
        yield from _text_files(search_result.get("content"), content_path, name)
    else:
        yield from unknown_parts(block, path)


def _media_parts(kind: str, block: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    """Yield a medium, or the text of a document."""
    source, name = object_or_empty(block.get("source")), text_or_empty(block.get("name"))
    source_path, extension = (*path, kind, "source"), text_or_empty(block.get("format"))
    # Strands and JavaScript wrap the bytes in an object.
    data = object_or_empty(source.get("bytes")).get("data", source.get("bytes"))
    text = _decode_text(data) if kind == "document" and extension in _TEXT_FORMATS else None
    if isinstance(source.get("text"), str):
        yield FilePart(file_path=name, text=source["text"], path=(*source_path, "text"))
    elif isinstance(source.get("content"), list):
        yield from _text_files(source["content"], (*source_path, "content"), name)
    elif text is not None:
        yield FilePart(file_path=name, text=text, path=(*source_path, "bytes"))
    else:
        media_type = f"{_TYPE_PREFIXES[kind]}/{extension or 'unknown'}"
        if data is None:
            yield media_from_text("", media_type, path)
        elif isinstance(data, str):
            yield media_from_base64(data, media_type, path)
        else:
            yield media_from_bytes(_numbered_bytes(data), media_type, path)


def _numbered_bytes(data: object) -> bytes:
    """Return data that JavaScript wrote as a list of numbers, or as an object of them."""
    numbers = [*data.values()] if isinstance(data, Mapping) else list_or_empty(data)
    try:
        return bytes(numbers)
    except (TypeError, ValueError):
        return b""


def _decode_text(data: object) -> str | None:
    try:
        return base64.b64decode(text_or_empty(data)).decode() if data else None
    except (binascii.Error, ValueError):
        return None


def _text_files(items: object, path: JsonPath, name: str) -> Iterator[Part]:
    for index, item in enumerate(map(object_or_empty, list_or_empty(items))):
        if isinstance(item.get("text"), str):
            yield FilePart(file_path=name, text=item["text"], path=(*path, index, "text"))


def result_content(items: object, path: JsonPath) -> tuple[str, tuple[MediaPart, ...]]:
    """Return the text and media of a result; ``path`` is where the result is replaced."""
    if not isinstance(items, list):
        return text_and_media(items, path)
    texts: list[str] = []
    media: list[MediaPart] = []
    for item in items:
        if not isinstance(item, Mapping) or "json" in item:
            value = item["json"] if isinstance(item, Mapping) else item
            text, inner = text_and_media(value, path)
            texts.append(text)
            media += inner
            continue
        for part in content_block_parts(item, path):
            if isinstance(part, MediaPart):
                media.append(part)
            elif isinstance(part, TextPart | FilePart):
                texts.append(part.text)
    return "\n".join(texts), tuple(media)


def new_block(path: JsonPath, current: object, text: str) -> object:
    """Return ``text`` as the new value at the path of a text or medium."""
    if path[-1] == "bytes":
        return base64.b64encode(text.encode("utf-8", "replace")).decode()
    return text if isinstance(current, str) else {"text": text}
