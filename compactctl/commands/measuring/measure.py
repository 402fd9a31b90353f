"""What a transcript is measured with: model, counter, window and budget."""

import json
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compactctl.errors import UsageError
from compactctl.history.turns import split_conversations
from compactctl.history.usage.belief import ESTIMATE_ERROR, plausible_requests
from compactctl.history.usage.count_check import check_counts
from compactctl.history.usage.requests import find_requests
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.profiles.profile import Profile
from compactctl.profiles.registry import emulates_system
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import STANDARD_STREAM, open_input
from compactctl.tokens.budget import DEFAULT_BUDGET_RULE, Budget, output_reserve
from compactctl.tokens.client_thresholds import assumed_window, client_rule_for
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.estimates import CharsCounter
from compactctl.tokens.counters.fast import MIN_CHARS_TO_LOAD
from compactctl.tokens.counters.selection import best_counter, parse_counter, user_counter
from compactctl.tokens.fit import LimitBase, Limits, limits_of
from compactctl.tokens.media import rates_for
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import (
    ModelInfo,
    longest_window,
    model_suggestion,
    resolve_model,
    smallest_window_for,
)
from compactctl.tokens.models.prices import BUILTIN_PRICES, PriceTable, parse_user_prices
from compactctl.tokens.models.table import LONG_WINDOW, LONG_WINDOW_SUFFIX
from compactctl.tokens.models.token_sizes import parse_window
from compactctl.tokens.models.user_models import NO_USER_MODELS, UserModelTable, parse_user_models
from compactctl.tokens.overhead import RequestMeter, overhead_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A context window in tokens, and in words where it comes from.

    ``recorded`` tells that the transcript names it, ``for_input`` that it is for input alone.
    """

    tokens: int
    source: str
    recorded: bool = False
    for_input: bool = False


def window_of(transcript: Transcript, model: ModelInfo, *, named: bool = False) -> Window:
    """Return the window of the user's table, else the recorded one, else the model's.

    ``named`` tells that the model was asked for, whatever the transcript was written with. Of the
    latter two, a request that was answered shows that they are at least as large as it was, and
    one that was refused since says how large they are.
    """
    if model.user_row and model.user_row.window:
        return Window(
            tokens=model.window, source=f"{model.user_row.prefix!r} in {model.user_row.source}"
        )
    if named:
        return _of_model(model, "--model")
    refusal = transcript.refusal
    if refusal is not None and refusal.limit is not None:
        source = f"the provider refused more, line {refusal.line + 1}"
        return Window(tokens=refusal.limit, source=source)
    found = _recorded(transcript) or _of_model(model, "model in the transcript")
    return _corrected(found, transcript, model)


def assumed(transcript: Transcript, model: ModelInfo) -> int | None:
    """Return the window that the client takes the model to have; None where it knows the model.

    A larger request that was answered shows that it was told otherwise.
    """
    window = assumed_window(transcript.format, transcript.session.client_version)
    is_known = model.family.startswith("Claude") or bool(model.user_row and model.user_row.window)
    if window is None or is_known or transcript.session.model is None:
        return None
    return window if max(map(_answered, transcript.messages), default=0) <= window else None


def largest_answered_request(transcript: Transcript, model: ModelInfo) -> int:
    """Return the largest request that was answered if it shows a larger window, else 0."""
    found = _recorded(transcript) or _of_model(model, "")
    shown = (_answered(m) for m in transcript.messages if _is_by(m, transcript.session.model))
    largest = max(shown, default=0)
    return largest if largest > found.tokens else 0


def _recorded(transcript: Transcript) -> Window | None:
    if not transcript.session.window:
        return None
    client = client_rule_for(transcript.format, transcript.session.client_version)
    return Window(
        tokens=transcript.session.window,
        source="recorded in the transcript",
        recorded=True,
        for_input=client is not None and client.records_input_window,
    )


def _of_model(model: ModelInfo, where: str) -> Window:
    """Return a model's window; the source also says by what it is guessed, if it is."""
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
        source += f"; assumed, it may have {model.long_window:,}"
    return Window(tokens=model.window, source=source, for_input=model.is_input_only)


def _corrected(found: Window, transcript: Transcript, model: ModelInfo) -> Window:
    """Return the window that holds the largest request that the model answered."""
    shown = [m for m in transcript.messages if _is_by(m, transcript.session.model)]
    largest = max(shown, key=_answered, default=None)
    if largest is None or _answered(largest) <= found.tokens:
        return found
    tokens = _answered(largest)
    return Window(
        tokens=smallest_window_for(model, tokens),
        source=f"a request of {tokens:,} tokens was answered, line {largest.line + 1}",
    )


