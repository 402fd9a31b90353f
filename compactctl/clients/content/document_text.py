"""The text in a document, as a provider extracts it: office files, RTF, EPUB, and plain text."""

import codecs
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from zipfile import ZipFile

# The bytes decompressed at most, and the characters of text: more exceeds any context window.
_MAX_DECOMPRESSED = 16 << 20
_MAX_TEXT = 8 << 20
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
_TAG = re.compile(r"<[^<>]*>")
# The ends of paragraphs, cells, rows, shared strings, headings and list items.
_BLOCK_END = re.compile(r"</(?:[\w-]+:)?(?:p|c|row|si|h\d?|li|td|tr|div|table-cell)>")
# Stands for the end of a block; no XML has it.
_BLOCK_MARK = "\0"
_BLOCK_MARKS = re.compile(f"{_BLOCK_MARK}+")
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_SHARED_STRINGS = "xl/sharedStrings.xml"
_SHARED_STRING_END = re.compile(r"</(?:[\w-]+:)?si>")
# <c r="A1" t="s"><v>7</v></c>: the cell has the eighth shared string.
_SHARED_CELL = re.compile(
    r"""(<(?:[\w-]+:)?c\b[^<>]{0,300}?\st=["']s["'][^<>]{0,300}>\s{0,99}<(?:[\w-]+:)?v>)"""
    r"\s{0,99}(\d{1,9})\s{0,99}(?=<)"
)
_RTF_CONTROL = re.compile(
    r"(?P<end>\\(?:par|line|row|cell)\b ?)|\\'[0-9a-f]{2}|\\[a-z]+-?\d* ?|\\.|[{}\r\n]"
)
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1f]")


def document_text(data: bytes, media_type: str) -> str:
    """Return the text in a document; "" if it has none that can be read as a whole.

    Its content shows what it is; ``media_type`` only whether bytes that are not Unicode are text.
    """
    if data.startswith(_ZIP_MAGIC):
        return _text_in_zip(data)
    if data.startswith(_RTF_MAGIC):
        return _RTF_CONTROL.sub(_line_end, data.decode("latin-1")).strip()
    encoding = "utf-16" if data.startswith(_UTF_16_BOMS) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode("latin-1") if media_type.startswith("text/") else ""
    return "" if _CONTROL.search(text) else text


def _text_in_zip(data: bytes) -> str:
    """Return the text of all members that have any; "" if one is damaged, or too large.

    A part of the text would pass for the size of the whole.
    """
    # No bytes may end the program, and zipfile and its codecs document few of their errors.
    with suppress(Exception), ZipFile(BytesIO(data)) as archive:
        markup = _with_shared_strings(_markup_in(archive))
        text = "\n".join(filter(None, map(_without_tags, markup)))
        return text if len(text) <= _MAX_TEXT else ""
    return ""


def _markup_in(archive: ZipFile) -> Mapping[str, str]:
    """Return the XML of the members that have text. Raises OverflowError for too much."""
    remaining = _MAX_DECOMPRESSED
    markup: dict[str, str] = {}
    for member in archive.infolist():
        if not _TEXT_MEMBER.fullmatch(member.filename):
            continue
        with archive.open(member) as stream:
            # Only at its end is the checksum compared.
            content = stream.read(remaining + 1)
        remaining -= len(content)
        if remaining < 0:
            raise OverflowError(member.filename)
        markup[member.filename] = content.decode("utf-8", "replace")
    return markup


def _with_shared_strings(markup: Mapping[str, str]) -> Iterable[str]:
    """Return members with the shared strings in the cells of sheets that refer to them.

    Those that no cell has stay where they are. Raises OverflowError for too much text.
    """
    *strings, _ = _SHARED_STRING_END.split(markup.get(_SHARED_STRINGS, ""))
    if not strings:
        return markup.values()
    cells = _Cells(strings)
    sheets = {
        name: _SHARED_CELL.sub(cells.resolve, text)
        for name, text in markup.items()
        if _SHEET.fullmatch(name)
    }
    unused = (text for number, text in enumerate(strings) if number not in cells.numbers)
    shared = "".join(f"{text}</si>" for text in unused)
    return {**markup, **sheets, _SHARED_STRINGS: shared}.values()


class _Cells:
    """The cells of sheets that have shared strings: the ``numbers`` of those strings."""

    def __init__(self, strings: Sequence[str]) -> None:
        self.numbers: set[int] = set()
        self._strings = strings
        self._remaining = _MAX_DECOMPRESSED

    def resolve(self, cell: re.Match[str]) -> str:
        """Return a cell with its string. Raises OverflowError if all strings are too large."""
        number = int(cell[2])
        if number >= len(self._strings):
            return cell[0]
        self.numbers.add(number)
        self._remaining -= len(self._strings[number])
        if self._remaining < 0:
            raise OverflowError(cell[0])
        return cell[1] + self._strings[number]


def _line_end(control: re.Match[str]) -> str:
    return "\n" if control["end"] else ""


def _without_tags(markup: str) -> str:
    text = _TAG.sub("", _BLOCK_END.sub(_BLOCK_MARK, markup))
    return html.unescape(_BLOCK_MARKS.sub("\n", text)).strip()
