"""Which entities a conversation uses, what each is worth, and the lines that name them."""

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.uses import EntityUses

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
    uses = EntityUses()
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
    weights = {entity: round(SCALE * uses.demand(entity) ** 2) for entity in uses.all}
    return EntityVocabulary(weights, _best(newest.values(), weights))


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
