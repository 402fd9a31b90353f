"""What a transcript comes to, in the figures that a batch has a row of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.commands.measuring.context_size import ContextSize
from compactctl.commands.measuring.measure import Measurement
from compactctl.commands.measuring.next_request import Totals, largest_of, sized_requests, totals_of
from compactctl.history.breakdown import MessageTokens, break_down, message_tokens
from compactctl.history.categories import Category
from compactctl.history.pairs import Orphan, find_orphans
from compactctl.history.turns import find_steps, split_conversations
from compactctl.history.usage.rounds import Round, find_rounds
from compactctl.model.message import Message, MessageId, Role
from compactctl.model.transcript import Transcript, Unread


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFigures:
    """What a whole file holds, unpacked.

    ``opaque_lines`` counts lines that are carried without being understood, ``unread`` is the text
    in fields that the format does not know.
    """

    n_lines: int
    n_bytes: int
    opaque_lines: int
    unread: Unread


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What a transcript says of its session; what it does not say is None.

    ``project`` is the working folder, ``began`` and ``ended`` are when the first and the last
    message were written, in seconds since 1970.
    """

    project: str | None
    client_version: str | None
    began: float | None
    ended: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A transcript's effective history in figures; the categories add up to the total's tokens.

    ``is_doubted`` tells that reported usage is not believed, where it says what is unseen.
    ``tools`` are the tokens of calls and results by tool, ``reread`` those of reads of files that
    were read again later. ``find_orphans`` are tool calls without a result and the other way round,
    ``tool_errors`` results that say that the call failed.
    """

    totals: Totals
    is_doubted: bool
    turns: int
    steps: int
    categories: Mapping[Category, int]
    tools: Mapping[str, int]
    reread: int
    orphans: int
    tool_errors: int
    file: FileFigures
    session: SessionFacts


def figures_of(transcript: Transcript, measured: Measurement, size: ContextSize) -> Figures:
    """Measure the effective history; ``size`` is what was found of its next request."""
    history, meter = transcript.effective, measured.meter
    conversations = split_conversations(history)
    found = break_down(history, meter, cwd=transcript.session.cwd, largest=0)
    times = [message.timestamp for message in transcript.messages if message.timestamp is not None]
    return Figures(
        totals=totals_of(history, largest_of(sized_requests(history, meter, size.unseen)), meter),
        is_doubted=bool(size.doubt),
        turns=sum(message.starts_turn for message in history),
        steps=sum(len(find_steps(conversation)) for conversation in conversations),
        categories=found.categories,
        tools={use.tool: use.call_tokens + use.result_tokens for use in found.tools},
        reread=sum(file.tokens for file in found.rereads),
        orphans=sum(len(_orphans(conversation)) for conversation in conversations),
        tool_errors=sum(result.is_error for message in history for result in message.results),
        file=FileFigures(
            n_lines=transcript.n_lines,
            n_bytes=transcript.n_bytes,
            opaque_lines=len({opaque.line for opaque in transcript.opaque}),
            unread=transcript.unread,
        ),
        session=SessionFacts(
            project=transcript.session.cwd,
            client_version=transcript.session.client_version,
            began=min(times, default=None),
            ended=max(times, default=None),
        ),
    )


def _orphans(conversation: Sequence[Message]) -> list[Orphan]:
    """Return the orphans, but for calls in logged answers: their results are in other requests."""
    asking = {message.id for message in conversation if message.origin.is_logged_answer}
    found = find_orphans(conversation)
    return [each for each in found if each.kind == "result" or each.message not in asking]


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
class StageEffect:
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
    measured: Measurement,
    choice: DetailChoice,
    left: Mapping[MessageId, StageEffect] | None = None,
) -> FileDetails:
    """Return the rows that are wanted; ``left`` tells what a compaction did."""
    measured.meter.prime((*transcript.effective, *transcript.messages))
    found = _message_rows(transcript, measured, left or {}) if choice.messages else ()
    asked = find_rounds(transcript, measured.meter).rounds if choice.rounds else ()
    return FileDetails(path=path, messages=tuple(found), rounds=asked)


def _message_rows(
    transcript: Transcript, measured: Measurement, left: Mapping[MessageId, StageEffect]
) -> Iterator[MessageDetails]:
    sent = {message.id for message in transcript.effective}
    unsent = [message for message in transcript.messages if message.id not in sent]
    held = {
        message.id: (message, share)
        for messages in (transcript.effective, unsent)
        for message, share in _shared(messages, transcript.session.cwd, measured)
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
            time=message.timestamp,
            tokens=measured.meter.message(message),
            visible=name in sent,
            stage=None if outcome is None else outcome.stage,
            tokens_after=None if outcome is None else outcome.tokens,
        )


def _shared(
    messages: Sequence[Message], cwd: str | None, measured: Measurement
) -> Iterator[tuple[Message, MessageTokens]]:
    return zip(messages, message_tokens(messages, cwd, measured.meter), strict=True)


def _largest(share: MessageTokens) -> Category:
    return max(share.categories, key=lambda each: share.categories[each], default="other")


def _tools(message: Message, share: MessageTokens) -> tuple[str, ...]:
    called = (call.tool for call in message.calls)
    return tuple(dict.fromkeys(tool for tool in (*called, *share.tools) if tool))
