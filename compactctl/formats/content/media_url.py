"""Images, files and sounds given as a URL or as base64 data; the data is never kept."""

from compactctl.formats.content.base64_data import base64_bytes, base64_data
from compactctl.formats.content.image_size import image_size
from compactctl.formats.content.pdf_pages import is_pdf, page_count
from compactctl.formats.content.recording_length import recording_seconds
from compactctl.model.message import JsonPath, MediaPart

# Of a URL up to its colon; base64 data has none.
_LONGEST_SCHEME = 20
_RECORDINGS = ("audio/", "video/")
_PDF = "application/pdf"
# What tells an image or a PDF stands in so many characters.
_HEAD_CHARS = 2_048


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
    """Return what base64 data stands for, with the pixels, seconds or pages that it has.

    The data itself tells an image or a PDF of another type.
    """
    width = height = pages = 0
    seconds = 0.0
    if media_type.startswith(_RECORDINGS):
        seconds = recording_seconds(base64_data(data), media_type)
    elif not media_type.startswith("image/") and is_pdf(base64_data(data, _HEAD_CHARS)):
        media_type, pages = _PDF, page_count(base64_data(data))
    else:
        width, height = image_size(data)
        if width and not media_type.startswith("image/"):
            media_type = "image/unknown"
    return MediaPart(
        media_type=media_type,
        n_bytes=base64_bytes(data),
        width=width,
        height=height,
        seconds=seconds,
        pages=pages,
        path=path,
    )
