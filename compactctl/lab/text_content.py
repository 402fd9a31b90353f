"""The entities, lines and paths of texts, in a form that can be compared."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage

# Prefixes of a file's line: the quotation mark of a digest, the line number of a tool.
_LINE_MARK = re.compile(r"^\s*(?:>\s)?\s*(?:\d+\s*(?:→|\||:|\t)\s?)?")
WORD = re.compile(r"\w+")
# Characters of a line that are searched at a time.
_MAX_SEARCHED_CHARS = 2_000


class TextReader:
    """Finds the entities of a session's texts; ``cwd`` is its working folder.

    Each distinct text is read once. The order of calls does not matter.
    """

    def __init__(self, cwd: str | None = None) -> None:
        self.lexicon = Lexicon(cwd)
        self._entities: dict[str, frozenset[str]] = {}

    def read(self, text: str) -> frozenset[str]:
        """Return the entities of a text."""
        entities = self._entities.get(text)
        if entities is None:
            entities = self._entities[text] = frozenset(self.lexicon.entities(text))
        return entities

    def read_all(self, passages: Iterable[Passage]) -> frozenset[str]:
        """Return the entities of all passages together, without reasoning."""
        texts = (passage.text for passage in without_reasoning(passages))
        return frozenset[str]().union(*map(self.read, texts))


def without_reasoning(passages: Iterable[Passage]) -> Iterable[Passage]:
    """Leave out reasoning, which is not sent again to every provider."""
    return (passage for passage in passages if passage.kind != "thought")


def collapse_whitespace(text: str) -> str:
    """Replace every run of whitespace with a single space, and strip the text."""
    return " ".join(text.split())


def strip_line_marks(line: str) -> str:
    """Remove the quotation mark and line number before a line, and collapse its whitespace."""
    return collapse_whitespace(_LINE_MARK.sub("", line, count=1))


def line_pieces(text: str) -> Iterator[str]:
    """Yield the lines of a text, very long ones in pieces, so that each search is short."""
    for line in text.split("\n"):
        yield from (
            line[pos : pos + _MAX_SEARCHED_CHARS]
            for pos in range(0, len(line), _MAX_SEARCHED_CHARS)
        )


def unique_names(paths: Iterable[str]) -> frozenset[str]:
    """Return the file names that identify one path; paths without a folder do not count."""
    paths_by_name: defaultdict[str, set[str]] = defaultdict(set)
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder:
            paths_by_name[name].add(path)
    return frozenset(name for name, same_name in paths_by_name.items() if len(same_name) == 1)


class PathIndex:
    """A set of paths in which ``src/app/main.py`` and ``app/main.py`` are equal.

    The shorter of two paths must have a folder, or be a file name in ``unique``.
    """

    def __init__(self, paths: Iterable[str], unique: frozenset[str]) -> None:
        self._unique = unique
        self._paths = set(paths)
        self._suffixes = {s for path in self._paths for s in self._distinctive_suffixes(path)}

    def __contains__(self, path: str) -> bool:
        if path in self._paths:
            return True
        suffixes = self._distinctive_suffixes(path)
        return path.strip("/") in self._suffixes or not self._paths.isdisjoint(suffixes)

    def _distinctive_suffixes(self, path: str) -> list[str]:
        """Return the suffixes of a path that identify it, the path itself included."""
        parts = path.strip("/").split("/")
        suffixes = ["/".join(parts[start:]) for start in range(len(parts))]
        return [suffix for suffix in suffixes if "/" in suffix or suffix in self._unique]
