"""Images, files and sounds given as a URL or as base64 data; the data is never kept."""

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from struct import error as struct_error
from struct import unpack_from

from compactctl.model.message import JsonPath, MediaPart


def base64_bytes(data: str) -> int:
    """Return how many bytes base64 text stands for, without decoding it."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def base64_data(data: str, most: int | None = None) -> bytes:
    """Return what base64 text stands for, of its first ``most`` characters; b"" for other text."""
    if most is not None and len(data) > most:
        data = data[: most // 4 * 4]
    text = data.rstrip("=")
    try:
        # Google's SDK writes the alphabet that is safe in URLs; this reads both.
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""


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


_MAGIC = b"%PDF-"
# The magic may stand behind other bytes, as readers allow.
_HEAD = 1_024
_TOKEN = re.compile(rb"<<|>>|/Type\s*/Pages?\b|/Count\s+(\d{1,7})")
_OBJECTS = re.compile(rb"/ObjStm\b")
_STREAM = re.compile(rb"stream\r?\n")
# Further than this behind its name no stream begins; no more is unpacked than the second number.
_DICTIONARY = 1_024
_MAX_DECOMPRESSED = 64 << 20


def is_pdf(data: bytes) -> bool:
    """Tell whether these are the bytes of a PDF document."""
    return _MAGIC in data[:_HEAD]


def page_count(data: bytes) -> int:
    """Return the number of pages; 0 where it is encrypted or damaged, so that nothing tells it.

    Newer documents keep the nodes of the page tree in compressed object streams, which are
    unpacked. The root of the tree counts all pages; without one the pages themselves are counted.
    """
    root = leaves = 0
    for piece in (data, *_objects(data)):
        counted, pages = _counts(piece)
        root, leaves = max(root, counted), leaves + pages
    return root or leaves


def _counts(data: bytes) -> tuple[int, int]:
    """Return the largest count of a node of the page tree, and how many pages there are."""
    root = pages = 0
    # Of each dictionary that is open: whether it is a node, and what it counts.
    open_ones: list[tuple[bool, int]] = []
    for match in _TOKEN.finditer(data):
        token = match[0]
        if token == b"<<":
            open_ones.append((False, 0))
        elif token == b">>":
            is_node, count = open_ones.pop() if open_ones else (False, 0)
            root = max(root, count) if is_node else root
        elif token.endswith(b"/Page"):
            pages += 1
        elif open_ones:
            is_node, count = open_ones[-1]
            open_ones[-1] = (is_node, int(match[1])) if match[1] else (True, count)
    return root, pages


def _objects(data: bytes) -> Iterator[bytes]:
    """Yield the object streams that are deflated, as nearly all are, without their packing."""
    at, left = 0, _MAX_DECOMPRESSED
    while left > 0 and (match := _OBJECTS.search(data, at)):
        start = _STREAM.search(data, match.end(), match.end() + _DICTIONARY)
        if start is None:
            at = match.end()
            continue
        at = end = data.find(b"endstream", start.end())
        if end < 0:
            return
        try:
            unpacked = zlib.decompressobj().decompress(data[start.end() : end], left)
        except zlib.error:
            continue
        left -= len(unpacked)
        yield unpacked


# Of audio that has no header: 16 bits of one channel, 24,000 times a second (OpenAI's ``pcm16``).
_PCM16_BYTES_PER_SECOND = 48_000
_ID3_HEADER = 10
# Bits per second of a frame in thousands, by the index in its header: MPEG 1 layer III, then 2.
_MP3_KBITS = (
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
)
# Samples per second by the index in a frame's header, of MPEG 1; by how many bits those of the
# version 2.5 (0), of none, of 2 and of 1 (3) are shifted.
_MP3_RATES = (44_100, 48_000, 32_000, 0)
_MP3_SHIFTS = (2, 0, 1, 0)
_MPEG_1, _NO_MPEG = 3, 1
_LAYER_3 = 1
_MP3_SYNC = 0x7FF
_OPUS_RATE = 48_000


def recording_seconds(data: bytes, media_type: str) -> float:
    """Return the length of a recording in seconds, 0 where nothing tells it.

    WAV, MP3, Ogg with Opus or Vorbis, FLAC and what is stored as MP4 are understood.
    """
    if media_type.endswith("pcm16"):
        return len(data) / _PCM16_BYTES_PER_SECOND
    read = next((read for magic, read in _FORMATS.items() if data.startswith(magic)), None)
    if read is None:
        read = _mp4 if data[4:8] == b"ftyp" else _mp3
    try:
        return max(0.0, read(data))
    except (struct_error, IndexError, ValueError, ZeroDivisionError):
        return 0.0


def _wav(data: bytes) -> float:
    at, per_second = 12, 0
    while at + 8 <= len(data):
        name, size = unpack_from("<4sI", data, at)
        at += 8
        if name == b"fmt ":
            (per_second,) = unpack_from("<I", data, at + 8)
        elif name == b"data":
            # What was written while it was recorded may have no size.
            return float(min(size or len(data), len(data) - at) / per_second)
        at += size + size % 2
    return 0.0


def _mp3(data: bytes) -> float:
    return sum(_mp3_frames(data))


def _mp3_frames(data: bytes) -> Iterator[float]:
    """Yield the length of each frame, up to the first bytes that are none."""
    at = 0
    if data.startswith(b"ID3"):
        high, upper, lower, low = data[6:10]
        at = _ID3_HEADER + (high << 21 | upper << 14 | lower << 7 | low)
    while at + 4 <= len(data):
        (header,) = unpack_from(">I", data, at)
        version, layer = header >> 19 & 3, header >> 17 & 3
        is_frame = header >> 21 == _MP3_SYNC and version != _NO_MPEG and layer == _LAYER_3
        rate = _MP3_RATES[header >> 10 & 3] >> _MP3_SHIFTS[version]
        kbits = _MP3_KBITS[version != _MPEG_1][header >> 12 & 15]
        if not (is_frame and rate and kbits):
            return
        samples = 1_152 if version == _MPEG_1 else 576
        at += samples // 8 * kbits * 1_000 // rate + (header >> 9 & 1)
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
    # 20 bits of the rate, 8 of other things, 36 of how many samples there are.
    (packed,) = unpack_from(">Q", data, 18)
    return float((packed & 0xF_FFFF_FFFF) / (packed >> 44))


def _mp4(data: bytes) -> float:
    header = data.index(b"mvhd") + 4
    at, form = (header + 20, ">IQ") if data[header] else (header + 12, ">II")
    scale, length = unpack_from(form, data, at)
    return float(length / scale)


_FORMATS: Mapping[bytes, Callable[[bytes], float]] = {
    b"RIFF": _wav,
    b"OggS": _ogg,
    b"fLaC": _flac,
}


# Of a URL up to its colon; base64 data has none.
_MAX_SCHEME = 20
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
    if ":" in text[:_MAX_SCHEME]:
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
