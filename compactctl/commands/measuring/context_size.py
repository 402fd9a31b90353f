"""The size of a transcript's context, from recorded usage where there is any.

Where a report can be believed, the size of the next request is ``Calibration.total``: what the
provider reported for the newest request, its answer, and what was counted of all that came after.
The rows of a ``ContextSize`` only divide that up, and ``unexplained`` is what is left over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from compactctl.commands.measuring.measure import Measurement
from compactctl.history.turns import leading_system_count, split_conversations
from compactctl.history.usage.belief import ESTIMATE_ERROR, VOCABULARY_ERROR, Doubt, Reports, judge
from compactctl.history.usage.calibration import Calibration, calibrate, requests_after_own_edit
from compactctl.history.usage.count_check import CountCheck, check_counts
from compactctl.history.usage.requests import Request, find_requests, refused_request
from compactctl.model.message import FilePart, Message
from compactctl.model.transcript import ClientTokenCounts, Refusal, Transcript
from compactctl.tokens.client_overhead import (
    NOTHING,
    WRITTEN,
    UsualTokens,
    missing_history,
    overhead_of,
    restored_by,
)
from compactctl.tokens.client_thresholds import client_rule_for
from compactctl.tokens.counters.estimates import NEUROLINK_TOKENS_PER_MESSAGE, NeuroLinkCounter
from compactctl.tokens.models.lookup import longest_window
from compactctl.tokens.overhead import overhead_tokens

NEUROLINK_FRAMES = "NeuroLink's constants for messages and conversation"
_RESTORED = "what the client restores is not known"
_CLEARED = "from the tokens that the client says it cleared, and counted without them"
# By so many reports it is judged whether a session's first one can be true.
_FIRST_REPORTS = 12


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
        unexplained: what is left of the reported size, a counting error; negative when more was
            counted.
        source: where the rows beside ``counted`` come from, in words; "" when there are none.
        calibration: what they were derived from, None without recorded usage to trust.
        least, most: between what ``restored`` lies in nine of ten cases; ``least`` goes below 0
            where the overhead may be smaller than it seems. ``unsure`` says what is not known.
        unreported: the client that sends more, which nothing in the file tells; "" for none.
        usual: the overhead that it usually has, not in any row; None where that is not known.
        doubt: which reported usage is not believed, and why, as a warning; "" where all is.
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
    usual: UsualTokens | None = None
    doubt: str = ""
    unsure: str = _RESTORED

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


def context_size(transcript: Transcript, measured: Measurement, given: int = 0) -> ContextSize:
    """Measure the next request of a transcript; several conversations in a file are only counted.

    The first of these that there is decides: a believed report of the conversation; the client's
    own count; what a compaction of ours recorded, or NeuroLink's frames; reports of what is no
    longer sent, the session's first one and the last before the client cleared content. Else the
    size is the count, and ``unreported`` names a client that sends more.

    What is reported of one of several conversations and not used is in ``doubt``; ``given`` are the
    tokens of what every request holds by what the user gave.
    """
    conversations = split_conversations(transcript.effective)
    if len(conversations) != 1:
        counted = measured.meter.total(transcript.effective)
        return ContextSize(counted=counted, doubt=_doubt_of_several(conversations, measured, given))
    size = _conversation_size(
        conversations[0],
        measured,
        drops_past_reasoning=transcript.session.drops_past_reasoning,
        refusal=transcript.refusal,
    )
    if size.calibration is None and transcript.session.client_counts is not None:
        return _from_split(transcript.session.client_counts, conversations[0], measured, size)
    if size.source:
        return _without_overhead(_told_apart(size, transcript, measured), transcript)
    # What is not believed tells no overhead either, unless it is of another context.
    is_of_first = bool(size.doubt) and not transcript.compactions.lines
    found = size if is_of_first else _from_before(transcript, conversations[0], measured, size)
    if found.source:
        return _without_overhead(found, transcript)
    return _unreported(transcript, found)


def _conversation_size(
    messages: Sequence[Message],
    measured: Measurement,
    *,
    drops_past_reasoning: bool = False,
    refusal: Refusal | None = None,
) -> ContextSize:
    """Measure one conversation: from its newest believed report, else by counting.

    With a report the total is that of the calibration, and the rows divide it up. Without one the
    messages are counted, and beside them is what the newest compaction recorded as unseen or, for
    its counter, NeuroLink's frames.

    What the provider counted of a request that it refused is a report like any other.
    ``drops_past_reasoning`` tells that its reasoning is sent only until the turn ends, unless the
    model keeps it.
    """
    counted = measured.meter.total(messages)
    framed = measured.framed
    reports = believed_reports(messages, measured, refusal)
    doubt = _doubt_text(messages, reports.doubt, measured)
    found = calibrate(
        messages,
        reports.requests,
        framed.total,
        framed.visible,
        drops_past_reasoning=drops_past_reasoning,
        keeps_reasoning=measured.model.keeps_reasoning,
    )
    if found is None:
        return replace(_uncalibrated(messages, measured, counted), doubt=doubt)
    frames = round(sum(map(framed.visible, messages))) - counted
    # The total stands: whatever the other rows do not explain goes here.
    rest = found.total - counted - found.overhead - found.hidden_reasoning - frames
    return ContextSize(
        counted=counted,
        overhead=found.overhead,
        hidden_reasoning=found.hidden_reasoning,
        frames=frames,
        unexplained=rest,
        source=f"inferred from {_told_on(messages, found, refusal)}",
        calibration=found,
        doubt=doubt,
    )


def believed_reports(
    messages: Sequence[Message], measured: Measurement, refusal: Refusal | None = None
) -> Reports:
    """Return the requests of a conversation whose reported size can be true, and why others cannot.

    Every size of a context rests on these. Other figures do not: the window is chosen by usage
    that is ``plausible`` (``measuring.measure``), rounds and costs are those of all
    ``find_requests``, and before any of that ``counted_once`` edits reports while the transcript is
    read.
    """
    framed = measured.framed
    asked = find_requests(messages, framed.total, framed.visible)
    if refusal is not None and refusal.tokens is not None and refusal.sent:
        sent = messages[: refusal.sent]
        asked += (refused_request(sent, refusal.tokens, framed.total, framed.visible),)
    found = requests_after_own_edit(messages, asked)
    is_estimate = measured.counter.exactness == "estimate"
    error = ESTIMATE_ERROR if is_estimate else VOCABULARY_ERROR
    reports = judge(found, error, longest_window(measured.model))
    if found or reports.doubt:
        return reports
    return replace(reports, doubt=_no_number(messages, measured))


def _no_number(messages: Sequence[Message], measured: Measurement) -> Doubt | None:
    """Return a doubt of answers whose usage is zero or less; one alone is one that failed."""
    reported = [index for index, message in enumerate(messages) if message.usage]
    responses = {messages[index].response_id for index in reported}
    if len(responses) <= 1 or any(m.usage.context > 0 for m in messages if m.usage):
        return None
    contents = sum(map(measured.framed.visible, messages[: reported[-1]]))
    return Doubt(
        reason="no number",
        index=reported[-1],
        context=0,
        contents=round(contents),
        reports=len(responses),
    )


def _doubt_text(messages: Sequence[Message], doubt: Doubt | None, measured: Measurement) -> str:
    """Say which reports are not believed, for a warning; "" for none."""
    if doubt is None:
        return ""
    report = f"line {messages[doubt.index].line + 1}: reported usage of {doubt.context:,} tokens"
    contents = f"the {doubt.contents:,} tokens counted of what was sent"
    why = {
        "below its contents": f"is less than {contents}",
        "does not grow": f"does not grow with {contents}",
        "beyond any window": f"is more than {measured.model.name} takes, for {contents}",
        "grows too fast": f"is too much for {contents}: it is wrong, or content is missing",
        "no number": f"cannot be the size of {contents}",
    }[doubt.reason]
    if doubt.is_used:
        return f"{report} {why}; the higher figure is used"
    reports = "1 report is" if doubt.reports == 1 else f"{doubt.reports:,} reports are"
    return f"{report} {why}; {reports} not believed, the count is used"


def _told_on(messages: Sequence[Message], found: Calibration, refusal: Refusal | None) -> str:
    """Name what a size was inferred from: usage on some lines, or a refusal."""
    if refusal is not None and not found.requests[-1].message_indices:
        return f"what the provider counted of the request that it refused, line {refusal.line + 1}"
    return f"the usage reported on {_lines(messages, found)}"


def _lines(messages: Sequence[Message], found: Calibration) -> str:
    """Name the lines of the request that the overhead is from, and of the newest one."""
    first, newest = (
        messages[found.requests_since_edit[0].first_index].line + 1,
        found.anchor_line + 1,
    )
    return f"line {newest}" if first == newest else f"lines {first} and {newest}"


def _uncalibrated(messages: Sequence[Message], measured: Measurement, counted: int) -> ContextSize:
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


def neurolink_frame(measured: Measurement) -> int:
    """Return what NeuroLink adds to a message outside of the transcript; 0 for other counters."""
    return NEUROLINK_TOKENS_PER_MESSAGE if isinstance(measured.counter, NeuroLinkCounter) else 0


def recorded_unseen(messages: Sequence[Message]) -> int:
    """Return the unseen tokens that the newest compaction recorded; 0 without one."""
    recorded = (
        m.tags.overhead_tokens for m in reversed(messages) if m.tags.overhead_tokens is not None
    )
    return next(recorded, 0)


def _doubt_of_several(
    conversations: Sequence[Sequence[Message]], measured: Measurement, given: int
) -> str:
    """Say which report is not used, where a file holds several conversations; "" for none.

    That is the largest, where it is more than an error of what is counted of the largest request,
    else the newest that cannot be true.
    """
    told = [
        (messages, believed_reports(messages, measured))
        for messages in conversations
        if any(message.usage for message in messages)
    ]
    newest = [
        (request.context, messages[request.first_index].line + 1)
        for messages, reports in told
        for request in reports.requests[-1:]
    ]
    context, line = max(newest, default=(0, 0))
    largest = given + max(map(measured.meter.total, conversations), default=0)
    if context > (1 + ESTIMATE_ERROR) * largest:
        return (
            f"line {line:,}: reported usage of {context:,} tokens is more than the {largest:,} "
            "counted of the largest request; with several conversations in a file, only the count "
            "is used"
        )
    doubts = [(messages, found.doubt) for messages, found in told if found.doubt]
    if not doubts:
        return ""
    messages, last = doubts[-1]
    reports = sum(each.reports for _, each in doubts)
    return _doubt_text(messages, replace(last, reports=reports, is_used=False), measured)


def _without_overhead(size: ContextSize, transcript: Transcript) -> ContextSize:
    """Return what remains of an overhead that the file holds, and so was counted, as an error."""
    if not transcript.session.holds_overhead:
        return size
    return replace(size, overhead=0, unexplained=size.unexplained + size.overhead)


def _told_apart(size: ContextSize, transcript: Transcript, measured: Measurement) -> ContextSize:
    """Tell history that is not in the file from the overhead that it was taken for.

    Where a record follows one that is lost, that is all above the overhead of the first request.
    """
    first = _first_request(transcript, measured)
    known = None if first is None else max(0, round(first.context - first.counted_before))
    missing = missing_history(transcript.format, size.overhead, known)
    if known is not None and lost_its_beginning(transcript):
        missing = max(missing, size.overhead - known)
    if not missing:
        return size
    overhead = size.overhead - missing
    where = "is what is usual"
    if first is not None and overhead == known:
        where = f"on line {transcript.messages[first.first_index].line + 1}"
    source = f"{size.source}, the overhead {where}"
    return replace(size, overhead=overhead, missing=missing, source=source)


def lost_its_beginning(transcript: Transcript) -> bool:
    """Tell whether what is sent goes back to a record whose parent is not in the file."""
    parents = {link.id: link.parent for link in transcript.chain.links}
    lines = {link.line: link.id for link in transcript.chain.links}
    at = next((lines[m.line] for m in transcript.effective if m.line in lines), None)
    passed: set[str] = set()
    while at in parents and at not in passed:
        passed.add(at)
        at = parents[at]
    return at is not None and at not in passed


def _unreported(transcript: Transcript, size: ContextSize) -> ContextSize:
    """Name the client that sends more than is counted, where it is one that does."""
    client = client_rule_for(transcript.format, transcript.session.client_version)
    if client is None or transcript.session.holds_overhead:
        return size
    return replace(size, unreported=client.name, usual=overhead_of(transcript.format))


def _from_before(
    transcript: Transcript, messages: Sequence[Message], measured: Measurement, size: ContextSize
) -> ContextSize:
    """Measure with the overhead of the session's first request, which is sent no more.

    It says nothing where compactctl took out messages, which may have stood before it.
    """
    framed = measured.framed
    if any(message.origin.is_synthetic for message in transcript.messages):
        return size
    first = _first_request(transcript, measured)
    if first is None:
        return _since_cleared(transcript, messages, measured, size)
    restored = restored_after(transcript)
    known = max(0, round(first.context - first.counted_before))
    # A first request that also held what is not in the file tells the overhead at most.
    is_whole = not continues_another(transcript)
    usual = overhead_of(transcript.format)
    overhead = known if is_whole or usual is None else min(known, usual.usual)
    stored = round(sum(map(framed.visible, messages)))
    line = transcript.messages[first.first_index].line + 1
    found = replace(
        size,
        overhead=overhead,
        restored=restored.usual,
        least=restored.least - (0 if is_whole else overhead),
        most=restored.most + known - overhead,
        hidden_reasoning=round(sum(map(framed.total, messages))) - stored,
        frames=stored - size.counted,
        source=f"inferred from the usage reported on line {line}, of what is sent no more",
    )
    return _since_cleared(transcript, messages, measured, found)


def _since_cleared(
    transcript: Transcript, messages: Sequence[Message], measured: Measurement, size: ContextSize
) -> ContextSize:
    """Measure from the last report before the client cleared content, and what came since.

    It is the most that the next request can be. Where the client wrote what it saved, that less
    the saved tokens is the size, and what is counted the other end of the range.
    """
    cleared = transcript.compactions.cleared
    answer = () if cleared is None else tuple(_places(messages, cleared.response_id))
    if cleared is None or not answer:
        return size
    framed, reported = measured.framed, cleared.usage
    before = sum(map(framed.visible, messages[: answer[0]]))
    if reported.context < (1 - ESTIMATE_ERROR) * before:
        return size
    said = round(sum(framed.visible(messages[index]) for index in answer))
    behind = range(answer[0] + 1, len(messages))
    added = round(sum(framed.total(messages[index]) for index in behind if index not in answer))
    most = reported.context + max(reported.answer or 0, said) + added
    counted = min(size.total, most)
    total = counted if cleared.saved is None else max(added, most - cleared.saved)
    line = messages[answer[0]].line + 1
    return replace(
        size,
        restored=0,
        unexplained=size.unexplained + size.restored + total - size.total,
        least=min(counted, total) - total,
        most=max(counted, total) - total,
        unsure=_CLEARED,
        unreported="",
        source=f"inferred from the usage reported on line {line}, before content was cleared",
    )


def _places(messages: Sequence[Message], response_id: str) -> Iterator[int]:
    return (index for index, m in enumerate(messages) if m.response_id == response_id)


def restored_after(transcript: Transcript) -> UsualTokens:
    """Return what a client adds after its own compaction beside what the transcript holds."""
    if not transcript.compactions.by_client:
        return NOTHING
    behind = takewhile(lambda message: not message.starts_turn, transcript.effective)
    is_written = any(isinstance(part, FilePart) for message in behind for part in message.parts)
    return WRITTEN if is_written else restored_by(transcript.format)


def continues_another(transcript: Transcript) -> bool:
    """Tell whether the first record follows one that is not in the file."""
    first = transcript.chain.links[0].parent if transcript.chain.links else None
    return first is not None and all(link.id != first for link in transcript.chain.links)


def _first_request(transcript: Transcript, measured: Measurement) -> Request | None:
    """Return the file's first request with a reported size, if that can be true.

    It is judged by the reports that follow it, up to a compaction; what follows is not counted.
    """
    messages = transcript.messages
    end = transcript.compactions.lines[0] if transcript.compactions.lines else transcript.n_lines
    told = [i for i, m in enumerate(messages) if m.usage and m.usage.context > 0]
    judged = [i for i in told if messages[i].line < end][:_FIRST_REPORTS] or told[:1]
    if not judged:
        return None
    start = believed_reports(messages[: judged[-1] + 1], measured)
    first = start.requests[0] if start.requests else None
    is_told = first is not None and first.first_index <= judged[0]
    is_used = start.doubt is None or not start.doubt.is_used
    return first if is_told and is_used else None


def _from_split(
    split: ClientTokenCounts, messages: Sequence[Message], measured: Measurement, size: ContextSize
) -> ContextSize:
    """Measure from the client's own count: what of its system part is not counted is overhead."""
    visible = sum(map(measured.framed.visible, messages))
    if split.total < (1 - ESTIMATE_ERROR) * visible:
        doubt = (
            f"the client's own count of {split.total:,} tokens is less than the {visible:,.0f} "
            "counted of what is sent; it is not believed, the count is used"
        )
        return replace(size, doubt=doubt)
    system = measured.meter.total(messages[: leading_system_count(messages)])
    overhead = split.tool_definitions + max(0, split.system - system)
    return replace(
        size,
        overhead=overhead,
        unexplained=split.total - size.counted - overhead,
        source="counted by the client when the session ended",
    )


# How far from 1 reported tokens for each counted one may be in the median of a session. With the
# vocabulary of the model eight sessions of one project were at 1.00; with factors, which fit some
# content better than other, 13 of two projects were at 0.90 to 1.05. An OpenAI session with the
# factor of the nearest Claude is at 0.85.
_BY_VOCABULARY, _BY_FACTOR = 0.05, 0.12


def health_check(
    size: ContextSize, transcript: Transcript, measured: Measurement
) -> CountCheck | None:
    """Check the counts of a conversation; None where nothing was reported to check them by."""
    if size.calibration is None:
        return None
    [messages] = split_conversations(transcript.effective)
    is_factor = measured.counter.exactness == "estimate"
    return check_counts(
        messages,
        size.calibration.requests,
        measured.meter.message,
        lambda message: overhead_tokens(message, measured.framed.framing),
        _BY_FACTOR if is_factor else _BY_VOCABULARY,
    )
