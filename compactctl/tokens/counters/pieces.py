"""Split texts into the pieces that a vocabulary encodes one by one.

Vocabularies publish their patterns in the syntax of Rust, with classes of Unicode that ``re`` does
not know. Here the classes are written out, for the characters of blocks in wide use: those have had
the same category in every version of Unicode since 14.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

# What Unicode calls white space; str.isspace() adds four control characters.
_SPACES = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_ASCII = range(0x80)
_BLOCKS = (
    # Letters of Latin, Greek and Cyrillic; symbols; kana.
    *(range(0x80, 0x180), range(0x386, 0x3D0), range(0x400, 0x460)),
    *(range(0x2000, 0x2C00), range(0x3000, 0x3100)),
    # Variation selectors, wide forms, pictures.
    *(range(0xFE00, 0xFE70), range(0xFEFF, 0xFFFE), range(0x1F000, 0x1FB00)),
)
_UNASSIGNED = "Cn"
# It equals "s" when case is ignored, and could then end a contraction.
_LONG_S = 0x17F
_ELEMENT = re.compile(r"\[[^]]*\]|\\p\{\w+\}|\\[sS]|\$")
_NAMED = re.compile(r"\\p\{(\w+)\}|\\s")


class _Run(NamedTuple):
    """Code points in a row that have the same category, such as ``Lu``."""

    first: int
    last: int
    category: str


# Chinese and Korean, where every character is a letter, and private use.
_LARGE_BLOCKS = (
    _Run(0x3400, 0x4DBF, "Lo"),
    _Run(0x4E00, 0x9FFC, "Lo"),
    _Run(0xAC00, 0xD7A3, "Lo"),
    _Run(0xE000, 0xF8FF, "Co"),
)


@cache
def ascii_pattern(published: str) -> re.Pattern[str]:
    """Compile a vocabulary's pattern for ASCII texts: its matches are their pieces."""
    return re.compile(_written_out(published, tuple(_runs(_ASCII))))


@cache
def unicode_pattern(published: str) -> re.Pattern[str]:
    """Compile a vocabulary's pattern for all texts without a rare character."""
    return re.compile(_written_out(published, _common_runs()))


def has_rare_character(text: str) -> bool:
    """Return whether the category of a character may depend on the version of Unicode."""
    return _rare_character().search(text) is not None


@cache
def _rare_character() -> re.Pattern[str]:
    return re.compile(f"[^{_ranges(_common_runs())}]")


@cache
def _common_runs() -> Sequence[_Run]:
    blocks = (_ASCII, *_BLOCKS)
    return (*(run for block in blocks for run in _runs(block)), *_LARGE_BLOCKS)


def _runs(block: range) -> Iterator[_Run]:
    """Group the assigned code points of a block."""
    for category, group in groupby(block, _category):
        codes = list(group)
        if category != _UNASSIGNED:
            yield _Run(codes[0], codes[-1], category)


def _category(code: int) -> str:
    return _UNASSIGNED if code == _LONG_S else unicodedata.category(chr(code))


def _written_out(pattern: str, runs: Sequence[_Run]) -> str:
    """Translate a pattern from Rust's syntax for texts of these characters alone."""

    def members(named: re.Match[str]) -> str:
        category = named[1]
        if category is None:
            return _SPACES
        return _ranges(run for run in runs if run.category.startswith(category))

    def element(match: re.Match[str]) -> str:
        text = match[0]
        if text == "$":
            return r"\Z"
        if text == r"\S":
            return f"[^{_SPACES}]"
        return _NAMED.sub(members, text if text.startswith("[") else f"[{text}]")

    return _ELEMENT.sub(element, pattern)


def _ranges(runs: Iterable[_Run]) -> str:
    """Write runs as the ranges of a class, those that meet as one."""
    ranges: list[tuple[int, int]] = []
    for first, last, _ in sorted(runs):
        meets = ranges and ranges[-1][1] == first - 1
        ranges.append((ranges.pop()[0] if meets else first, last))
    return "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in ranges)
