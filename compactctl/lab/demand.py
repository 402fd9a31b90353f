"""Measure what a session's future needed from its past: the entities that the agent named again."""

from collections.abc import Iterator, Mapping, Sequence

from compactctl.lab.text_content import PathIndex, TextReader, without_reasoning
from compactctl.model.message import Message
from compactctl.records import Record
from compactctl.summaries.extract.passages import Passage, read_passages

AGENT_KINDS = frozenset({"reply", "call"})
"""The kinds of passages that the agent writes, besides reasoning."""


class FirstMentions(Record, kw_only=False):
    """The entities of a future by who wrote them first.

    Attributes:
        entities: those that the agent wrote before anything showed them to it, each with the number
            of the request, from 0.
        introduced_by_others: those that a tool or the user showed first.
    """

    entities: Mapping[str, int]
    introduced_by_others: frozenset[str]


class Demand(Record, kw_only=False):
    """Entities of a prefix that the agent later wrote, each with its request from 0.

    ``reintroduced`` counts those that a tool or the user showed again first.
    """

    entities: Mapping[str, int]
    reintroduced: int


def find_first_mentions(future: Sequence[Sequence[Passage]], reader: TextReader) -> FirstMentions:
    """Return who first wrote what in a future, given as one sequence of passages per request."""
    entities: dict[str, int] = {}
    seen: set[str] = set()
    shown: set[str] = set()
    for request, passages in enumerate(future):
        for passage in passages:
            new = reader.read(passage.text) - seen
            seen |= new
            if passage.kind in AGENT_KINDS:
                entities.update(dict.fromkeys(new, request))
            else:
                shown |= new
    return FirstMentions(entities, frozenset(shown))


def measure_demand(
    prefix: frozenset[str], firsts: FirstMentions, reader: TextReader, unique: frozenset[str]
) -> Demand:
    """Return the first mentions of entities that the prefix already held.

    ``unique`` are the file names that identify a path by themselves.
    """
    is_in_prefix = EntityLookup(prefix, reader, unique)
    return Demand(
        entities={
            name: request for name, request in sorted(firsts.entities.items()) if is_in_prefix(name)
        },
        reintroduced=sum(map(is_in_prefix, firsts.introduced_by_others)),
    )


class EntityLookup:
    """A predicate: is this one of the entities? Paths may be shortened at the start."""

    def __init__(
        self, entities: frozenset[str], reader: TextReader, unique: frozenset[str]
    ) -> None:
        self._entities = entities
        self._paths = PathIndex(paths_in(entities, reader), unique)

    def __call__(self, entity: str) -> bool:
        """Whether it is one of the entities."""
        return entity in self._entities or entity in self._paths


def paths_in(entities: frozenset[str], reader: TextReader) -> Iterator[str]:
    """Yield the paths among the entities."""
    return (name for name in entities if reader.lexicon.kind(name) == "path")


def agent_first(messages: Sequence[Message], cwd: str | None) -> list[Passage]:
    """Return the passages of one request: what the agent wrote, then what came back."""
    passages = [
        passage
        for passage in without_reasoning(read_passages(messages, cwd))
        if passage.kind != "summary"
    ]
    return sorted(passages, key=lambda passage: passage.kind not in AGENT_KINDS)
