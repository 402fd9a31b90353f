"""Limits for reading, so that a small hostile file cannot exhaust memory."""

import re
from collections.abc import Iterator
from functools import partial
from sys import maxsize
from typing import BinaryIO

from compactctl.asks import INPUT, LOADS, ask
from compactctl.errors import NoInputError, UsageError
from compactctl.records import Record

_SIZE = re.compile(r"(\d{1,15})\s*([KMGT]?)(?:i?B)?", re.ASCII | re.IGNORECASE)


def parse_byte_size(text: str) -> int:
    """Parse a size in bytes, such as ``64M``, ``1G`` or ``1000000``.

    Units are powers of 1,024. Raises UsageError for anything else, and for 0.
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(match[1]) << 10 * " KMGT".index(match[2].upper() or " ") if match else 0
    if not size:
        raise UsageError(f"{text!r} is not a size; write bytes, or a size like 64M or 1G")
    return size


class ReadLimits(Record):
    """The maximum size of an input, decompressed.

    A line is parsed as a whole, which takes two to five times its size, and thirty times that of
    nested empty lists. Each line takes time and some hundred bytes, however short it is.
    ``is_fixed`` means that no option raises the limits.
    """

    max_line_bytes: int = ask(
        256 << 20,
        "Reject a transcript with a line longer than this, e.g. 64M bytes.",
        INPUT,
        LOADS,
        flag="--max-line",
        metavar="SIZE",
        parse=parse_byte_size,
        typed="256M",
    )
    max_bytes: int = ask(
        2 << 30,
        "Reject a transcript larger than this when unpacked.",
        INPUT,
        LOADS,
        flag="--max-unpacked",
        metavar="SIZE",
        parse=parse_byte_size,
        typed="2G",
    )
    max_lines: int = 5_000_000
    is_fixed: bool = False

    def check_size(self, n_bytes: int, name: str) -> None:
        """Raise NoInputError if an input of this size is too large."""
        if n_bytes > self.max_bytes:
            raise self._exceeded(name, f"more than {self.max_bytes:,} bytes", "--max-unpacked")

    def check_line(self, n_bytes: int, name: str, number: int) -> None:
        """Raise NoInputError if a line, or a document of several lines, is too long."""
        if n_bytes > self.max_line_bytes:
            what = f"more than {self.max_line_bytes:,} bytes on line {number}"
            raise self._exceeded(name, what, "--max-line")

    def check_page(self, n_bytes: int, name: str) -> None:
        """Raise NoInputError if a page of a table, which is decompressed whole, is too large."""
        if n_bytes > self.max_line_bytes:
            raise self._exceeded(
                name, f"more than {self.max_line_bytes:,} bytes in a page", "--max-line"
            )

    def check_row(self, n_bytes: int, name: str, number: int) -> None:
        """Raise NoInputError if a row of a table is too long."""
        if n_bytes > self.max_line_bytes:
            what = f"more than {self.max_line_bytes:,} bytes in row {number:,}"
            raise self._exceeded(name, what, "--max-line")

    def check_lines(self, number: int, name: str) -> None:
        """Raise NoInputError if there are too many lines, however short they are."""
        if number > self.max_lines:
            raise NoInputError(f"{name}: has more than {self.max_lines:,} lines; split it")

    def limited_lines(self, stream: BinaryIO, name: str) -> Iterator[bytes]:
        """Yield the lines of a stream; NoInputError at the first line that exceeds the limits."""
        n_bytes = 0
        for number, line in enumerate(
            iter(partial(stream.readline, self.max_line_bytes + 1), b""), 1
        ):
            size = len(line)
            n_bytes += size
            if n_bytes > self.max_bytes or size > self.max_line_bytes or number > self.max_lines:
                self.check_size(n_bytes, name)
                self.check_line(size, name, number)
                self.check_lines(number, name)
            yield line

    def _exceeded(self, name: str, what: str, option: str) -> NoInputError:
        advice = "name a smaller file" if self.is_fixed else f"allow more with {option}"
        return NoInputError(f"{name}: has {what}; {advice}")


READ_LIMITS = ReadLimits()
"""For transcripts, unless their options say otherwise."""

NO_LIMITS = ReadLimits(max_line_bytes=maxsize, max_bytes=maxsize, max_lines=maxsize)
"""For data that is already in memory."""

_TEXT = 16 << 20
TEXT_LIMITS = ReadLimits(max_line_bytes=_TEXT, max_bytes=_TEXT, is_fixed=True)
"""For inputs other than transcripts: prompts, tables, definitions. 16 MiB are 4 million tokens,
more than any context window."""

_OUTPUT = 256 << 20
OUTPUT_LIMITS = ReadLimits(
    max_line_bytes=_OUTPUT, max_bytes=_OUTPUT, max_lines=_OUTPUT, is_fixed=True
)
"""For the output of a tool, which is truncated to some kilobytes."""
