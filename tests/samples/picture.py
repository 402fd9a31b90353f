"""A small picture, written by hand so that its bytes depend on no compression library."""

import base64
import struct
import zlib

WIDTH, HEIGHT = 48, 24


def png_base64() -> str:
    """A valid grey gradient PNG as base64 text."""
    rows = b"".join(
        b"\0" + bytes((x * 5 + y * 3) % 256 for x in range(WIDTH)) for y in range(HEIGHT)
    )
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", _stored(rows)) + _chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunks).decode()


def _stored(data: bytes) -> bytes:
    sizes = struct.pack("<BHH", 1, len(data), len(data) ^ 0xFFFF)
    return b"\x78\x01" + sizes + data + struct.pack(">I", zlib.adler32(data))


def _chunk(kind: bytes, body: bytes) -> bytes:
    checked = kind + body
    return struct.pack(">I", len(body)) + checked + struct.pack(">I", zlib.crc32(checked))
