"""The size of a transcript's context, from recorded usage where there is any."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from compactctl.commands.sizing.measure import Measure
from compactctl.commands.sizing.usual import (
    NOTHING,
    WRITTEN,
    Usual,
    missing_history,
    overhead_of,
    restored_by,
)
from compactctl.history.conversations import conversations_of
from compactctl.history.turns import leading_system
from compactctl.history.usage.calibration import Calibration, calibrate
from compactctl.history.usage.requests import Request, requests
from compactctl.model.message import FilePart, Message
from compactctl.model.transcript import ClientSplit, Transcript
from compactctl.tokens.clients import client_of
from compactctl.tokens.counters.chars import NEUROLINK_TOKENS_PER_MESSAGE, NeuroLinkCounter

NEUROLINK_FRAMES = "NeuroLink's constants for messages and conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSize:
    """What one conversation's next request comes to, in tokens; the rows add up to ``total``.

    Attributes:
        counted: the text and media of the messages.
        overhead: system prompt, tool definitions and the like, which are not in the transcript.
        missing: history that was sent and is not in the transcript.
        restored: what the client adds once more after its own compaction.
        hidden_reasoning: reasoning that is sent although its text is not stored.
        frames: what messages, calls and results take beside their text, and the difference between
            the counter's tokens and the model's, both estimated.
        unexplained: counting error; negative when more was counted.
        source: where the rows beside ``counted`` come from, in words; "" when there are none.
        calibration: what they were derived from, None without recorded usage to trust.
        least, most: between what ``restored`` lies in nine of ten cases; ``least`` goes below 0
            where the overhead may be smaller than it seems.
        unreported: the client that sends more, which nothing in the file tells; "" for none.
        usual: the overhead that it usually has, not in any row; None where that is not known.
    """

    counted: int
    overhead: int = 0
    missing: int = 0
    restored: int = 0
    hidden_reasoning: int = 0
    frames: int = 0
    unexplained: int = 0
    source: str = ""
    calibration: Calibration | None = None
    least: int = 0
    most: int = 0
    unreported: str = ""
    usual: Usual | None = None

    @property
    def total(self) -> int:
        """The tokens of the next request."""
        return self.counted + self.unseen

    @property
    def range(self) -> tuple[int, int] | None:
        """Between what the next request lies, None where no part of it is a guess."""
        if self.least == self.most:
            return None
        sure = self.total - self.restored
        return sure + self.least, sure + self.most

    @property
    def unseen(self) -> int:
        """The tokens of the next request beside those counted."""
        inferred = self.overhead + self.missing + self.restored + self.hidden_reasoning
        return inferred + self.frames + self.unexplained


def context_size(
    messages: Sequence[Message], measured: Measure, *, ends_reasoning: bool = False
) -> ContextSize:
    """Measure one conversation: from its newest trustworthy usage, else by counting alone.

    ``ends_reasoning`` tells that its reasoning is sent only until the turn ends, unless the model
    keeps it. After a compaction, until the provider reports again, the rows are those of the
    compaction.
    """
    counted = measured.meter.total(messages)
    framed = measured.framed
    found = calibrate(
        messages,
        framed.whole,
        framed.visible,
        ends_reasoning=ends_reasoning,
        keeps_reasoning=measured.model.keeps_reasoning,
    )
    if found is None:
        return _uncalibrated(messages, measured, counted)
    frames = round(sum(map(framed.visible, messages))) - counted
    rest = found.total - counted - found.overhead - found.hidden_reasoning - frames
    return ContextSize(
        counted=counted,
        overhead=found.overhead,
        hidden_reasoning=found.hidden_reasoning,
        frames=frames,
        unexplained=rest,
        source=f"inferred from the usage reported on {_lines(messages, found)}",
        calibration=found,
    )


def _lines(messages: Sequence[Message], found: Calibration) -> str:
    """Name the lines of the request that the overhead is from, and of the newest one."""
    first, newest = messages[found.since[0].first].line + 1, found.anchor_line + 1
    return f"line {newest}" if first == newest else f"lines {first} and {newest}"


def _uncalibrated(messages: Sequence[Message], measured: Measure, counted: int) -> ContextSize:
    unseen = recorded_unseen(messages)
    if unseen:
        # Less than is counted: the counting error of what was left.
        return ContextSize(
            counted=counted,
            overhead=max(0, unseen),
            unexplained=min(0, unseen),
            source="recorded when it was compacted",
        )
    if isinstance(measured.counter, NeuroLinkCounter):
        framing = measured.counter.framing(len(messages))
        source = NEUROLINK_FRAMES if framing else ""
        return ContextSize(counted=counted, frames=framing, source=source)
    return ContextSize(counted=counted)


def frame_of(measured: Measure) -> int:
    """Return the tokens that the counter's system adds to a message outside of the transcript."""
    return NEUROLINK_TOKENS_PER_MESSAGE if isinstance(measured.counter, NeuroLinkCounter) else 0


