"""What a session's future takes up of its past."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.lab.text_content import PathIndex, TextContent, TextReader, without_reasoning
from compactctl.model.message import Message
from compactctl.summaries.extract.passages import Passage, read_passages

_AGENT = frozenset({"reply", "call"})


@dataclass(frozen=True, slots=True)
class FirstMentions:
    """Who was first to name an entity or write a line in a future, and how many requests later.

    ``written`` are those that the agent wrote before anything showed them again,
    ``introduced_by_others`` how many entities something else showed first.
    """

    entities: Mapping[str, int]
    lines: Mapping[str, int]
    introduced_by_others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Demand:
    """Entities and lines of a prefix that the agent wrote again, each with its request from 0.

    ``reintroduced`` counts the entities of the prefix that a tool or a person showed first.
    """

    entities: Mapping[str, int]
    lines: Mapping[str, int]
    reintroduced: int


def find_first_mentions(
    future: Sequence[Sequence[Message]], reader: TextReader, cwd: str | None
) -> FirstMentions:
    """Walk through a future, one sequence of messages per request."""
    entities: dict[str, int] = {}
    lines: dict[str, int] = {}
    seen: set[str] = set()
    shown: set[str] = set()
    for number, messages in enumerate(future):
        for passage in _agent_first(messages, cwd):
            content = reader.content(passage.text)
            new = (content.entities | content.lines) - seen
            seen |= new
            if passage.kind not in _AGENT:
                shown |= new & content.entities
                continue
            entities.update(dict.fromkeys(new & content.entities, number))
            lines.update(dict.fromkeys(new & content.lines, number))
    return FirstMentions(entities, lines, frozenset(shown))


def measure_demand(
    prefix: TextContent, found: FirstMentions, reader: TextReader, unique: frozenset[str]
) -> Demand:
    """Return what of a future's firsts stands in the prefix."""
    is_known = EntityLookup(prefix, reader, unique)
    return Demand(
        entities={name: at for name, at in sorted(found.entities.items()) if is_known(name)},
        lines={line: at for line, at in sorted(found.lines.items()) if line in prefix.lines},
        reintroduced=sum(map(is_known, found.introduced_by_others)),
    )


class EntityLookup:
    """Tells whether an entity stands in a content; paths also by their ends."""

    def __init__(self, content: TextContent, reader: TextReader, unique: frozenset[str]) -> None:
        self._entities = content.entities
        self._paths = PathIndex(paths_in(content, reader), unique)

    def __call__(self, entity: str) -> bool:
        """Tell it of one entity."""
        return entity in self._entities or entity in self._paths


def paths_in(content: TextContent, reader: TextReader) -> Iterator[str]:
    """Yield the paths among the entities of a content."""
    return (name for name in content.entities if reader.lexicon.kind(name) == "path")


def _agent_first(messages: Sequence[Message], cwd: str | None) -> list[Passage]:
    """Return the passages of one request: what the agent wrote, then what came back."""
    found = [
        passage
        for passage in without_reasoning(read_passages(messages, cwd))
        if passage.kind != "summary"
    ]
    return sorted(found, key=lambda passage: passage.kind not in _AGENT)
