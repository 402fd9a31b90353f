"""Formats of logs of API requests: one for each dialect, and one for logs of several."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import groupby, islice
from operator import or_
from typing import Any, Literal

from compactctl.clients.format import Format
from compactctl.clients.records.chat_log import ChatLogReader, ConversationParser
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.envelope import (
    LogRow,
    is_step,
    locate_exchange,
    locate_exchange_at,
    read_exchange,
)
from compactctl.clients.records.json_texts import decode_embedded
from compactctl.clients.records.rows import ChainLink, Chains
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields
from compactctl.clients.wrappings import KNOWN_WRAPPINGS
from compactctl.history.provider_edits import as_read
from compactctl.history.turns import without_expired_reasoning
from compactctl.model.message import Message, Role, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import InsertionContext
from compactctl.records import Record, replace

# "certain": only requests to this API, or its answers, are such; "distinctive": only this API
# writes such messages; "shared": they read the same in several APIs.
DialectFit = Literal["certain", "distinctive", "shared"]

# The name of the format of a log of several dialects.
API_LOG = "api-log"
# Enough messages to tell dialects apart; conversations can have thousands.
_MAX_SAMPLE = 50


class ApiFormat(Format):
    """A dialect: reads and writes the messages of one API, wherever a row stores them.

    Subclasses are listed in ``DIALECTS`` of the registry. For ``drops_past_reasoning`` see
    ``SessionInfo``, for ``unsent_fields`` see ``UnsentFields``::

        class Acme(ApiFormat):
            name, title = "acme", "Acme messages"
            def fits(self, messages, request): return "distinctive" if "acme" in request else None
            def start(self, number): return AcmeConversation(number)
            def new_record(self, message, beside): ...
            def new_content(self, part, current, text): ...
    """

    reads_arrays = True
    can_write_assistant = True
    drops_past_reasoning: bool = False
    unsent_fields: UnsentFields = UnsentFields()

    @abstractmethod
    def fits(
        self, messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any]
    ) -> DialectFit | None:
        """Return how messages fit this API; None if most of them do not.

        ``request`` is the object that contains them, or {}. A bare answer is passed as the only
        message.
        """

    @abstractmethod
    def start(self, number: int) -> ConversationParser:
        """Return the parser of a conversation, which counts from 0."""

    def link(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> ChainLink | None:
        """Return what a request continues; None if it sends the whole conversation."""
        return None

    def roles_between(self, first: Message, second: Message) -> tuple[Role, ...]:
        """Return the roles of messages that the API requires between two messages."""
        return ()

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize records of which at least half are of this API, in rows or bare."""
        return bool(_classify((self,), records).dialects)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ApiLogReader(self.name, (self,), self, is_log=self.is_log).read(lines)


class Ambiguous(Record, kw_only=False):
    """The names of several dialects that are all distinctive for a conversation."""

    names: tuple[str, ...]

    @property
    def description(self) -> str:
        """The problem, and what to do about it, as the end of an error."""
        return f"fits {' and '.join(self.names)}; name one of them with --format"


class DialectFits(Record, kw_only=False):
    """The dialects that a conversation may be in, and those that are distinctive for it."""

    fitting: tuple[ApiFormat, ...]
    distinctive: tuple[ApiFormat, ...]

    def choose(self, default: ApiFormat | None) -> ApiFormat | Ambiguous | None:
        """Return the dialect of the conversation; None if none fits.

        If none is distinctive, this is the file's ``default``, or else the first that fits: all of
        them read the conversation alike.
        """
        if len(self.distinctive) > 1:
            return Ambiguous(tuple(dialect.name for dialect in self.distinctive))
        shared = default if default in self.fitting else next(iter(self.fitting), None)
        return self.distinctive[0] if self.distinctive else shared


def match_dialects(
    dialects: Sequence[ApiFormat],
    messages: Sequence[Any],
    request: Mapping[str, Any],
    answer: Mapping[str, Any],
) -> DialectFits:
    """Match a conversation to dialects by its request, or else by its logged ``answer``."""
    sample = [message for message in islice(messages, _MAX_SAMPLE) if isinstance(message, Mapping)]
    fits = [(dialect, dialect.fits(sample, request)) for dialect in dialects]
    fitting = tuple(dialect for dialect, fit in fits if fit)
    certain = tuple(dialect for dialect, fit in fits if fit == "certain")
    # One odd message says less than its request.
    distinctive = certain or tuple(dialect for dialect, fit in fits if fit == "distinctive")
    if not distinctive and answer:
        # A request without messages, such as a single text, fits no dialect.
        candidates = fitting if sample else dialects
        distinctive = tuple(
            dialect
            for dialect in candidates
            if dialect.fits([answer], {}) in ("certain", "distinctive")
        )
    return DialectFits(fitting, distinctive)


