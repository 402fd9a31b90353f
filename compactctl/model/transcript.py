"""A transcript: its raw lines, and what a format understood of them."""

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from msgspec import UNSET, Struct

from compactctl.model.island import Island
from compactctl.model.message import JsonPath, Message, MessageId, ReportedUsage
from compactctl.records import Record, field

RecordOrder = Literal["", "newest first", "shuffled"]


# Not frozen: one is created for every line, and that is faster.
class RawLine(Struct):
    r"""One line of a file, up to and including its ``\n``; ``index`` counts from 0."""

    index: int
    data: bytes

    @property
    def number(self) -> int:
        """The line number shown to users, which counts from 1."""
        return self.index + 1


class Opaque(Record):
    """A line, or a part of one, that is not understood and therefore kept verbatim."""

    line: int
    n_bytes: int
    damage: str


# The share of a file's text that may stand unread around messages without a warning.
_MAX_UNREAD_SHARE = 0.1


class Unread(Record):
    """Text of a file that was not read, hidden messages included, in bytes of UTF-8.

    Attributes:
        fields: the bytes by the name of the field, the largest first.
        first_line: the index of the first line that has any.
        read: the bytes that were read.
        lost: the bytes in messages, damaged lines and records of unknown type, which a model may
            be sent; all others stand around messages.
        elsewhere: the parts of requests that the file does not hold: links and ids of documents and
            recordings, cached contents, stored items.
        lines: the lines that were not recognized, in a file without any message: what was said
            stands in them, if anywhere.
    """

    fields: Mapping[str, int] = field(default_factory=dict)
    first_line: int = 0
    read: int = 0
    lost: int = 0
    elsewhere: int = 0
    lines: int = 0

    @property
    def n_bytes(self) -> int:
        """The bytes in all fields."""
        return sum(self.fields.values())

    @property
    def is_significant(self) -> bool:
        """Whether counts may be too low: text of messages is missing, or much text around them."""
        around = self.n_bytes - self.lost
        if self.lost or self.lines or self.elsewhere:
            return True
        return around > _MAX_UNREAD_SHARE * (around + self.read)


class RecordStats(Record):
    """The number of records of one kind in a file, and their bytes on disk."""

    count: int
    n_bytes: int


class Link(Record, kw_only=False):
    """A record of a format in which each record names the one it follows.

    ``is_inferred`` says that the record itself names none of the file, and that its client joins it
    to ``parent``.
    """

    line: int
    id: str
    parent: str | None
    is_inferred: bool = False


class Pointer(Record):
    """A line that names a linked record but is not one; ``path`` leads to the name in it."""

    line: int
    target: str
    path: JsonPath


class SupersededVersion(Record):
    """An older version of message ``message_id`` that is still in the file.

    Removing only the newest version would make the client send this one again. ``record_path``
    leads to it in its line; () when the line is the record.
    """

    line: int
    record_path: JsonPath
    message_id: MessageId


class ClientTokenCounts(Record):
    """The tokens that a client counted in its context when the session ended.

    ``total`` is everything that the next request would have sent.
    """

    system: int
    conversation: int
    tool_definitions: int
    total: int


class Cleared(Record):
    """The newest usage report, if the client has cleared content since then.

    ``usage`` belongs to ``response_id``; ``saved`` are the tokens that the client claims to have
    saved, None if it names none.
    """

    usage: ReportedUsage
    response_id: str
    saved: int | None = None


class SessionLines(Record, kw_only=False):
    """One of several sessions in a file, with the indices of its first and last line."""

    id: str
    first: int
    last: int


class Refusal(Record):
    """A request that the provider refused as too long.

    Attributes:
        line: index of the line with the refusal.
        sent: the request held this many messages of the effective history, from the first on.
        tokens: how many tokens the provider counted; None if it does not say.
        limit: how many it accepts; None if it does not say.
    """

    line: int
    sent: int
    tokens: int | None
    limit: int | None


class Omission(Record):
    """What the client leaves out of a message, or replaces in it, when it makes a request.

    ``noun`` and ``detail`` say what it is: "reasoning block", "of another model".
    """

    message: MessageId
    noun: str
    detail: str
    count: int = 1


# Rules for which clients only skip a record, or what stands before it. Codex 0.171.0 also resumes a
# session with a wrong ordinal, unless the last record has none; in a new session it has one.
_MINOR_RULES = frozenset({"context-cleared", "field-type", "ordinal", "parent-missing", "torn"})


class FieldValue(Record, kw_only=False):
    """A JSON value to set in a line; ``msgspec.UNSET`` removes the member.

    ``path`` leads to it from the root of the line; () replaces the whole line.
    """

    path: JsonPath
    value: object = UNSET


class RefusedRecord(Record):
    """A record that the client or provider does not accept.

    Attributes:
        line: index of its line.
        client: display name of the client, or of the provider, that refuses it.
        reason: what is wrong with it, as a clause.
        is_sent: whether it, or what it changes, may be sent, so that no new session can do without
            it.
        rule: id of the rule in ``profiles/refusals.toml``.
        path: leads to the record in its line; () when the record is the line.
        values: what is accepted in it instead; () if it can only be left out.
        island: the history that is not sent because of it, None for none.
    """

    line: int
    client: str
    reason: str
    is_sent: bool
    rule: str = "field-value"
    path: JsonPath = ()
    values: tuple[FieldValue, ...] = ()
    island: Island | None = None

    @property
    def is_fatal(self) -> bool:
        """Whether the client refuses the whole session for it."""
        return self.rule not in _MINOR_RULES