def _is_by(message: Message, model: str | None) -> bool:
    return model is None or message.model in (None, model)


def _answered(message: Message) -> int:
    """Return what was sent for an answer, or noted of one that compactctl took out, in tokens."""
    return max(message.usage.context if message.usage else 0, message.tags.largest_answered or 0)


def with_plausible_usage(
    transcript: Transcript, model: ModelInfo, framed: RequestMeter
) -> Transcript:
    """Return a transcript without usage that is too large for what was said up to it.

    Where the health check finds that far more is reported than counted, a report that would fit
    into the window at the size that was counted shows nothing. Nothing is counted unless a request
    is larger than a window that is known.
    """
    window = min(model.window, transcript.session.window or model.window)
    if all(m.usage is None or m.usage.context <= window for m in transcript.messages):
        return transcript
    excess = max(
        (_ratio(each, framed) for each in split_conversations(transcript.effective)), default=0.0
    )
    most = window * excess if excess > 1 + ESTIMATE_ERROR else 0.0
    shown: set[int] = set()
    for messages in split_conversations(transcript.messages):
        found = find_requests(messages, framed.total, framed.visible)
        shown.update(
            messages[index].line
            for request in plausible_requests(found, longest_window(model))
            for index in request.message_indices
            if request.context > most
        )
    kept = (m if m.line in shown else replace(m, usage=None) for m in transcript.messages)
    return replace(transcript, messages=tuple(kept))


def _ratio(messages: Sequence[Message], framed: RequestMeter) -> float:
    """Return how many tokens were reported for each that was counted; 0 where too few were."""
    found = find_requests(messages, framed.total, framed.visible)
    return check_counts(messages, found, framed.visible, lambda _: 0.0, ESTIMATE_ERROR).ratio or 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """What the user said about measuring; None and "" mean: find out from the transcript.

    ``profile`` says how much of the window is kept for the answer, NeuroLink's rule without one;
    ``user_models`` is the user's table of models, asked before the built-in one; ``base`` is what
    levels and gates refer to: the available input with another profile than the default one, else
    the client's own compaction. ``worth_loading`` is how many characters of a transcript are
    counted before a faster engine is loaded for the rest: 0 where many transcripts follow one
    another.
    """

    model: str | None = None
    window: int | None = None
    counter: str | None = None
    counter_cmd: str | None = None
    chars_per_token: float | None = None
    max_tokens: int | None = None
    image_tokens: int | None = None
    profile: Profile | None = None
    user_models: UserModelTable = NO_USER_MODELS
    base: LimitBase | None = None
    worth_loading: int = MIN_CHARS_TO_LOAD


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """The model, the meters and the limits for one transcript.

    ``meter`` counts, ``framed`` estimates from that what the provider reports.
    """

    model: ModelInfo
    meter: Meter
    framed: RequestMeter
    limits: Limits

    @property
    def budget(self) -> Budget:
        """The window, and what of it is left for input."""
        return self.limits.budget

    @property
    def counter(self) -> TokenCounter:
        """The counter behind every number."""
        return self.meter.counter

    @property
    def long_window_model(self) -> str:
        """The model's name as it asks Claude Code for the long window; "" where it need not.

        That is where it was measured against a window so long, and has a shorter one by itself.
        """
        is_longer = self.budget.window >= LONG_WINDOW > self.model.window
        return f"{self.model.name}{LONG_WINDOW_SUFFIX}" if is_longer else ""

    def forgetting(self) -> "Measurement":
        """Return the same without the texts that were measured."""
        meter = Meter(self.counter, self.meter.image_tokens, self.meter.rates)
        return replace(self, meter=meter, framed=RequestMeter(meter, self.framed.framing))


def measure(transcript: Transcript, options: MeasureOptions) -> Measurement:
    """Choose counter and window. Raises UsageError for names and sizes that mean nothing.

    The window is the one given, else that of ``window_of``.
    """
    model = resolve_model(options.model or transcript.session.model, options.user_models)
    counter = _counter(options, model)
    meter = Meter(counter, _image_tokens(options), rates_for(model))
    framed = RequestMeter(meter, overhead_for(model, counter))
    limits = limits_for(transcript, options, model, framed)
    return Measurement(model=model, meter=meter, framed=framed, limits=limits)


