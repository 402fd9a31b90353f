"""What a test remembers of a session: its states, and which compactions were in effect in each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from talks import Record, Talk

Chain = tuple[str, ...]


@dataclass(slots=True)
class Span:
    """The time between two operations: the chain in effect, and the state that it ended with.

    ``added`` are the client's records since it began, ``lines`` their bytes. ``is_appended`` tells
    that an appended rewind began it: its bytes are those of no other state.
    """

    chain: Chain
    end: bytes
    added: list[Record] = field(default_factory=list)
    lines: bytes = b""
    is_appended: bool = False

    @property
    def begun(self) -> bytes:
        """What it began with, but for the end of the last line."""
        return self.end[: len(self.end) - len(self.lines)].rstrip(b"\n")

    @property
    def known(self) -> int:
        """The lines that the program has seen; none of a document that was written anew."""
        if self.added and not self.lines:
            return 0
        return len(self.end.splitlines()) - len(self.lines.splitlines())


@dataclass(frozen=True, slots=True)
class Expected:
    """A state, and the lines and records that were added since."""

    state: bytes
    lines: bytes
    added: Sequence[Record]

    def difference(self, talk: Talk, data: bytes) -> str:
        """Return in what way a restored state differs, "" if it does not."""
        if talk.is_document and self.added:
            records = [*talk.records(self.state), *self.added]
            return "" if talk.records(data) == records else "other records"
        end = b"\n" if self.lines and not self.state.endswith(b"\n") else b""
        return "" if data == self.state + end + self.lines else "other bytes"


class Past:
    """The spans of a session, oldest first."""

    def __init__(self, first: bytes) -> None:
        self.spans = [Span((), first)]

    @property
    def now(self) -> Span:
        """The newest span."""
        return self.spans[-1]

    @property
    def is_new(self) -> bool:
        """Whether nothing was done yet."""
        return len(self.spans) == 1

    @property
    def chains(self) -> Sequence[Chain]:
        """The chains that were ever in effect and can be reached by their bytes."""
        return tuple(dict.fromkeys(span.chain for span in self.spans if not span.is_appended))

    @property
    def routes(self) -> Iterator[tuple[Chain, Sequence[str]]]:
        """Yield the ways that a log offers, each with the chain that it leads to."""
        for chain in self.chains:
            yield chain, ("--to", chain[-1]) if chain else ("--all",)
        if self.now.chain[:-1] in self.chains:
            yield self.now.chain[:-1], ()

    def expected(self, chain: Chain) -> Expected:
        """Return the newest state of a chain, and what was added since."""
        spans = [i for i, each in enumerate(self.spans) if each.chain == chain]
        index = next(i for i in reversed(spans) if not self.spans[i].is_appended)
        later = self.spans[index + 1 :]
        return Expected(
            state=self.spans[index].end,
            lines=b"".join(span.lines for span in later),
            added=[record for span in later for record in span.added],
        )

    def begins(self, talk: Talk, chain: Chain, data: bytes) -> bool:
        """Tell whether bytes are a state of a chain, but for some of what was added since."""
        spans = [span for span in self.spans if span.chain == chain]
        if not talk.is_document:
            return any(data.startswith(span.begun) for span in spans)
        records = talk.records(data)
        known = (talk.records(span.end)[: -len(span.added) or None] for span in spans)
        return any(records[: len(each)] == each for each in known)

    def forget(self) -> None:
        """Keep what a new file knows: the way to the newest state, and no way aside."""
        chain = self.now.chain
        ends = [len(self.spans) - 1]
        for length in reversed(range(len(chain))):
            began = [
                at
                for at in range(1, ends[0] + 1)
                if self.spans[at].chain == chain[: length + 1]
                and self.spans[at - 1].chain == chain[:length]
            ]
            if not began:
                break
            ends.insert(0, began[-1] - 1)
        starts = [0, *(end + 1 for end in ends)]
        self.spans = [
            self._joined(self.spans[start : end + 1])
            for start, end in zip(starts, ends, strict=False)
        ]

    def _joined(self, spans: Sequence[Span]) -> Span:
        return Span(
            spans[-1].chain,
            spans[-1].end,
            added=[record for span in spans for record in span.added],
            lines=b"".join(span.lines for span in spans),
        )


def in_effect(log: Mapping[str, Any]) -> Chain:
    """Return the operations that a log says to be in effect, oldest first."""
    parents = {each["id"]: each["parent"] for each in log["operations"] if each["inEffect"]}
    chain: list[str] = []
    for _ in parents:
        last = chain[-1] if chain else None
        chain += [name for name, parent in parents.items() if parent == last and name not in chain]
    return tuple(chain) if len(chain) == len(parents) else tuple(parents)
