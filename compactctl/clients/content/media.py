"""Size images, documents and recordings in URLs or base64; only a document's text is kept."""

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from struct import error as struct_error
from struct import unpack_from
from urllib.parse import unquote_to_bytes

from compactctl.clients.content.document_text import document_text
from compactctl.model.message import JsonPath, MediaPart
from compactctl.records import replace

# Enough for any PNG, GIF or WebP header and for a JPEG with embedded metadata and thumbnail.
_IMAGE_HEADER_CHARS = 88_000
# Bytes up to the end of the size, in each format's header.
_PNG_SIZE_END = 24
_GIF_SIZE_END = 10
_WEBP_SIZE_END = 30
_JPEG_MARKER = 0xFF
_JPEG_FRAMES = frozenset({0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB})

_PDF_MAGIC = b"%PDF-"
# As in PDF readers, other bytes may precede the magic.
_PDF_HEAD_BYTES = 1_024
_PDF_TOKEN = re.compile(rb"<<|>>|/Type\s*/Pages?\b|/Count\s+(\d{1,7})")
_OBJECT_STREAM = re.compile(rb"/ObjStm\b")
_STREAM_START = re.compile(rb"stream\r?\n")
# The bytes searched for the start of a stream, and the bytes decompressed at most.
_MAX_DICTIONARY = 1_024
_MAX_DECOMPRESSED = 64 << 20

# The first bytes of images, and the brands of those in ISO containers.
_IMAGE_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"II*\x00": "image/tiff",
    b"MM\x00*": "image/tiff",
}
_IMAGE_BRANDS = {
    **dict.fromkeys((b"avif", b"avis"), "image/avif"),
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"), "image/heic"),
}
# A bitmap's magic is followed by its size and four bytes of zeros.
_BMP = re.compile(rb"BM.{4}\0{4}", re.DOTALL)
_SVG = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<(?:\?xml|!DOCTYPE|!--)[^<]{0,2048})*<svg[\s>]")
# What somebody wrote in the place of base64, as in ``<image removed>``, or over what looked secret.
_NOT_BASE64 = re.compile(r"[^\w+/=\s-]|redacted|removed|omitted", re.IGNORECASE)
_MAX_PLACEHOLDER = 200

# OpenAI's ``pcm16`` has no header: 16 bits, one channel, 24 kHz.
_PCM16_BYTES_PER_SECOND = 48_000
_ID3_HEADER = 10
# kbit/s by the index in a frame's header, for layer III of MPEG 1 and of MPEG 2.
_MP3_KBITS = (
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
)
# Samples per second in MPEG 1 by the index in a frame's header, and the right shift of these by the
# version bits (0: MPEG 2.5, 2: MPEG 2, 3: MPEG 1).
_MP3_RATES = (44_100, 48_000, 32_000, 0)
_MP3_SHIFTS = (2, 0, 1, 0)
_MPEG_1, _NO_MPEG = 3, 1
_LAYER_3 = 1
_MP3_SYNC = 0x7FF
_OPUS_RATE = 48_000

# A URL has a colon within these characters; base64 data has none.
_MAX_SCHEME_CHARS = 20
_RECORDING_TYPES = ("audio/", "video/")
_PDF = "application/pdf"


def base64_bytes(data: str) -> int:
    """Return the decoded size of base64 text without decoding it."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def image_size(data: str) -> tuple[int, int]:
    """Return width and height in pixels; (0, 0) if the format is unknown."""
    return _pixels(_base64_data(data, _IMAGE_HEADER_CHARS))


def image_type(head: bytes) -> str:
    """Return the media type of an image by its first bytes; "" for no known image format."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp":
        return _IMAGE_BRANDS.get(head[8:12], "")
    kind = next((kind for magic, kind in _IMAGE_MAGIC.items() if head.startswith(magic)), "")
    if kind:
        return kind
    if _BMP.match(head):
        return "image/bmp"
    return "image/svg+xml" if _SVG.match(head) else ""


def _pixels(head: bytes) -> tuple[int, int]:
    for read in (_png, _gif, _webp, _jpeg):
        size = read(head)
        if size is not None:
            return size
    return (0, 0)


