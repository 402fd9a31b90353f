"""What a transcript is measured with: model, counter, window and budget."""

from collections.abc import Sequence
from fractions import Fraction

from compactctl.asks import COUNTS, MAY, MEASURED, POLICY, ask
from compactctl.clients.sizes import client_sizes
from compactctl.commands.measuring.user_tables import load_user_models
from compactctl.errors import UsageError
from compactctl.history.turns import split_conversations
from compactctl.history.usage.belief import ESTIMATE_ERROR, plausible_requests
from compactctl.history.usage.count_check import check_counts
from compactctl.history.usage.requests import find_requests
from compactctl.model.bounds import Positive
from compactctl.model.message import Message, ToolCallPart, ToolDefinitionPart
from compactctl.model.transcript import Transcript
from compactctl.profiles.profile import Profile
from compactctl.profiles.registry import emulates_system, load_profile
from compactctl.records import Record, replace
from compactctl.tokens.budget import DEFAULT_BUDGET_RULE, Budget, BudgetRule, output_reserve
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.estimates import CharsCounter
from compactctl.tokens.counters.selection import (
    COUNTER_NAMES,
    best_counter,
    parse_counter,
)
from compactctl.tokens.fit import LimitBase, Limits, limits_of
from compactctl.tokens.media import rates_for
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import (
    ModelInfo,
    longest_window,
    model_suggestion,
    resolve_model,
    window_in_use,
)
from compactctl.tokens.models.table import LONG_WINDOW, LONG_WINDOW_SUFFIX
from compactctl.tokens.models.token_sizes import parse_window
from compactctl.tokens.models.user_models import NO_USER_MODELS, UserModelTable
from compactctl.tokens.overhead import RequestMeter, overhead_for

_MIN_CHARS_PER_TOKEN, _MAX_CHARS_PER_TOKEN = 0.01, 1_000_000


class Window(Record):
    """A context window in tokens, and its source in words.

    ``recorded`` means that the transcript names it, ``for_input`` that it holds input only.
    """

    tokens: int
    source: str
    recorded: bool = False
    for_input: bool = False


def window_of(
    transcript: Transcript,
    model: ModelInfo,
    *,
    named: bool = False,
    documented: Window | None = None,
) -> Window:
    """Return the window of the user's table, else the recorded one, else the model's.

    ``named`` means that the user named the model, so what the transcript records does not count.
    Otherwise a refused request names the window, and an answered one shows its minimum.
    ``documented`` is the model's window as a profile's system documents it, if it does.
    """
    if model.user_row and model.user_row.window:
        return Window(
            tokens=model.window, source=f"{model.user_row.prefix!r} in {model.user_row.source}"
        )
    if named:
        return documented or _of_model(model, "--model")
    refusal = transcript.refusal
    if refusal is not None and refusal.limit is not None:
        source = f"the provider refused more, line {refusal.line + 1}"
        return Window(tokens=refusal.limit, source=source)
    of_model = documented or _of_model(model, "model in the transcript")
    return _corrected(_recorded(transcript, model) or of_model, transcript, model)


def window_assumed_by_client(transcript: Transcript, model: ModelInfo) -> int | None:
    """Return the window that the client assumes for an unknown model; None if it knows the model.

    Also None if a larger request was answered: then the client was configured otherwise.
    """
    window = client_sizes(transcript.format).assumed_window(transcript.session.client_version)
    is_known = model.family.startswith("Claude") or bool(model.user_row and model.user_row.window)
    if window is None or is_known or transcript.session.model is None:
        return None
    return window if max(map(_answered, transcript.messages), default=0) <= window else None


def largest_answered_request(transcript: Transcript, model: ModelInfo) -> int:
    """Return the largest answered request if it exceeds the recorded window, else 0."""
    window = _recorded(transcript, model) or _of_model(model, "")
    sizes = (_answered(m) for m in transcript.messages if _is_by(m, transcript.session.model))
    largest = max(sizes, default=0)
    return largest if largest > window.tokens else 0


def _recorded(transcript: Transcript, model: ModelInfo) -> Window | None:
    """Return the recorded window; None if the model's name asks for a longer one."""
    recorded = transcript.session.window
    if not recorded or window_in_use(model, recorded, 0) > recorded:
        return None
    client = client_sizes(transcript.format).rule(transcript.session.client_version)
    return Window(
        tokens=recorded,
        source="recorded in the transcript",
        recorded=True,
        for_input=client is not None and client.records_input_window,
    )


