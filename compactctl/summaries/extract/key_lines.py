"""Key lines: the verbatim lines that together name most of what will be needed again."""

import heapq
from collections.abc import Iterator, Sequence

from compactctl.summaries.extract.decisions import call_title
from compactctl.summaries.extract.items import SummaryItem, one_line
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.vocabulary import SCALE, EntityVocabulary, Line

TITLE = 90
LABEL = "Key lines, verbatim:"
# What a document adds to each line: indent and line end.
_MARGIN = 3


def key_line_items(
    words: EntityVocabulary, passages: Sequence[Passage], room: int, covered: set[str]
) -> Iterator[SummaryItem]:
    """Yield lines that name most weight not in ``covered`` yet, one item per passage.

    The items take ``room`` characters at most; ``covered`` grows by what they name.
    """
    titles = {line.passage: _title(passages[line.passage]) for line in words.lines}
    chosen: dict[int, list[Line]] = {}
    for line in _Cover(words, titles, covered).chosen(room):
        chosen.setdefault(line.passage, []).append(line)
    for passage, lines in chosen.items():
        title = titles[passage]
        rows = sorted(lines, key=lambda line: line.row)
        text = "\n".join((title, *(line.text for line in rows if line.text not in title)))
        yield SummaryItem(section=3, label=LABEL, text=text, value=0, place=passage)


class _Cover:
    """Lazy greedy cover: a line's gain per character only falls, unless its passage opens."""

    def __init__(self, words: EntityVocabulary, titles: dict[int, str], covered: set[str]) -> None:
        self._words, self._titles, self._covered = words, titles, covered
        self._opened: set[int] = set()
        self._siblings: dict[int, list[int]] = {}
        for number, line in enumerate(words.lines):
            self._siblings.setdefault(line.passage, []).append(number)
        self._heap = [(-self._density(number), number) for number in range(len(words.lines))]
        heapq.heapify(self._heap)

    def chosen(self, room: int) -> Iterator[Line]:
        """Yield lines, best first, until ``room`` characters are used."""
        while self._heap:
            promised, number = heapq.heappop(self._heap)
            density, cost = self._density(number), self._cost(number)
            if not density or cost > room:
                continue
            if density < -promised:
                heapq.heappush(self._heap, (-density, number))
                continue
            room -= cost
            yield self._take(number)

    def _take(self, number: int) -> Line:
        line = self._words.lines[number]
        self._covered.update(line.entities)
        if line.passage not in self._opened:
            self._opened.add(line.passage)
            for sibling in self._siblings[line.passage]:
                heapq.heappush(self._heap, (-self._density(sibling), sibling))
        return line

    def _density(self, number: int) -> int:
        gain = sum(
            self._words.weights[entity]
            for entity in self._words.lines[number].entities
            if entity not in self._covered
        )
        return gain * SCALE // self._cost(number)

    def _cost(self, number: int) -> int:
        line = self._words.lines[number]
        opened = line.passage in self._opened
        return len(line.text) + _MARGIN + (0 if opened else len(self._titles[line.passage]))


def _title(passage: Passage) -> str:
    name = call_title(passage.pair, TITLE) if passage.pair else one_line(passage.name, TITLE)
    return f"{passage.spot} {name}" if name else f"{passage.spot} {passage.kind}"
