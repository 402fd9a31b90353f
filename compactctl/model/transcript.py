"""A transcript: its raw lines, and what a format understood of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from compactctl.model.message import JsonPath, Message, MessageId, ReportedUsage

RecordOrder = Literal["", "newest first", "shuffled"]


@dataclass(frozen=True, slots=True)
class RawLine:
    r"""One line as it stands in the file, up to and including its ``\n``.

    ``index`` counts lines from 0; people are shown ``number``, which counts from 1.
    """

    index: int
    data: bytes

    @property
    def number(self) -> int:
        """The line number shown to people."""
        return self.index + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """A line, or a piece of one, that is carried verbatim because it is not understood."""

    line: int
    n_bytes: int
    damage: str


# The share of a file's text that may be left aside without a word.
_LITTLE_TEXT = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Text in fields that a format does not know, in bytes of UTF-8.

    ``fields`` has the bytes by the field's name, the most first; ``read`` is the text that was
    read.
    """

    fields: Mapping[str, int] = field(default_factory=dict)
    read: int = 0

    @property
    def n_bytes(self) -> int:
        """The bytes that were not read."""
        return sum(self.fields.values())

    @property
    def is_much(self) -> bool:
        """Whether this is more than a tenth of the file's text: sizes are then too small."""
        return self.n_bytes > _LITTLE_TEXT * (self.n_bytes + self.read)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordStats:
    """How many records of a kind a file has, and how many bytes they take on disk."""

    count: int
    n_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A record of a format in which each record names the one it follows."""

    line: int
    id: str
    parent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """A line that names a linked record but is not one; ``path`` leads to that name in it."""

    line: int
    target: str
    path: JsonPath


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersededVersion:
    """An older version of the message ``message_id``, which would be sent without the newer one.

    ``record_path`` leads to it in its line; () when the line is the record.
    """

    line: int
    record_path: JsonPath
    message_id: MessageId


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTokenCounts:
    """What a client itself counted of its context when the session ended, in tokens.

    ``total`` is everything the next request would have sent.
    """

    system: int
    conversation: int
    tool_definitions: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What was reported before a client cleared content, where nothing was reported since.

    ``usage`` is that of the newest response, ``response_id``; ``saved`` the tokens that the client
    says it saved, None where it says nothing.
    """

    usage: ReportedUsage
    response_id: str
    saved: int | None = None


@dataclass(frozen=True, slots=True)
class SessionLines:
    """One of several sessions in a file: its id, and the indices of its first and last line."""

    id: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A request that the provider refused as too long, on the line of index ``line``.

    It held the first ``sent`` messages of the effective history. ``tokens`` is what the provider
    counted of it and ``limit`` what it takes, None where it says nothing.
    """

    line: int
    sent: int
    tokens: int | None
    limit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """What a file says of its session; None where it does not say so.

    Attributes:
        model: the model in force at the end.
        window: context window in tokens.
        client_version: version of the client that wrote the newest record.
        file_version: version of the format.
        cwd: the working folder.
        drops_past_reasoning: whether reasoning is sent only until the turn it belongs to ends, as
            most models read it that do not show it.
        holds_overhead: whether the effective history has the system prompt and tool definitions
            as they were sent.
        client_counts: what the client counted of the effective history.
        usage_line: index of the line with the usage from which the client takes the size of its
            context; None where it takes that of the newest answer.
    """

    model: str | None = None
    window: int | None = None
    client_version: str | None = None
    file_version: int | None = None
    cwd: str | None = None
    drops_past_reasoning: bool = False
    holds_overhead: bool = False
    client_counts: ClientTokenCounts | None = None
    usage_line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLinks:
    """What ties the records of a file together.

    Attributes:
        links: records linked by parent ids, in file order, messages or not.
        pointers: what names one of these beside them.
        superseded: older versions of messages, which go when the message goes or gets something
            written before it.
    """

    links: tuple[Link, ...] = ()
    pointers: tuple[Pointer, ...] = ()
    superseded: tuple[SupersededVersion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCompactions:
    """What was done to the context before.

    Attributes:
        by_client: whether the client's own compaction put something in the place of messages.
        lines: indices of the lines on which the client says that it compacted or cleared.
        own_history_lines: indices of the lines on which compactctl repeats all that is sent.
        cleared: the newest report of what the client has cleared content of since, None where
            something was reported afterwards.
    """

    by_client: bool = False
    lines: tuple[int, ...] = ()
    own_history_lines: tuple[int, ...] = ()
    cleared: Cleared | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What a format read from a file.

    Attributes:
        format: name of the format.
        n_lines: raw lines in the file; n_bytes: its size.
        messages: the full history in file order, hidden and abandoned records included.
        effective: what the next request would send, in the order it would be sent; messages in
            it may differ from their namesakes in ``messages`` where the client itself sends a
            placeholder. Several conversations follow one another.
        session: what the file says of its session.
        chain: how its records are tied together.
        compactions: what the client and compactctl compacted before.
        refusal: the newest request, where the provider refused it as too long.
        metadata: records that never reach the model, by kind.
        opaque: lines that are carried without being understood.
        unread: text in fields that the format does not know, hidden messages included.
        session_lines: where each session stands, in a file into which several were put; () for
            one.
        order: how the records stand, where not as the client wrote them.
        warnings: one line each, ready to be shown.
    """

    format: str
    n_lines: int
    n_bytes: int
    messages: tuple[Message, ...]
    effective: tuple[Message, ...]
    session: SessionInfo = SessionInfo()
    chain: RecordLinks = RecordLinks()
    compactions: PastCompactions = PastCompactions()
    refusal: Refusal | None = None
    metadata: Mapping[str, RecordStats] = field(default_factory=dict)
    opaque: tuple[Opaque, ...] = ()
    unread: Unread = Unread()
    session_lines: tuple[SessionLines, ...] = ()
    order: RecordOrder = ""
    warnings: tuple[str, ...] = ()
