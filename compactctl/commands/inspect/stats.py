"""Measures where the context of a transcript goes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from compactctl.asks import INPUT, MAY, ONE_RUN, OUTPUT, SHOWN, WRITES, ask, flag
from compactctl.commands.measuring.acceptance import faults_of
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
from compactctl.commands.measuring.user_tables import asked_prices
from compactctl.commands.reading.transcript import InputOptions, check_strict, scan
from compactctl.history.breakdown import Breakdown, break_down
from compactctl.history.categories import Category
from compactctl.history.faults import Fault, refused_among
from compactctl.history.turns import find_steps, split_conversations
from compactctl.history.unread import describe_unread
from compactctl.history.usage.costs import Costs, compute_costs
from compactctl.history.usage.count_check import CountCheck
from compactctl.history.usage.rounds import Rounds, find_rounds
from compactctl.model.message import Message, media_of
from compactctl.model.transcript import Transcript
from compactctl.records import Record, field, replace
from compactctl.tokens.budget import Utilization, utilization
from compactctl.tokens.media import is_unsized
from compactctl.tokens.meter import client_added_text, part_texts
from compactctl.tokens.models.prices import PriceTable
from compactctl.tokens.verdict import Judgment

if TYPE_CHECKING:
    from compactctl.commands.measuring.timeline import Timeline

Scope = Literal["effective", "full"]


class StatsOptions(Record):
    """What to measure, and how; with ``timeline``, also the data for a picture of the session."""

    input: InputOptions
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    extras: ExtraOptions = field(default_factory=ExtraOptions)
    timeline: bool = False
    scope: Scope = ask(
        "effective", "Measure the next request, or everything that was ever a message.", INPUT, MAY
    )
    top: int = ask(
        5, "Number of largest messages to list (--details, --json).", SHOWN, MAY, metavar="N"
    )
    details: bool = flag(
        "Also show where each number comes from, tools, repeated reads and unsent records.",
        SHOWN,
        ONE_RUN,
    )
    rounds: bool = flag(
        "List the requests one by one instead: tokens sent, new, read from the prompt cache, and "
        "missed by it, and what was edited in between.",
        SHOWN,
        ONE_RUN,
    )
    graph: bool = flag(
        "Draw the context of every request by category, with its compactions.",
        SHOWN,
        ONE_RUN,
    )
    prices: PriceTable | None = asked_prices("Estimate what the requests cost", "Implies --rounds.")
    rounds_out: str | None = ask(
        None,
        "Write a row per request to this file (.parquet, .csv, .jsonl). Implies --rounds.",
        OUTPUT,
        WRITES,
        path="here",
        metavar="FILE",
    )
    force: bool = flag(
        "Let --rounds-out and --html overwrite files that compactctl did not write.",
        OUTPUT,
        WRITES,
        short="-f",
    )


class StatsCounts(Record):
    """Counts of what was measured.

    ``text_bytes`` is the size of the text that the model reads, in UTF-8.
    """

    conversations: int
    messages: int
    turns: int
    steps: int
    text_bytes: int


class ExtraTokens(Record):
    """Tokens in a request besides the texts in the file.

    ``prompt`` and ``files`` were given by the user; ``system_frame`` is what the counter's system
    adds to a system prompt that was given. ``by_client`` are texts that the client itself adds.
    """

    prompt: int
    files: int
    system_frame: int
    by_client: int


class StatsResult(Record):
    """The contents of a transcript, and how full they make the window.

    Attributes:
        options: the options.
        transcript: the transcript.
        measure: how tokens were counted.
        breakdown: the text and media of all conversations.
        requests: the next request of each conversation.
        size: the counted, inferred and unexplained tokens of the next request.
        health: whether the counts can be right.
        counts: how much was measured.
        extras: tokens besides the texts in the file.
        rounds: all requests ever sent, None unless requested.
        costs: what they cost, None unless requested.
        timeline: the data for a picture, None unless requested.
        title: the session's title or first prompt; "" unless a timeline is requested.
        faults: what will be refused of the next request.
        warnings: what the user should know.
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
    timeline: "Timeline | None" = None
    title: str = ""
    faults: tuple[Fault, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def messages(self) -> int:
        """The number of messages that were measured."""
        return self.counts.messages

    @property
    def usage(self) -> Utilization:
        """The largest next request as a share of the size that limits compare with."""
        return utilization(self.next_request.tokens, self.measure.limits.base_tokens)

    @property
    def categories(self) -> Mapping[Category, int]:
        """The counted tokens of the largest next request by category."""
        if len(self.requests) == 1:
            return self.breakdown.categories
        messages = self.next_request.messages
        return break_down(messages, self.measure.meter, cwd=self.transcript.session.cwd).categories

    @property
    def unread(self) -> str:
        """Where unread text is, if there is so much that the sizes are too small, else ""."""
        return describe_unread(self.transcript.unread)

    @property
    def is_refused(self) -> bool:
        """Whether the provider refused the request as too large without naming its size."""
        refusal = self.transcript.refusal
        is_ours = any(message.origin.is_synthetic for message in self.transcript.effective)
        return refusal is not None and refusal.tokens is None and not is_ours

    @property
    def judgment(self) -> Judgment:
        """The largest next request, compared with the window; the full history is not one."""
        return Judgment(
            tokens=None if self.options.scope == "full" else self.next_request.tokens,
            limit=self.measure.budget.window,
            is_refused=self.is_refused or bool(refused_among(self.faults)),
            is_incomplete=bool(self.unread),
        )

    @property
    def next_request(self) -> SizedRequest:
        """The largest next request, which ``usage`` is about."""
        return largest_of(self.requests)

    @property
    def reported(self) -> int | None:
        """The reported tokens of the request that ``size`` is based on, None without a report."""
        calibration = self.size.calibration
        return None if calibration is None else calibration.reported


def stats(options: StatsOptions) -> StatsResult:
    """Measure a transcript. Raises NoInputError, NotUnderstoodError, UsageError.

    Lines are read one by one; only the messages' text stays in memory.
    """
    if options.rounds_out is not None:
        from compactctl.commands.output_files import (
            TABLE_FORMATS,
            check_report,
            format_by_extension,
        )

        check_report(options.rounds_out, (options.input.path,), force=options.force)
        format_by_extension("--rounds-out", options.rounds_out, TABLE_FORMATS)
    transcript = scan(options.input)
    check_strict(transcript, options.input)
    extras = read_extras(options.extras)
    measured = measure(transcript, options.measure, extras.before)
    history = transcript.messages if options.scope == "full" else transcript.effective
    messages = extras.around(history)
    measured.meter.prime(messages)
    conversations = split_conversations(history)
    size = _size(options, transcript, measured, messages)
    rounds = _rounds(options, transcript, measured)
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
        rounds=rounds,
        costs=compute_costs(rounds.rounds, options.prices) if rounds and options.prices else None,
        timeline=_timeline(options, transcript, measured, size),
        title=_title(options, transcript),
        faults=() if options.scope == "full" else faults_of(transcript, measured, extras),
        warnings=(*filter(None, (size.doubt, _unsized(messages, measured))),),
    )


