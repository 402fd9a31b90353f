"""Formats of logs of requests to the APIs of models: one for each dialect, and one for all."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import Any, Literal

from compactctl.formats.format import Format
from compactctl.formats.records.chat_log import ChatLogReader, ConversationParser
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.envelope import LogRow, dotted, exchange, row_of, row_with
from compactctl.formats.records.rows import ChainLink, Chains, opened
from compactctl.history.turns import without_expired_reasoning
from compactctl.model.message import JsonPath, Message, Role, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import InsertionContext

# "own": has what only this API has; "shared": reads the same in this API and in others.
DialectFit = Literal["own", "shared"]

# What a log of several dialects is called.
API_LOG = "api-log"
# As many messages as tell dialects apart; conversations can hold thousands.
_SAMPLE = 50


class ApiFormat(Format):
    """Reads and writes the messages of one API, wherever a row has them: a dialect.

    It is a subclass that stands in ``DIALECTS`` of the registry. ``drops_past_reasoning`` is as for
    ``SessionInfo``::

        class Acme(ApiFormat):
            name, title = "acme", "Acme messages"
            def fits(self, messages, request): return "own" if "acme" in request else None
            def start(self, number): return AcmeConversation(number)
            def new_record(self, message, beside): ...
            def new_content(self, part, current, text): ...
    """

    reads_arrays = True
    can_write_assistant = True
    drops_past_reasoning: bool = False

    @abstractmethod
    def fits(
        self, messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any]
    ) -> DialectFit | None:
        """Tell whether these are messages of this API; None when most of them are not.

        ``request`` is the object that they stand in, empty where there is none. A bare answer is
        asked about as the only message.
        """

    @abstractmethod
    def start(self, number: int) -> ConversationParser:
        """Begin to read the conversation of a number."""

    def link(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> ChainLink | None:
        """Return what a request goes on from, None where it sends all there is itself."""
        return None

    def between(self, first: Message, second: Message) -> tuple[Role, ...]:
        """Return the roles that have to stand between two messages for the API to take them."""
        return ()

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize records of which at least half are of this API, as a row or bare."""
        return bool(_judged((self,), records).dialects)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ApiLogReader(self.name, (self,), self).read(lines)


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The names of dialects that each have something in a conversation that only they have."""

    names: tuple[str, ...]

    @property
    def words(self) -> str:
        """What is wrong and what to do about it."""
        return f"fits {' and '.join(self.names)}; name one of them with --format"


@dataclass(frozen=True, slots=True)
class DialectFits:
    """The dialects that a conversation may be in, and of these those that show in it."""

    fitting: tuple[ApiFormat, ...]
    own: tuple[ApiFormat, ...]

    def choose(self, usual: ApiFormat | None) -> ApiFormat | Ambiguous | None:
        """Return the dialect of the conversation, None when none fits.

        Where none shows, that is the ``usual`` one of the file, or else the first: they read it
        alike.
        """
        if len(self.own) > 1:
            return Ambiguous(tuple(dialect.name for dialect in self.own))
        shared = usual if usual in self.fitting else next(iter(self.fitting), None)
        return self.own[0] if self.own else shared


def dialect_fits(
    dialects: Sequence[ApiFormat],
    messages: Sequence[Any],
    request: Mapping[str, Any],
    answer: Mapping[str, Any],
) -> DialectFits:
    """Return the dialects that fit a conversation.

    They show in the request, and where none does, in the logged ``answer`` to it.
    """
    sample = [each for each in islice(messages, _SAMPLE) if isinstance(each, Mapping)]
    fits = [(dialect, dialect.fits(sample, request)) for dialect in dialects]
    fitting = tuple(dialect for dialect, fit in fits if fit)
    own = tuple(dialect for dialect, fit in fits if fit == "own")
    if not own and answer:
        # Nothing shows in a request without messages, such as one of a single text.
        asked = fitting if sample else dialects
        own = tuple(dialect for dialect in asked if dialect.fits([answer], {}) == "own")
    return DialectFits(fitting, own)


class ApiLogReader(ChatLogReader):
    """Chooses one of ``dialects`` for every conversation.

    ``usual`` is the one for a conversation that reads the same in several. A log that turns out to
    hold others as well is called ``api-log``. With ``at``, messages are read at that path of a row.
    """

    def __init__(
        self,
        name: str,
        dialects: Sequence[ApiFormat],
        usual: ApiFormat | None,
        at: JsonPath | None = None,
    ) -> None:
        super().__init__(name, dialects[0].start)
        self._at = at
        self._dialects = dialects
        self._usual = usual
        self._chains = Chains()
        # Conversations that a later request may go on with, and requests that begin one though they
        # go on from a response.
        self._chained: dict[int, ConversationParser] = {}
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
                    without_expired_reasoning(tuple(messages))
                    if self.builder.dialects.get(number) in ending
                    else messages
                )
            ),
            session=replace(
                found.session,
                drops_past_reasoning=bool(self.builder.dialects)
                and {*self.builder.dialects.values()} <= ending,
            ),
        )

    def called(self) -> str:
        """Return the name of the format that the file turned out to have."""
        is_named = self._at is not None or {*self.builder.dialects.values()} <= {self.name}
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
    ) -> ConversationParser | str:
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
        self.builder.dialects[number] = dialect.name
        conversation = dialect.start(number)
        if link is not None:
            self._chained[number] = conversation
            self._lost += link.follows is not None
        return conversation

    def logged(
        self,
        conversation: ConversationParser,
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
        opening: range,
        rest: range,
    ) -> None:
        """Take note of a row that goes on from another one, or may be gone on from."""
        name = self.builder.dialects[conversation.number]
        dialect = next(dialect for dialect in self._dialects if dialect.name == name)
        link = dialect.link(request, answer)
        if link is not None:
            self._chains.add(link, conversation.number, opening, rest)

    def effective(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return what the next request of each conversation would send."""
        if self._lost:
            self.builder.warnings.append(_lost_words(self._lost))
        return self._chains.sent(messages)

    def others(self, number: int) -> Iterable[ConversationParser]:
        """Return readers of all dialects: gateways answer in one whatever they were asked in."""
        return (dialect.start(number) for dialect in self._dialects)


def _lost_words(number: int) -> str:
    one, several = "1 request goes on from a response", f"{number:,} requests go on from responses"
    which = one if number == 1 else several
    return f"{which} not in this file; what was sent before is not counted"


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
        self.can_write_assistant = all(dialect.can_write_assistant for dialect in dialects)
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

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
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
