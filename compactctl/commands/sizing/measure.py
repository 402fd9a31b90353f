"""What a transcript is measured with: model, counter, window and budget."""

import math
from dataclasses import dataclass, replace

from compactctl.commands.sizing.answered import with_plausible_usage
from compactctl.commands.sizing.window import Window, assumed, window_of
from compactctl.errors import UsageError
from compactctl.model.transcript import Transcript
from compactctl.profiles.library import is_of_system
from compactctl.profiles.profile import Profile
from compactctl.tokens.budget import DEFAULT_RULE, Budget, output_reserve
from compactctl.tokens.clients import client_of
from compactctl.tokens.counters.chars import CharsCounter
from compactctl.tokens.counters.choose import counter_for, counter_named
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.fast import WORTH_LOADING
from compactctl.tokens.fit import Base, Limits, limits_of
from compactctl.tokens.framing import FramedMeter, framing_for
from compactctl.tokens.media import rates_for
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import ModelInfo, model_suggestion, resolve_model
from compactctl.tokens.models.own_models import NO_MODELS, OwnModels
from compactctl.tokens.models.table import LONG_WINDOW, LONG_WINDOW_SUFFIX
from compactctl.tokens.models.windows import parse_window


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """What the user said about measuring; None and "" mean: find out from the transcript.

    ``profile`` says how much of the window is kept for the answer, NeuroLink's rule without one;
    ``own`` is the user's table of models, asked before the built-in one; ``base`` is what levels
    and gates refer to: the available input with another profile than the default one, else the
    client's own compaction. ``worth_loading`` is how many characters of a transcript are counted
    before a faster engine is loaded for the rest: 0 where many transcripts follow one another.
    """

    model: str | None = None
    window: int | None = None
    counter: str | None = None
    counter_cmd: str | None = None
    chars_per_token: float | None = None
    max_tokens: int | None = None
    image_tokens: int | None = None
    profile: Profile | None = None
    own: OwnModels = NO_MODELS
    base: Base | None = None
    worth_loading: int = WORTH_LOADING


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The model, the meters and the limits for one transcript.

    ``meter`` counts, ``framed`` estimates from that what the provider reports.
    """

    model: ModelInfo
    meter: Meter
    framed: FramedMeter
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

    def forgetting(self) -> "Measure":
        """Return the same without the texts that were measured."""
        meter = Meter(self.counter, self.meter.image_tokens, self.meter.rates)
        return replace(self, meter=meter, framed=FramedMeter(meter, self.framed.framing))


def measure(transcript: Transcript, options: MeasureOptions) -> Measure:
    """Choose counter and window. Raises UsageError for names and sizes that mean nothing.

    The window is the one given, else that of ``window_of``.
    """
    model = resolve_model(options.model or transcript.model, options.own)
    counter = _counter(options, model)
    meter = Meter(counter, _image_tokens(options), rates_for(model))
    framed = FramedMeter(meter, framing_for(model, counter))
    limits = limits_for(transcript, options, model, framed)
    return Measure(model=model, meter=meter, framed=framed, limits=limits)


def unlisted_model(options: MeasureOptions) -> str:
    """Return what to warn of where a model was asked for and nothing is known of it, else ""."""
    if not options.model or options.window:
        return ""
    model = resolve_model(options.model, options.own)
    if model.rule != "unknown":
        return ""
    guess = model_suggestion(options.model)
    return (
        f"--model {options.model} is not a listed model: a window of {model.window:,} tokens is"
        f" assumed, --window sets it{guess and f'; {guess}'}"
    )


def limits_for(
    transcript: Transcript, options: MeasureOptions, model: ModelInfo, framed: FramedMeter
) -> Limits:
    """Return the sizes that a context with this model is judged by."""
    shown = with_plausible_usage(transcript, model, framed)
    budget = _budget(shown, options, model)
    client = client_of(transcript.format, transcript.client_version)
    base = options.base or ("available" if is_of_system(options.profile) else "client")
    return limits_of(budget, client, base, None if _given(options) else assumed(shown, model))


def _budget(transcript: Transcript, options: MeasureOptions, model: ModelInfo) -> Budget:
    """Return the window and what of it is kept for the answer, by the profile's rule if any."""
    window = _given(options) or window_of(transcript, model, named=bool(options.model))
    rule = options.profile.budget if options.profile else DEFAULT_RULE
    return Budget(
        window=window.tokens,
        output_reserve=output_reserve(window.tokens, options.max_tokens, rule, model.max_output),
        source=window.source,
        usable=rule.usable,
        max_output=model.max_output,
        recorded=window.recorded,
        for_input=window.for_input,
    )


def _image_tokens(options: MeasureOptions) -> int | None:
    """Return what the user, or the profile's system, counts every image as."""
    if options.image_tokens is None and options.profile is not None:
        return options.profile.image_tokens
    return options.image_tokens


def _given(options: MeasureOptions) -> Window | None:
    """Return the window that the user or the profile names."""
    profile = options.profile
    if options.window:
        return Window(tokens=options.window, source="--window")
    if profile and profile.window:
        return Window(tokens=parse_window(profile.window), source=f"profile {profile.name}")
    return None


def _counter(options: MeasureOptions, model: ModelInfo) -> TokenCounter:
    """Return the counter that the user or the profile names, else the model's best."""
    asked = counter_asked_for(options)
    if asked is not None:
        return asked
    name = options.profile.counter if options.profile else ""
    worth = options.worth_loading
    return counter_named(name, worth) if name else counter_for(model, worth)


def counter_asked_for(options: MeasureOptions) -> TokenCounter | None:
    """Return the counter that the user names; None where nothing is said of counting.

    Raises UsageError for one that is not there.
    """
    per_token = options.chars_per_token
    if options.counter_cmd:
        from compactctl.llm.counting import command_counter

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
        return counter_named(name, worth)
    except UsageError as error:
        raise UsageError(f"--counter: {error}") from error
