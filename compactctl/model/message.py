"""One chat message and the parts it is made of."""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, NewType

from compactctl.model.bounds import Scalar
from compactctl.model.own_texts import OwnText
from compactctl.records import Record, field, replace

MessageId = NewType("MessageId", str)
GroupId = NewType("GroupId", str)
CallId = NewType("CallId", str)

Role = Literal["system", "user", "assistant", "tool"]
SyntheticKind = Literal["summary", "marker", "call", "result"]
JsonPath = tuple[str | int, ...]
CallOutcome = Literal["ok", "failed", "denied", "timed out", "interrupted", "unknown"]
FAILURES: frozenset[CallOutcome] = frozenset({"failed", "denied", "timed out", "interrupted"})
"""How a call ended that did not do what it was made for."""
RecordLocation = tuple[int, JsonPath]
"""The index of a record's line and its path in that line, () when the record is the line."""
_MEDIA_TYPE = re.compile(r"[a-z][\w.+-]{0,59}(?:/[\w.+-]{1,60})?", re.ASCII | re.IGNORECASE)
_MEDIA_NOTE = re.compile(
    r"\[[\w.+-]{1,60}(?:/[\w.+-]{1,60})?[^\[\]\n]{0,100}; left out(?:: [^\[\]\n]{1,200})?\]"
)
FINAL_KEY = "final"
"""In the details of a marker: the messages behind it were dropped for good."""


class TextPart(Record):
    """Prose of any role.

    Attributes:
        typed: the text without what a client or harness added to it; None if nothing was added.
        is_summary: a client or the provider wrote it as a summary of earlier messages.
        is_compaction: the provider wrote it, and reads nothing that was sent before it.
        own_texts: what compactctl wrote of it: digests and hand-overs, or a marker.
        added: text that the client sends with it but does not store.
        embedded: the text is only a part of the value at ``path`` and cannot be replaced alone.
        path: leads from the root of the line to the value that holds the text.
    """

    text: str
    typed: str | None = None
    is_summary: bool = False
    is_compaction: bool = False
    own_texts: tuple[OwnText, ...] = ()
    added: str = ""
    embedded: bool = False
    path: JsonPath = ()


class ReasoningPart(Record):
    """Reasoning of the model.

    ``opaque`` means that the file has it only as a signature or encrypted data; ``sealed`` is the
    length of these in characters. The provider does not show its model what ``is_expired``. For
    ``is_compaction`` see ``TextPart``.

    ``path`` leads to the text, or to what stands for it. In an item of OpenAI's Responses API, a
    text is in its ``summary`` or its ``content``; a part without a text ends in
    ``encrypted_content``, or in ``type`` if the item has none.
    """

    text: str
    opaque: bool = False
    sealed: int = 0
    is_expired: bool = False
    is_compaction: bool = False
    path: JsonPath = ()


class ToolCallPart(Record):
    """A request to run a tool.

    Attributes:
        arguments: JSON text as the model wrote it, not always valid.
        caller: the call of the code that made this one, which must be sent with it; "" if the
            model made it.
        added: what the client sends as the result of a call without a result in the file.
        embedded: the arguments cannot be replaced alone, because they are part of a longer text or
            because the provider runs the tool.
    """

    call_id: CallId
    tool: str
    arguments: str
    caller: CallId = CallId("")
    added: str = ""
    embedded: bool = False
    path: JsonPath = ()


class MediaPart(Record):
    """An image, document or recording, without its data.

    ``n_bytes`` is the decoded size. Pixels of an image, seconds of a recording and pages of a PDF
    are 0 when unknown. ``text`` is what the provider extracts from any other document, "" if that
    is unknown. ``embedded`` means it is in a block that only its provider understands.

    ``real_type`` is the type of an image by its first bytes, whatever ``media_type`` says: "" if
    they are those of no known image format, None if the bytes are not in the file or it is not an
    image.
    """

    media_type: str
    n_bytes: int
    width: int = 0
    height: int = 0
    seconds: float = 0.0
    pages: int = 0
    text: str = ""
    real_type: str | None = None
    embedded: bool = False
    path: JsonPath = ()


