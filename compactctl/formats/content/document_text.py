"""The text in a document, as a provider extracts it: office files, RTF, EPUB, and plain text."""

import codecs
import html
import re
import zlib
from collections.abc import Iterator
from io import BytesIO
from zipfile import BadZipFile, ZipFile

# The bytes decompressed at most: the text of more is larger than any context window.
_MAX_DECOMPRESSED = 64 << 20
_ZIP_MAGIC = b"PK\3\4"
_RTF_MAGIC = b"{\\rtf"
_UTF_16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# What is sent of Word, Excel and PowerPoint files, OpenDocument files, and books.
_TEXT_MEMBER = re.compile(
    r"word/(?:document|footnotes|endnotes|comments|header\d*|footer\d*)\.xml"
    r"|xl/(?:sharedStrings|worksheets/[^/]+)\.xml"
    r"|ppt/(?:slides|notesSlides)/[^/]+\.xml"
    r"|content\.xml"
    r"|.+\.x?html?"
)
_TAGS = re.compile(r"(?:<[^<>]*>)+")
# The ends of paragraphs, cells, rows, shared strings, headings and list items.
_BLOCK_END = re.compile(r"</(?:[\w-]+:)?(?:p|c|row|si|h\d?|li|td|tr|div|table-cell)>")
_RTF_CONTROL = re.compile(
    r"(?P<end>\\(?:par|line|row|cell)\b ?)|\\'[0-9a-f]{2}|\\[a-z]+-?\d* ?|\\.|[{}\r\n]"
)
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1f]")


def document_text(data: bytes, media_type: str) -> str:
    """Return the text in a document; "" if it has none that can be read.

    Its content shows what it is; ``media_type`` only whether bytes that are not Unicode are text.
    """
    if data.startswith(_ZIP_MAGIC):
        return "\n".join(_texts_in_zip(data))
    if data.startswith(_RTF_MAGIC):
        return _RTF_CONTROL.sub(_line_end, data.decode("latin-1")).strip()
    encoding = "utf-16" if data.startswith(_UTF_16_BOMS) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode("latin-1") if media_type.startswith("text/") else ""
    return "" if _CONTROL.search(text) else text


def _texts_in_zip(data: bytes) -> Iterator[str]:
    remaining = _MAX_DECOMPRESSED
    try:
        with ZipFile(BytesIO(data)) as archive:
            members = [m for m in archive.infolist() if _TEXT_MEMBER.fullmatch(m.filename)]
            for member in members:
                with archive.open(member) as stream:
                    markup = stream.read(remaining)
                remaining -= len(markup)
                yield _without_tags(markup.decode("utf-8", "replace"))
    except (BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError):
        # RuntimeError: encrypted, or compressed in a way that Python does not know.
        return


def _line_end(control: re.Match[str]) -> str:
    return "\n" if control["end"] else ""


def _without_tags(markup: str) -> str:
    text = _TAGS.sub(lambda tags: "\n" if _BLOCK_END.search(tags[0]) else "", markup)
    return html.unescape(text).strip()
