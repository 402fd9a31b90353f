"""Whether what was said about an entity is still there, and not its name alone."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from compactctl.evaluation.reading import WORD, Reader, visible
from compactctl.summaries.extract.passages import Passage

# Characters on either side of a mention that belong to it.
_REACH = 150
# Newest mentions that any later one is compared with, and words that make one telling.
_MENTIONS, _FEWEST_WORDS = 12, 3
# Characters of a line that are searched at a time.
_LONGEST = 2_000
# Of a mention's words, what another one must have for the same to be said.
_ENOUGH = 0.5

Mentions = Mapping[str, Sequence[frozenset[str]]]


def mentions(
    names: Collection[str], passages: Sequence[Passage], reader: Reader, most: int = _MENTIONS
) -> Mentions:
    """Return the words around the newest mentions of each name, those with few words left out."""
    found: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for name, words in _mentions(names, reversed(list(visible(passages))), reader):
        if len(words) >= _FEWEST_WORDS and len(found[name]) < most:
            found[name].append(words)
    return found


def supported(
    names: Collection[str], known: Mentions, passages: Sequence[Passage], reader: Reader
) -> set[str]:
    """Return the names with a mention that has half of the words of a ``known`` one.

    A name that never stood in a telling line needs a mention alone.
    """
    left, found = set(names), set()
    for name, words in _mentions(left, visible(passages), reader):
        told = known.get(name, ())
        if name in left and (not told or any(_is_said(each, words) for each in told)):
            found.add(name)
            left.discard(name)
    return found


def _is_said(told: frozenset[str], words: frozenset[str]) -> bool:
    return len(told & words) >= _ENOUGH * len(told)


def _mentions(
    names: Collection[str], passages: Iterable[Passage], reader: Reader
) -> Iterator[tuple[str, frozenset[str]]]:
    wanted = frozenset(names)
    for passage in passages:
        named = reader.content(passage.text).entities & wanted
        for line in reversed(list(_lines(passage.text))) if named else ():
            for name in reader.lexicon.entities(line):
                if name in named:
                    at = max(0, line.find(name))
                    around = line[max(0, at - _REACH) : at + len(name) + _REACH]
                    yield name, frozenset(WORD.findall(around)) - set(WORD.findall(name))


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, very long ones in pieces: a search in one must end soon."""
    for line in text.split("\n"):
        yield from (line[at : at + _LONGEST] for at in range(0, len(line), _LONGEST))