class ToolResultPart(Record):
    """The result of a tool call.

    Attributes:
        text: what the model reads: the stored content, or the client's placeholder for it.
        said: what the user wrote in it: the answer to a question, or why they denied the call.
        outcome: how the call ended, as the record or the client's words in it say.
        exit_code: the exit code of the command that was run, None if none is reported.
        process: names the process that the call left running; "" if none is known.
        is_inferred: neither the record nor the client says so, but signs in the text or none.
        cleared: the client already sends a placeholder instead of the stored content.
        embedded: the provider runs the tool and accepts no other content, so the result can only
            stay, or go together with its call.
        omitted_media: how many media of the stored content the client leaves out.
        path: leads to the content value that an edit replaces.
    """

    call_id: CallId
    tool: str
    text: str
    said: str = ""
    outcome: CallOutcome = "unknown"
    exit_code: int | None = None
    process: str = ""
    is_inferred: bool = False
    cleared: bool = False
    embedded: bool = False
    media: tuple[MediaPart, ...] = ()
    omitted_media: int = 0
    path: JsonPath = ()

    @property
    def has_failed(self) -> bool:
        """Whether the call is known not to have done what it was made for."""
        return self.outcome in FAILURES


class FilePart(Record):
    """The text of a file that the client attached to the conversation."""

    file_path: str
    text: str
    path: JsonPath = ()


class ToolDefinitionPart(Record):
    """What the model is told about tools it may call."""

    name: str
    text: str
    path: JsonPath = ()


class OmittedPart(Record):
    """What the client leaves out when it makes the request; it keeps the number of its part.

    ``noun`` and ``detail`` say what it is: "reasoning block", "of another model".
    """

    noun: str
    detail: str
    path: JsonPath = ()


Part = (
    TextPart
    | ReasoningPart
    | ToolCallPart
    | ToolResultPart
    | MediaPart
    | FilePart
    | ToolDefinitionPart
    | OmittedPart
)


def block_path(part: Part) -> JsonPath:
    """Return the path of the block that holds a part; () if it is not an element of a list.

    ("content", 0, "text")  ->  ("content", 0)
    """
    index = max((n for n, step in enumerate(part.path, 1) if isinstance(step, int)), default=0)
    return part.path[:index]


def member_path(part: Part) -> JsonPath:
    """Return the path of the member of a record that is a part: of a call, what holds its input.

    ("function_call", "arguments")  ->  ("function_call",)
    """
    return part.path[:-1] if isinstance(part, ToolCallPart) else part.path


def media_of(part: Part) -> tuple[MediaPart, ...]:
    """Return the part itself if it is a medium, or the media of a tool result."""
    if isinstance(part, MediaPart):
        return (part,)
    return part.media if isinstance(part, ToolResultPart) else ()


def media_text(media: MediaPart) -> str:
    """Describe a medium where it cannot be shown: ``[image/png, 1,024x768, 245,112 bytes]``.

    Its pixels, pages, seconds and bytes are left out where they are unknown. The type comes from a
    transcript, and is shown only as far as it looks like one.
    """
    kind = _MEDIA_TYPE.match(media.media_type)
    pages = f"{media.pages:,} page{'s' * (media.pages != 1)}"
    sizes = (
        f"{media.width:,}x{media.height:,}" if media.width else "",
        pages if media.pages else "",
        f"{media.seconds:,.1f} seconds" if media.seconds else "",
        f"{media.n_bytes:,} bytes" if media.n_bytes else "",
    )
    return f"[{', '.join((kind[0] if kind else 'attachment', *filter(None, sizes)))}]"


def media_note(media: MediaPart, reason: str) -> str:
    """Return what stands for a medium that was left out, with the reason, "" for none.

    [image/png, 600x600, 5,600,268 bytes; left out: image is 7.1 MB as base64; the limit is 5.0 MB]
    """
    return f"{media_text(media)[:-1]}; left out{f': {reason}' if reason else ''}]"


def is_media_note(text: str) -> bool:
    """Whether a text is nothing but such a note, which is not the words of a user."""
    return _MEDIA_NOTE.fullmatch(text) is not None


def is_compaction(part: Part) -> bool:
    """Return whether a part is a summary by the provider, which reads nothing before it."""
    return isinstance(part, TextPart | ReasoningPart) and part.is_compaction


