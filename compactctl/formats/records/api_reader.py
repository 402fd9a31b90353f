"""Reads logs of requests to the APIs of models, each conversation in the dialect it has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compactctl.formats.records.chat_log import ChatLogReader, Conversation
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.dialect import Ambiguous, Dialect, dialect_fits
from compactctl.formats.records.rows.envelope import LogRow, dotted, row_of, row_with
from compactctl.formats.records.rows.texts import opened
from compactctl.model.message import JsonPath
from compactctl.model.transcript import Transcript

# What a log of several dialects is called.
API_LOG = "api-log"


class ApiLogReader(ChatLogReader):
    """Chooses one of ``dialects`` for every conversation.

    ``usual`` is the dialect of what reads the same in several. A log in which other dialects are
    found as well is called ``api-log``. With ``at``, messages are read at that path of each row.
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

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order; texts that hold requests and answers are opened."""
        return super().read(replace(line, values=tuple(map(opened, line.values))) for line in lines)

    def called(self) -> str:
        """Return the name of the format that the file turned out to have."""
        is_named = self._at is not None or {*self.dialects.values()} <= {self.name}
        return self.name if is_named else API_LOG

    def row(self, value: Mapping[str, Any]) -> LogRow | None:
        """Return where things stand in an object that holds messages, None for any other."""
        return row_of(value) if self._at is None else row_with(value, self._at)

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
        if chosen is None and len(self._dialects) > 1:
            return "a conversation of no API that is known"
        dialect = chosen or self._dialects[0]
        self.dialects[number] = dialect.name
        return dialect.start(number)

    def others(self, number: int) -> Iterable[Conversation]:
        """Return readers of all dialects: gateways answer in one whatever they were asked in."""
        return (dialect.start(number) for dialect in self._dialects)