def media_from_url(url: str, default_type: str, path: JsonPath) -> MediaPart:
    """Describe the target of a data URL or a link; a link has no known size."""
    if not url.startswith("data:"):
        return MediaPart(media_type=default_type, n_bytes=0, path=path)
    head, _, data = url.partition(",")
    media_type = head.removeprefix("data:").partition(";")[0] or default_type
    if head.endswith(";base64"):
        return media_from_base64(data, media_type, path)
    return media_from_bytes(unquote_to_bytes(data), media_type, path)


def media_from_text(text: str, media_type: str, path: JsonPath) -> MediaPart:
    """Describe the target of a link or a data URL, or base64 data; "" if it is elsewhere."""
    if not text:
        return MediaPart(media_type=media_type, n_bytes=0, path=path)
    if ":" in text[:_MAX_SCHEME_CHARS]:
        return media_from_url(text, media_type, path)
    return media_from_base64(text, media_type, path)


def media_from_base64(data: str, media_type: str, path: JsonPath) -> MediaPart:
    """Describe base64 data; see ``media_from_bytes``."""
    if media_type.startswith("image/"):
        head = _base64_data(data, _IMAGE_HEADER_CHARS)
        width, height = _pixels(head)
        return MediaPart(
            media_type=media_type,
            n_bytes=base64_bytes(data),
            width=width,
            height=height,
            real_type=None if _NOT_BASE64.search(data[:_MAX_PLACEHOLDER]) else image_type(head),
            path=path,
        )
    part = media_from_bytes(_base64_data(data), media_type, path)
    return replace(part, n_bytes=base64_bytes(data))


def media_from_bytes(data: bytes, media_type: str, path: JsonPath) -> MediaPart:
    """Describe a file, with its size in pixels, seconds or pages, or its text.

    An image, a PDF or any other document is recognized by its content, whatever ``media_type``
    says.
    """
    part = MediaPart(media_type=media_type, n_bytes=len(data), path=path)
    if media_type.startswith(_RECORDING_TYPES):
        return replace(part, seconds=_recording_seconds(data, media_type))
    width, height = _pixels(data)
    if width:
        is_declared = media_type.startswith("image/")
        kind = media_type if is_declared else "image/unknown"
        size = replace(part, media_type=kind, width=width, height=height)
        return replace(size, real_type=image_type(data))
    if media_type.startswith("image/"):
        return replace(part, real_type=image_type(data))
    if _is_pdf(data):
        return replace(part, media_type=_PDF, pages=_page_count(data))
    return replace(part, text=document_text(data, media_type))