def _of_model(model: ModelInfo, where: str) -> Window:
    """Return a model's window; its source names what it was inferred from, if not listed."""
    source = f"{model.name}, {where}"
    match model.rule:
        case "unknown":
            source = "default for unknown models"
        case "provider default":
            source += f"; not a listed model, default of {model.matched_prefix.rstrip('/')}"
        case "longest prefix":
            prefix = model.matched_prefix
            source += f"; not a listed model, inferred from the beginning of its name, {prefix}"
        case "Claude version" | "Claude line":
            source += f"; not a listed model, inferred from {model.matched_prefix}"
        case "own table" | "name":
            pass
    if model.long_window is not None:
        source += f"; assumed, could be {model.long_window:,}"
    return Window(tokens=model.window, source=source, for_input=model.is_input_only)


def _corrected(window: Window, transcript: Transcript, model: ModelInfo) -> Window:
    """Return the window, enlarged to hold the largest request that the model answered."""
    messages = [m for m in transcript.messages if _is_by(m, transcript.session.model)]
    largest = max(messages, key=_answered, default=None)
    tokens = _answered(largest) if largest is not None else 0
    longer = window_in_use(model, window.tokens, tokens)
    if largest is None or longer == window.tokens:
        return window
    return Window(
        tokens=longer,
        source=f"a request of {tokens:,} tokens was answered, line {largest.line + 1}",
    )


def _is_by(message: Message, model: str | None) -> bool:
    return model is None or message.model in (None, model)


def _answered(message: Message) -> int:
    """Return the tokens of the request for an answer, or recorded of removed answers."""
    return max(message.usage.context if message.usage else 0, message.tags.largest_answered or 0)


def with_plausible_usage(
    transcript: Transcript, model: ModelInfo, framed: RequestMeter
) -> Transcript:
    """Remove usage that is too large for the messages before it.

    If far more is reported than counted throughout, a report only shows a larger window if it would
    not fit at its counted size either. Counts nothing unless a request exceeds a known window.

    Window 200,000, twice as much reported as counted: a report of 380,000 tokens is removed, as
    190,000 fit; one of 420,000 stays.
    """
    window = min(model.window, transcript.session.window or model.window)
    if all(m.usage is None or m.usage.context <= window for m in transcript.messages):
        return transcript
    excess = max(
        (
            _ratio(conversation, framed)
            for conversation in split_conversations(transcript.effective)
        ),
        default=0.0,
    )
    implausible_up_to = window * excess if excess > 1 + ESTIMATE_ERROR else 0.0
    credible_lines: set[int] = set()
    for messages in split_conversations(transcript.messages):
        requests = find_requests(messages, framed.total, framed.visible)
        credible_lines.update(
            messages[index].line
            for request in plausible_requests(requests, longest_window(model))
            for index in request.message_indices
            if request.context > implausible_up_to
        )
    checked = (
        m if m.line in credible_lines else replace(m, usage=None) for m in transcript.messages
    )
    return replace(transcript, messages=tuple(checked))


def _ratio(messages: Sequence[Message], framed: RequestMeter) -> float:
    """Return reported tokens per counted token; 0 if there are too few reports."""
    requests = find_requests(messages, framed.total, framed.visible)
    return (
        check_counts(messages, requests, framed.visible, lambda _: 0.0, ESTIMATE_ERROR).ratio or 0.0
    )


COUNTERS = ", ".join(COUNTER_NAMES)


