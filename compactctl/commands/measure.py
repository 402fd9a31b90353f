"""What a transcript is measured with: model, counter, window and budget."""

from dataclasses import dataclass

from compactctl.model.transcript import Transcript
from compactctl.tokens.budget import Budget, output_reserve
from compactctl.tokens.choose import counter_for, counter_named
from compactctl.tokens.counter import TokenCounter
from compactctl.tokens.meter import Meter
from compactctl.tokens.model_table import LONG_WINDOW
from compactctl.tokens.models import ModelInfo, resolve_model
from compactctl.tokens.windows import parse_window


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """What the user said about measuring; None and "" mean: find out from the transcript."""

    model: str | None = None
    window: str | None = None
    counter: str | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The model, the meter and the budget for one transcript."""

    model: ModelInfo
    meter: Meter
    budget: Budget

    @property
    def counter(self) -> TokenCounter:
        """The counter behind every number."""
        return self.meter.counter


def measure(transcript: Transcript, options: MeasureOptions) -> Measure:
    """Choose counter and window. Raises UsageError for names and sizes that mean nothing.

    The window is the one given, else the one the transcript records, else the model's, or the
    long one where the provider reported a larger context than that.
    """
    model = resolve_model(options.model or transcript.model)
    counter = counter_named(options.counter) if options.counter else counter_for(model)
    window, source = _window(transcript, options, model)
    reserve = output_reserve(window, options.max_tokens)
    budget = Budget(window=window, output_reserve=reserve, source=source)
    return Measure(model=model, meter=Meter(counter), budget=budget)


def _window(transcript: Transcript, options: MeasureOptions, model: ModelInfo) -> tuple[int, str]:
    if options.window:
        return parse_window(options.window), "--window"
    if transcript.window and not options.model:
        return transcript.window, "recorded in the transcript"
    peak = max((m.usage.context for m in transcript.messages if m.usage), default=0)
    if model.window < peak <= LONG_WINDOW and not options.model:
        return LONG_WINDOW, f"inferred: the provider reported {peak:,} tokens"
    if not model.known:
        return model.window, "default for unknown models"
    where = "--model" if options.model else "model in the transcript"
    return model.window, f"{model.name}, {where}"
