"""How large images are, by the headers of their formats."""

import base64
import struct

import pytest

from compactctl.clients.content.media import (
    base64_bytes,
    image_size,
    media_from_text,
    media_from_url,
)
from compactctl.model.message import MediaPart

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 70_000, 66_051)
GIF = b"GIF89a" + struct.pack("<HH", 513, 1_027)


def webp(kind: bytes, rest: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 99) + b"WEBP" + kind + struct.pack("<I", 88) + rest


# The largest chunk holds sizes less one; the lossy one has two bits of scaling above each size.
EXTENDED = webp(b"VP8X", bytes(4) + b"\x01\x02\x03" + b"\x04\x05\x06")
LOSSY = webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 0x4203, 0x8504))
LOSSLESS = webp(b"VP8L", b"\x2f" + struct.pack("<I", 0x205 | 0x1_03 << 14 | 15 << 28) + bytes(5))


def jpeg(*segments: bytes) -> bytes:
    return b"\xff\xd8" + b"".join(segments)


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


def frame(marker: int) -> bytes:
    return segment(marker, b"\x08" + struct.pack(">HH", 515, 1_029) + b"\x03")


METADATA = segment(0xE0, b"JFIF\0" + bytes(9)) + segment(0xE1, b"\xff\xc0" * 150)


def size_of(data: bytes) -> tuple[int, int]:
    return image_size(base64.b64encode(data).decode())


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (PNG, (70_000, 66_051)),
        (GIF, (513, 1_027)),
        (GIF.replace(b"89a", b"87a"), (513, 1_027)),
        (EXTENDED, (0x030201 + 1, 0x060504 + 1)),
        (LOSSY, (0x203, 0x504)),
        (LOSSLESS, (0x206, 0x104)),
        (jpeg(frame(0xC0)), (1_029, 515)),
        (jpeg(METADATA, segment(0xC4, bytes(30)), frame(0xC2)), (1_029, 515)),
    ],
    ids=["png", "gif", "gif 87", "webp", "lossy webp", "lossless webp", "jpeg", "metadata"],
)
def test_an_image_has_the_size_of_its_header(data: bytes, size: tuple[int, int]) -> None:
    assert size_of(data) == size
    assert size_of(data + bytes(100_000)) == size


@pytest.mark.parametrize("data", [PNG, GIF, EXTENDED, jpeg(METADATA, frame(0xC0))])
def test_a_header_that_is_cut_off_has_no_size(data: bytes) -> None:
    assert size_of(data[:-1]) == (0, 0)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no image " * 9,
        GIF.replace(b"89a", b"88a"),
        EXTENDED.replace(b"WEBP", b"AVI "),
        b"JUNK" + EXTENDED[4:],
        METADATA + frame(0xC0),
        jpeg(METADATA, b"\0" + frame(0xC0)),
        jpeg(METADATA, segment(0xC4, bytes(30))),
    ],
)
def test_what_is_no_image_has_no_size(data: bytes) -> None:
    assert size_of(data) == (0, 0)


@pytest.mark.parametrize("n_bytes", range(7))
def test_base64_tells_how_many_bytes_it_holds(n_bytes: int) -> None:
    text = base64.b64encode(bytes(n_bytes)).decode()
    assert base64_bytes(text) == n_bytes


def test_a_link_has_no_size_and_a_data_url_its_own_type() -> None:
    data = base64.b64encode(PNG).decode()
    link = MediaPart(media_type="image/jpeg", n_bytes=0, path=("a",))
    image = MediaPart(
        media_type="image/png",
        n_bytes=24,
        width=70_000,
        height=66_051,
        real_type="image/png",
        path=("a",),
    )
    assert media_from_url("https://host/a.png", "image/jpeg", ("a",)) == link
    assert media_from_text("https://host/a.png", "image/jpeg", ("a",)) == link
    assert media_from_url(f"data:image/png;base64,{data}", "image/jpeg", ("a",)) == image
    assert media_from_url(f"data:;base64,{data}", "image/png", ("a",)) == image
    assert media_from_text(data, "image/png", ("a",)) == image