class MeasureOptions(Record):
    """The user's choices about measuring; None means: take it from the transcript.

    By default ``base`` is the available input if the profile emulates a system, else the client's
    own threshold.
    """

    model: str | None = ask(
        None,
        "Measure against this model instead of the one in the transcript.",
        MEASURED,
        MAY,
        metavar="NAME",
        complete="complete_model",
    )
    window: int | None = ask(
        None,
        "Context window in tokens, e.g. 128k.",
        MEASURED,
        MAY,
        metavar="SIZE",
        parse=parse_window,
    )
    user_models: UserModelTable = ask(
        NO_USER_MODELS,
        "Your own model table (TOML or JSON), checked before the built-in one: "
        '"gpt-4.1" = "1m", or {window = "1m", max_output = "32k", counter = "chars/4"}.',
        MEASURED,
        MAY,
        flag="--windows",
        path="settings",
        metavar="FILE",
        read=load_user_models,
    )
    max_tokens: Positive | None = ask(
        None,
        "Tokens reserved for the answer. [default: 35% of the window, at most 64,000]",
        MEASURED,
        MAY,
        metavar="N",
    )
    counter: str | None = ask(
        None,
        f"Count with this counter: {COUNTERS}. Each also with a factor, e.g. "
        '"o200k_base x1.2". [default: by model]',
        MEASURED,
        MAY,
        metavar="NAME",
    )
    counter_cmd: str | None = ask(
        None,
        "Count with this command. It reads one JSON string per line and prints one token count "
        "per line.",
        MEASURED,
        COUNTS,
        metavar="CMD",
    )
    chars_per_token: float | None = ask(
        None, "Count one token for every N characters, e.g. 3.5.", MEASURED, MAY, metavar="N"
    )
    image_tokens: int | None = ask(
        None,
        "Count every image as N tokens. [default: by its size, or as the profile says]",
        MEASURED,
        MAY,
        metavar="N",
    )
    profile: Profile | None = ask(
        None,
        "Work the way this system does (compactctl show profiles). FILE is your own profile.",
        POLICY,
        MAY,
        path="settings",
        metavar="NAME|FILE",
        load=load_profile,
        complete="complete_profile",
    )
    base: LimitBase | None = ask(
        None,
        "Limit for levels and gates: client (where it auto-compacts), window, or available (window "
        "minus output reserve). [default: client if known and no other profile is named, else "
        "available]",
        MEASURED,
        MAY,
        flag="--fail-base",
        metavar="BASE",
    )


class DetailChoice(Record):
    """Which rows about a transcript to compute: one per message, one per request."""

    messages: bool = False
    rounds: bool = False


NO_DETAILS = DetailChoice()


class Measurement(Record):
    """The model, the meters and the limits for one transcript.

    ``meter`` counts tokens; ``framed`` estimates from the count what the provider reports.
    ``answered`` is the size of the largest answered request if it exceeds the recorded window,
    else 0.
    """

    model: ModelInfo
    meter: Meter
    framed: RequestMeter
    limits: Limits
    answered: int = 0

    @property
    def budget(self) -> Budget:
        """The window, and its share for input."""
        return self.limits.budget

    @property
    def counter(self) -> TokenCounter:
        """The counter behind every number."""
        return self.meter.counter

    @property
    def long_window_model(self) -> str:
        """The model's name with the suffix that asks Claude Code for the long window, else "".

        It is needed if the transcript was measured against a long window that is not the model's
        default.
        """
        is_longer = self.budget.window >= LONG_WINDOW > self.model.window
        return f"{self.model.name}{LONG_WINDOW_SUFFIX}" if is_longer else ""

    def for_next_run(self) -> "Measurement":
        """Return the measurement for a run over a later state of the same messages."""
        self.meter.start_run()
        return replace(self, framed=RequestMeter(self.meter, self.framed.overhead))

    def without_cached_texts(self) -> "Measurement":
        """Return the measurement with an empty cache, which would keep the measured texts alive."""
        meter = Meter(self.counter, self.meter.image_tokens, self.meter.rates)
        return replace(self, meter=meter, framed=RequestMeter(meter, self.framed.overhead))


def measure(
    transcript: Transcript,
    options: MeasureOptions,
    extras: Sequence[Message] = (),
    meter: Meter | None = None,
) -> Measurement:
    """Choose the model, counter and window. Raises UsageError for invalid names and sizes.

    The window is the user's or the profile's, else that of ``window_of``. ``extras`` are messages
    of the request that the transcript lacks. ``meter`` is that of the run before over an earlier
    state of the transcript, if there was one; it is used again if it counts alike.
    """
    name = transcript.session.model if options.model is None else options.model
    model = resolve_model(name, options.user_models)
    counter = _counter(options, model)
    document_bytes = options.profile.counting.document_bytes if options.profile else 0
    new_meter = Meter(counter, _image_tokens(options), rates_for(model, document_bytes))
    if meter is None or not meter.counts_like(new_meter):
        meter = new_meter
    meter.start_run()
    framed = RequestMeter(meter, overhead_for(model, counter))
    credible = with_plausible_usage(transcript, model, framed)
    return Measurement(
        model=model,
        meter=meter,
        framed=framed,
        limits=limits_for(credible, options, model, framed, extras),
        answered=largest_answered_request(credible, model),
    )


def unlisted_model(options: MeasureOptions) -> str:
    """Return the warning that the model the user named is unknown, else ""."""
    if options.model is None or options.window is not None:
        return ""
    model = resolve_model(options.model, options.user_models)
    if model.rule != "unknown":
        return ""
    guess = model_suggestion(options.model)
    return (
        f"--model {options.model} is not a listed model: a window of {model.window:,} tokens is"
        f" assumed, --window sets it{guess and f'; {guess}'}"
    )


