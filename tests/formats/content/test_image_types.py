"""What an image really is, by its first bytes, whatever the record says."""

import base64

import pytest
from formats.jsonl import read
from samples.picture import png_base64

from compactctl.clients.content.media import image_type, media_from_base64, media_from_text
from compactctl.model.message import MediaPart, media_of

IMAGES = {
    "image/png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "image/jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "image/gif": b"GIF89a\1\0\1\0",
    "image/webp": b"RIFF\x24\0\0\0WEBPVP8 ",
    "image/bmp": b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0",
    "image/tiff": b"II*\0\x08\0\0\0",
    "image/heic": b"\0\0\0\x18ftypheic\0\0\0\0",
    "image/avif": b"\0\0\0\x1cftypavif\0\0\0\0",
    "image/svg+xml": b"<?xml version='1.0'?>\n<!-- drawn -->\n<svg xmlns='x'>",
}


@pytest.mark.parametrize("kind", IMAGES)
def test_an_image_is_what_its_first_bytes_say(kind: str) -> None:
    data = base64.b64encode(IMAGES[kind]).decode()
    assert image_type(IMAGES[kind]) == kind
    assert media_from_base64(data, "image/png", ()).real_type == kind
    assert media_from_text(f"data:image/png;base64,{data}", "", ()).real_type == kind


@pytest.mark.parametrize(
    "data", [b"", b"<html>403 Forbidden</html>", b"BMW and other cars", b"%PDF-1.7", b"\0\0ftyp"]
)
def test_other_bytes_are_no_image(data: bytes) -> None:
    assert media_from_base64(base64.b64encode(data).decode(), "image/png", ()).real_type == ""


def test_what_is_not_in_the_file_or_no_image_has_no_real_type() -> None:
    assert media_from_text("https://host/a.png", "image/png", ()).real_type is None
    assert media_from_text("", "image/png", ()).real_type is None
    assert media_from_base64("<image removed>", "image/png", ()).real_type is None
    assert media_from_base64("REDACTED/vh02bcce7NzTXnd8", "image/png", ()).real_type is None
    pdf = base64.b64encode(b"%PDF-1.7").decode()
    assert media_from_base64(pdf, "application/pdf", ()).real_type is None


def sent_media(name: str, *records: object) -> MediaPart:
    parts = [part for message in read(name, *records).effective for part in message.parts]
    (media,) = [media for part in parts for media in media_of(part)]
    return media


def test_every_format_says_what_an_image_is() -> None:
    data = png_base64()
    url = f"data:image/jpeg;base64,{data}"
    claude = {"type": "image", "source": {"type": "base64", "media_type": "image/gif"}}
    claude["source"] |= {"data": data}  # type: ignore[operator]
    link = {"type": "image", "source": {"type": "url", "url": "https://host/a.png"}}
    chat = {"type": "image_url", "image_url": {"url": url}}
    item = {"type": "input_image", "image_url": url}
    inline = {"inlineData": {"mimeType": "image/gif", "data": data}}
    bedrock = {"image": {"format": "png", "source": {"bytes": data}}}
    stored = {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://a/b"}}}}
    cases = [
        ("anthropic-messages", {"role": "user", "content": [claude]}, "image/png"),
        ("anthropic-messages", {"role": "user", "content": [link]}, None),
        ("openai-chat", {"role": "user", "content": [chat]}, "image/png"),
        ("openai-responses", {"type": "message", "role": "user", "content": [item]}, "image/png"),
        ("gemini-api", {"role": "user", "parts": [inline]}, "image/png"),
        ("bedrock-converse", {"role": "user", "content": [bedrock]}, "image/png"),
        ("bedrock-converse", {"role": "user", "content": [stored]}, None),
    ]
    for name, record, real_type in cases:
        assert sent_media(name, record).real_type == real_type, name


def test_an_empty_image_is_no_image() -> None:
    empty = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    record = {"role": "user", "content": [empty]}
    assert sent_media("anthropic-messages", record).real_type == ""