def is_replaceable(part: Part) -> bool:
    """Return whether an edit may replace the content of a part by text."""
    match part:
        case ReasoningPart() | ToolDefinitionPart() | OmittedPart():
            return False
        case FilePart():
            return True
        case TextPart() | ToolCallPart() | MediaPart() | ToolResultPart():
            return not part.embedded


class Tags(Record):
    """The tags of a record, with which compactctl hides messages without removing them.

    Attributes:
        condense_id, truncation_id, edit_id: on a summary, a marker or a rewritten record.
        condense_parent, truncation_parent, edit_parent: the same id on the records it hides.
        operation: the operation that wrote the record.
        through: the newest message when compactctl wrote the record; counted from the record on,
            the first message with that id, or the one with the number ``occurrence``.
        overhead_tokens: tokens of every request at that time that are not in the transcript.
        model: the session's model, if no other record names it any more.
        largest_answered: tokens of a request that was answered although it was larger than the
            model's usual window.
        is_final: no later stage may work on what this marker hides.
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
        parents = (self.condense_parent, self.truncation_parent, self.edit_parent)
        return tuple(parent for parent in parents if parent)

    @property
    def hiding_ids(self) -> tuple[str, ...]:
        """The ids under which this record hides others."""
        ids = (self.condense_id, self.truncation_id, self.edit_id)
        return tuple(tag_id for tag_id in ids if tag_id)


class ReportedUsage(Record):
    """What the provider reported for the request that this message answers, in tokens.

    Attributes:
        context: everything that was sent; 0 or less if the report is not a size.
        output: what the answer is billed as; None if the number is a placeholder.
        growth: by how much the answer makes the context larger; None if that is ``output``.
        reasoning: the part of ``output`` reported as reasoning.
        cache_read: the part of ``context`` read from the prompt cache; None if not reported.
        cache_write: the part of ``context`` written to it; None if not reported.
        cache_write_1h: the part of ``cache_write`` that is kept for an hour.
        resent: the sum of what the provider sent to its model again for this answer, after running
            tools itself; usually None.
        is_trimmed: the provider cleared content, or may have left out messages.
        is_sum: ``context`` is the sum of three reported numbers: new, read and written tokens.
        is_final: the client writes the report when the answer is complete, so that a small
            ``output`` is true and not the count of a stream's first words.
        is_before_edit: compactctl edited the context after this report, and restated it.
    """

    context: int
    output: int | None = None
    growth: int | None = None
    reasoning: int = 0
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_1h: int = 0
    resent: "ReportedUsage | None" = None
    is_trimmed: bool = False
    is_sum: bool = False
    is_final: bool = False
    is_before_edit: bool = False

    @property
    def answer(self) -> int | None:
        """By how much the answer makes the context larger; None if unknown."""
        return self.output if self.growth is None else self.growth


class Clearing(Record):
    """What the provider cleared from a request before the model read it, oldest first.

    Attributes:
        tool_uses: the number of tool results; ``kept_tool_uses``: how many, the newest, stayed.
        thinking_turns: the number of turns whose reasoning was cleared; ``kept_turns``: how many,
            the newest, kept it.
        spared_tools: the tools whose results stay.
        input_tools: the tools whose arguments were cleared too; None for all.
    """

    tool_uses: int = 0
    kept_tool_uses: int = 0
    thinking_turns: int = 0
    kept_turns: int = 0
    spared_tools: frozenset[str] = frozenset()
    input_tools: frozenset[str] | None = frozenset()


NO_TAGS = Tags()


class Origin(Record):
    """Who wrote a message, and why.

    Attributes:
        is_injected: a user or system record that no user wrote (reminder, command echo, memory).
        is_instruction: injected, but chosen by the user: the text behind a command of theirs.
        is_summary: represents earlier messages; written by a client or by compactctl.
        is_synthetic: written by compactctl.
        is_subagent: belongs to a subagent, which has a context of its own.
        is_logged_answer: the answer to a request in a log; the next request repeats it together
            with the results of its calls.
    """

    is_injected: bool = False
    is_instruction: bool = False
    is_summary: bool = False
    is_synthetic: bool = False
    is_subagent: bool = False
    is_logged_answer: bool = False


class Locks(Record):
    """Why an edit must not touch a record.

    Attributes:
        immutable_reason: why the record must stay exactly as it is; None if it may be edited.
        unmovable_reason: why it must stay in place, although its content may be replaced.
    """

    immutable_reason: str | None = None
    unmovable_reason: str | None = None


NO_LOCKS = Locks()


class ItemId(NamedTuple):
    """The id by which OpenAI's Responses API knows an item; ``path`` leads to it in its line."""

    text: str
    path: JsonPath


