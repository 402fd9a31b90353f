"""How much of what a session's future and a successor ask for a context still holds."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.history.pairs import find_orphans
from compactctl.lab.cuts import Cut
from compactctl.lab.demand import (
    Demand,
    EntityLookup,
    FirstMentions,
    find_first_mentions,
    measure_demand,
    paths_in,
)
from compactctl.lab.probes import ProbeAnswers, Probes, make_probes
from compactctl.lab.text_content import (
    WORD,
    PathIndex,
    TextContent,
    TextReader,
    unique_names,
    without_reasoning,
)
from compactctl.model.message import Message
from compactctl.summaries.extract.entities import EntityKind
from compactctl.summaries.extract.passages import Passage, read_passages

# Characters on either side of a mention that belong to it.
_REACH = 150
# Newest mentions that any later one is compared with, and words that make one telling.
_MENTIONS, _MIN_WORDS = 12, 3
# Characters of a line that are searched at a time.
_LONGEST = 2_000
# Of a mention's words, what another one must have for the same to be said.
_ENOUGH = 0.5

Mentions = Mapping[str, Sequence[frozenset[str]]]


def collect_mentions(
    names: Collection[str], passages: Sequence[Passage], reader: TextReader, most: int = _MENTIONS
) -> Mentions:
    """Return the words around the newest mentions of each name, those with few words left out."""
    found: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for name, words in _mentions(names, reversed(list(without_reasoning(passages))), reader):
        if len(words) >= _MIN_WORDS and len(found[name]) < most:
            found[name].append(words)
    return found


def supported(
    names: Collection[str],
    earlier_mentions: Mentions,
    passages: Sequence[Passage],
    reader: TextReader,
) -> set[str]:
    """Return the names with a mention that has half of the words of a ``earlier_mentions`` one.

    A name that never stood in a telling line needs a mention alone.
    """
    left, found = set(names), set()
    for name, words in _mentions(left, without_reasoning(passages), reader):
        told = earlier_mentions.get(name, ())
        if name in left and (not told or any(_is_same_statement(each, words) for each in told)):
            found.add(name)
            left.discard(name)
    return found


def _is_same_statement(told: frozenset[str], words: frozenset[str]) -> bool:
    return len(told & words) >= _ENOUGH * len(told)


def _mentions(
    names: Collection[str], passages: Iterable[Passage], reader: TextReader
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


SOON_REQUESTS = 10
"""Requests after a cut whose demand is counted once more by itself."""

# What is measured -> how it is called on screen.
MEASURES: Mapping[str, str] = {
    "recall": "Recall",
    "soon": "Next 10",
    "support": "Support",
    "lines": "Lines",
    "rules": "Rules",
    "first": "First",
    "last": "Last",
    "errors": "Errors",
    "commands": "Commands",
    "changed": "Changed",
    "read": "Read",
    "tasks": "Tasks",
}
ANSWERS = "answers"
"""The measure that takes a reader: questions answered rightly."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of what was asked for are there."""

    hits: int
    asked: int

    @property
    def share(self) -> float | None:
        """The part that is there; None where nothing was asked for."""
        return self.hits / self.asked if self.asked else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What a context comes to: a tally per measure, and the tool pairs that it newly parts."""

    tallies: Mapping[str, Tally]
    pair_errors: int


class EvaluationCase:
    """A cut session with all that is asked of a context in its prefix's place.

    Nothing is asked for that the whole prefix does not have: of it every measure is 1.
    """

    def __init__(self, cut: Cut, reader: TextReader, cwd: str | None) -> None:
        self.cut, self._reader, self._cwd = cut, reader, cwd
        self._before = read_passages(cut.prefix, cwd)
        self.content = reader.contents(self._before)
        self._unique = unique_names(paths_in(self.content, reader))
        self.firsts = find_first_mentions(cut.future, reader, cwd)
        self.demand = self.demanded_by(self.firsts)
        names = [name for name in self.demand.entities if reader.lexicon.kind(name) != "path"]
        self._told: Mentions = collect_mentions(names, self._before, reader)
        self._names = sorted(supported(names, self._told, self._before, reader))
        self._asked = self._answerable(make_probes(self._before, cwd))

    def demanded_by(self, found: FirstMentions) -> Demand:
        """Return what a future, this session's own or another's, takes up of the prefix."""
        return measure_demand(self.content, found, self._reader, self._unique)

    def kinds(self, wanted: Demand) -> Counter[EntityKind]:
        """Count what is demanded by kind of entity."""
        return Counter(self._reader.lexicon.kind(name) for name in wanted.entities)

    def recall(self, messages: Sequence[Message]) -> Tally:
        """Return the first measure alone."""
        content = self._reader.contents(read_passages(messages, self._cwd))
        return _tally(self.demand.entities, self._presence(content))

    def score(self, messages: Sequence[Message]) -> Score:
        """Measure a context that stands in the place of the prefix."""
        found = read_passages(messages, self._cwd)
        content = self._reader.contents(found)
        is_there = self._presence(content)
        wanted = self.demand
        soon = [name for name, at in wanted.entities.items() if at < SOON_REQUESTS]
        told = supported(self._names, self._told, found, self._reader)
        tallies = {
            "recall": _tally(wanted.entities, is_there),
            "soon": _tally(soon, is_there),
            "support": _tally(self._names, told.__contains__),
            "lines": _tally(wanted.lines, content.lines.__contains__),
            **self._probed(found, content),
        }
        new = find_orphans(messages) - find_orphans(self.cut.prefix)
        return Score(tallies={name: tallies[name] for name in MEASURES}, pair_errors=len(new))

    def _presence(self, content: TextContent) -> EntityLookup:
        return EntityLookup(content, self._reader, self._unique)

    def _probed(self, found: Sequence[Passage], content: TextContent) -> dict[str, Tally]:
        answers = self._answers(found, content)
        asked = self._asked
        return {
            **{kind: _tally(each, answers.file) for kind, each in asked.files.items()},
            **{kind: _tally(each, answers.quote) for kind, each in asked.quotes.items()},
            **{kind: _tally(each, answers.fact) for kind, each in asked.facts.items()},
        }

    def _answers(self, found: Sequence[Passage], content: TextContent) -> ProbeAnswers:
        return ProbeAnswers(found, PathIndex(paths_in(content, self._reader), self._unique))

    def _answerable(self, asked: Probes) -> Probes:
        """Leave out what the prefix itself does not tell."""
        answers = self._answers(self._before, self.content)
        return Probes(
            files=_filter_values(asked.files, answers.file),
            quotes=_filter_values(asked.quotes, answers.quote),
            facts=_filter_values(asked.facts, answers.fact),
        )


def _filter_values(
    asked: Mapping[str, tuple[str, ...]], is_told: Callable[[str], bool]
) -> dict[str, tuple[str, ...]]:
    return {kind: tuple(filter(is_told, each)) for kind, each in asked.items()}


def _tally(asked: Iterable[str], is_there: Callable[[str], bool]) -> Tally:
    found = [is_there(each) for each in asked]
    return Tally(hits=sum(found), asked=len(found))
