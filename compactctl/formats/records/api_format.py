"""Formats of logs of requests to the APIs of models: one for each dialect, and one for all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.formats.format import Format
from compactctl.formats.records.api_reader import API_LOG, ApiLogReader
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.dialect import Ambiguous, Dialect, dialect_fits
from compactctl.formats.records.rows.envelope import dotted, exchange, row_of
from compactctl.formats.records.rows.texts import opened
from compactctl.model.message import JsonPath, Message, Role, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import Beside


class ApiFormat(Format, Dialect):
    """Reads and writes the messages of one API, wherever a row has them.

    A dialect is a subclass that stands in ``DIALECTS`` of the registry::

        class Acme(ApiFormat):
            name, title = "acme", "Acme messages"
            def fits(self, messages, request): return "own" if "acme" in request else None
            def start(self, number): return AcmeConversation(number)
            def new_record(self, message, beside): ...
            def new_content(self, part, current, text): ...
    """

    reads_arrays = True
    writes_pairs = True

    def between(self, first: Message, second: Message) -> tuple[Role, ...]:
        """Return the roles that have to stand between two messages for the API to take them."""
        return ()

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize records of which at least half are of this API, as a row or bare."""
        return bool(_judged((self,), records).dialects)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ApiLogReader(self.name, (self,), self).read(lines)


class ApiLog(Format):
    """Reads and writes logs whose rows are of several dialects, each row in its own.

    ``usual`` is the one that the first rows have: then this is its format, until another is found.
    With ``at``, the path of the messages in each row, nothing else is read.
    """

    reads_arrays = True

    def __init__(
        self,
        dialects: Sequence[ApiFormat],
        usual: ApiFormat | None = None,
        at: JsonPath | None = None,
    ) -> None:
        self.name = API_LOG if usual is None else usual.name
        if at is not None:
            self.name = f"{self.name}:{dotted(at)}"
        self.title = "logs of requests to several APIs" if usual is None else usual.title
        self.writes_pairs = all(dialect.writes_pairs for dialect in dialects)
        self._dialects = dialects
        self._usual = usual
        self._at = at
        self._named = {dialect.name: dialect for dialect in dialects}

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize records of which at least half are of some API."""
        return bool(_judged(self._dialects, records).dialects)

    def of(self, records: Sequence[Mapping[str, Any]]) -> "ApiLog | Ambiguous | None":
        """Return the format of what begins with these records, None when at most half fit."""
        judged = _judged(self._dialects, records)
        if not judged.dialects:
            return judged.doubt
        return ApiLog(self._dialects, judged.dialects[0]) if len(judged.dialects) == 1 else self

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ApiLogReader(self.name, self._dialects, self._usual, self._at).read(lines)

    def new_record(self, message: Synthetic, beside: Beside) -> Mapping[str, Any]:
        """Build a message as the API of its neighbor takes it; see ``Writer.new_record``."""
        return self._dialect(beside.anchor).new_record(message, beside)

    def new_value(self, message: Message, part: int, current: object, text: str) -> object:
        """Return new content as the message's API takes it; see ``Writer.new_value``."""
        return self._dialect(message).new_value(message, part, current, text)

    def _dialect(self, message: Message) -> ApiFormat:
        return self._named[message.dialect or self._dialects[0].name]


@dataclass(frozen=True, slots=True)
class _Judged:
    """The dialects of some records, if these have one for the most part, and what fits several."""

    dialects: tuple[ApiFormat, ...]
    doubt: Ambiguous | None


def _judged(dialects: Sequence[ApiFormat], records: Sequence[Mapping[str, Any]]) -> _Judged:
    records = [opened(record) for record in records]
    rows = [row_of(record) for record in records]
    bare = [record for record, row in zip(records, rows, strict=True) if row is None]
    weighed = [
        (dialect_fits(dialects, *exchange(record, row)), 1)
        for record, row in zip(records, rows, strict=True)
        if row is not None
    ]
    if bare:
        weighed.append((dialect_fits(dialects, bare, {}, {}), len(bare)))
    usual = next((each.own[0] for each, _ in weighed if len(each.own) == 1), None)
    chosen = [(each.choose(usual), weight) for each, weight in weighed]
    found = [each for each, _ in chosen if isinstance(each, ApiFormat)]
    fitting = sum(weight for each, weight in chosen if isinstance(each, ApiFormat))
    doubts = (each for each, _ in chosen if isinstance(each, Ambiguous))
    known = tuple(dict.fromkeys(found)) if fitting * 2 >= len(records) else ()
    return _Judged(known, next(doubts, None))
