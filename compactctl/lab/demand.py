"""Measure what a session's future needed from its past: entities and lines the agent rewrote."""

from collections.abc import Iterator, Mapping, Sequence

from compactctl.lab.text_content import PathIndex, TextContent, TextReader, without_reasoning
from compactctl.model.message import Message
from compactctl.records import dataclass
from compactctl.summaries.extract.passages import Passage, read_passages

AGENT_KINDS = frozenset({"reply", "call"})
"""The kinds of passages that the agent writes, besides reasoning."""


@dataclass(frozen=True, slots=True)
class FirstMentions:
    """The entities and lines of a future by who wrote them first.

    Attributes:
        entities, lines: those that the agent wrote before anything showed them to it, each with
            the number of the request, from 0.
        introduced_by_others: the entities that a tool or the user showed first.
    """

    entities: Mapping[str, int]
    lines: Mapping[str, int]
    introduced_by_others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Demand:
    """Entities and lines of a prefix that the agent later wrote, each with its request from 0.

    ``reintroduced`` counts the entities of the prefix that a tool or the user showed again first.
    """

    entities: Mapping[str, int]
    lines: Mapping[str, int]
    reintroduced: int


def find_first_mentions(
    future: Sequence[Sequence[Message]], reader: TextReader, cwd: str | None
) -> FirstMentions:
    """Return who first wrote what in a future, given as one sequence of messages per request."""
    entities: dict[str, int] = {}
    lines: dict[str, int] = {}
    seen: set[str] = set()
    shown: set[str] = set()
    for request, messages in enumerate(future):
        for passage in agent_first(messages, cwd):
            content = reader.read(passage.text)
            new = (content.entities | content.lines) - seen
            seen |= new
            if passage.kind not in AGENT_KINDS:
                shown |= new & content.entities
                continue
            entities.update(dict.fromkeys(new & content.entities, request))
            lines.update(dict.fromkeys(new & content.lines, request))
    return FirstMentions(entities, lines, frozenset(shown))


def measure_demand(
    prefix: TextContent, firsts: FirstMentions, reader: TextReader, unique: frozenset[str]
) -> Demand:
    """Return the first mentions that the prefix already held.

    ``unique`` are the file names that identify a path by themselves.
    """
    is_in_prefix = EntityLookup(prefix, reader, unique)
    entities, lines = sorted(firsts.entities.items()), sorted(firsts.lines.items())
    return Demand(
        entities={name: request for name, request in entities if is_in_prefix(name)},
        lines={line: request for line, request in lines if line in prefix.lines},
        reintroduced=sum(map(is_in_prefix, firsts.introduced_by_others)),
    )


class EntityLookup:
    """A predicate: does a content hold this entity? Paths may be shortened at the start."""

    def __init__(self, content: TextContent, reader: TextReader, unique: frozenset[str]) -> None:
        self._entities = content.entities
        self._paths = PathIndex(paths_in(content, reader), unique)

    def __call__(self, entity: str) -> bool:
        """Whether the content holds the entity."""
        return entity in self._entities or entity in self._paths


def paths_in(content: TextContent, reader: TextReader) -> Iterator[str]:
    """Yield the paths among the entities of a content."""
    return (name for name in content.entities if reader.lexicon.kind(name) == "path")


def agent_first(messages: Sequence[Message], cwd: str | None) -> list[Passage]:
    """Return the passages of one request: what the agent wrote, then what came back."""
    passages = [
        passage
        for passage in without_reasoning(read_passages(messages, cwd))
        if passage.kind != "summary"
    ]
    return sorted(passages, key=lambda passage: passage.kind not in AGENT_KINDS)
