"""The size of a transcript's context, from recorded usage if there is any.

With a credible report, the size of the next request is ``Calibration.total``: the reported size of
the newest request, plus its answer, plus the counted tokens of everything after it. The rows of a
``ContextSize`` only divide that up; ``unexplained`` is the remainder.

    reported for the newest request, line 40      21,000
    its answer                                       500    as reported
    messages after it                              1,500    counted
    next request                                  23,000    = counted 14,000 + overhead 8,200
                                                              + frames 600 + unexplained 200
"""

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from math import inf

from compactctl.clients.sizes import client_sizes
from compactctl.commands.measuring.measure import Measurement
from compactctl.history.turns import leading_system_count, split_conversations
from compactctl.history.usage.belief import ESTIMATE_ERROR, VOCABULARY_ERROR, Doubt, Reports, judge
from compactctl.history.usage.calibration import Calibration, calibrate, requests_after_own_edit
from compactctl.history.usage.count_check import CountCheck, check_counts
from compactctl.history.usage.requests import Request, find_requests, refused_request
from compactctl.model.message import FilePart, Message
from compactctl.model.transcript import ClientTokenCounts, Refusal, Transcript
from compactctl.records import Record, replace
from compactctl.tokens.client_sizes import NOTHING, WRITTEN, UsualTokens
from compactctl.tokens.counters.estimates import NEUROLINK_TOKENS_PER_MESSAGE, NeuroLinkCounter
from compactctl.tokens.models.lookup import longest_window
from compactctl.tokens.overhead import overhead_tokens

NEUROLINK_FRAMES = "NeuroLink's constants for messages and conversation"
_RESTORED = "what the client restores is unknown"
_CLEARED = "from the tokens that the client says it cleared, and counted without them"
# The number of reports by which the credibility of a session's first one is judged.
_FIRST_REPORTS = 12


class ContextSize(Record):
    """The tokens of one conversation's next request; the rows add up to ``total``.

    Attributes:
        counted: the text and media of the messages.
        overhead: system prompt, tool definitions and the like, which are not in the transcript.
        missing: history that was sent and is not in the transcript.
        restored: what the client adds again after its own compaction.
        hidden_reasoning: reasoning that is sent although its text is not stored.
        frames: the formatting around messages, calls and results, and the difference between the
            counter's tokens and the model's, both estimated.
        unexplained: the remainder of the reported size, a counting error; negative if more was
            counted.
        source: where the rows besides ``counted`` come from, in words; "" if there are none.
        calibration: what they were derived from, None without credible usage.
        min_restored, max_restored: the range of ``restored`` in 9 of 10 cases. The minimum is
            negative if the overhead may be smaller than it seems.
        unsure: why there is a range, in words.
        unreported: the client that sends more than the file shows; "" for none.
        usual: its usual overhead, which is in no row; None if unknown.
        doubt: a warning that names reported usage that is not credible; "" if all is.
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
    min_restored: int = 0
    max_restored: int = 0
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
        """The range of the next request's size, None if no part of it is a guess."""
        if self.min_restored == self.max_restored:
            return None
        sure = self.total - self.restored
        return sure + self.min_restored, sure + self.max_restored

    @property
    def unseen(self) -> int:
        """The tokens of the next request besides those counted."""
        inferred = self.overhead + self.missing + self.restored + self.hidden_reasoning
        return inferred + self.frames + self.unexplained


def context_size(
    transcript: Transcript, measured: Measurement, extra_tokens: int = 0
) -> ContextSize:
    """Measure the next request of a transcript; several conversations in a file are only counted.

    The first of these sources that exists is used:

    1. a credible usage report of the conversation;
    2. the client's own count;
    3. what a compaction by compactctl recorded, or NeuroLink's frames;
    4. reports about content no longer sent: the session's first, and the last one before the client
       cleared content;
    5. the count, with ``unreported`` naming a client that sends more.

    For several conversations, ``doubt`` names a report that is not used. ``extra_tokens`` is what
    the user adds to every request.
    """
    conversations = split_conversations(transcript.effective)
    if not conversations and transcript.messages:
        # The user rewound to the start: the client still sends its system prompt and tools.
        conversations = ((),)
    if len(conversations) != 1:
        counted = measured.meter.total(transcript.effective)
        return ContextSize(
            counted=counted, doubt=_doubt_of_several(conversations, measured, extra_tokens)
        )
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
    # A report that is not credible shows no overhead either, unless it is about another context.
    is_of_first = bool(size.doubt) and not transcript.compactions.lines
    estimated = size if is_of_first else _from_before(transcript, conversations[0], measured, size)
    if estimated.source:
        return _without_overhead(estimated, transcript)
    return _unreported(transcript, estimated)


