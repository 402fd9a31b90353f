"""What images and PDF documents are by their own bytes, and ones made for tests."""

import base64
import re
import struct
import zlib
from typing import NamedTuple

_PNG = b"\x89PNG\r\n\x1a\n"


class Image(NamedTuple):
    """The media type and pixels of an image, 0 of each where its header does not say."""

    media_type: str
    width: int = 0
    height: int = 0


def read_image(data: bytes) -> Image | None:
    """Return what an image is by its header, or None if it is none that anybody shows."""
    if data.startswith(_PNG) and len(data) >= 24:
        return Image("image/png", *struct.unpack(">II", data[16:24]))
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return Image("image/gif", *struct.unpack("<HH", data[6:10]))
    if data.startswith(b"\xff\xd8\xff"):
        return Image("image/jpeg", *_jpeg_pixels(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Image("image/webp")
    if data.startswith(b"BM"):
        return Image("image/bmp")
    return None


def _jpeg_pixels(data: bytes) -> tuple[int, int]:
    """Return width and height by the first frame header (a marker C0 to CF but C4, C8 and CC)."""
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return width, height
        place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    return 0, 0


def count_pages(data: bytes) -> int:
    """Return the number of pages of a PDF whose objects are not compressed."""
    return len(re.findall(rb"/Type\s*/Page\b", data))


def png(width: int = 8, height: int = 8, n_bytes: int = 0) -> bytes:
    """Return a gray PNG, which a text chunk fills to ``n_bytes`` if there is room for one."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\x80" * width) * height, 9)
    chunks = [_chunk(b"IHDR", header), _chunk(b"IDAT", pixels), _chunk(b"IEND", b"")]
    comment = _chunk(b"tEXt", b"Comment\0")
    missing = n_bytes - len(_PNG) - sum(map(len, [*chunks, comment]))
    if missing > 0:
        chunks.insert(1, _chunk(b"tEXt", b"Comment\0" + b"." * missing))
    return _PNG + b"".join(chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bmp() -> bytes:
    """Return a bitmap of one black pixel."""
    header = struct.pack("<IiiHHIIiiII", 40, 1, 1, 1, 24, 0, 4, 2835, 2835, 0, 0)
    return b"BM" + struct.pack("<IHHI", 58, 0, 0, 54) + header + b"\0" * 4


def pdf(pages: int = 1, n_bytes: int = 0) -> bytes:
    """Return a PDF of empty pages, with a comment that fills it to at least ``n_bytes``."""
    kids = " ".join(f"{number} 0 R" for number in range(3, pages + 3))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {pages}/Kids[{kids}]>>",
        *["<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>"] * pages,
    ]
    body = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode()
    body += b"%" + b"." * max(0, n_bytes - len(body)) + b"\n"
    size = len(objects) + 1
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = f"trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def encoded(data: bytes) -> str:
    """Return base64 of bytes, as APIs take them."""
    return base64.b64encode(data).decode()


def decoded(text: str) -> bytes:
    """Return the bytes of base64, or none if it is not base64."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
