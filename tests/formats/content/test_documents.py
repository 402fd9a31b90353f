"""The text of an attached document counts as in a message, whatever format and API it is in."""

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compactctl.clients.content.document_text import document_text
from compactctl.clients.content.media import media_from_base64, media_from_url
from compactctl.commands.reading.transcript import parse, split
from compactctl.model.message import media_of
from compactctl.store.files.source import split_lines
from compactctl.tokens.media import is_unsized, media_tokens

LINES = [f"Berth {n} is let to the ship M&M {n * 7919 % 9973}." for n in range(300)]
TEXT = "\n".join(LINES)
MARKED = [line.replace("&", "&amp;") for line in LINES]


def zipped(*members: tuple[str, str]) -> bytes:
    data = BytesIO()
    with ZipFile(data, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types>" + "<Default/>" * 2_000 + "</Types>")
        for name, text in members:
            archive.writestr(name, text)
        archive.writestr("word/media/image1.png", b"\x89PNG" + bytes(90_000))
    return data.getvalue()


def tagged(line: str, around: str = "<r>{}</r>") -> str:
    return "".join(map(around.format, line.partition(" ")))


# A file of each type with the same text, and the end of its type's name.
FILES: Mapping[str, tuple[bytes, str]] = {
    "docx": (
        zipped(("word/document.xml", "".join(
            f"<w:p>{tagged(line, '<w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r>')}</w:p>"
            for line in MARKED))),
        "vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "xlsx": (
        zipped(("xl/sharedStrings.xml", "".join(f"<si><t>{line}</t></si>" for line in MARKED)),
               ("xl/worksheets/sheet1.xml", "".join(
                   f'<row><c r="A{n}" t="s"><v>{n}</v></c></row>' for n in range(len(MARKED))))),
        "vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "pptx": (
        zipped(*((f"ppt/slides/slide{n}.xml", f"<p:sp><a:p><a:t>{line}</a:t></a:p></p:sp>")
                 for n, line in enumerate(MARKED))),
        "vnd.openxmlformats-officedocument.presentationml.presentation"),
    "odt": (
        zipped(("content.xml", "".join(f"<text:p>{line}</text:p>" for line in MARKED))),
        "vnd.oasis.opendocument.text"),
    "epub": (
        zipped(("OEBPS/one.xhtml", "".join(f"<p>{line}</p>" for line in MARKED))), "epub+zip"),
    "rtf": (
        ("{\\rtf1\\ansi " + "".join(f"{{\\b {line}}}\\par\n" for line in LINES) + "}").encode(),
        "rtf"),
    "json": (TEXT.encode(), "json"),
    "yaml": (b"\xef\xbb\xbf" + TEXT.encode(), "x-yaml"),
    "log": (TEXT.encode("utf-16"), "octet-stream"),
}  # fmt: skip


def said(content: object, **fields: object) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}], **fields}


# A request of each API that carries a file: its bytes as base64, its media type, its extension.
REQUESTS: Mapping[str, Callable[[str, str, str], dict[str, Any]]] = {
    "bedrock": lambda data, _, name: said(
        [{"text": "Read."}, {"document": {"format": name, "name": "d", "source": {"bytes": data}}}],
        modelId="anthropic.claude-3-5-sonnet-20240620-v1:0",
    ),
    "bedrock in JavaScript": lambda data, _, name: said(
        [{"text": "Read."}, {"document": {"format": name, "name": "d", "source": {
            "bytes": {"type": "Buffer", "data": [*base64.b64decode(data)]}}}}],
        modelId="anthropic.claude-3-5-sonnet-20240620-v1:0",
    ),
    "gemini": lambda data, kind, _: {"contents": [{"role": "user", "parts": [
        {"text": "Read."}, {"inlineData": {"mimeType": kind, "data": data}}]}]},
    "chat": lambda data, kind, name: said(
        [{"type": "file", "file": {"filename": name, "file_data": f"data:{kind};base64,{data}"}}],
        model="gpt-5",
    ),
    "chat without a type": lambda data, _, name: said(
        [{"type": "file", "file": {"filename": name, "file_data": data}}], model="gpt-5",
    ),
    "anthropic": lambda data, kind, _: said(
        [{"type": "document", "source": {"type": "base64", "media_type": kind, "data": data}}],
        model="claude-sonnet-4-5", max_tokens=9,
    ),
    "responses": lambda data, kind, _: {"model": "gpt-5", "input": [{"role": "user", "content": [
        {"type": "input_file", "filename": "d", "file_data": f"data:{kind};base64,{data}"}]}]},
    "ai-sdk": lambda data, kind, _: {"messages": [{"id": "1", "role": "user", "parts": [
        {"type": "text", "text": "Read."},
        {"type": "file", "mediaType": kind, "url": f"data:{kind};base64,{data}"}]}]},
}  # fmt: skip