def _conversation_size(
    messages: Sequence[Message],
    measured: Measurement,
    *,
    drops_past_reasoning: bool = False,
    refusal: Refusal | None = None,
) -> ContextSize:
    """Measure one conversation: from its newest credible report, else by counting.

    With a report the total is that of the calibration, and the rows divide it up. Without one the
    messages are counted; added is what the newest compaction recorded as unseen or, for NeuroLink's
    counter, its frames.

    A request that the provider refused is a report like any other. ``drops_past_reasoning`` means
    that reasoning is sent only until the turn ends, unless the model keeps it.
    """
    counted = measured.meter.total(messages)
    framed = measured.framed
    reports = believed_reports(messages, measured, refusal)
    doubt = _doubt_text(messages, reports.doubt, measured)
    calibration = calibrate(
        messages,
        reports.requests,
        framed.total,
        framed.visible,
        drops_past_reasoning=drops_past_reasoning,
        keeps_reasoning=measured.model.keeps_reasoning,
    )
    if calibration is None:
        return replace(_uncalibrated(messages, measured, counted), doubt=doubt)
    frames = round(sum(map(framed.visible, messages))) - counted
    # The total is fixed; whatever the other rows do not explain goes here.
    unexplained = (
        calibration.total - counted - calibration.overhead - calibration.hidden_reasoning - frames
    )
    return ContextSize(
        counted=counted,
        overhead=calibration.overhead,
        hidden_reasoning=calibration.hidden_reasoning,
        frames=frames,
        unexplained=unexplained,
        source=f"inferred from {_told_on(messages, calibration, refusal)}",
        calibration=calibration,
        doubt=doubt,
    )


def believed_reports(
    messages: Sequence[Message], measured: Measurement, refusal: Refusal | None = None
) -> Reports:
    """Return the requests of a conversation with a credible size, and a doubt about the others.

    Every context size is based on these. Other figures are not: the window is chosen by
    ``plausible`` usage (``measuring.measure``), rounds and costs include all ``find_requests``, and
    before that ``counted_once`` corrects reports while the transcript is read.
    """
    framed = measured.framed
    requests = find_requests(messages, framed.total, framed.visible)
    if refusal is not None and refusal.tokens is not None and refusal.sent:
        sent = messages[: refusal.sent]
        requests += (refused_request(sent, refusal.tokens, framed.total, framed.visible),)
    recent_requests = requests_after_own_edit(messages, requests)
    is_estimate = measured.counter.exactness == "estimate"
    error = ESTIMATE_ERROR if is_estimate else VOCABULARY_ERROR
    reports = judge(recent_requests, error, longest_window(measured.model))
    if recent_requests or reports.doubt:
        return reports
    return replace(reports, doubt=_no_number(messages, measured))


def _no_number(messages: Sequence[Message], measured: Measurement) -> Doubt | None:
    """Return the doubt for answers whose usage is zero or less; a single one just failed."""
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
    """Return the warning about reports that are not credible; "" for none."""
    if doubt is None:
        return ""
    report = f"line {messages[doubt.index].line + 1}: reported usage of {doubt.context:,} tokens"
    contents = f"the {doubt.contents:,} tokens counted in that request"
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
    return f"{report} {why}; {reports} ignored, the count is used"


def _told_on(messages: Sequence[Message], calibration: Calibration, refusal: Refusal | None) -> str:
    """Name the source of a size: usage on some lines, or a refusal."""
    if refusal is not None and not calibration.requests[-1].message_indices:
        return f"what the provider counted of the request that it refused, line {refusal.line + 1}"
    return f"the usage reported on {_name_lines(messages, calibration)}"


def _name_lines(messages: Sequence[Message], calibration: Calibration) -> str:
    """Name the lines of the request that shows the overhead, and of the newest one."""
    first, newest = (
        messages[calibration.requests_since_edit[0].first_index].line + 1,
        calibration.anchor_line + 1,
    )
    return f"line {newest}" if first == newest else f"lines {first} and {newest}"


def _uncalibrated(messages: Sequence[Message], measured: Measurement, counted: int) -> ContextSize:
    unseen = recorded_unseen(messages)
    if unseen:
        # Negative means less than is counted: a counting error.
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
    """Return the tokens NeuroLink adds per message outside of the transcript; else 0."""
    return NEUROLINK_TOKENS_PER_MESSAGE if isinstance(measured.counter, NeuroLinkCounter) else 0


def recorded_unseen(messages: Sequence[Message]) -> int:
    """Return the unseen tokens that the newest compaction recorded; 0 without one."""
    recorded = (
        m.tags.overhead_tokens for m in reversed(messages) if m.tags.overhead_tokens is not None
    )
    return next(recorded, 0)


