"""Images, files and sounds given as a URL or as base64 data; the data is never kept."""

from compactctl.formats.content.image_size import base64_bytes, image_size
from compactctl.model.message import JsonPath, MediaPart

# Of a URL up to its colon; base64 data has none.
_LONGEST_SCHEME = 20


def media_from_url(url: str, default_type: str, path: JsonPath) -> MediaPart:
    """Return what a data URL or a link stands for; the size of a link's target is unknown."""
    if not url.startswith("data:"):
        return MediaPart(media_type=default_type, n_bytes=0, path=path)
    head, _, data = url.partition(",")
    media_type = head.removeprefix("data:").partition(";")[0]
    return media_from_base64(data, media_type or default_type, path)


def media_from_text(text: str, media_type: str, path: JsonPath) -> MediaPart:
    """Return what a link, a data URL or base64 data stands for."""
    if ":" in text[:_LONGEST_SCHEME]:
        return media_from_url(text, media_type, path)
    return media_from_base64(text, media_type, path)


def media_from_base64(data: str, media_type: str, path: JsonPath) -> MediaPart:
    """Return what base64 data stands for, with its pixel size where the header tells."""
    width, height = image_size(data) if media_type.startswith("image/") else (0, 0)
    return MediaPart(
        media_type=media_type, n_bytes=base64_bytes(data), width=width, height=height, path=path
    )
