"""Measure what a session's future wrote again of its past, word for word.

Stages choose what to keep by entities, requests and outcomes. These measures know none of them, and
so judge a stage by something other than its own rules.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from compactctl.history.read_calls import OLD_TEXTS
from compactctl.lab.demand import AGENT_KINDS
from compactctl.lab.tally import Tally, tally
from compactctl.lab.text_content import line_pieces, strip_line_marks, without_reasoning
from compactctl.records import Record
from compactctl.summaries.extract.passages import Passage, ToolPair
from compactctl.tokens.counters.vocabulary import is_token

# Measure -> its column on screen.
REUSE_MEASURES: Mapping[str, str] = {
    "words": "Words",
    "statements": "Statements",
    "lines": "Lines",
    "edits": "Edits",
    "rereads": "Read again",
}

# Every policy keeps the newest texts, so they ask for nothing.
_NEWEST_TEXTS = 6
_MIN_WORD_CHARS, _MIN_LINE_CHARS, _MIN_EDIT_LINE_CHARS = 5, 25, 8
# The source lines of a word that another line is compared with, and the words each must have.
_MAX_SOURCES, _MIN_SOURCE_WORDS = 12, 3
# The share of a source's words that a line must have to say the same.
_MIN_SHARED_WORDS = 0.5
# The share of an edit's lines with which the edit can be made. An edit whose text was shown again
# since, to this share of its lines, does not depend on the prefix.
_MIN_EDIT_LINES, _MAX_SHOWN_LINES = 0.9, 0.5
# A path that a summary shortens keeps at least these of its names.
_PATH_NAMES = 2

_WORD = re.compile(r"[^\s\"'`,;()\[\]{}<>|=]+")
_PUNCTUATION = ".:!?*_#-/\\$&%~@+\u2026"
_PATCH = "*** Begin Patch"
_HUNK = re.compile(r"^(?=@@|\*\*\* )", re.MULTILINE)


class _Line(Record, kw_only=False):
    """A line without line number and quotation mark, whitespace collapsed, and its words."""

    text: str
    words: frozenset[str]


class _Matches(Record, kw_only=False):
    """What of the demand a text holds: words, words with their statement, and lines."""

    words: frozenset[str]
    statements: frozenset[str]
    lines: frozenset[str]


class Reuse(Record):
    """What the agent wrote again of a prefix before anything showed it again.

    Attributes:
        words: rare words of five characters or more.
        sources: the words of the lines in which such a word stood, newest first.
        lines: lines of 25 characters or more.
        edits: the lines of the old text of each edit.
        rereads: the files that the agent read before and reads again, by the end of their path.
    """

    words: frozenset[str]
    sources: Mapping[str, Sequence[frozenset[str]]]
    lines: frozenset[str]
    edits: tuple[frozenset[str], ...]
    rereads: frozenset[str]


def find_reuse(prefix: Sequence[Passage], future: Sequence[Sequence[Passage]]) -> Reuse:
    """Return what a future, one sequence of passages per request, wrote again of a prefix."""
    texts = list(without_reasoning(prefix))
    older, newest = texts[:-_NEWEST_TEXTS], texts[-_NEWEST_TEXTS:]
    written = _WrittenAgain(older)
    for passage in newest:
        written.add_shown(passage)
    for passage in chain.from_iterable(future):
        if passage.kind in AGENT_KINDS:
            written.add_written(passage)
        else:
            written.add_shown(passage)
    words = frozenset(filter(_is_rare, written.words))
    text = "\n".join(passage.text for passage in texts)
    return Reuse(
        words=words,
        sources=_find_sources(words, written.older_lines),
        lines=frozenset(line for line in written.lines if len(line) >= _MIN_LINE_CHARS),
        edits=tuple(written.edits),
        rereads=frozenset(path for path in written.rereads if path in text),
    )


class _WrittenAgain:
    """Collects what the agent wrote again of older passages, from later ones in order."""

    def __init__(self, older: Sequence[Passage]) -> None:
        self.older_lines = [line for passage in older for line in _read_lines(passage.text)]
        self._older_words = frozenset[str]().union(*(line.words for line in self.older_lines))
        self._older_texts = {line.text for line in self.older_lines}
        self._older_reads = {p.pair.reads for p in older if p.pair and p.pair.reads}
        self._seen_words, self._seen_lines = set[str](), set[str]()
        self.words, self.lines, self.rereads = set[str](), set[str](), set[str]()
        self.edits: list[frozenset[str]] = []

    def add_shown(self, passage: Passage) -> None:
        """Add what a tool, the user or one of the newest texts shows."""
        for line in _read_lines(passage.text):
            self._seen_words |= line.words & self._older_words
            self._seen_lines.add(line.text)

    def add_written(self, passage: Passage) -> None:
        """Add what the agent writes."""
        if passage.pair:
            self.edits += filter(self._needs_past, map(_edit_lines, _old_texts(passage.pair)))
            if passage.pair.reads in self._older_reads:
                self.rereads.add(_path_end(passage.pair.reads))
        for line in _read_lines(passage.text):
            self.words |= (line.words & self._older_words) - self._seen_words
            if line.text in self._older_texts and line.text not in self._seen_lines:
                self.lines.add(line.text)
        self.add_shown(passage)

    def _needs_past(self, edit: frozenset[str]) -> bool:
        n_older, n_seen = len(edit & self._older_texts), len(edit & self._seen_lines)
        return n_older >= _MIN_EDIT_LINES * len(edit) and n_seen < _MAX_SHOWN_LINES * len(edit)


class ReuseLookup:
    """Looks up in contexts what the agent wrote again; each distinct text is read once."""

    def __init__(self, reuse: Reuse) -> None:
        self._reuse = reuse
        self._lines = reuse.lines.union(*reuse.edits)
        # By the word that the fewest of them have, so that a text is searched for few lines.
        self._lines_by_word: dict[str, list[str]] = {}
        words_by_line = {line: _words_in(line) for line in self._lines}
        counts = Counter(chain.from_iterable(words_by_line.values()))
        for line, words in words_by_line.items():
            if words:
                rarest = min(words, key=lambda word: (counts[word], word))
                self._lines_by_word.setdefault(rarest, []).append(line)
        self._matches: dict[str, _Matches] = {}

    def tally(self, passages: Iterable[Passage]) -> dict[str, Tally]:
        """Count what a context holds, by measure."""
        reuse = self._reuse
        texts = [passage.text for passage in without_reasoning(passages)]
        matches = list(map(self._match, texts))
        words = set[str]().union(*(match.words for match in matches))
        statements = set[str]().union(*(match.statements for match in matches))
        lines = set[str]().union(*(match.lines for match in matches))
        text = "\n".join(texts)
        return {
            "words": tally(reuse.words, lambda word: word in words or word in text),
            "statements": tally(reuse.sources, statements.__contains__),
            "lines": tally(reuse.lines, lines.__contains__),
            "edits": tally(
                reuse.edits, lambda edit: len(edit & lines) >= _MIN_EDIT_LINES * len(edit)
            ),
            "rereads": tally(reuse.rereads, text.__contains__),
        }

    def _match(self, text: str) -> _Matches:
        matches = self._matches.get(text)
        if matches is None:
            matches = self._matches[text] = self._match_lines(list(_read_lines(text)))
        return matches

    def _match_lines(self, text_lines: Sequence[_Line]) -> _Matches:
        words, statements, lines = set[str](), set[str](), set[str]()
        for line in text_lines:
            demanded = line.words & self._reuse.words
            words |= demanded
            statements |= {word for word in demanded if self._has_source(word, line)}
            if line.text in self._lines:
                lines.add(line.text)
            lines |= {
                quoted
                for key in line.words & self._lines_by_word.keys()
                for quoted in self._lines_by_word[key]
                if f" {quoted} " in f" {line.text} "
            }
        return _Matches(frozenset(words), frozenset(statements), frozenset(lines))

    def _has_source(self, word: str, line: _Line) -> bool:
        return any(_says_same(source, line.words) for source in self._reuse.sources.get(word, ()))


def _says_same(source: frozenset[str], words: frozenset[str]) -> bool:
    return len(source & words) >= max(_MIN_SOURCE_WORDS, _MIN_SHARED_WORDS * len(source))


def _find_sources(
    words: Collection[str], lines: Sequence[_Line]
) -> Mapping[str, Sequence[frozenset[str]]]:
    sources: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for line in reversed(lines):
        if len(line.words) >= _MIN_SOURCE_WORDS:
            for word in line.words.intersection(words):
                if len(sources[word]) < _MAX_SOURCES:
                    sources[word].append(line.words)
    return sources


def _read_lines(text: str) -> Iterator[_Line]:
    for piece in line_pieces(text):
        if line := strip_line_marks(piece):
            yield _Line(line, _words_in(line))


def _words_in(line: str) -> frozenset[str]:
    return frozenset([word.strip(_PUNCTUATION) for word in _WORD.findall(line)]) - {""}


def _is_rare(word: str) -> bool:
    """Whether a word is long, and none that is so common that it is one token of o200k_base."""
    return len(word) >= _MIN_WORD_CHARS and not word.isdigit() and not is_token(f" {word.lower()}")


def _old_texts(pair: ToolPair) -> Iterator[str]:
    """Yield the texts that a call replaces in files: old strings, and the old side of patches."""
    for name, text in pair.texts:
        if name in OLD_TEXTS:
            yield text
        elif _PATCH in text:
            for hunk in _HUNK.split(text):
                yield "\n".join(line[1:] for line in hunk.split("\n") if line[:1] in (" ", "-"))


def _edit_lines(text: str) -> frozenset[str]:
    lines = (strip_line_marks(line) for line in text.split("\n"))
    return frozenset(line for line in lines if len(line) >= _MIN_EDIT_LINE_CHARS)


def _path_end(path: str) -> str:
    return "/".join(path.split("/")[-_PATH_NAMES:])
