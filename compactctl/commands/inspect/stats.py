"""Where the context of a transcript goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from compactctl.commands.measuring.context_size import (
    NEUROLINK_FRAMES,
    ContextSize,
    context_size,
    health_check,
    neurolink_frame,
)
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.commands.measuring.next_request import (
    ExtraOptions,
    SizedRequest,
    largest_of,
    read_extras,
    sized_requests,
)
from compactctl.commands.measuring.timeline import Timeline, timeline_of
from compactctl.commands.output_files import check_report
from compactctl.commands.reading.transcript import InputOptions, check_strict, scan
from compactctl.history.breakdown import Breakdown, break_down
from compactctl.history.categories import Category
from compactctl.history.damage import unread_text
from compactctl.history.turns import find_steps, split_conversations
from compactctl.history.usage.costs import Costs, compute_costs
from compactctl.history.usage.count_check import CountCheck
from compactctl.history.usage.rounds import Rounds, find_rounds
from compactctl.model.message import Message, media_of
from compactctl.model.transcript import Transcript
from compactctl.tokens.budget import Utilization, utilization
from compactctl.tokens.media import is_unsized
from compactctl.tokens.meter import client_added_text, part_texts
from compactctl.tokens.models.prices import PriceTable

Scope = Literal["effective", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsOptions:
    """What to measure and with what.

    ``find_rounds`` asks for the requests one by one, ``prices`` for what they cost as well, and
    ``rounds_out`` is a file that they are written to; ``force`` overwrites any file there.
    ``timeline`` asks for what a picture of the session is drawn from, ``graph`` for one on a
    terminal.
    """

    input: InputOptions
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    extras: ExtraOptions = field(default_factory=ExtraOptions)
    scope: Scope = "effective"
    top: int = 5
    rounds: bool = False
    prices: PriceTable | None = None
    rounds_out: str | None = None
    force: bool = False
    timeline: bool = False
    graph: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsCounts:
    """How much there is of what was measured.

    ``text_bytes`` is the size of the text that the model reads, in UTF-8.
    """

    conversations: int
    messages: int
    turns: int
    steps: int
    text_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraTokens:
    """The tokens of what a request holds beside the texts of the file.

    ``prompt`` and ``files`` were given beside it; ``system_frame`` is what the counter's system
    adds to a system prompt that was given. ``by_client`` are texts that the client itself adds.
    """

    prompt: int
    files: int
    system_frame: int
    by_client: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsResult:
    """What a transcript holds and how full it makes the window.

    ``break_down`` covers the text and media of all conversations, ``requests`` are the next ones,
    one for each of them. ``size`` tells counted, inferred and unexplained tokens apart, and
    ``health`` whether the counts can be right. ``find_rounds`` are those of everything that was
    ever sent; they, ``compute_costs`` and ``timeline`` are None where nobody asked for them.
    """

    options: StatsOptions
    transcript: Transcript
    measure: Measurement
    breakdown: Breakdown
    requests: tuple[SizedRequest, ...]
    size: ContextSize
    health: CountCheck | None
    counts: StatsCounts
    extras: ExtraTokens
    rounds: Rounds | None = None
    costs: Costs | None = None
    timeline: Timeline | None = None
    warnings: tuple[str, ...] = ()

    @property
    def messages(self) -> int:
        """How many messages were measured."""
        return self.counts.messages

    @property
    def usage(self) -> Utilization:
        """How full the largest of the next requests makes what the limits are measured against."""
        return utilization(self.next_request.tokens, self.measure.limits.base_tokens)

    @property
    def categories(self) -> Mapping[Category, int]:
        """The counted tokens of the largest of the next requests."""
        if len(self.requests) == 1:
            return self.breakdown.categories
        messages = self.next_request.messages
        return break_down(messages, self.measure.meter, cwd=self.transcript.session.cwd).categories

    @property
    def unread(self) -> str:
        """What text was not read, where that is so much that the sizes are too small, else ""."""
        return unread_text(self.transcript.unread)

    @property
    def is_refused(self) -> bool:
        """Whether the provider refused the request as too large without telling its size."""
        refusal = self.transcript.refusal
        is_ours = any(message.origin.is_synthetic for message in self.transcript.effective)
        return refusal is not None and refusal.tokens is None and not is_ours

    @property
    def next_request(self) -> SizedRequest:
        """The largest of the next requests, which ``usage`` is of."""
        return largest_of(self.requests)

    @property
    def reported(self) -> int | None:
        """The context that the provider reported for the request measured from, in tokens."""
        found = self.size.calibration
        return None if found is None else found.reported


def stats(options: StatsOptions) -> StatsResult:
    """Measure a transcript. Raises NoInputError, NotUnderstoodError, UsageError.

    Lines are read one by one; what stays in memory is the messages' text.
    """
    if options.rounds_out is not None:
        check_report(options.rounds_out, (options.input.path,), force=options.force)
    transcript = scan(options.input)
    check_strict(transcript, options.input)
    measured = measure(transcript, options.measure)
    history = transcript.messages if options.scope == "full" else transcript.effective
    extras = read_extras(options.extras)
    messages = extras.around(history)
    measured.meter.prime(messages)
    conversations = split_conversations(history)
    size = _size(options, transcript, measured, messages)
    listed = _rounds(options, transcript, measured)
    return StatsResult(
        options=options,
        transcript=transcript,
        measure=measured,
        breakdown=break_down(
            messages, measured.meter, cwd=transcript.session.cwd, largest=options.top
        ),
        requests=sized_requests(history, measured.meter, size.unseen, extras),
        size=size,
        health=health_check(size, transcript, measured),
        counts=StatsCounts(
            conversations=len(conversations),
            messages=len(messages),
            turns=sum(message.starts_turn for message in messages),
            steps=sum(len(find_steps(conversation)) for conversation in conversations),
            text_bytes=_text_bytes(messages),
        ),
        extras=_extra_tokens(options, measured, messages, size),
        rounds=listed,
        costs=compute_costs(listed.rounds, options.prices) if listed and options.prices else None,
        timeline=_timeline(options, transcript, measured, size),
        warnings=tuple(filter(None, (size.doubt, _unsized(messages)))),
    )


def _rounds(options: StatsOptions, transcript: Transcript, measured: Measurement) -> Rounds | None:
    if not (options.rounds or options.prices or options.rounds_out):
        return None
    measured.meter.prime(transcript.messages)
    return find_rounds(transcript, measured.meter)


def _timeline(
    options: StatsOptions, transcript: Transcript, measured: Measurement, size: ContextSize
) -> Timeline | None:
    if not (options.timeline or options.graph):
        return None
    measured.meter.prime(transcript.messages)
    return timeline_of(transcript, measured.meter, size)


def _size(
    options: StatsOptions,
    transcript: Transcript,
    measured: Measurement,
    messages: Sequence[Message],
) -> ContextSize:
    """Measure the messages; system prompt and tools given as files explain part of the overhead."""
    counted = measured.meter.total(messages)
    if options.scope == "full":
        return ContextSize(counted=counted)
    given = measured.meter.total(m for m in messages if m.id in ("--system", "--tools"))
    size = context_size(transcript, measured, given)
    if given:
        size = replace(size, unreported="", usual=None)
    framed = sum(message.id in ("--system", "--prompt") for message in messages)
    frames = 0 if size.calibration else framed * neurolink_frame(measured)
    return replace(
        size,
        counted=counted,
        overhead=max(0, size.overhead - given),
        frames=size.frames + frames,
        source=size.source or (NEUROLINK_FRAMES if frames else ""),
    )


def _extra_tokens(
    options: StatsOptions, measured: Measurement, messages: Sequence[Message], size: ContextSize
) -> ExtraTokens:
    frame = 0 if size.calibration else neurolink_frame(measured)
    return ExtraTokens(
        prompt=_given(measured, messages, "--prompt", frame),
        files=_given(measured, messages, "--attach"),
        system_frame=frame if options.extras.system else 0,
        by_client=sum(measured.meter.text(client_added_text(p)) for m in messages for p in m.parts),
    )


def _given(measured: Measurement, messages: Sequence[Message], option: str, frame: int = 0) -> int:
    found = [message for message in messages if message.id.partition(" ")[0] == option]
    return measured.meter.total(found) + frame * len(found)


def _unsized(messages: Sequence[Message]) -> str:
    """Return a warning about media that count nothing because their size is unknown, else ""."""
    lines = [
        message.line + 1
        for message in messages
        for part in message.parts
        for media in media_of(part)
        if is_unsized(media)
    ]
    if not lines:
        return ""
    one = "document, recording or encrypted content has an unknown size and counts"
    several = "documents, recordings or encrypted contents have an unknown size and count"
    what = one if len(lines) == 1 else several
    return f"{len(lines):,} {what} 0 tokens (the first is on line {lines[0]:,})"


def _text_bytes(messages: Sequence[Message]) -> int:
    parts = [part for message in messages for part in message.parts]
    texts = sum(_n_bytes(text) for part in parts for text in part_texts(part))
    return texts - sum(_n_bytes(client_added_text(part)) for part in parts)


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
