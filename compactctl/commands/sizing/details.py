"""A transcript in rows: one for each message, and one for each request."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.commands.sizing.measure import Measure
from compactctl.history.categories import Category
from compactctl.history.shares import Share, shares
from compactctl.history.usage.rounds import Round, rounds
from compactctl.model.message import Message, MessageId, Role
from compactctl.model.transcript import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDetails:
    """A message of the file. Sizes are in tokens, by the transcript's counter.

    Attributes:
        seq: counts the messages of the file from 1.
        line: index of its raw line; conversation counts from 0.
        category: the one that most of its tokens are of; of two the first.
        tools: names of the tools that it calls, or that it holds results of.
        time: when it was written, in seconds since 1970.
        tokens: what it holds; of a visible one what is sent of it, without what was cleared.
        visible: whether the next request sends it.
        stage: which stage hid or rewrote it, None where none did.
        tokens_after: what the compaction left of it; None where there was none, or it is not
            visible.
    """

    seq: int
    line: int
    conversation: int
    role: Role
    category: Category
    tools: tuple[str, ...]
    time: float | None
    tokens: int
    visible: bool
    stage: str | None = None
    tokens_after: int | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """What a compaction left of a message, in tokens, and the stage that changed it, if any."""

    tokens: int
    stage: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailChoice:
    """Which rows are wanted."""

    messages: bool = False
    rounds: bool = False


NO_DETAILS = DetailChoice()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDetails:
    """The rows of one file, in the order of its messages and requests."""

    path: str
    messages: tuple[MessageDetails, ...] = ()
    rounds: tuple[Round, ...] = ()


def details_of(
    path: str,
    transcript: Transcript,
    measured: Measure,
    choice: DetailChoice,
    left: Mapping[MessageId, Left] | None = None,
) -> FileDetails:
    """Return the rows that are wanted; ``left`` tells what a compaction did."""
    measured.meter.prime((*transcript.effective, *transcript.messages))
    found = _message_rows(transcript, measured, left or {}) if choice.messages else ()
    asked = rounds(transcript, measured.meter).rounds if choice.rounds else ()
    return FileDetails(path=path, messages=tuple(found), rounds=asked)


def _message_rows(
    transcript: Transcript, measured: Measure, left: Mapping[MessageId, Left]
) -> Iterator[MessageDetails]:
    sent = {message.id for message in transcript.effective}
    unsent = [message for message in transcript.messages if message.id not in sent]
    held = {
        message.id: (message, share)
        for messages in (transcript.effective, unsent)
        for message, share in _shared(messages, transcript.cwd, measured)
    }
    names = dict.fromkeys(message.id for message in (*transcript.messages, *transcript.effective))
    for seq, name in enumerate(names, 1):
        message, share = held[name]
        outcome = left.get(name)
        yield MessageDetails(
            seq=seq,
            line=message.line,
            conversation=message.conversation,
            role=message.role,
            category=_largest(share),
            tools=_tools(message, share),
            time=message.time,
            tokens=measured.meter.message(message),
            visible=name in sent,
            stage=None if outcome is None else outcome.stage,
            tokens_after=None if outcome is None else outcome.tokens,
        )


def _shared(
    messages: Sequence[Message], cwd: str | None, measured: Measure
) -> Iterator[tuple[Message, Share]]:
    return zip(messages, shares(messages, cwd, measured.meter), strict=True)


def _largest(share: Share) -> Category:
    return max(share.categories, key=lambda each: share.categories[each], default="other")


def _tools(message: Message, share: Share) -> tuple[str, ...]:
    called = (call.tool for call in message.calls)
    return tuple(dict.fromkeys(tool for tool in (*called, *share.tools) if tool))