class FirstPlace(NamedTuple):
    """Where a message stood in the first state of its transcript that had it.

    Attributes:
        state: how many compactions were in effect.
        line: the index of its line.
        number: its number in a document, from 1; 0 outside of documents.
    """

    state: int
    line: int
    number: int


class Message(Record):
    """One record of a transcript as a chat message.

    Attributes:
        id: the record's own id, or one derived from its content; unique in a transcript.
        line: index of the raw line, from 0.
        record_path: JSON path of the record inside its line; () when the line is the record.
        conversation: 0 unless one file holds several independent conversations.
        response_id: shared by all records of one model response; None outside of responses.
        timestamp: when it was written, in seconds since 1970; None if unknown.
        rank: its position among messages of several states of a transcript, whose line numbers
            cannot be compared; None if all are of one state.
        clearing: what the provider cleared from the request that this message answers, as far as
            it says which messages that concerns.
        first_place: set if the transcript was compacted before; summaries refer to it.
        dialect: the format that the record is written in, in a file that mixes formats; else None.
        item_id: the id that the provider gave it; only in items of OpenAI's Responses API.
        cache_marks: the paths of its ``cache_control`` members, from the root of the line; only in
            requests to Anthropic's API, which limits their number.
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
    clearing: Clearing | None = None
    timestamp: float | None = None
    rank: int | None = None
    first_place: FirstPlace | None = None
    dialect: str | None = None
    item_id: ItemId | None = None
    cache_marks: tuple[JsonPath, ...] = ()

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
        """Whether the file has some of its reasoning only as a signature or encrypted data."""
        return any(isinstance(part, ReasoningPart) and part.opaque for part in self.parts)

    @property
    def is_only_reasoning(self) -> bool:
        """Whether it has parts, and all of them are reasoning."""
        kinds = [isinstance(part, ReasoningPart) for part in self.parts]
        return bool(kinds) and all(kinds)

    @property
    def starts_turn(self) -> bool:
        """Whether the user wrote this message, which starts a turn.

        It may hold tool results too: some APIs join consecutive messages of a user.
        """
        if self.role != "user" or self.origin.is_injected or self.origin.is_summary:
            return False
        if not any(isinstance(part, ToolResultPart) for part in self.parts):
            return True
        return any(isinstance(part, TextPart) and self.words(part).strip() for part in self.parts)

    def as_unmovable(self, reason: str) -> "Message":
        """Return the message with a lock that keeps it in place."""
        return replace(self, locks=replace(self.locks, unmovable_reason=reason))

    def words(self, part: Part) -> str:
        """Return what the user or the agent's operator wrote in a part of this message.

        It is "" if a client, a tool, a model or compactctl wrote all of it.
        """
        match part:
            case TextPart() if self.origin.is_instruction:
                return part.text
            case TextPart() if (
                self.role == "user" and self.origin.is_synthetic and self.origin.is_summary
            ):
                # A harness may have joined a prompt with a summary that lost its tags.
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


class Synthetic(Record):
    """A message that compactctl writes, before a format encodes it.

    It is a summary, a marker, or the missing half of a tool pair: a call of ``tool`` without
    arguments, or the result of call ``call_id``.
    """

    id: MessageId
    kind: SyntheticKind
    role: Role
    text: str
    group: GroupId
    through: MessageId | None = None
    details: Mapping[str, Scalar] = field(default_factory=dict)
    tool: str = ""
    call_id: CallId = CallId("")

    @property
    def is_final(self) -> bool:
        """Whether no later stage may work on what this marker hides."""
        return bool(self.details.get(FINAL_KEY))
