"""What is named and said in texts: entities and lines, each text read once."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage

# Lines that say something: characters and words of them.
_LINE = range(20, 401)
_MIN_WORDS = 3
# What stands before a line of a file: the mark of a quotation, the number that a tool gave it.
_BEFORE = re.compile(r"^\s*(?:>\s)?\s*(?:\d+\s*(?:→|\||:|\t)\s?)?")
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class TextContent:
    """The entities and the telling lines of a text, or of many."""

    entities: frozenset[str]
    lines: frozenset[str]


class TextReader:
    """Reads texts of a session whose working folder is ``cwd``.

    Memory grows with the distinct texts; what is read never depends on what was read before.
    """

    def __init__(self, cwd: str | None = None) -> None:
        self.lexicon = Lexicon(cwd)
        self._known: dict[str, TextContent] = {}

    def content(self, text: str) -> TextContent:
        """Return what stands in one text."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = TextContent(
                frozenset(self.lexicon.entities(text)), frozenset(_lines(text))
            )
        return known

    def contents(self, passages: Iterable[Passage]) -> TextContent:
        """Return what stands in all of these passages together, reasoning left out."""
        entities: set[str] = set()
        lines: set[str] = set()
        for passage in without_reasoning(passages):
            found = self.content(passage.text)
            entities |= found.entities
            lines |= found.lines
        return TextContent(frozenset(entities), frozenset(lines))


def without_reasoning(passages: Iterable[Passage]) -> Iterable[Passage]:
    """Return the passages that the next request sends whoever the provider is: no reasoning."""
    return (passage for passage in passages if passage.kind != "thought")


def collapse_blanks(text: str) -> str:
    """Return a text with one blank for every run of them."""
    return " ".join(text.split())


def strip_line_marks(line: str) -> str:
    """Return a line without the marks before it, with one blank for every run of them."""
    return collapse_blanks(_BEFORE.sub("", line, count=1))


def _lines(text: str) -> Iterable[str]:
    for line in text.split("\n"):
        bare = strip_line_marks(line[: 2 * _LINE.stop])
        if len(bare) in _LINE and len(WORD.findall(bare)) >= _MIN_WORDS:
            yield bare


def unique_names(paths: Iterable[str]) -> frozenset[str]:
    """Return the file names that belong to one path only."""
    of: defaultdict[str, set[str]] = defaultdict(set)
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder:
            of[name].add(path)
    return frozenset(name for name, found in of.items() if len(found) == 1)


class PathIndex:
    """Tells whether a path is among others, however much of its beginning either leaves out.

    Two parts must agree at least, or a file name that is one of ``unique``.
    """

    def __init__(self, paths: Iterable[str], unique: frozenset[str]) -> None:
        self._unique = unique
        self._whole = set(paths)
        self._ends = {end for path in self._whole for end in self._distinctive_suffixes(path)}

    def __contains__(self, path: str) -> bool:
        if path in self._whole:
            return True
        ends = self._distinctive_suffixes(path)
        return path.strip("/") in self._ends or any(end in self._whole for end in ends)

    def _distinctive_suffixes(self, path: str) -> list[str]:
        """Return the ends of a path that are enough to know it by, itself included."""
        parts = path.strip("/").split("/")
        ends = ["/".join(parts[start:]) for start in range(len(parts))]
        return [end for end in ends if "/" in end or end in self._unique]