class SessionInfo(Record):
    """What a file says about its session; None if it does not say.

    Attributes:
        model: the model in force at the end.
        window: context window in tokens.
        client: the client that made the requests of a log ("" if the log does not show which), or
            that wrote a session in another client's format; None in a client's own sessions.
        client_version: version of the client that wrote the newest record.
        file_version: version of the format.
        cwd: the working folder.
        drops_past_reasoning: whether reasoning is sent only until its turn ends, as for most
            models that do not show it.
        holds_overhead: whether the effective history includes the system prompt and the tool
            definitions as they were sent.
        client_counts: tokens of the effective history by the client's own count.
        usage_line: index of the line whose usage the client takes as the size of its context;
            None if it takes that of the newest answer.
        copied: the ids of answers to requests of the session that this one was forked from.
    """

    model: str | None = None
    window: int | None = None
    client: str | None = None
    client_version: str | None = None
    file_version: int | None = None
    cwd: str | None = None
    drops_past_reasoning: bool = False
    holds_overhead: bool = False
    client_counts: ClientTokenCounts | None = None
    usage_line: int | None = None
    copied: frozenset[MessageId] = frozenset()


class RecordLinks(Record):
    """How the records of a file refer to one another.

    Attributes:
        links: records linked by parent ids, in file order, messages or not.
        pointers: other lines that name one of these records.
        superseded: older versions of messages, to be removed when the message is removed or
            something is inserted before it.
    """

    links: tuple[Link, ...] = ()
    pointers: tuple[Pointer, ...] = ()
    superseded: tuple[SupersededVersion, ...] = ()

    def lines_before(self, lines: Collection[int]) -> frozenset[int]:
        """Return the lines of the records that those on ``lines`` follow."""
        parents = {link.parent for link in self.links if link.line in lines}
        return frozenset(link.line for link in self.links if link.id in parents)


class PastCompactions(Record):
    """Earlier compactions, by the client or by compactctl.

    Attributes:
        by_client: whether the client's own compaction replaced messages.
        lines: indices of the lines that record a compaction or clearing by the client.
        own_history_lines: indices of the lines in which compactctl repeats everything that is sent.
        cleared: the newest usage report, if the client has cleared content since then.
    """

    by_client: bool = False
    lines: tuple[int, ...] = ()
    own_history_lines: tuple[int, ...] = ()
    cleared: Cleared | None = None


class Transcript(Record):
    """A transcript as a format read it.

    Attributes:
        format: name of the format.
        n_lines: raw lines in the file, 1 for a document; n_bytes: its size.
        is_document: whether the file is one JSON value over several lines.
        messages: the full history in file order, hidden and abandoned records included.
        effective: what the next request would send, in the order sent. A message may differ from
            the one with its id in ``messages`` if the client sends a placeholder instead. Several
            conversations follow one another.
        with_omitted: the effective history with the messages and parts that the client leaves out
            when it makes the request; () if it sends all.
        omissions: what the client leaves out or replaces.
        session: what the file says about its session.
        chain: how its records refer to one another.
        compactions: earlier compactions, by the client or by compactctl.
        refusal: the newest request, if the provider refused it as too long.
        refused: records that the client or provider does not accept, in file order.
        metadata: records that are never sent, by kind.
        opaque: lines that are not understood and kept verbatim.
        damaged_lines: the indices of those that are not one JSON value each. They never change.
        unread: text that the format does not know, hidden messages included.
        session_lines: the lines of each session in a file that holds several; () for one.
        order: how records are ordered if not as the client wrote them; "" otherwise.
        notes: for the name of an array, that of an array beside it with a note of each element.
        warnings: one line each, ready to be shown.
    """

    format: str
    n_lines: int
    is_document: bool = False
    n_bytes: int
    messages: tuple[Message, ...]
    effective: tuple[Message, ...]
    with_omitted: tuple[Message, ...] = ()
    omissions: tuple[Omission, ...] = ()
    session: SessionInfo = SessionInfo()
    chain: RecordLinks = RecordLinks()
    compactions: PastCompactions = PastCompactions()
    refusal: Refusal | None = None
    refused: tuple[RefusedRecord, ...] = ()
    metadata: Mapping[str, RecordStats] = field(default_factory=dict)
    opaque: tuple[Opaque, ...] = ()
    damaged_lines: frozenset[int] = frozenset()
    unread: Unread = Unread()
    session_lines: tuple[SessionLines, ...] = ()
    order: RecordOrder = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def history(self) -> tuple[Message, ...]:
        """The messages that edits address: those of the request, and what is left out of it."""
        return self.with_omitted or self.effective

    @property
    def damage(self) -> str | None:
        """The first sign that records were lost, torn, repeated or mixed; None if intact.

        A record that comes before its parent in the file is such a sign.
        """
        if self.opaque:
            return f"line {self.opaque[0].line + 1}: {self.opaque[0].damage}"
        if self.refused:
            return f"line {self.refused[0].line + 1}: {self.refused[0].reason}"
        return next(iter(self.warnings), None) or _find_disorder(self.chain.links)

    @property
    def lines_to_keep(self) -> frozenset[int]:
        """The lines that nothing removes: a record on a damaged line follows theirs."""
        return self.chain.lines_before(self.damaged_lines)


def _find_disorder(links: Iterable[Link]) -> str | None:
    earlier_ids: set[str] = set()
    for link in links:
        if link.id in earlier_ids:
            return f"line {link.line + 1}: duplicate record"
        if link.parent is not None and link.parent not in earlier_ids:
            return f"line {link.line + 1}: its parent is not before it"
        earlier_ids.add(link.id)
    return None
