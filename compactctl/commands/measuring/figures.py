"""The figures of one transcript, as in a row of a batch, and rows about its messages and rounds."""

from collections.abc import Iterator, Mapping, Sequence

from compactctl.commands.measuring.acceptance import faults_of
from compactctl.commands.measuring.context_size import ContextSize
from compactctl.commands.measuring.measure import DetailChoice, Measurement
from compactctl.commands.measuring.next_request import Totals, largest_of, sized_requests, totals_of
from compactctl.history.breakdown import MessageTokens, message_tokens, reread_tokens, tool_uses
from compactctl.history.categories import Category, category_tokens
from compactctl.history.pair_faults import count_unpaired
from compactctl.history.pairs import result_tools
from compactctl.history.reads import find_file_reads
from compactctl.history.turns import find_steps, split_conversations
from compactctl.history.usage.rounds import Round, find_rounds
from compactctl.model.message import Message, MessageId, Role
from compactctl.model.transcript import Transcript, Unread
from compactctl.records import Record


class FileFigures(Record):
    """The contents of the whole file, decompressed.

    ``opaque_lines`` counts lines that are copied without being understood, ``unread`` is the text
    in fields that the format does not know.
    """

    n_lines: int
    n_bytes: int
    opaque_lines: int
    unread: Unread


class SessionFacts(Record):
    """Facts about the session that the transcript records; unknown ones are None.

    ``project`` is the working folder. ``began`` and ``ended`` are the times of the first and last
    message, in seconds since 1970.
    """

    project: str | None
    client_version: str | None
    began: float | None
    ended: float | None


class FaultFigure(Record):
    """Something that the provider or the client refuses.

    ``line`` counts from 1; of a conversation in a Parquet file, it is the row.
    """

    rule: str
    line: int
    is_refused: bool


class Figures(Record):
    """A transcript's effective history in figures; the categories add up to the total's tokens.

    Attributes:
        totals: messages, tokens and the largest next request.
        is_doubted: whether some reported usage is not credible.
        turns: the turns of all conversations.
        steps: the steps of all conversations.
        categories: tokens by category.
        tools: tokens of calls and results by tool.
        reread: tokens of file reads that a later read repeats.
        faults: what the provider or the client refuses, line by line.
        orphans: tool calls without a result, and results without a call.
        tool_errors: results of calls that failed.
        file: the contents of the whole file.
        session: facts about the session.
    """

    totals: Totals
    is_doubted: bool
    turns: int
    steps: int
    categories: Mapping[Category, int]
    tools: Mapping[str, int]
    reread: int
    faults: tuple[FaultFigure, ...]
    orphans: int
    tool_errors: int
    file: FileFigures
    session: SessionFacts


def figures_of(transcript: Transcript, measured: Measurement, size: ContextSize) -> Figures:
    """Measure the effective history; ``size`` is that of its next request."""
    history, meter = transcript.effective, measured.meter
    conversations = split_conversations(history)
    reads = find_file_reads(history, cwd=transcript.session.cwd)
    tools = tool_uses(history, result_tools(history), meter)
    times = [message.timestamp for message in transcript.messages if message.timestamp is not None]
    return Figures(
        totals=totals_of(history, largest_of(sized_requests(history, meter, size.unseen)), meter),
        is_doubted=bool(size.doubt),
        turns=sum([message.starts_turn for message in history]),
        steps=sum(len(find_steps(conversation)) for conversation in conversations),
        categories=category_tokens(history, reads, meter),
        tools={use.tool: use.call_tokens + use.result_tokens for use in tools},
        reread=reread_tokens(history, reads, meter),
        faults=tuple(
            FaultFigure(rule=fault.rule.id, line=fault.line + 1, is_refused=fault.is_refused)
            for fault in faults_of(transcript, measured)
        ),
        orphans=sum(map(count_unpaired, conversations)),
        tool_errors=sum(use.errors for use in tools),
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


class MessageDetails(Record):
    """A message of the file. Sizes are in tokens, by the transcript's counter.

    Attributes:
        seq: counts the messages of the file from 1.
        line: index of its raw line; conversation counts from 0.
        category: the one with most of its tokens; of several the first.
        tools: the tools that it calls, or whose results it holds.
        time: when it was written, in seconds since 1970.
        tokens: its size; of a visible message, without what was cleared.
        visible: whether the next request includes it.
        stage: the stage that hid or rewrote it, None if none did.
        tokens_after: its size after the compaction; None without one, or if it is not visible.
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


class StageEffect(Record, kw_only=False):
    """The tokens of a message after a compaction, and the stage that changed it, if any."""

    tokens: int
    stage: str | None


class FileDetails(Record):
    """The rows of one file, in the order of its messages and requests."""

    path: str
    messages: tuple[MessageDetails, ...] = ()
    rounds: tuple[Round, ...] = ()


def details_of(
    path: str,
    transcript: Transcript,
    measured: Measurement,
    choice: DetailChoice,
    effects: Mapping[MessageId, StageEffect] | None = None,
) -> FileDetails:
    """Return the rows chosen; ``effects`` are those of a compaction, by message."""
    measured.meter.prime((*transcript.effective, *transcript.messages))
    message_rows = _message_rows(transcript, measured, effects or {}) if choice.messages else ()
    rounds = find_rounds(transcript, measured.meter).rounds if choice.rounds else ()
    return FileDetails(path=path, messages=tuple(message_rows), rounds=rounds)


def _message_rows(
    transcript: Transcript, measured: Measurement, effects: Mapping[MessageId, StageEffect]
) -> Iterator[MessageDetails]:
    sent_ids = {message.id for message in transcript.effective}
    unsent = [message for message in transcript.messages if message.id not in sent_ids]
    shares_by_id = {
        message.id: (message, share)
        for messages in (transcript.effective, unsent)
        for message, share in _shared(messages, transcript.session.cwd, measured)
    }
    message_ids = dict.fromkeys(
        message.id for message in (*transcript.messages, *transcript.effective)
    )
    for seq, message_id in enumerate(message_ids, 1):
        message, share = shares_by_id[message_id]
        effect = effects.get(message_id)
        yield MessageDetails(
            seq=seq,
            line=message.line,
            conversation=message.conversation,
            role=message.role,
            category=_largest(share),
            tools=_tools(message, share),
            time=message.timestamp,
            tokens=measured.meter.message(message),
            visible=message_id in sent_ids,
            stage=None if effect is None else effect.stage,
            tokens_after=None if effect is None else effect.tokens,
        )


def _shared(
    messages: Sequence[Message], cwd: str | None, measured: Measurement
) -> Iterator[tuple[Message, MessageTokens]]:
    return zip(messages, message_tokens(messages, cwd, measured.meter), strict=True)


def _largest(share: MessageTokens) -> Category:
    return max(share.categories, key=lambda category: share.categories[category], default="other")


def _tools(message: Message, share: MessageTokens) -> tuple[str, ...]:
    called = (call.tool for call in message.calls)
    return tuple(dict.fromkeys(tool for tool in (*called, *share.tools) if tool))
