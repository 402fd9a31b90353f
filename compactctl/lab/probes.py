"""Questions about the state of the work, made from a prefix alone and answered by its texts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.lab.text_content import (
    WORD,
    PathIndex,
    collapse_blanks,
    strip_line_marks,
    without_reasoning,
)
from compactctl.summaries.extract.files import file_uses
from compactctl.summaries.extract.outcomes import error_lines, failed, is_check
from compactctl.summaries.extract.passages import Passage, ToolPair, tool_pairs
from compactctl.summaries.extract.tasks import newest_tasks
from compactctl.summaries.extract.user_requests import spoken, user_requests

# Characters of a sentence that is neither a fragment nor pasted data.
_SENTENCE = range(8, 401)
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_MARKS = " \t-*>#"
MAX_RULES = 300
"""So many are asked for at most: each is searched for in all of a context."""

# Words of obligation, prohibition and preference; apart from those that summaries look for.
_RULE = re.compile(
    r"\b(?:must|never|always|only|ensure|prefer|avoid|without|remember|important|exactly|stop"
    r"|do not|don['\u2019]?t|should(?: not|n['\u2019]?t)|make sure|instead of|rather than"
    r"|(?:has|have|needs?|want) to|no need|at (?:least|most)|not allowed|requires?|required)\b",
    re.IGNORECASE,
)


def rules_in(passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the newest distinct sentences of persons that set a rule, with single blanks."""
    return tuple(dict.fromkeys(_rules(passages)))[-MAX_RULES:]


def _rules(passages: Sequence[Passage]) -> Iterator[str]:
    for passage in spoken(passages):
        for part in _END.split(passage.text):
            sentence = collapse_blanks(part).strip(_MARKS)
            if len(sentence) in _SENTENCE and _RULE.search(sentence):
                yield sentence


# Newest error lines, commands and tasks asked for, and characters of a command and of a request.
ERRORS, COMMANDS, TASKS = 3, 4, 100
COMMAND, REQUEST = 200, 600
# Of a line's words, what two lines in a row must have to tell the same; characters of each.
_ENOUGH, _LINE = 0.7, 900


@dataclass(frozen=True, slots=True)
class Probes:
    """What a context should still tell, by kind.

    ``files`` are paths; ``quotes`` stand letter by letter, each in one of the sentences that
    belong together; ``facts`` are lines of which most words may stand in two lines in a row.
    """

    files: Mapping[str, tuple[str, ...]]
    quotes: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, tuple[str, ...]]


def make_probes(found: Sequence[Passage], cwd: str | None) -> Probes:
    """Ask for what a successor has to know of these passages."""
    pairs = tool_pairs(found)
    files = file_uses(found, cwd)
    changed = tuple(path for path, use in files.items() if use.is_changed)
    asked = [text for _, text in user_requests(found)]
    return Probes(
        files={"changed": changed, "read": tuple(path for path in files if path not in changed)},
        quotes={
            "rules": rules_in(found),
            "first": tuple(_sentences(asked[:1])),
            "last": tuple(_sentences(asked[-1:])),
        },
        facts={
            "errors": tuple(_errors(pairs)),
            "commands": tuple(_commands(pairs)),
            "tasks": tuple(task.title for task in newest_tasks(pairs) if not task.is_done)[-TASKS:],
        },
    )


class ProbeAnswers:
    """What a context tells: its paths, its sentences, its lines."""

    def __init__(self, found: Iterable[Passage], paths: PathIndex) -> None:
        lines = [line for passage in without_reasoning(found) for line in passage.text.split("\n")]
        self._paths = paths
        self._whole = collapse_blanks(" ".join(map(strip_line_marks, lines)))
        self._rows = [set(WORD.findall(line[:_LINE].lower())) for line in lines if line.strip()]
        self._of: dict[str, list[int]] = {}
        for row, words in enumerate(self._rows):
            for word in words:
                self._of.setdefault(word, []).append(row)

    def file(self, path: str) -> bool:
        """Tell whether a path is named."""
        return path in self._paths

    def quote(self, sentence: str) -> bool:
        """Tell whether a sentence with single blanks stands there."""
        return sentence in self._whole

    def fact(self, line: str) -> bool:
        """Tell whether a line, or most of its words close together, stands there."""
        return self.quote(collapse_blanks(line)) or self._is_mentioned(
            set(WORD.findall(line.lower()))
        )

    def _is_mentioned(self, words: set[str]) -> bool:
        # A row that has enough of the words has at least one of the rarest among them.
        rarest = sorted(words, key=lambda word: (len(self._of.get(word, ())), word))
        few = rarest[: len(words) - int(_ENOUGH * len(words)) + 1]
        rows = {row for word in few for row in self._of.get(word, ())}
        close = {start for row in rows for start in (row - 1, row)}
        return any(self._share(words, start) >= _ENOUGH for start in close)

    def _share(self, words: set[str], start: int) -> float:
        two = self._rows[max(0, start) : start + 2]
        return len(words & set().union(*two)) / len(words)


def _errors(pairs: Sequence[ToolPair]) -> Iterator[str]:
    told = [lines[0] for pair in pairs if failed(pair) and (lines := error_lines(pair))]
    distinct = list(dict.fromkeys(told))
    yield from dict.fromkeys([*distinct[:1], *distinct[-ERRORS:]])


def _commands(pairs: Sequence[ToolPair]) -> Iterator[str]:
    run = [
        collapse_blanks(pair.command)[:COMMAND]
        for pair in pairs
        if pair.command and not pair.reads and is_check(pair.command)
    ]
    yield from list(dict.fromkeys(reversed(run)))[:COMMANDS]


def _sentences(texts: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the beginning of a text, with single blanks; the last one may be cut."""
    for text in texts:
        yield from filter(None, (strip_line_marks(line) for line in text[:REQUEST].split("\n")))