def unlisted_model(options: MeasureOptions) -> str:
    """Return what to warn of where a model was asked for and nothing is known of it, else ""."""
    if not options.model or options.window:
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
    transcript: Transcript, options: MeasureOptions, model: ModelInfo, framed: RequestMeter
) -> Limits:
    """Return the sizes that a context with this model is judged by."""
    shown = with_plausible_usage(transcript, model, framed)
    budget = _budget(shown, options, model)
    client = client_rule_for(transcript.format, transcript.session.client_version)
    base = options.base or ("available" if emulates_system(options.profile) else "client")
    return limits_of(budget, client, base, None if _given(options) else assumed(shown, model))


def _budget(transcript: Transcript, options: MeasureOptions, model: ModelInfo) -> Budget:
    """Return the window and what of it is kept for the answer, by the profile's rule if any."""
    window = _given(options) or window_of(transcript, model, named=bool(options.model))
    rule = options.profile.budget if options.profile else DEFAULT_BUDGET_RULE
    return Budget(
        window=window.tokens,
        output_reserve=output_reserve(window.tokens, options.max_tokens, rule, model.max_output),
        source=window.source,
        usable=rule.usable_share,
        max_output=model.max_output,
        is_recorded=window.recorded,
        is_input_only=window.for_input,
    )


def _image_tokens(options: MeasureOptions) -> int | None:
    """Return what the user, or the profile's system, counts every image as."""
    if options.image_tokens is None and options.profile is not None:
        return options.profile.counting.image_tokens
    return options.image_tokens


def _given(options: MeasureOptions) -> Window | None:
    """Return the window that the user or the profile names."""
    profile = options.profile
    if options.window:
        return Window(tokens=options.window, source="--window")
    if profile and profile.counting.window:
        return Window(
            tokens=parse_window(profile.counting.window), source=f"profile {profile.name}"
        )
    return None


def _counter(options: MeasureOptions, model: ModelInfo) -> TokenCounter:
    """Return the counter that the user or the profile names, else the model's best."""
    asked = counter_asked_for(options)
    if asked is not None:
        return asked
    name = options.profile.counting.counter if options.profile else ""
    worth = options.worth_loading
    return parse_counter(name, worth) if name else best_counter(model, worth)


def counter_asked_for(options: MeasureOptions) -> TokenCounter | None:
    """Return the counter that the user names; None where nothing is said of counting.

    Raises UsageError for one that is not there.
    """
    per_token = options.chars_per_token
    if options.counter_cmd:
        from compactctl.llm.command_counter import command_counter

        return command_counter(options.counter_cmd)
    if options.counter:
        return _named(options.counter, options.worth_loading)
    if per_token is None:
        return None
    if not 0 < per_token < math.inf:
        raise UsageError(f"--chars-per-token {per_token:g}: give a number over 0")
    return CharsCounter(per_token)


def _named(name: str, worth: int) -> TokenCounter:
    try:
        return parse_counter(name, worth)
    except UsageError as error:
        raise UsageError(f"--counter: {error}") from error


def load_own_models(path: str) -> UserModelTable:
    """Read a table of models, whose file may be JSON or TOML.

    Raises:
        NoInputError: there is no such file.
        UsageError: it is not such a table; says which key or line is wrong.
    """
    models = read_windows(path)
    for row in models.rows:
        if row.counter:
            user_counter(row)
    return models


def read_windows(path: str) -> UserModelTable:
    """Read a table of models without asking whether its counters are there; raises the same."""
    return parse_user_models(_table(path, "--windows", '"gpt-4.1" = "1m"'), Path(path).name)


def load_prices(name: str) -> PriceTable:
    """Return the built-in table of prices for ``builtin``, else read a file; raises the same."""
    if name == BUILTIN_PRICES.name:
        return BUILTIN_PRICES
    example = '"my-model" = {input = 2.5, output = 15}'
    return parse_user_prices(_table(name, "--prices", example), Path(name).name)


def _table(path: str, option: str, example: str) -> dict[str, Any]:
    """Parse a file; TOML never begins with a brace, and JSON objects always do.

    ``example`` is a line as it may stand in it.
    """
    if path == STANDARD_STREAM:
        raise UsageError(f"{option} -: standard input is for a transcript; name a file")
    data, name = open_input(path, TEXT_LIMITS).data, Path(path).name
    try:
        text = data.decode("utf-8-sig")
        is_json = text.lstrip()[:1] in {"{", "["}
        found = json.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{name}: is neither TOML nor JSON ({' '.join(str(error).split())});"
            f" write lines such as {example}"
        ) from error
    if not isinstance(found, dict):
        raise UsageError(f"{name}: is a JSON array; write an object, as TOML: {example}")
    return found
