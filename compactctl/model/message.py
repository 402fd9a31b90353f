"""One chat message and the parts it is made of."""

from dataclasses import dataclass, field, replace
from typing import Literal, NewType

MessageId = NewType("MessageId", str)
GroupId = NewType("GroupId", str)
CallId = NewType("CallId", str)

Role = Literal["system", "user", "assistant", "tool"]
SyntheticKind = Literal["summary", "marker", "call", "result"]
JsonPath = tuple[str | int, ...]
RecordLocation = tuple[int, JsonPath]
"""Where a record is: the index of its line, and its path in it, () for all of it."""
# Among the details of a marker: what it hides was dropped for good.
FINAL_KEY = "final"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Prose of any role. ``path`` leads from the line's root to the text value.

    ``embedded`` is set where that value is more than this text, which cannot be replaced alone.
    ``added`` is what the client sends with it and no file holds. ``typed`` is what of a user's or
    system's text no client or harness put there, None for all of it.
    """

    text: str
    typed: str | None = None
    added: str = ""
    embedded: bool = False
    path: JsonPath = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningPart:
    """Thinking of the model; ``opaque`` when only a signature or encrypted data is stored.

    ``sealed`` is the length of that signature or data in characters.
    """

    text: str
    opaque: bool = False
    sealed: int = 0
    path: JsonPath = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPart:
    """A request to run a tool. ``arguments`` is JSON text as sent, not always valid.

    ``embedded`` is set where they cannot be replaced alone: they stand in a text with more in it,
    or the provider runs the tool.
    ``added`` is what the client sends as the answer of a call that has none in the file.
    """

    call_id: CallId
    tool: str
    arguments: str
    added: str = ""
    embedded: bool = False
    path: JsonPath = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaPart:
    """An image, document or sound; the data itself is never held.

    ``n_bytes`` is the decoded size; ``width`` and ``height`` of an image are pixels, ``seconds`` is
    the length of a recording, ``pages`` are those of a PDF: 0 when unknown.
    ``embedded`` is set where it stands in a block that only its provider understands.
    """

    media_type: str
    n_bytes: int
    width: int = 0
    height: int = 0
    seconds: float = 0.0
    pages: int = 0
    embedded: bool = False
    path: JsonPath = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultPart:
    """The answer to a tool call. ``path`` leads to the content value that an edit replaces.

    ``cleared`` is set when the client already sends a placeholder instead of the stored content;
    ``text`` is then that placeholder. ``said`` is what a person wrote in it: the answer to a
    question, or why they turned the call down. ``embedded`` is set for a tool that the provider
    runs, which accepts no other content: such a result stays, or goes together with its call.
    """

    call_id: CallId
    tool: str
    text: str
    said: str = ""
    is_error: bool = False
    cleared: bool = False
    embedded: bool = False
    media: tuple[MediaPart, ...] = ()
    path: JsonPath = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A file's text that the client attached to the conversation."""

    file_path: str
    text: str
    path: JsonPath = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinitionPart:
    """What the model is told about tools it may call."""

    name: str
    text: str
    path: JsonPath = ()


Part = (
    TextPart
    | ReasoningPart
    | ToolCallPart
    | ToolResultPart
    | MediaPart
    | FilePart
    | ToolDefinitionPart
)


def media_of(part: Part) -> tuple[MediaPart, ...]:
    """Return the media in a part: itself, or those of a tool result."""
    if isinstance(part, MediaPart):
        return (part,)
    return part.media if isinstance(part, ToolResultPart) else ()