def _rounds(options: StatsOptions, transcript: Transcript, measured: Measurement) -> Rounds | None:
    if not (options.rounds or options.prices or options.rounds_out is not None):
        return None
    measured.meter.prime(transcript.messages)
    return find_rounds(transcript, measured.meter)


def _timeline(
    options: StatsOptions, transcript: Transcript, measured: Measurement, size: ContextSize
) -> "Timeline | None":
    if not (options.timeline or options.graph):
        return None
    from compactctl.commands.measuring.timeline import timeline_of

    measured.meter.prime(transcript.messages)
    return timeline_of(transcript, measured.meter, size)


def _title(options: StatsOptions, transcript: Transcript) -> str:
    if not options.timeline:
        return ""
    from compactctl.commands.reading.session_title import session_title

    return session_title(options.input.path, transcript.format)


def _size(
    options: StatsOptions,
    transcript: Transcript,
    measured: Measurement,
    messages: Sequence[Message],
) -> ContextSize:
    """Measure the messages; a given system prompt and given tools explain part of the overhead."""
    counted = measured.meter.total(messages)
    if options.scope == "full":
        return ContextSize(counted=counted)
    extra_tokens = measured.meter.total(m for m in messages if m.id in ("--system", "--tools"))
    size = context_size(transcript, measured, extra_tokens)
    if extra_tokens:
        size = replace(size, unreported="", usual=None)
    n_framed = sum(message.id in ("--system", "--prompt") for message in messages)
    frames = 0 if size.calibration else n_framed * neurolink_frame(measured)
    return replace(
        size,
        counted=counted,
        overhead=max(0, size.overhead - extra_tokens),
        frames=size.frames + frames,
        source=size.source or (NEUROLINK_FRAMES if frames else ""),
    )


def _extra_tokens(
    options: StatsOptions, measured: Measurement, messages: Sequence[Message], size: ContextSize
) -> ExtraTokens:
    frame = 0 if size.calibration else neurolink_frame(measured)
    return ExtraTokens(
        prompt=_tokens_of_option(measured, messages, "--prompt", frame),
        files=_tokens_of_option(measured, messages, "--attach"),
        system_frame=frame if options.extras.system else 0,
        by_client=sum(measured.meter.text(client_added_text(p)) for m in messages for p in m.parts),
    )


def _tokens_of_option(
    measured: Measurement, messages: Sequence[Message], option: str, frame: int = 0
) -> int:
    messages_of_option = [message for message in messages if message.id.partition(" ")[0] == option]
    return measured.meter.total(messages_of_option) + frame * len(messages_of_option)


def _unsized(messages: Sequence[Message], measured: Measurement) -> str:
    """Return the warning about media that count 0 tokens because their size is unknown, else ""."""
    lines = [
        message.line + 1
        for message in messages
        for part in message.parts
        for media in media_of(part)
        if is_unsized(media, measured.meter.rates)
    ]
    if not lines:
        return ""
    one = "document, recording or encrypted content of unknown size counts"
    several = "documents, recordings or encrypted contents of unknown size count"
    what = one if len(lines) == 1 else several
    return f"{len(lines):,} {what} as 0 tokens (first on line {lines[0]:,})"


def _text_bytes(messages: Sequence[Message]) -> int:
    parts = [part for message in messages for part in message.parts]
    texts = sum(_n_bytes(text) for part in parts for text in part_texts(part))
    return texts - sum(_n_bytes(client_added_text(part)) for part in parts)


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