def recorded_unseen(messages: Sequence[Message]) -> int:
    """Return the unseen tokens that the newest compaction recorded; 0 without one."""
    recorded = (m.tags.unseen for m in reversed(messages) if m.tags.unseen is not None)
    return next(recorded, 0)


def unseen_size(transcript: Transcript, measured: Measure) -> ContextSize:
    """Measure what a request holds beside a conversation; nothing is known for several in one."""
    conversations = conversations_of(transcript.effective)
    if len(conversations) != 1:
        return ContextSize(counted=measured.meter.total(transcript.effective))
    size = context_size(conversations[0], measured, ends_reasoning=transcript.ends_reasoning)
    if size.calibration is None and transcript.split is not None:
        return _from_split(transcript.split, conversations[0], measured)
    if size.source:
        return _told_apart(size, transcript, measured)
    found = _from_before(transcript, conversations[0], measured, size)
    return found if found.source else _unreported(transcript, found)


def _told_apart(size: ContextSize, transcript: Transcript, measured: Measure) -> ContextSize:
    """Tell history that is not in the file from the overhead that it was taken for."""
    first = _first_request(transcript.messages, measured.framed.whole)
    known = None if first is None else round(first.context - first.before)
    missing = missing_history(transcript.format, size.overhead, known)
    if not missing:
        return size
    overhead = size.overhead - missing
    where = "is what is usual"
    if first is not None and overhead == known:
        where = f"on line {transcript.messages[first.first].line + 1}"
    source = f"{size.source}, the overhead {where}"
    return replace(size, overhead=overhead, missing=missing, source=source)


def _unreported(transcript: Transcript, size: ContextSize) -> ContextSize:
    """Name the client that sends more than is counted, where it is one that does."""
    client = client_of(transcript.format, transcript.client_version)
    if client is None:
        return size
    return replace(size, unreported=client.name, usual=overhead_of(transcript.format))


def _from_before(
    transcript: Transcript, messages: Sequence[Message], measured: Measure, size: ContextSize
) -> ContextSize:
    """Measure with the overhead of the session's first request, which is sent no more.

    It says nothing where compactctl took out messages, which may have stood before it.
    """
    framed = measured.framed
    first = _first_request(transcript.messages, framed.whole)
    if first is None or any(message.synthetic for message in transcript.messages):
        return size
    restored = restored_after(transcript)
    known = max(0, round(first.context - first.before))
    # A first request that also held what is not in the file tells the overhead at most.
    is_whole = not begins_in_the_middle(transcript)
    usual = overhead_of(transcript.format)
    overhead = known if is_whole or usual is None else min(known, usual.usual)
    stored = round(sum(map(framed.visible, messages)))
    line = transcript.messages[first.first].line + 1
    return replace(
        size,
        overhead=overhead,
        restored=restored.usual,
        least=restored.least - (0 if is_whole else overhead),
        most=restored.most + known - overhead,
        hidden_reasoning=round(sum(map(framed.whole, messages))) - stored,
        frames=stored - size.counted,
        source=f"inferred from the usage reported on line {line}, of what is sent no more",
    )


def restored_after(transcript: Transcript) -> Usual:
    """Return what a client adds after its own compaction beside what the transcript holds."""
    if not transcript.compacted:
        return NOTHING
    behind = takewhile(lambda message: not message.starts_turn, transcript.effective)
    is_written = any(isinstance(part, FilePart) for message in behind for part in message.parts)
    return WRITTEN if is_written else restored_by(transcript.format)


def begins_in_the_middle(transcript: Transcript) -> bool:
    """Tell whether the first record follows one that is not in the file."""
    first = transcript.links[0].parent if transcript.links else None
    return first is not None and all(link.id != first for link in transcript.links)


def _first_request(messages: Sequence[Message], size: Callable[[Message], float]) -> Request | None:
    """Return the first request with a reported context; what follows it is not counted."""
    reported = (i for i, m in enumerate(messages) if m.usage is not None and m.usage.context > 0)
    end = next(reported, None)
    found = () if end is None else requests(messages[: end + 1], size)
    return found[0] if found else None


def _from_split(split: ClientSplit, messages: Sequence[Message], measured: Measure) -> ContextSize:
    """Measure from the client's own count: what of its system part is not counted is overhead."""
    counted = measured.meter.total(messages)
    system = measured.meter.total(messages[: leading_system(messages)])
    overhead = split.tool_definitions + max(0, split.system - system)
    return ContextSize(
        counted=counted,
        overhead=overhead,
        unexplained=split.total - counted - overhead,
        source="counted by the client when the session ended",
    )
