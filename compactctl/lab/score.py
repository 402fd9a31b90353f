"""Score a context: how much of what the session, or its successor, needed later is in it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from compactctl.history.pairs import find_orphans
from compactctl.lab.cuts import Cut
from compactctl.lab.demand import (
    Demand,
    EntityLookup,
    FirstMentions,
    agent_first,
    find_first_mentions,
    measure_demand,
    paths_in,
)
from compactctl.lab.probes import ProbeAnswers, Probes, make_probes
from compactctl.lab.reuse import REUSE_MEASURES, ReuseLookup, find_reuse
from compactctl.lab.tally import Tally, tally
from compactctl.lab.text_content import (
    WORD,
    PathIndex,
    TextReader,
    line_pieces,
    unique_names,
    without_reasoning,
)
from compactctl.model.message import Message
from compactctl.records import Record
from compactctl.summaries.extract.entities import EntityKind
from compactctl.summaries.extract.passages import Passage, read_passages

# Characters on either side of a name whose words belong to the mention.
_MENTION_CHARS = 150
# How many of the newest mentions a later one is compared with, and the words each must have.
_MAX_MENTIONS, _MIN_WORDS = 12, 3
# Share of a mention's words that another mention must contain to make the same statement.
_MIN_SHARED_WORDS = 0.5

Mentions = Mapping[str, Sequence[frozenset[str]]]
"""The words around each mention of a name, by name."""

SOON_REQUESTS = 10
"""The first requests after a cut, whose demand is also scored separately."""

# Measure -> its column on screen.
MEASURES: Mapping[str, str] = {
    "recall": "Recall",
    "soon": "Next 10",
    "support": "Support",
    **REUSE_MEASURES,
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
"""The measure for which a model answers questions."""


def collect_mentions(
    names: Collection[str],
    passages: Sequence[Passage],
    reader: TextReader,
    limit: int = _MAX_MENTIONS,
) -> Mentions:
    """Return up to ``limit`` of the newest mentions of each name, except those with few words."""
    mentions: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for name, words in _iter_mentions(names, reversed(list(without_reasoning(passages))), reader):
        if len(words) >= _MIN_WORDS and len(mentions[name]) < limit:
            mentions[name].append(words)
    return mentions


def find_supported_names(
    names: Collection[str],
    earlier_mentions: Mentions,
    passages: Sequence[Passage],
    reader: TextReader,
) -> set[str]:
    """Return the names with a mention that repeats half of the words of an earlier mention.

    A name without earlier mentions only has to occur.
    """
    unsupported, supported = set(names), set()
    for name, words in _iter_mentions(unsupported, without_reasoning(passages), reader):
        earlier = earlier_mentions.get(name, ())
        if name in unsupported and (
            not earlier or any(_is_same_statement(mention, words) for mention in earlier)
        ):
            supported.add(name)
            unsupported.discard(name)
    return supported


def _is_same_statement(earlier: frozenset[str], words: frozenset[str]) -> bool:
    return len(earlier & words) >= _MIN_SHARED_WORDS * len(earlier)


def _iter_mentions(
    names: Collection[str], passages: Iterable[Passage], reader: TextReader
) -> Iterator[tuple[str, frozenset[str]]]:
    requested = frozenset(names)
    for passage in passages:
        named = reader.read(passage.text) & requested
        for line in reversed(list(line_pieces(passage.text))) if named else ():
            for name in reader.lexicon.entities(line):
                if name in named:
                    pos = max(0, line.find(name))
                    around = line[max(0, pos - _MENTION_CHARS) : pos + len(name) + _MENTION_CHARS]
                    yield name, frozenset(WORD.findall(around)) - set(WORD.findall(name))


class Score(Record):
    """A tally per measure, and the number of tool pairs that only the context separates."""

    tallies: Mapping[str, Tally]
    pair_errors: int


class EvaluationCase:
    """A session cut in two, and everything that a replacement of its prefix should contain.

    Only what is in the prefix is required, so the prefix itself scores 1 in every measure.
    """

    def __init__(self, cut: Cut, reader: TextReader, cwd: str | None) -> None:
        self.cut, self._reader, self._cwd = cut, reader, cwd
        self._passages = read_passages(cut.prefix, cwd)
        self._entities = reader.read_all(self._passages)
        self._unique = unique_names(paths_in(self._entities, reader))
        future = [agent_first(messages, cwd) for messages in cut.future]
        self.first_mentions = find_first_mentions(future, reader)
        self.demand = self.demand_of(self.first_mentions)
        names = [name for name in self.demand.entities if reader.lexicon.kind(name) != "path"]
        self._mentions: Mentions = collect_mentions(names, self._passages, reader)
        self._names = sorted(find_supported_names(names, self._mentions, self._passages, reader))
        self._probes = self._answerable_probes(make_probes(self._passages, cwd))
        self._reuse = ReuseLookup(find_reuse(self._passages, future))

    def demand_of(self, first_mentions: FirstMentions) -> Demand:
        """Return what a future, of this session or of another, needs from the prefix."""
        return measure_demand(self._entities, first_mentions, self._reader, self._unique)

    def count_kinds(self, demand: Demand) -> Counter[EntityKind]:
        """Count the demanded entities by kind."""
        return Counter(self._reader.lexicon.kind(name) for name in demand.entities)

    def score_recall(self, messages: Sequence[Message]) -> Tally:
        """Score the measure ``recall`` alone, which is cheaper than ``score``."""
        entities = self._reader.read_all(read_passages(messages, self._cwd))
        return tally(self.demand.entities, self._lookup(entities))

    def score(self, messages: Sequence[Message]) -> Score:
        """Score a context that replaces the prefix."""
        passages = read_passages(messages, self._cwd)
        entities = self._reader.read_all(passages)
        is_present = self._lookup(entities)
        demand = self.demand
        soon = [name for name, request in demand.entities.items() if request < SOON_REQUESTS]
        supported = find_supported_names(self._names, self._mentions, passages, self._reader)
        tallies = {
            "recall": tally(demand.entities, is_present),
            "soon": tally(soon, is_present),
            "support": tally(self._names, supported.__contains__),
            **self._reuse.tally(passages),
            **self._tally_probes(passages, entities),
        }
        orphans = find_orphans(messages) - find_orphans(self.cut.prefix)
        return Score(tallies={name: tallies[name] for name in MEASURES}, pair_errors=len(orphans))

    def _lookup(self, entities: frozenset[str]) -> EntityLookup:
        return EntityLookup(entities, self._reader, self._unique)

    def _tally_probes(
        self, passages: Sequence[Passage], entities: frozenset[str]
    ) -> dict[str, Tally]:
        answers = self._probe_answers(passages, entities)
        probes = self._probes
        return {
            **{measure: tally(paths, answers.file) for measure, paths in probes.files.items()},
            **{measure: tally(texts, answers.quote) for measure, texts in probes.quotes.items()},
            **{measure: tally(lines, answers.fact) for measure, lines in probes.facts.items()},
        }

    def _probe_answers(self, passages: Sequence[Passage], entities: frozenset[str]) -> ProbeAnswers:
        return ProbeAnswers(passages, PathIndex(paths_in(entities, self._reader), self._unique))

    def _answerable_probes(self, probes: Probes) -> Probes:
        """Return the probes that the prefix itself answers."""
        answers = self._probe_answers(self._passages, self._entities)
        return Probes(
            files=_filter_values(probes.files, answers.file),
            quotes=_filter_values(probes.quotes, answers.quote),
            facts=_filter_values(probes.facts, answers.fact),
        )


def _filter_values(
    by_measure: Mapping[str, tuple[str, ...]], predicate: Callable[[str], bool]
) -> dict[str, tuple[str, ...]]:
    return {measure: tuple(filter(predicate, values)) for measure, values in by_measure.items()}