def _doubt_of_several(
    conversations: Sequence[Sequence[Message]], measured: Measurement, extra_tokens: int
) -> str:
    """Return the warning about unused reports in a file with several conversations; "" for none.

    It names the largest report if it exceeds the largest count by more than the counting error,
    else the last that is not credible.
    """
    reports_by_conversation = [
        (messages, believed_reports(messages, measured))
        for messages in conversations
        if any(message.usage for message in messages)
    ]
    newest = [
        (request.context, messages[request.first_index].line + 1)
        for messages, reports in reports_by_conversation
        for request in reports.requests[-1:]
    ]
    context, line = max(newest, default=(0, 0))
    largest = extra_tokens + max(map(measured.meter.total, conversations), default=0)
    if context > (1 + ESTIMATE_ERROR) * largest:
        return (
            f"line {line:,}: reported usage of {context:,} tokens is more than the {largest:,} "
            "counted of the largest request; with several conversations in a file, only the count "
            "is used"
        )
    doubts = [
        (messages, reports.doubt) for messages, reports in reports_by_conversation if reports.doubt
    ]
    if not doubts:
        return ""
    messages, last = doubts[-1]
    reports = sum(doubt.reports for _, doubt in doubts)
    return _doubt_text(messages, replace(last, reports=reports, is_used=False), measured)


def _without_overhead(size: ContextSize, transcript: Transcript) -> ContextSize:
    """If the file itself holds the overhead, so that it was counted, call the rest unexplained."""
    if not transcript.session.holds_overhead:
        return size
    return replace(size, overhead=0, unexplained=size.unexplained + size.overhead)


def _told_apart(size: ContextSize, transcript: Transcript, measured: Measurement) -> ContextSize:
    """Separate the history that is missing from the file from the overhead.

    If a record follows a lost one, everything above the first request's overhead is missing.
    """
    is_cut = lost_its_beginning(transcript)
    sizes = client_sizes(transcript.format)
    if not is_cut and not sizes.missing_history(size.overhead, None):
        # Whatever the first request shows: to count its contents may take long.
        return size
    first = _first_request(transcript, measured)
    first_overhead = None if first is None else max(0, round(first.context - first.counted_before))
    missing = sizes.missing_history(size.overhead, first_overhead)
    if first_overhead is not None and is_cut:
        missing = max(missing, size.overhead - first_overhead)
    if not missing:
        return size
    overhead = size.overhead - missing
    shown = "the usual overhead"
    if first is not None and overhead == first_overhead:
        shown = f"the overhead on line {transcript.messages[first.first_index].line + 1}"
    source = f"{size.source}, {shown}"
    return replace(size, overhead=overhead, missing=missing, source=source)


def lost_its_beginning(transcript: Transcript) -> bool:
    """Return whether the effective history starts at a record whose parent is not in the file."""
    parents = {link.id: link.parent for link in transcript.chain.links}
    lines = {link.line: link.id for link in transcript.chain.links}
    record_id = next((lines[m.line] for m in transcript.effective if m.line in lines), None)
    seen: set[str] = set()
    while record_id in parents and record_id not in seen:
        seen.add(record_id)
        record_id = parents[record_id]
    return record_id is not None and record_id not in seen


def _unreported(transcript: Transcript, size: ContextSize) -> ContextSize:
    """Add the client that sends more than is counted, if it is one that does."""
    sizes = client_sizes(transcript.format)
    rule = sizes.rule(transcript.session.client_version)
    if rule is None or transcript.session.holds_overhead:
        return size
    return replace(size, unreported=rule.name, usual=sizes.overhead)


def _from_before(
    transcript: Transcript, messages: Sequence[Message], measured: Measurement, size: ContextSize
) -> ContextSize:
    """Measure with the overhead of the session's first request, which is no longer sent.

    Not used if compactctl removed messages, since these may have preceded that request.
    """
    framed = measured.framed
    if any(message.origin.is_synthetic for message in transcript.messages):
        return size
    first = _first_request(transcript, measured)
    if first is None:
        return _since_cleared(transcript, messages, measured, size)
    restored = restored_after(transcript)
    first_overhead = max(0, round(first.context - first.counted_before))
    # If the first request also held messages missing from the file, this is an upper bound.
    is_whole = not continues_another(transcript)
    usual = client_sizes(transcript.format).overhead
    overhead = first_overhead if is_whole or usual is None else min(first_overhead, usual.usual)
    stored = round(sum(map(framed.visible, messages)))
    line = transcript.messages[first.first_index].line + 1
    estimated = replace(
        size,
        overhead=overhead,
        restored=restored.usual,
        min_restored=restored.least - (0 if is_whole else overhead),
        max_restored=restored.most + first_overhead - overhead,
        hidden_reasoning=round(sum(map(framed.total, messages))) - stored,
        frames=stored - size.counted,
        source=f"inferred from the usage reported on line {line}, of content no longer sent",
    )
    return _since_cleared(transcript, messages, measured, estimated)