def limits_for(
    transcript: Transcript,
    options: MeasureOptions,
    model: ModelInfo,
    framed: RequestMeter,
    extras: Sequence[Message] = (),
) -> Limits:
    """Return the limits that a context is compared with, by usage that is plausible.

    ``extras`` are those of ``measure``.
    """
    budget = _budget(transcript, options, model)
    if _budget_rule(options).is_beside_tools:
        budget = _beside_tools(budget, (*extras, *transcript.effective), framed.meter)
    client = client_sizes(transcript.format).rule(transcript.session.client_version)
    if client and transcript.session.client:
        client = replace(client, name=transcript.session.client)
    base = options.base or ("available" if emulates_system(options.profile) else "client")
    return limits_of(
        budget,
        client,
        base,
        None if _named_window(options) else window_assumed_by_client(transcript, model),
    )


def _budget(transcript: Transcript, options: MeasureOptions, model: ModelInfo) -> Budget:
    """Return the window and the output reserve, by the profile's rule if any."""
    window = _named_window(options) or window_of(
        transcript, model, named=bool(options.model), documented=_documented(options, model)
    )
    rule = _budget_rule(options)
    return Budget(
        window=window.tokens,
        output_reserve=output_reserve(window.tokens, options.max_tokens, rule, model.max_output),
        source=window.source,
        usable=rule.usable_share,
        max_output=model.max_output,
        is_recorded=window.recorded,
        is_input_only=window.for_input,
    )


def _budget_rule(options: MeasureOptions) -> BudgetRule:
    return options.profile.budget if options.profile else DEFAULT_BUDGET_RULE


def _beside_tools(budget: Budget, messages: Sequence[Message], meter: Meter) -> Budget:
    """Apply the usable share to what tool definitions leave; without tools, all is usable.

    Few transcripts contain their definitions: a call shows that there are tools.
    """
    parts = [part for message in messages for part in message.parts]
    definitions = [part for part in parts if isinstance(part, ToolDefinitionPart)]
    if not definitions and not any(isinstance(part, ToolCallPart) for part in parts):
        return replace(budget, usable=Fraction(1))
    return replace(budget, tools=sum(map(meter.part, definitions)))


def _image_tokens(options: MeasureOptions) -> int | None:
    """Return the tokens of every image set by the user or the profile, else None."""
    if options.image_tokens is None and options.profile is not None:
        return options.profile.counting.image_tokens
    return options.image_tokens


def _named_window(options: MeasureOptions) -> Window | None:
    """Return the window that the user or the profile names, else None."""
    profile = options.profile
    if options.window:
        return Window(tokens=options.window, source="--window")
    if profile and profile.counting.window:
        return Window(
            tokens=parse_window(profile.counting.window), source=f"profile {profile.name}"
        )
    return None


def _documented(options: MeasureOptions, model: ModelInfo) -> Window | None:
    """Return the window that the profile's system documents for a model, if it does."""
    profile = options.profile
    if profile is None or (tokens := profile.counting.windows.window_of(model)) is None:
        return None
    return Window(tokens=tokens, source=f"{model.name}, profile {profile.name}")


def _counter(options: MeasureOptions, model: ModelInfo) -> TokenCounter:
    """Return the counter that the user or the profile names, else the model's best."""
    requested = counter_asked_for(options)
    if requested is not None:
        return requested
    name = options.profile.counting.counter if options.profile else ""
    return parse_counter(name) if name else best_counter(model)


def counter_asked_for(options: MeasureOptions) -> TokenCounter | None:
    """Return the counter that the user names, else None.

    Raises UsageError for an unknown or missing one.
    """
    per_token = options.chars_per_token
    if options.counter_cmd is not None:
        from compactctl.llm.command_counter import command_counter

        return command_counter(options.counter_cmd)
    if options.counter is not None:
        return _parse_named_counter(options.counter)
    if per_token is None:
        return None
    if not _MIN_CHARS_PER_TOKEN <= per_token <= _MAX_CHARS_PER_TOKEN:
        raise UsageError(f"--chars-per-token {per_token:g}: must be from 0.01 to 1,000,000")
    return CharsCounter(per_token)


def _parse_named_counter(name: str) -> TokenCounter:
    try:
        return parse_counter(name)
    except UsageError as error:
        raise UsageError(f"--counter: {error}") from error
