"""The number of pages of a PDF document, from its own count of them."""

import re
import zlib
from collections.abc import Iterator

_MAGIC = b"%PDF-"
# The magic may stand behind other bytes, as readers allow.
_HEAD = 1_024
_TOKEN = re.compile(rb"<<|>>|/Type\s*/Pages?\b|/Count\s+(\d{1,7})")
_OBJECTS = re.compile(rb"/ObjStm\b")
_STREAM = re.compile(rb"stream\r?\n")
# Further than this behind its name no stream begins; no more is unpacked than the second number.
_DICTIONARY = 1_024
_MOST_UNPACKED = 64 << 20


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
    at, left = 0, _MOST_UNPACKED
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