def is_replaceable(part: Part) -> bool:
    """Return whether an edit may put another text in the place of a part's content."""
    match part:
        case ReasoningPart() | ToolDefinitionPart():
            return False
        case FilePart():
            return True
        case TextPart() | ToolCallPart() | MediaPart() | ToolResultPart():
            return not part.embedded


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """The non-destructive marks of a record, under their field names' meaning.

    ``*_id`` stands on a summary, marker or rewritten record; ``*_parent`` on what it replaces.
    ``through`` names the newest message there was when compactctl wrote the record; from the record
    on it is the first one of that name, or the one with the number ``occurrence``.
    ``overhead_tokens`` are the tokens that every request had then beside the transcript's own,
    ``model`` the model that nothing else names any more, ``largest_answered`` the tokens of a
    request that was answered though it was larger than the model's usual window; ``is_final`` tells
    that no later stage is to work on what a marker hides.
    """

    condense_id: str | None = None
    condense_parent: str | None = None
    truncation_id: str | None = None
    truncation_parent: str | None = None
    is_truncation_marker: bool = False
    edit_id: str | None = None
    edit_parent: str | None = None
    operation: str | None = None
    through: str | None = None
    occurrence: int | None = None
    overhead_tokens: int | None = None
    model: str | None = None
    largest_answered: int | None = None
    is_final: bool = False

    @property
    def hidden_by(self) -> tuple[str, ...]:
        """The ids of the summary, marker or rewritten record that hide this record."""
        names = (self.condense_parent, self.truncation_parent, self.edit_parent)
        return tuple(name for name in names if name)

    @property
    def hiding_ids(self) -> tuple[str, ...]:
        """The ids under which this record hides others."""
        names = (self.condense_id, self.truncation_id, self.edit_id)
        return tuple(name for name in names if name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedUsage:
    """What the provider reported for the request that this message answers, in tokens.

    ``context`` is everything that was sent, 0 or less where the report is not a size; ``output`` is
    what the answer is billed as, None when the number is a placeholder; ``reasoning`` is what of
    the output was told to be reasoning. ``growth`` is by how much the answer makes the context
    larger, None where that is the output. Of the context ``cache_read`` was read from the
    provider's cache and ``cache_write`` put into it, None where that was not reported;
    ``cache_write_1h`` is what of the latter is to stay there for an hour. ``resent`` adds up what
    the provider sent to its model again for this answer, after tools of its own; None as a rule.
    ``is_sum`` tells that the context adds up three numbers of the report: what was new, read and
    written.
    """

    context: int
    output: int | None = None
    growth: int | None = None
    reasoning: int = 0
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_1h: int = 0
    resent: "ReportedUsage | None" = None
    is_sum: bool = field(default=False, compare=False)

    @property
    def answer(self) -> int | None:
        """By how much the answer makes the context larger, None where that is not known."""
        return self.output if self.growth is None else self.growth


NO_TAGS = Tags()


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who wrote a message, and what for. Messages of one origin share the record.

    Attributes:
        is_injected: a user or system record that no person wrote (reminder, command echo, memory).
        is_instruction: injected, but an instruction of the user's choice: the text that a command
            of theirs stands for.
        is_summary: stands for earlier messages (written by a client or by compactctl).
        is_synthetic: written by compactctl.
        is_subagent: a subagent's, whose context is its own.
        is_logged_answer: what was answered to a request in a log, which the next request repeats,
            with the results of its calls.
    """

    is_injected: bool = False
    is_instruction: bool = False
    is_summary: bool = False
    is_synthetic: bool = False
    is_subagent: bool = False
    is_logged_answer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Locks:
    """Why an edit may not touch a record.

    Attributes:
        immutable_reason: why it must stay exactly as it is; None when it may be edited.
        unmovable_reason: why it must stay where it is, though its content may be replaced.
    """

    immutable_reason: str | None = None
    unmovable_reason: str | None = None


NO_LOCKS = Locks()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One record of a transcript as a chat message.

    Attributes:
        id: the record's own id, or one derived from its content; unique in a transcript.
        line: index of the raw line, from 0.
        record_path: JSON path of the record inside its line; () when the line is the record.
        conversation: 0 unless one file holds several independent conversations.
        response_id: shared by all records of one model response; None outside of responses.
        timestamp: when it was written, in seconds since 1970; None where that is not known.
        rank: where it stands among messages of several states of a transcript, whose lines mean
            nothing to one another; None in one state.
        dialect: the name of the format whose shape the record has, in files of several; None in
            all others.
    """

    id: MessageId
    role: Role
    parts: tuple[Part, ...]
    line: int
    record_path: JsonPath = ()
    conversation: int = 0
    response_id: str | None = None
    model: str | None = None
    origin: Origin = Origin()
    locks: Locks = NO_LOCKS
    tags: Tags = NO_TAGS
    usage: ReportedUsage | None = None
    timestamp: float | None = None
    rank: int | None = None
    dialect: str | None = None

    @property
    def calls(self) -> tuple[ToolCallPart, ...]:
        """The tool calls in this message, in order."""
        return tuple([part for part in self.parts if isinstance(part, ToolCallPart)])

    @property
    def results(self) -> tuple[ToolResultPart, ...]:
        """The tool results in this message, in order."""
        return tuple([part for part in self.parts if isinstance(part, ToolResultPart)])

    @property
    def has_unstored_reasoning(self) -> bool:
        """Whether it holds reasoning that the file does not have as text."""
        return any(isinstance(part, ReasoningPart) and part.opaque for part in self.parts)

    @property
    def is_thought(self) -> bool:
        """Whether there is nothing but reasoning in this message."""
        return bool(self.parts) and all(isinstance(part, ReasoningPart) for part in self.parts)

    @property
    def starts_turn(self) -> bool:
        """Whether a person wrote this message, which starts a turn.

        Results may stand beside their words: some APIs join consecutive messages of a user.
        """
        if self.role != "user" or self.origin.is_injected or self.origin.is_summary:
            return False
        return not self.results or any(
            isinstance(part, TextPart) and self.words(part).strip() for part in self.parts
        )

    def as_unmovable(self, reason: str) -> "Message":
        """Return the message as one that must stay where it is."""
        return replace(self, locks=replace(self.locks, unmovable_reason=reason))

    def words(self, part: Part) -> str:
        """Return what a person or the agent's operator wrote in a part of this message.

        It is "" where a client, a tool, a model or compactctl wrote all of it.
        """
        match part:
            case TextPart() if self.origin.is_instruction:
                return part.text
            case TextPart() if (
                self.role == "user" and self.origin.is_synthetic and self.origin.is_summary
            ):
                # A harness may have joined a request with a summary that has lost its tags.
                return part.typed or ""
            case TextPart() if (
                self.origin.is_injected or self.origin.is_summary or self.origin.is_synthetic
            ):
                return ""
            case TextPart() if self.role in ("user", "system"):
                return part.text if part.typed is None else part.typed
            case ToolResultPart():
                return part.said
            case _:
                return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic:
    """A message compactctl writes, before it has bytes.

    It is a summary, a marker, or the missing half of a tool pair: a call of ``tool`` without
    arguments or its result, both under ``call_id``.
    """

    id: MessageId
    kind: SyntheticKind
    role: Role
    text: str
    group: GroupId
    through: MessageId | None = None
    details: dict[str, str | int] = field(default_factory=dict)
    tool: str = ""
    call_id: CallId = CallId("")

    @property
    def is_final(self) -> bool:
        """Whether no later stage is to work on what a marker hides."""
        return bool(self.details.get(FINAL_KEY))