def _since_cleared(
    transcript: Transcript, messages: Sequence[Message], measured: Measurement, size: ContextSize
) -> ContextSize:
    """Measure from the last report before the client cleared content, plus what was added since.

    This is the maximum of the next request. If the client recorded the tokens saved, the size is
    the maximum less those, and the count is the other end of the range.
    """
    cleared = transcript.compactions.cleared
    answer = () if cleared is None else tuple(_places(messages, cleared.response_id))
    if cleared is None or not answer:
        return size
    framed, reported = measured.framed, cleared.usage
    before = sum(map(framed.visible, messages[: answer[0]]))
    if reported.context < (1 - ESTIMATE_ERROR) * before:
        return size
    answer_tokens = round(sum(framed.visible(messages[index]) for index in answer))
    later_indices = range(answer[0] + 1, len(messages))
    later_tokens = round(
        sum(framed.total(messages[index]) for index in later_indices if index not in answer)
    )
    max_tokens = reported.context + max(reported.answer or 0, answer_tokens) + later_tokens
    counted = min(size.total, max_tokens)
    total = counted if cleared.saved is None else max(later_tokens, max_tokens - cleared.saved)
    line = messages[answer[0]].line + 1
    return replace(
        size,
        restored=0,
        unexplained=size.unexplained + size.restored + total - size.total,
        min_restored=min(counted, total) - total,
        max_restored=max(counted, total) - total,
        unsure=_CLEARED,
        unreported="",
        source=f"inferred from the usage reported on line {line}, before content was cleared",
    )


def _places(messages: Sequence[Message], response_id: str) -> Iterator[int]:
    return (index for index, m in enumerate(messages) if m.response_id == response_id)


def restored_after(transcript: Transcript) -> UsualTokens:
    """Return what a client adds after its own compaction besides what the transcript holds."""
    if not transcript.compactions.by_client:
        return NOTHING
    # Messages that a compaction preserved are on earlier lines, and may start a turn.
    newest = max(transcript.compactions.lines, default=0)
    written = (message for message in transcript.effective if message.line >= newest)
    since_compaction = takewhile(lambda message: not message.starts_turn, written)
    is_written = any(
        isinstance(part, FilePart) for message in since_compaction for part in message.parts
    )
    return WRITTEN if is_written else client_sizes(transcript.format).restored


def continues_another(transcript: Transcript) -> bool:
    """Return whether the first record's parent is not in the file."""
    first = transcript.chain.links[0].parent if transcript.chain.links else None
    return first is not None and all(link.id != first for link in transcript.chain.links)


def _first_request(transcript: Transcript, measured: Measurement) -> Request | None:
    """Return the file's first request with a reported size, if that is credible.

    Credibility is judged by the reports after it, up to the first compaction.
    """
    messages = transcript.messages
    end = transcript.compactions.lines[0] if transcript.compactions.lines else transcript.n_lines
    judged_indices = [*islice(_reported_indices(messages, end), _FIRST_REPORTS)] or [
        *islice(_reported_indices(messages, inf), 1)
    ]
    if not judged_indices:
        return None
    judged_messages = messages[: judged_indices[-1] + 1]
    measured.meter.prime(judged_messages)
    start = believed_reports(judged_messages, measured)
    first = start.requests[0] if start.requests else None
    is_reported = first is not None and first.first_index <= judged_indices[0]
    is_used = start.doubt is None or not start.doubt.is_used
    return first if is_reported and is_used else None


def _reported_indices(messages: Sequence[Message], end: float) -> Iterator[int]:
    """Yield the indices of the messages before line ``end`` that report a size."""
    for index, message in enumerate(messages):
        if message.usage and message.usage.context > 0 and message.line < end:
            yield index


def _from_split(
    split: ClientTokenCounts, messages: Sequence[Message], measured: Measurement, size: ContextSize
) -> ContextSize:
    """Measure from the client's own count; the uncounted part of its system share is overhead."""
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


# How far the median of reported/counted tokens of a session may be from 1. With the model's own
# vocabulary, eight sessions of one project were at 1.00; with factors, which fit some content
# better than other, 13 sessions of two projects were at 0.90 to 1.05. An OpenAI session counted
# with the factor of the nearest Claude model is at 0.85.
_BY_VOCABULARY, _BY_FACTOR = 0.05, 0.12


def health_check(
    size: ContextSize, transcript: Transcript, measured: Measurement
) -> CountCheck | None:
    """Compare the counts of a conversation with its reports; None if there are none."""
    if size.calibration is None:
        return None
    [messages] = split_conversations(transcript.effective)
    is_factor = measured.counter.exactness == "estimate"
    return check_counts(
        messages,
        size.calibration.requests,
        measured.meter.message,
        lambda message: overhead_tokens(message, measured.framed.overhead),
        _BY_FACTOR if is_factor else _BY_VOCABULARY,
    )
