"""Reads logs of requests to the APIs of models, each conversation in the dialect it has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from compactctl.formats.records.chat_log import ChatLogReader, Conversation
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.dialect import Ambiguous, Dialect, dialect_fits
from compactctl.formats.records.rows.chain import Chains
from compactctl.formats.records.rows.envelope import LogRow, dotted, row_of, row_with
from compactctl.formats.records.rows.texts import opened
from compactctl.history.turns import without_ended_reasoning
from compactctl.model.message import JsonPath, Message
from compactctl.model.transcript import Transcript

# What a log of several dialects is called.
API_LOG = "api-log"


class ApiLogReader(ChatLogReader):
    """Chooses one of ``dialects`` for every conversation.

    ``usual`` is the one for a conversation that reads the same in several. A log that turns out to
    hold others as well is called ``api-log``. With ``at``, messages are read at that path of a row.
    """

    def __init__(
        self,
        name: str,
        dialects: Sequence[Dialect],
        usual: Dialect | None,
        at: JsonPath | None = None,
    ) -> None:
        super().__init__(name, dialects[0].start)
        self._at = at
        self._dialects = dialects
        self._usual = usual
        self._chains = Chains()
        # Conversations that a later request may go on with, and requests that begin one though they
        # go on from a response.
        self._chained: dict[int, Conversation] = {}
        self._lost = 0

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order; texts that hold requests and answers are opened."""
        lines = (replace(line, values=tuple(map(opened, line.values))) for line in lines)
        found = super().read(lines)
        ending = {dialect.name for dialect in self._dialects if dialect.drops_past_reasoning}
        sent = groupby(found.effective, lambda message: message.conversation)
        return replace(
            found,
            effective=tuple(
                message
                for number, messages in sent
                for message in (
                    without_ended_reasoning(tuple(messages))
                    if self.gather.dialects.get(number) in ending
                    else messages
                )
            ),
            session=replace(
                found.session,
                drops_past_reasoning=bool(self.gather.dialects)
                and {*self.gather.dialects.values()} <= ending,
            ),
        )

    def called(self) -> str:
        """Return the name of the format that the file turned out to have."""
        is_named = self._at is not None or {*self.gather.dialects.values()} <= {self.name}
        return self.name if is_named else API_LOG

    def row(self, value: Mapping[str, Any]) -> LogRow | None:
        """Return where things stand in an object that holds messages, None for any other."""
        return row_of(value) if self._at is None else row_with(value, self._at)

    def _names(self) -> str:
        several = len(self._dialects) > 1
        return "of a known API" if several else self._dialects[0].name

    def begin(
        self,
        number: int,
        messages: Sequence[Any],
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
    ) -> Conversation | str:
        """Return who reads the conversation of a number, or why it cannot be read."""
        if self._at is not None and not request:
            return f"no messages at {dotted(self._at)}"
        chosen = dialect_fits(self._dialects, messages, request, answer).choose(self._usual)
        if isinstance(chosen, Ambiguous):
            return f"a conversation that {chosen.words}"
        if chosen is None and messages and (request or len(self._dialects) > 1):
            return f"a conversation that is not {self._names()}"
        dialect = chosen or self._dialects[0]
        link = dialect.link(request, answer)
        earlier = None if link is None else self._chains.conversation(link)
        if earlier is not None:
            self._count = number
            return self._chained[earlier]
        self.gather.dialects[number] = dialect.name
        conversation = dialect.start(number)
        if link is not None:
            self._chained[number] = conversation
            self._lost += link.follows is not None
        return conversation

    def logged(
        self,
        conversation: Conversation,
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
        opening: range,
        rest: range,
    ) -> None:
        """Take note of a row that goes on from another one, or may be gone on from."""
        name = self.gather.dialects[conversation.number]
        dialect = next(dialect for dialect in self._dialects if dialect.name == name)
        link = dialect.link(request, answer)
        if link is not None:
            self._chains.add(link, conversation.number, opening, rest)

    def sent(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return what the next request of each conversation would send."""
        if self._lost:
            self.gather.warnings.append(_lost_words(self._lost))
        return self._chains.sent(messages)

    def others(self, number: int) -> Iterable[Conversation]:
        """Return readers of all dialects: gateways answer in one whatever they were asked in."""
        return (dialect.start(number) for dialect in self._dialects)


def _lost_words(number: int) -> str:
    one, several = "1 request goes on from a response", f"{number:,} requests go on from responses"
    which = one if number == 1 else several
    return f"{which} not in this file; what was sent before is not counted"