@pytest.mark.parametrize("api", REQUESTS)
@pytest.mark.parametrize("name", FILES)
def test_the_text_of_a_document_counts(name: str, api: str) -> None:
    content, kind = FILES[name]
    request = REQUESTS[api](base64.b64encode(content).decode(), f"application/{kind}", name)
    transcript = parse(*split(split_lines(json.dumps(request).encode()), "test", None))
    texts = [
        medium.text
        for message in transcript.effective
        for part in message.parts
        for medium in media_of(part)
    ]
    texts += [getattr(part, "text", "") for m in transcript.effective for part in m.parts]
    assert TEXT in "\n".join(texts)
    assert sum(map(len, texts)) < 3 * len(TEXT)


@pytest.mark.parametrize("kind", ["text/plain", "text/csv", "text/markdown", "text/html"])
def test_text_counts_as_the_text_it_is(kind: str) -> None:
    data = base64.b64encode(TEXT.encode()).decode()
    for part in (
        media_from_base64(data, kind, ()),
        media_from_url(f"data:{kind};base64,{data}", "application/pdf", ()),
        media_from_url(f"data:{kind};charset=utf-8,{TEXT.replace(' ', '%20')}", "", ()),
    ):
        assert part.text == TEXT
        assert media_tokens(part, count=len) == len(TEXT)
        assert not is_unsized(part)
    assert media_from_base64(base64.b64encode(b"caf\xe9").decode(), kind, ()).text == "caf\xe9"


def test_a_document_that_cannot_be_read_counts_by_its_bytes() -> None:
    docx, _ = FILES["docx"]
    for data in (b"\xd0\xcf\x11\xe0" + bytes(3_200), docx[:-30]):
        part = media_from_base64(base64.b64encode(data).decode(), "application/msword", ())
        assert part.text == ""
        assert media_tokens(part) == pytest.approx(part.n_bytes / 16, abs=1)
        assert not is_unsized(part)
    link = media_from_url("https://example.org/a.docx", "application/msword", ())
    assert (media_tokens(link), is_unsized(link)) == (0, True)


@pytest.mark.parametrize(
    "markup", ["<a:t>x</a:t>", "<", "<a>", "x", "</w:p>", "&amp;", '<c t="s"><v>0</v></c>']
)
def test_the_text_of_a_document_beyond_a_limit_is_unknown(
    markup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compactctl.clients.content.document_text._MAX_DECOMPRESSED", 1_000)
    strings = ("xl/sharedStrings.xml", f"<si><t>{'y' * 90}</t></si>")
    for n, has_text in ((5, True), (100_000, False)):
        sheet = ("xl/worksheets/sheet1.xml", markup * n)
        assert bool(document_text(zipped(strings, sheet), "")) == has_text
    cells = ("xl/worksheets/sheet1.xml", '<c t="s"><v>0</v></c>' * 20)
    assert document_text(zipped(strings, cells), "") == ""


def test_each_cell_counts_with_its_shared_string() -> None:
    strings = "".join(
        f"<si><r><t>{text}</t></r></si>" for text in ("Berth &amp; quay", "ship", "no")
    )
    cells = ('<c t="s"><v>0</v></c>', '<c r="B1" s="4" t="s"><v>1</v></c>', "<c><v>7</v></c>")
    names = ("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/worksheets/sheet2.xml")
    sheet = f"<row>{''.join(cells)}</row>"
    text = document_text(zipped(*zip(names, (sheet, strings, sheet), strict=True)), "")
    assert text.split("\n") == ["Berth & quay", "ship", "7", "no", "Berth & quay", "ship", "7"]


@given(st.data())
@settings(deadline=None)
def test_a_damaged_document_has_its_text_or_none(data: st.DataObject) -> None:
    codec = data.draw(st.sampled_from([ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA]))
    stream = BytesIO()
    with ZipFile(stream, "w", codec) as archive:
        archive.writestr("word/header1.xml", "<w:p><w:t>Head</w:t></w:p>")
        archive.writestr("word/document.xml", "".join(f"<w:p>{line}</w:p>" for line in MARKED[:9]))
    content = bytearray(stream.getvalue())
    text = document_text(bytes(content), "")
    assert text == "\n".join(("Head", *LINES[:9]))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(4, len(content) - 1))] = data.draw(st.integers(0, 255))
    # A name may be damaged, so that a member is not found.
    assert document_text(bytes(content), "") in (text, "", "Head", text.removeprefix("Head\n"))


def test_a_document_with_a_damaged_member_counts_by_its_bytes() -> None:
    line = "The berth is let. "
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        archive.writestr("word/header1.xml", "<w:t>Head</w:t>")
        archive.writestr("word/document.xml", f"<w:t>{line * 4_000}</w:t>")
    damaged = content.getvalue().replace(line.encode(), b"the berth", 1)
    part = media_from_base64(base64.b64encode(damaged).decode(), "application/msword", ())
    assert part.text == ""
    assert media_tokens(part) == pytest.approx(part.n_bytes / 16, abs=1)


def test_other_bytes_are_no_text() -> None:
    for data in (b"", b"\0\1\2", b"a\0b", zlib.compress(TEXT.encode()), b"PK\3\4", zipped()):
        assert document_text(data, "application/octet-stream") == ""