class ApiLogReader(ChatLogReader):
    """Choose one of ``dialects`` for every conversation.

    ``default`` is for a conversation that reads the same in several. A log with conversations in
    other dialects gets the format name ``api-log``. With ``messages_field``, messages are read at
    that path of a row.
    """

    def __init__(
        self,
        name: str,
        dialects: Sequence[ApiFormat],
        default: ApiFormat | None,
        messages_field: str | None = None,
        *,
        is_log: bool = True,
    ) -> None:
        unsent_fields = reduce(or_, (dialect.unsent_fields for dialect in dialects), COMMON_UNSENT)
        super().__init__(
            name,
            dialects[0].start,
            wrappings=KNOWN_WRAPPINGS,
            is_log=is_log,
            unsent_fields=unsent_fields,
        )
        self._messages_field = messages_field
        self._dialects = dialects
        self._default = default
        self._chains = Chains()
        # Parsers of conversations that a later request may continue, and how many requests continue
        # a response that is not in the file.
        self._chained_parsers: dict[int, ConversationParser] = {}
        self._n_lost = 0

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines once, in order; decode requests and answers stored as JSON text."""
        lines = (replace(line, values=tuple(map(decode_embedded, line.values))) for line in lines)
        transcript = super().read(lines)
        dropping = {dialect.name for dialect in self._dialects if dialect.drops_past_reasoning}
        conversations = groupby(transcript.effective, lambda message: message.conversation)
        return replace(
            transcript,
            effective=tuple(
                message
                for number, messages in conversations
                for message in _as_sent(
                    as_read(tuple(messages)),
                    drops_reasoning=self.builder.dialects.get(number) in dropping,
                )
            ),
            session=replace(
                transcript.session,
                client=self._client_names(),
                drops_past_reasoning=bool(self.builder.dialects)
                and {*self.builder.dialects.values()} <= dropping,
            ),
        )

    def _client_names(self) -> str:
        """Return the clients that made the requests, by their system prompts; "" if unknown."""
        return " and ".join(sorted({client.client for client in self.builder.wrappings.values()}))

    def format_name(self) -> str:
        """Return the name of the format, once the whole file is read."""
        names = {*self.builder.dialects.values()}
        is_named = self._messages_field is not None or names <= {self.name}
        return self.name if is_named else API_LOG

    def row(self, value: Mapping[str, Any]) -> LogRow | None:
        """Locate the request and answer in an object; None if it has no messages."""
        if self._messages_field is None:
            return locate_exchange(value)
        return locate_exchange_at(value, self._messages_field)

    def unsent_row(self, value: object) -> str:
        """Return the kind of a row that is not a request to a model; "" for any other value."""
        return "step of a trace" if self._messages_field is None and is_step(value) else ""

    def _expected_names(self) -> str:
        several = len(self._dialects) > 1
        return "of a known API" if several else self._dialects[0].name

    def begin(
        self,
        number: int,
        messages: Sequence[Any],
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
    ) -> ConversationParser | str:
        """Return the parser of a conversation, or the reason why it cannot be read."""
        if self._messages_field is not None and not request:
            return f"no messages at {self._messages_field}"
        match = match_dialects(self._dialects, messages, request, answer).choose(self._default)
        if isinstance(match, Ambiguous):
            return f"a conversation that {match.description}"
        if match is None and messages and (request or len(self._dialects) > 1):
            return f"a conversation that is not {self._expected_names()}"
        dialect = match or self._dialects[0]
        link = dialect.link(request, answer)
        continued = None if link is None else self._chains.conversation_of(link)
        if continued is not None:
            self._count = number
            return self._chained_parsers[continued]
        self.builder.dialects[number] = dialect.name
        conversation = dialect.start(number)
        if link is not None:
            self._chained_parsers[number] = conversation
            self._n_lost += link.previous_response_id is not None
        return conversation

    def logged(
        self,
        conversation: ConversationParser,
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
        preamble: range,
        dialog: range,
    ) -> None:
        """Note a row that continues another row, or may be continued."""
        name = self.builder.dialects[conversation.number]
        dialect = next(dialect for dialect in self._dialects if dialect.name == name)
        link = dialect.link(request, answer)
        if link is not None:
            self._chains.add(link, conversation.number, preamble, dialog)

    def effective(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return what the next request of each conversation would send."""
        self.builder.unread.add_reference(self._n_lost)
        if self._n_lost:
            self.builder.warnings.append(_lost_warning(self._n_lost))
        return self._chains.effective(messages)

    def other_parsers(self, number: int) -> Iterable[ConversationParser]:
        """Return parsers of all dialects: a gateway may answer in another one."""
        return (dialect.start(number) for dialect in self._dialects)


