"""Probes: facts about the state of the work, taken from a prefix and looked up in a context."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from compactctl.lab.text_content import (
    WORD,
    PathIndex,
    collapse_whitespace,
    strip_line_marks,
    without_reasoning,
)
from compactctl.records import Record
from compactctl.summaries.extract.files import file_uses
from compactctl.summaries.extract.outcomes import error_lines, is_check
from compactctl.summaries.extract.passages import Passage, ToolPair, tool_pairs
from compactctl.summaries.extract.tasks import newest_tasks
from compactctl.summaries.extract.user_words import spoken_passages, user_requests

# Characters of a sentence that is neither a fragment nor pasted data.
_SENTENCE = range(8, 401)
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_MARKS = " \t-*>#"
MAX_RULES = 300
"""A limit, since each rule is searched for in all of a context."""

# Words of obligation, prohibition and preference. Deliberately not those of ``rule_words``, by
# which summaries choose what to keep: a summarizer must not be measured by its own rule.
_RULE = re.compile(
    r"\b(?:must|never|always|only|ensure|prefer|avoid|without|remember|important|exactly|stop"
    r"|do not|don['\u2019]?t|should(?: not|n['\u2019]?t)|make sure|instead of|rather than"
    r"|(?:has|have|needs?|want) to|no need|at (?:least|most)|not allowed|requires?|required)\b",
    re.IGNORECASE,
)


# How many of the newest error lines, commands and tasks are probed.
ERRORS, COMMANDS, TASKS = 3, 4, 100
# Characters of a command and of a request.
COMMAND, REQUEST = 200, 600
# Share of a line's words that two consecutive lines must have to state the same fact, and the
# characters of each that are compared.
_MATCH_SHARE, _LINE = 0.7, 900


class Probes(Record, kw_only=False):
    """What a context should still hold, by measure.

    Attributes:
        files: paths.
        quotes: sentences, looked up verbatim.
        facts: lines, of which most words may stand in two consecutive lines.
    """

    files: Mapping[str, tuple[str, ...]]
    quotes: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, tuple[str, ...]]


def make_probes(passages: Sequence[Passage], cwd: str | None) -> Probes:
    """Return what an agent that takes over after these passages has to know."""
    pairs = tool_pairs(passages)
    files = file_uses(passages, cwd)
    changed = tuple(path for path, use in files.items() if use.is_changed)
    requests = [text for _, text in user_requests(passages)]
    return Probes(
        files={"changed": changed, "read": tuple(path for path in files if path not in changed)},
        quotes={
            "rules": rules_in(passages),
            "first": tuple(_sentences(requests[:1])),
            "last": tuple(_sentences(requests[-1:])),
        },
        facts={
            "errors": tuple(_errors(pairs)),
            "commands": tuple(_commands(pairs)),
            "tasks": tuple(t.title for t in newest_tasks(passages) if not t.is_done)[-TASKS:],
        },
    )


class ProbeAnswers:
    """Looks up probes in a context."""

    def __init__(self, passages: Iterable[Passage], paths: PathIndex) -> None:
        lines = [
            line for passage in without_reasoning(passages) for line in passage.text.split("\n")
        ]
        self._paths = paths
        self._text = collapse_whitespace(" ".join(map(strip_line_marks, lines)))
        self._rows = [set(WORD.findall(line[:_LINE].lower())) for line in lines if line.strip()]
        self._rows_by_word: dict[str, list[int]] = {}
        for row, words in enumerate(self._rows):
            for word in words:
                self._rows_by_word.setdefault(word, []).append(row)

    def file(self, path: str) -> bool:
        """Whether the context names the path."""
        return path in self._paths

    def quote(self, sentence: str) -> bool:
        """Whether the context holds the sentence, which must have single blanks."""
        return sentence in self._text

    def fact(self, line: str) -> bool:
        """Whether the context holds the line, or most of its words close together."""
        return self.quote(collapse_whitespace(line)) or self._is_mentioned(
            set(WORD.findall(line.lower()))
        )

    def _is_mentioned(self, words: set[str]) -> bool:
        # Lines with 70% of the words lack at most 30%, so they have one of the rarest 30% (and
        # one): only lines with one of these can match.
        rarest = sorted(words, key=lambda word: (len(self._rows_by_word.get(word, ())), word))
        rarest = rarest[: len(words) - int(_MATCH_SHARE * len(words)) + 1]
        rows = {row for word in rarest for row in self._rows_by_word.get(word, ())}
        starts = {start for row in rows for start in (row - 1, row)}
        return any(self._share(words, start) >= _MATCH_SHARE for start in starts)

    def _share(self, words: set[str], start: int) -> float:
        two = self._rows[max(0, start) : start + 2]
        return len(words & set().union(*two)) / len(words)


def rules_in(passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the newest distinct sentences in which the user sets a rule, with single blanks."""
    return tuple(dict.fromkeys(_rules(passages)))[-MAX_RULES:]


def _rules(passages: Sequence[Passage]) -> Iterator[str]:
    for passage in spoken_passages(passages):
        for part in _END.split(passage.text):
            sentence = collapse_whitespace(part).strip(_MARKS)
            if len(sentence) in _SENTENCE and _RULE.search(sentence):
                yield sentence


def _errors(pairs: Sequence[ToolPair]) -> Iterator[str]:
    first_lines = [lines[0] for pair in pairs if pair.has_failed and (lines := error_lines(pair))]
    distinct = list(dict.fromkeys(first_lines))
    yield from dict.fromkeys([*distinct[:1], *distinct[-ERRORS:]])


def _commands(pairs: Sequence[ToolPair]) -> Iterator[str]:
    checks = [
        collapse_whitespace(pair.command)[:COMMAND]
        for pair in pairs
        if pair.command and not pair.reads and is_check(pair.command)
    ]
    yield from list(dict.fromkeys(reversed(checks)))[:COMMANDS]


def _sentences(texts: Sequence[str]) -> Iterator[str]:
    """Yield the first lines of each text, with single blanks; the last one may be cut off."""
    for text in texts:
        yield from filter(None, (strip_line_marks(line) for line in text[:REQUEST].split("\n")))
