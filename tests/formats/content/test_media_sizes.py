"""How long recordings are and how many pages documents have, by what stands in their data."""

import base64
import random
import struct
import zlib

import pytest

from compactctl.clients.content.media import media_from_base64, media_from_text
from compactctl.model.message import MediaPart
from compactctl.tokens.media import GOOGLE_RATES, is_unsized, media_tokens

NOISE = random.Random(1).randbytes(40_000)
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 600, 400)


def media(data: bytes, media_type: str) -> MediaPart:
    return media_from_base64(base64.b64encode(data).decode(), media_type, ())


def wav(seconds: int, size: int | None = None) -> bytes:
    sound = bytes(16_000 * seconds)
    told = len(sound) if size is None else size
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8_000, 16_000, 2, 16)
    # A chunk of an odd size is followed by one more byte.
    notes = struct.pack("<4sI6s", b"LIST", 5, b"INFO")
    return b"RIFF\0\0\0\0WAVE" + form + notes + struct.pack("<4sI", b"data", told) + sound


def mp3(frames: int, *, title: tuple[int, int, int, int] = (0, 0, 1, 72)) -> bytes:
    """Return frames of MPEG 1 layer III with 128 kbit/s and 44,100 Hz behind a title.

    Every other frame is padded with a byte. The title's size is written in digits of seven bits.
    """
    n_bytes = sum(digit << 7 * place for place, digit in enumerate(reversed(title)))
    pair = MP3_HEADER + bytes(413) + b"\xff\xfb\x92\x00" + bytes(414)
    sound = (pair * (frames // 2 + 1))[: frames * 417 + frames // 2]
    return b"ID3\4\0\0" + bytes(title) + bytes(n_bytes) + sound + b"TAG" + bytes(125)


def mp3_of_8_khz(frames: int) -> bytes:
    """Return frames of MPEG 2.5 layer III with 8 kbit/s and 8,000 Hz."""
    return (b"\xff\xe3\x18\x00" + bytes(68)) * frames


def ogg(head: bytes, position: int) -> bytes:
    page = b"OggS\0\2" + struct.pack("<q", 0) + bytes(14)
    last = b"OggS\0\4" + struct.pack("<q", position) + bytes(14)
    return page + head + bytes(200) + last + bytes(60)


MP3_HEADER = b"\xff\xfb\x90\x00"
MP3_FRAME = 1_152 / 44_100
OPUS = b"OpusHead\1\1" + struct.pack("<H", 312) + bytes(8)
VORBIS = b"\1vorbis" + struct.pack("<IBI", 0, 1, 16_000)
FLAC = b"fLaC\0\0\0\x22" + bytes(10) + struct.pack(">Q", 48_000 << 44 | 144_000)
MP4 = b"\0\0\0\x18ftypM4A moovmvhd" + struct.pack(">IIIII", 0, 0, 0, 600, 1_500)
LONG_MP4 = b"\0\0\0\x18ftypisom" + b"mvhd" + struct.pack(">IQQIQ", 1 << 24, 0, 0, 1_000, 9_000)


@pytest.mark.parametrize(
    ("data", "media_type", "seconds"),
    [
        (wav(7), "audio/wav", 7),
        (wav(7, size=0xFFFFFFFF), "audio/x-wav", 7),
        (wav(7, size=0), "audio/unknown", 7),
        (mp3(500), "audio/mpeg", 500 * MP3_FRAME),
        (mp3(31, title=(0, 1, 0, 9)), "audio/mpeg", 31 * MP3_FRAME),
        (mp3(31, title=(1, 0, 0, 9)), "audio/mpeg", 31 * MP3_FRAME),
        (MP3_HEADER, "audio/mpeg", MP3_FRAME),
        (mp3_of_8_khz(100), "audio/mp3", 7.2),
        (ogg(OPUS, 48_312), "audio/ogg", 1),
        (ogg(VORBIS, 24_000), "audio/ogg", 1.5),
        (FLAC, "audio/flac", 3),
        (MP4, "audio/mp4", 2.5),
        (LONG_MP4, "video/mp4", 9),
        (bytes(96_000), "audio/pcm16", 2),
    ],
)
def test_a_recording_counts_by_its_length(data: bytes, media_type: str, seconds: float) -> None:
    found = media(data, media_type)
    assert found.seconds == pytest.approx(seconds, abs=1e-6)
    per_second = 263 if media_type.startswith("video") else 10
    assert media_tokens(found) == pytest.approx(seconds * per_second, abs=1)
    assert not is_unsized(found)


@pytest.mark.parametrize(
    "data",
    [
        NOISE,
        b"",
        b"RIFF",
        b"RIFF\0\0\0\0WAVE" + struct.pack("<4sI9s", b"data", 9, b"no format"),
        b"OggS" * 9,
        FLAC[:20],
        MP4[:30],
        MP4[:20],
        MP4[:14],
        wav(0)[:30],
        # No sync, a version and a layer that are not MP3, half a header.
        b"\xff\xdb\x90\x00" + bytes(413),
        b"\xff\xeb\x90\x00" + bytes(413),
        b"\xff\xfd\x90\x00" + bytes(413),
        MP3_HEADER[:3],
    ],
)
def test_a_recording_of_unknown_length_counts_nothing_and_says_so(data: bytes) -> None:
    found = media(data, "audio/webm")
    assert media_tokens(found) == 0
    assert is_unsized(found)


TREE = b"<</Type/Pages/Kids[3 0 R 4 0 R]/Resources<</Font<<>>>>/Count %d>>"
PAGE = b"<</Type /Page/Parent 2 0 R>>"
OUTLINES = b"<</Type/Outlines/Count 99>>"


def pdf(*objects: bytes) -> bytes:
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % each for each in enumerate(objects, 1))
    return b"%PDF-1.7\n" + body + NOISE + b"\n%%EOF"


def packed(*objects: bytes) -> bytes:
    stream = zlib.compress(b" ".join(objects))
    head = b"<</Type/ObjStm/N %d/Length %d/Filter/FlateDecode>>" % (len(objects), len(stream))
    return head + b"stream\r\n" + stream + b"\nendstream"


@pytest.mark.parametrize(
    ("document", "pages"),
    [
        (pdf(TREE % 2, PAGE, PAGE, OUTLINES), 2),
        (pdf(TREE % 12, TREE % 8, TREE % 4), 12),
        (pdf(packed(TREE % 30, OUTLINES)), 30),
        (pdf(packed(PAGE), packed(PAGE, PAGE)), 3),
        (pdf(PAGE, PAGE, OUTLINES), 2),
        (pdf(b"<</Type/Pages>>", PAGE, PAGE), 2),
        (pdf(b"/ObjStm" + b" " * 1_100, packed(TREE % 30)), 30),
        (pdf(packed(PAGE).replace(b"x\x9c", b"??"), packed(TREE % 30)), 30),
    ],
    ids=["tree", "nested", "packed", "packed pages", "no tree", "no count", "no stream", "damaged"],
)
def test_a_pdf_counts_by_its_pages(document: bytes, pages: int) -> None:
    for media_type in ("application/pdf", "application/octet-stream"):
        found = media(document, media_type)
        assert (found.media_type, found.pages) == ("application/pdf", pages)
        assert media_tokens(found) == 2_250 * pages


@pytest.mark.parametrize(("n_bytes", "pages"), [(0, 0), (28, 1), (29, 1), (60, 2), (85, 3)])
def test_of_a_pdf_so_many_bytes_are_unpacked(
    monkeypatch: pytest.MonkeyPatch, n_bytes: int, pages: int
) -> None:
    monkeypatch.setattr("compactctl.clients.content.media._MAX_DECOMPRESSED", n_bytes)
    assert media(pdf(packed(PAGE), packed(PAGE, PAGE)), "application/pdf").pages == pages


def test_a_pdf_whose_pages_cannot_be_read_counts_nothing_and_says_so() -> None:
    for document in (pdf(OUTLINES), pdf(packed(TREE % 2).replace(b"x\x9c", b"??"))):
        found = media(document, "application/pdf")
        assert (found.pages, media_tokens(found), is_unsized(found)) == (0, 0, True)


def test_google_counts_its_own_tokens() -> None:
    sizes = [media(wav(60), "audio/wav"), media(pdf(TREE % 2), "application/pdf")]
    assert [media_tokens(each, rates=GOOGLE_RATES) for each in sizes] == [1_920, 1_120]


def test_text_counts_by_its_bytes_and_unknown_files_as_nothing() -> None:
    assert media_tokens(media(b"tide " * 80, "text/csv")) == 100
    archive = media(b"PK\3\4" + NOISE, "application/zip")
    assert (media_tokens(archive), is_unsized(archive)) == (0, True)


def test_the_data_tells_a_picture_of_another_type() -> None:
    found = media(PNG, "application/octet-stream")
    assert (found.media_type, found.width, found.height) == ("image/unknown", 600, 400)


def test_base64_for_urls_is_base64() -> None:
    data = b"%PDF-" + b"\xfb\xff" * 3 + PAGE
    text = base64.urlsafe_b64encode(data).decode().rstrip("=")
    assert "-" in text
    assert media_from_text(text, "application/pdf", ()).pages == 1
