"""Images and files in events of Copilot CLI, whose data may stand in an event of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compactctl.formats.content.media_url import media_from_base64
from compactctl.formats.records.json_values import list_or_empty, text_or_empty
from compactctl.model.message import JsonPath, MediaPart, Part, TextPart

# What an attachment that is sent itself says about its data.
_DATA = frozenset({"assetId", "data", "mimeType", "byteLength"})


class Assets:
    """Takes in binary data as it is recorded; later events refer to it by its id."""

    def __init__(self) -> None:
        self._known: dict[str, MediaPart] = {}

    def take(self, data: Mapping[str, Any]) -> None:
        """Take in the data of a ``session.binary_asset`` event."""
        self._known[text_or_empty(data.get("assetId"))] = _inline(data, ())

    def results(self, result: Mapping[str, Any], path: JsonPath) -> tuple[MediaPart, ...]:
        """Return the media that a tool's result at ``path`` sends beside its text."""
        items = list_or_empty(result.get("binaryResultsForLlm"))
        return tuple(
            self._part(item, (*path, "binaryResultsForLlm", index))
            for index, item in enumerate(items)
            if isinstance(item, Mapping)
        )

    def attachments(self, data: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
        """Yield what the attachments of a user message add to its text.

        A file that is not sent itself is a line of text with its path.
        """
        for index, item in enumerate(list_or_empty(data.get("attachments"))):
            if not isinstance(item, Mapping):
                continue
            at = (*path, "attachments", index)
            tagged = text_or_empty(item.get("taggedFilesEntry"))
            if tagged:
                yield TextPart(text=tagged, path=(*at, "taggedFilesEntry"))
            elif item.keys() & {"assetId", "data"}:
                yield self._part(item, at)

    def _part(self, item: Mapping[str, Any], path: JsonPath) -> MediaPart:
        known = self._known.get(text_or_empty(item.get("assetId")))
        return replace(known, path=path) if known else _inline(item, path)


def as_text(attachment: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return an attachment that is not sent itself, but as a line of text."""
    kept = {name: value for name, value in attachment.items() if name not in _DATA}
    return {**kept, "type": "file", "taggedFilesEntry": text}


def _inline(item: Mapping[str, Any], path: JsonPath) -> MediaPart:
    """Return what a piece of binary data stands for; of omitted data only the size is left."""
    media_type = text_or_empty(item.get("mimeType")) or "application/octet-stream"
    data = text_or_empty(item.get("data"))
    if data:
        return media_from_base64(data, media_type, path)
    size = item.get("byteLength")
    return MediaPart(media_type=media_type, n_bytes=size if isinstance(size, int) else 0, path=path)