def _base64_data(data: str, max_chars: int | None = None) -> bytes:
    """Decode the first ``max_chars`` characters of base64 text; b"" if it is not base64."""
    if max_chars is not None and len(data) > max_chars:
        data = data[: max_chars // 4 * 4]
    text = data.rstrip("=")
    try:
        # Google's SDK writes the URL-safe alphabet; this decodes both.
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""


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
    pos = 2
    while pos + 9 < len(head) and head[pos] == _JPEG_MARKER:
        if head[pos + 1] in _JPEG_FRAMES:
            height, width = head[pos + 5 : pos + 7], head[pos + 7 : pos + 9]
            return int.from_bytes(width, "big"), int.from_bytes(height, "big")
        pos += 2 + int.from_bytes(head[pos + 2 : pos + 4], "big")
    return None


def _is_pdf(data: bytes) -> bool:
    return _PDF_MAGIC in data[:_PDF_HEAD_BYTES]


def _page_count(data: bytes) -> int:
    """Return the number of pages; 0 if the document is encrypted or damaged.

    The root of the page tree has the largest count; without a root, count the pages themselves.
    Newer documents store the tree in compressed object streams.
    """
    max_count = n_pages = 0
    for stream in (data, *_object_streams(data)):
        count, pages = _count_pages(stream)
        max_count, n_pages = max(max_count, count), n_pages + pages
    return max_count or n_pages


def _count_pages(data: bytes) -> tuple[int, int]:
    """Return the largest count of any page tree node, and the number of page objects."""
    max_count = pages = 0
    # For each open dictionary: whether it is a page tree node, and its count.
    open_dictionaries: list[tuple[bool, int]] = []
    for match in _PDF_TOKEN.finditer(data):
        token = match[0]
        if token == b"<<":
            open_dictionaries.append((False, 0))
        elif token == b">>":
            is_node, count = open_dictionaries.pop() if open_dictionaries else (False, 0)
            max_count = max(max_count, count) if is_node else max_count
        elif token.endswith(b"/Page"):
            pages += 1
        elif open_dictionaries:
            is_node, count = open_dictionaries[-1]
            open_dictionaries[-1] = (is_node, int(match[1])) if match[1] else (True, count)
    return max_count, pages


def _object_streams(data: bytes) -> Iterator[bytes]:
    """Yield the decompressed object streams; nearly all use deflate."""
    pos, remaining = 0, _MAX_DECOMPRESSED
    while remaining > 0 and (match := _OBJECT_STREAM.search(data, pos)):
        start = _STREAM_START.search(data, match.end(), match.end() + _MAX_DICTIONARY)
        if start is None:
            pos = match.end()
            continue
        pos = end = data.find(b"endstream", start.end())
        if end < 0:
            return
        try:
            stream = zlib.decompressobj().decompress(data[start.end() : end], remaining)
        except zlib.error:
            continue
        remaining -= len(stream)
        yield stream


def _recording_seconds(data: bytes, media_type: str) -> float:
    """Return the length of a recording in seconds, or 0 if it is unknown.

    Reads WAV, MP3, Ogg with Opus or Vorbis, FLAC, and MP4 containers.
    """
    if media_type.endswith("pcm16"):
        return len(data) / _PCM16_BYTES_PER_SECOND
    read = next((read for magic, read in _DURATION_READERS.items() if data.startswith(magic)), None)
    if read is None:
        read = _mp4 if data[4:8] == b"ftyp" else _mp3
    try:
        return max(0.0, read(data))
    except (struct_error, IndexError, ValueError, ZeroDivisionError):
        return 0.0


def _wav(data: bytes) -> float:
    pos, bytes_per_second = 12, 0
    while pos + 8 <= len(data):
        name, size = unpack_from("<4sI", data, pos)
        pos += 8
        if name == b"fmt ":
            (bytes_per_second,) = unpack_from("<I", data, pos + 8)
        elif name == b"data":
            # A file that was streamed while recording may have no size.
            return float(min(size or len(data), len(data) - pos) / bytes_per_second)
        pos += size + size % 2
    return 0.0


def _mp3(data: bytes) -> float:
    return sum(_mp3_frames(data))


def _mp3_frames(data: bytes) -> Iterator[float]:
    """Yield the length of each frame in seconds; stop at the first bytes that are not a frame."""
    pos = 0
    if data.startswith(b"ID3"):
        high, upper, lower, low = data[6:10]
        pos = _ID3_HEADER + (high << 21 | upper << 14 | lower << 7 | low)
    while pos + 4 <= len(data):
        (header,) = unpack_from(">I", data, pos)
        version, layer = header >> 19 & 3, header >> 17 & 3
        is_frame = header >> 21 == _MP3_SYNC and version != _NO_MPEG and layer == _LAYER_3
        rate = _MP3_RATES[header >> 10 & 3] >> _MP3_SHIFTS[version]
        kbits = _MP3_KBITS[version != _MPEG_1][header >> 12 & 15]
        if not (is_frame and rate and kbits):
            return
        samples = 1_152 if version == _MPEG_1 else 576
        pos += samples // 8 * kbits * 1_000 // rate + (header >> 9 & 1)
        yield samples / rate


def _ogg(data: bytes) -> float:
    page = data.rfind(b"OggS")
    (position,) = unpack_from("<q", data, page + 6)
    opus = data.find(b"OpusHead", 0, 256)
    if opus >= 0:
        (skipped,) = unpack_from("<H", data, opus + 10)
        return float((position - skipped) / _OPUS_RATE)
    (rate,) = unpack_from("<I", data, data.index(b"\x01vorbis", 0, 256) + 12)
    return float(position / rate)


def _flac(data: bytes) -> float:
    # 20 bits of sample rate, 8 other bits, 36 bits of sample count.
    (bits,) = unpack_from(">Q", data, 18)
    return float((bits & 0xF_FFFF_FFFF) / (bits >> 44))


def _mp4(data: bytes) -> float:
    header = data.index(b"mvhd") + 4
    pos, layout = (header + 20, ">IQ") if data[header] else (header + 12, ">II")
    scale, length = unpack_from(layout, data, pos)
    return float(length / scale)


_DURATION_READERS: Mapping[bytes, Callable[[bytes], float]] = {
    b"RIFF": _wav,
    b"OggS": _ogg,
    b"fLaC": _flac,
}
