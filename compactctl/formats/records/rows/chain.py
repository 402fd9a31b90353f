"""Logged requests that go on from one another, where the API keeps what was sent before."""

from collections.abc import Iterator
from dataclasses import dataclass

from compactctl.model.message import Message


@dataclass(frozen=True, slots=True)
class ChainLink:
    """What a request goes on from: a response, or all of a conversation, by its id.

    ``name`` is the id of the response to it.
    """

    follows: str | None
    part_of: str | None
    name: str | None


@dataclass(frozen=True, slots=True)
class _Row:
    """A logged request in its conversation, after the one it goes on from.

    The ranges are those of its messages: what is sent before all others, and these with the answer.
    """

    conversation: int
    before: "_Row | None"
    opening: range
    rest: range

    def path(self) -> Iterator["_Row"]:
        """Yield it and all that it goes on from, the newest first."""
        row: _Row | None = self
        while row is not None:
            yield row
            row = row.before


class Chains:
    """Takes in logged requests in file order, then tells what the next ones would send."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._named: dict[str, _Row] = {}

    def conversation(self, link: ChainLink) -> int | None:
        """Return the number of the conversation that a request goes on with; None for a new one."""
        before = self._before(link)
        return None if before is None else before.conversation

    def add(self, link: ChainLink, conversation: int, opening: range, rest: range) -> None:
        """Take in a request, with the places of its messages."""
        row = _Row(conversation, self._before(link), opening, rest)
        self._rows.append(row)
        for name in filter(None, (link.name, link.part_of)):
            self._named[name] = row

    def sent(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return what the next request of each conversation sends, its instructions first.

        Those of older requests are not sent again, nor is what another request left aside.
        """
        if not self._rows:
            return messages
        newest = {row.conversation: row for row in self._rows}.values()
        opening = [place for row in newest for place in row.opening]
        path = {place for row in newest for each in row.path() for place in each.rest}
        chained = {place for row in self._rows for place in (*row.opening, *row.rest)}
        rest = (place for place in range(len(messages)) if place in path or place not in chained)
        return tuple(messages[place] for place in (*opening, *rest))

    def _before(self, link: ChainLink) -> _Row | None:
        return self._named.get(link.follows or link.part_of or "")
