"""Which entities a conversation uses, what each is worth, and the lines that name them."""

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage

SHORTEST = 8
# Candidates that are weighed against one another; the best of many more.
CANDIDATES = 3_000
# Weights are integers of this resolution, so that no sum depends on the order of its terms.
SCALE = 1_000

# A line of up to 240 characters, or a piece of about that, ended where a word ends if that is near.
_PIECE = re.compile(r".{1,240}[^\s,;]{0,60}")
# What a line holds beyond this is data rather than text.
_LONGEST_LINE = 2_000
# More backslashes than this mark code or JSON inside of JSON, which nobody can read.
_MOST_BACKSLASHES = 4
# Line numbers that tools for reading and searching put before a line.
_NUMBER = re.compile(r"^\s*\d+(?:→|\t|:|\s*\|)\s?")
_QUOTED_KINDS = frozenset({"request", "reply", "call", "result", "file", "summary"})
_GIVEN_KINDS = frozenset({"result", "file", "reminder"})
# Weight of an entity = (FRESH / (1 + age / HALF_LIFE) + OFTEN ln(1 + n) - GIVEN ln(1 + given))²:
# what was used lately, often and by the model itself is needed again. Means of a logistic fit
# on the sessions of seven projects, each left out once (area under the curve 0.76).
_FRESH, _HALF_LIFE, _OFTEN, _GIVEN = 3.4, 20, 2.5, 1.65


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or a piece of a long one: its passage, its row there, and the entities it names."""

    passage: int
    row: int
    text: str
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntityVocabulary:
    """The entities of a conversation with their weights, and the best lines that name them."""

    weights: Mapping[str, int]
    lines: tuple[Line, ...]

    def missing(self, covered: set[str]) -> list[str]:
        """Return the entities that are not ``covered``, the weightiest first."""
        rest = (entity for entity in self.weights if entity not in covered)
        return sorted(rest, key=lambda entity: (-self.weights[entity], entity))


def vocabulary(passages: Sequence[Passage], lexicon: Lexicon) -> EntityVocabulary:
    """Weigh all entities and find the distinct lines that name them; of equal lines the newest."""
    uses = _Uses()
    newest: dict[str, Line] = {}
    for index, passage in enumerate(passages):
        # Reasoning is not sent again, so what only it names was never in use.
        if passage.kind == "thought":
            continue
        mentioned: dict[str, None] = {}
        for row, text in enumerate(_pieces(passage.text)):
            known = newest.get(text)
            entities = known.entities if known else lexicon.entities(text)
            mentioned.update(dict.fromkeys(entities))
            if entities and passage.kind in _QUOTED_KINDS and text.count("\\") <= _MOST_BACKSLASHES:
                newest[text] = Line(index, row, text, entities)
        uses.add(mentioned, passage)
    weights = uses.weights()
    return EntityVocabulary(weights, _best(newest.values(), weights))


@dataclass(slots=True)
class _Uses:
    """In how many passages each entity stands, and in how many that the model did not write."""

    all: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)
    age: dict[str, int] = field(default_factory=dict)

    def add(self, entities: Iterable[str], passage: Passage) -> None:
        entities = tuple(entities)
        self.all.update(entities)
        self.age.update(dict.fromkeys(entities, passage.age))
        if passage.kind in _GIVEN_KINDS:
            self.given.update(entities)

    def weights(self) -> dict[str, int]:
        return {entity: self._weight(entity) for entity in self.all}

    def _weight(self, entity: str) -> int:
        fresh = _FRESH / (1 + self.age[entity] / _HALF_LIFE)
        often = _OFTEN * math.log1p(self.all[entity])
        given = _GIVEN * math.log1p(self.given[entity])
        return round(SCALE * max(0.0, fresh + often - given) ** 2)


def _pieces(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        for piece in _PIECE.findall(line[:_LONGEST_LINE]):
            plain = _NUMBER.sub("", piece).strip()
            if len(plain) >= SHORTEST:
                yield plain


def _best(lines: Iterable[Line], weights: Mapping[str, int]) -> tuple[Line, ...]:
    """Keep the candidates with most weight per character, in the order of the conversation."""

    def rank(line: Line) -> tuple[int, int, int]:
        weight = sum(weights[entity] for entity in line.entities)
        return (-weight * SCALE // len(line.text), -line.passage, -line.row)

    best = heapq.nsmallest(CANDIDATES, lines, key=rank)
    return tuple(sorted(best, key=lambda line: (line.passage, line.row)))