def _as_sent(messages: tuple[Message, ...], *, drops_reasoning: bool) -> tuple[Message, ...]:
    return without_expired_reasoning(messages) if drops_reasoning else messages


def _lost_warning(n_lost: int) -> str:
    what = (
        "1 request continues a response"
        if n_lost == 1
        else f"{n_lost:,} requests continue responses"
    )
    return f"{what} not in this file; earlier messages are not counted"


class ApiLog(Format):
    """Reads and writes logs of several dialects, each row in its dialect.

    If all of the first rows are of the dialect ``default``, the format takes its name until a row
    of another one is read. With ``messages_field``, only messages at that path of a row are read.
    """

    reads_arrays = True

    def __init__(
        self,
        dialects: Sequence[ApiFormat],
        default: ApiFormat | None = None,
        messages_field: str | None = None,
    ) -> None:
        self.name = API_LOG if default is None else default.name
        if messages_field is not None:
            self.name = f"{self.name}:{messages_field}"
        self.title = "logs of requests to several APIs" if default is None else default.title
        self.can_write_assistant = all(dialect.can_write_assistant for dialect in dialects)
        self.tools_path = self.tools_path if default is None else default.tools_path
        self._dialects = dialects
        self._default = default
        self._messages_field = messages_field
        self._by_name = {dialect.name: dialect for dialect in dialects}

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize records of which at least half are of some API."""
        return bool(_classify(self._dialects, records).dialects)

    def classify(self, records: Sequence[Mapping[str, Any]]) -> "ApiLog | Ambiguous | None":
        """Return the format of a file by its first records; None if fewer than half fit."""
        classification = _classify(self._dialects, records)
        match classification.dialects:
            case ():
                return classification.ambiguity
            case (dialect,):
                return ApiLog(self._dialects, dialect)
            case _:
                return self

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ApiLogReader(
            self.name, self._dialects, self._default, self._messages_field, is_log=self.is_log
        ).read(lines)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a message as the API of its neighbor takes it; see ``Format.new_record``."""
        return self._dialect(beside.anchor).new_record(message, beside)

    def new_value(self, message: Message, part: int, current: object, text: str) -> object:
        """Return new content as the message's API takes it; see ``Format.new_value``."""
        return self._dialect(message).new_value(message, part, current, text)

    def _dialect(self, message: Message) -> ApiFormat:
        return self._by_name[message.dialect or self._dialects[0].name]


class _Classification(Record, kw_only=False):
    """The dialects of some records, () if fewer than half fit, and the first ambiguity."""

    dialects: tuple[ApiFormat, ...]
    ambiguity: Ambiguous | None


def _classify(
    dialects: Sequence[ApiFormat], records: Sequence[Mapping[str, Any]]
) -> _Classification:
    records = [decode_embedded(record) for record in records if not is_step(record)]
    rows = [locate_exchange(record) for record in records]
    bare = [record for record, row in zip(records, rows, strict=True) if row is None]
    # How many records each conversation has: bare ones are a single conversation.
    weighted_fits = [
        (match_dialects(dialects, *read_exchange(record, row)), 1)
        for record, row in zip(records, rows, strict=True)
        if row is not None
    ]
    if bare:
        weighted_fits.append((match_dialects(dialects, bare, {}, {}), len(bare)))
    clear_fits = (fits for fits, _ in weighted_fits if len(fits.distinctive) == 1)
    default = next((fits.distinctive[0] for fits in clear_fits), None)
    choices = [(fits.choose(default), weight) for fits, weight in weighted_fits]
    fitting = [(choice, weight) for choice, weight in choices if isinstance(choice, ApiFormat)]
    is_majority = sum(weight for _, weight in fitting) * 2 >= max(1, len(records))
    distinct = dict.fromkeys(dialect for dialect, _ in fitting)
    ambiguities = (choice for choice, _ in choices if isinstance(choice, Ambiguous))
    return _Classification(tuple(distinct) if is_majority else (), next(ambiguities, None))
