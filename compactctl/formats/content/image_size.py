"""Pixel size of an image from the first bytes of its base64 data."""

from compactctl.formats.content.base64_data import base64_data

# Enough for any PNG, GIF or WebP header and for a JPEG with embedded metadata and thumbnail.
_HEADER_CHARS = 88_000
# Bytes up to the end of the size, in each format's header.
_PNG_SIZE_END = 24
_GIF_SIZE_END = 10
_WEBP_SIZE_END = 30
_JPEG_MARKER = 0xFF
_JPEG_FRAMES = frozenset({0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB})


def image_size(data: str) -> tuple[int, int]:
    """Return width and height in pixels, (0, 0) when the header is not understood."""
    head = base64_data(data, _HEADER_CHARS)
    for read in (_png, _gif, _webp, _jpeg):
        size = read(head)
        if size is not None:
            return size
    return (0, 0)


def _png(head: bytes) -> tuple[int, int] | None:
    if not head.startswith(b"\x89PNG\r\n\x1a\n") or len(head) < _PNG_SIZE_END:
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _gif(head: bytes) -> tuple[int, int] | None:
    if head[:6] not in (b"GIF87a", b"GIF89a") or len(head) < _GIF_SIZE_END:
        return None
    return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")


def _webp(head: bytes) -> tuple[int, int] | None:
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP" or len(head) < _WEBP_SIZE_END:
        return None
    if head[12:16] == b"VP8X":
        width, height = head[24:27], head[27:30]
        return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
    if head[12:16] == b"VP8 ":
        width, height = head[26:28], head[28:30]
        return int.from_bytes(width, "little") & 0x3FFF, int.from_bytes(height, "little") & 0x3FFF
    bits = int.from_bytes(head[21:25], "little")
    return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1


def _jpeg(head: bytes) -> tuple[int, int] | None:
    if not head.startswith(b"\xff\xd8"):
        return None
    at = 2
    while at + 9 < len(head) and head[at] == _JPEG_MARKER:
        if head[at + 1] in _JPEG_FRAMES:
            height, width = head[at + 5 : at + 7], head[at + 7 : at + 9]
            return int.from_bytes(width, "big"), int.from_bytes(height, "big")
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return None
