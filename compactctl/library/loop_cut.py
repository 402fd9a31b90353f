"""One cut of an agent loop: from the messages so far to what is sent instead."""

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast, get_type_hints

from compactctl.clients.format import Format
from compactctl.clients.records.json_values import json_text
from compactctl.clients.registry import format_named
from compactctl.commands.compact.in_memory import CompactedLines, compact_sized
from compactctl.commands.measuring.context_size import ContextSize
from compactctl.commands.measuring.measure import Measurement, measure
from compactctl.commands.measuring.next_request import RequestModel, system_prompt, tool_definitions
from compactctl.commands.planning.plan import Plan, Recipe, make_plan
from compactctl.commands.planning.run_stages import SizedTranscript, StageInputs
from compactctl.commands.reading.transcript import TranscriptFile, parse
from compactctl.history.usage.calibration import MessageWeights
from compactctl.library.choices import CompactKwargs, StageKwargs, parse_recipe
from compactctl.library.merging import MergingSummarizer
from compactctl.library.message_list import function_summarizer
from compactctl.llm.ask import AskModel, NoAnswerError
from compactctl.model.edit import Insert
from compactctl.model.message import Message, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.records import Record, replace
from compactctl.stages.images import NAME as IMAGES
from compactctl.store.files.source import Source, digest_of
from compactctl.summaries.by_model.answers import ModelAnswer
from compactctl.tokens.budget import TargetSize
from compactctl.tokens.overhead import RequestMeter

# The share of the target that a cut aims at: what remains weighs a few percent more for its text
# than the average, since calls are shortened and their frames are not.
_AIM = 0.95
KEEP_USER = 2_000
_CHOICES = tuple(get_type_hints(StageKwargs))


class CutSettings(Record):
    """What all cuts of a loop share.

    Attributes:
        format: how the messages are read, as one conversation.
        recipe: the stages, their options and what is protected.
        measured: the model and its counter.
        fixed: tokens of the system prompt and tools beside the messages.
        summarizer: writes summaries; None is the built-in one.
    """

    format: Format
    recipe: Recipe
    measured: Measurement
    fixed: float = 0.0
    summarizer: MergingSummarizer | None = None

    def without_images(self) -> "CutSettings":
        """Return the settings for requests that have too many bytes with their images."""
        plan, names = self.recipe.plan, self.recipe.stage_names
        if names[0] == IMAGES:
            return self
        settings = {**plan.settings, IMAGES: {"max_images": 0}}
        plan = replace(plan, stages=(IMAGES, *names), settings=settings)
        return replace(self, recipe=replace(self.recipe, plan=plan))

    @property
    def repairs(self) -> bool:
        """Whether a stage pairs calls and results."""
        return "repair" in self.recipe.stage_names


def cut_settings(
    options: Mapping[str, Any], summarizer: Callable[[str], str] | None
) -> CutSettings:
    """Return what all cuts of a Compactor with these options share. Raises UsageError."""
    choices: dict[str, Any] = {key: options[key] for key in _CHOICES if key in options}
    settings = {name: dict(values) for name, values in choices.get("stage_options", {}).items()}
    if summarizer is not None and not {"stages", "profile"} & choices.keys():
        choices["stages"] = ["dedup", "summarize"]
        settings.setdefault("summarize", {}).setdefault("fill", True)
    settings.setdefault("distill", {}).setdefault("keep_user", options.get("keep_user", KEEP_USER))
    choices["stage_options"] = settings
    recipe = parse_recipe(cast("CompactKwargs", choices))
    chosen = format_named(options["format"]).for_list()
    measured = measure(parse([], chosen), recipe.measure)
    beside = []
    if "system" in options:
        beside.append(system_prompt(json_text(options["system"])))
    if "tools" in options:
        beside.append(tool_definitions(options["tools"]))
    return CutSettings(
        format=chosen,
        recipe=recipe,
        measured=measured,
        fixed=sum(map(measured.framed.total, beside)),
        summarizer=None
        if summarizer is None
        else MergingSummarizer(function_summarizer(_asking(summarizer), recipe.profile)),
    )


def _asking(summarizer: Callable[[str], str]) -> AskModel:
    """Return how to ask a function, whatever it raises."""

    def ask(prompt: str, _: int) -> ModelAnswer:
        try:
            answer: object = summarizer(prompt)
        except Exception as error:
            raise NoAnswerError(f"{type(error).__name__}: {error}") from error
        if not isinstance(answer, str):
            raise NoAnswerError(f"it returned {type(answer).__name__} instead of a str")
        return ModelAnswer(text=answer)

    return ask


class NewMessage(Record):
    """A message after a cut, with its tokens.

    ``origin`` is the index of the message that it is or was before, None if it stands for several;
    ``message`` is None if it is unchanged.
    """

    origin: int | None
    message: dict[str, Any] | None
    size: float


class LoopCut(Record):
    """The messages after a cut.

    ``note`` says why the built-in summarizer wrote instead of the caller's, "" if it did not.
    """

    messages: tuple[NewMessage, ...]
    note: str = ""


class DetailedCut(LoopCut):
    """A cut made in this process, with all that its archive needs."""

    loaded: TranscriptFile
    recipe: Recipe
    plan: Plan
    compacted: CompactedLines


def cut_to(lines: Sequence[bytes], target: int, settings: CutSettings) -> DetailedCut:
    """Compact messages, one in each line, to a request of ``target`` tokens.

    Raises UsageError for options without sense, OutputFaultError for a mistake of ours.
    """
    with _uncollected():
        return _cut_to(lines, target, settings)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the collector of cyclic garbage: a cut makes much that lives on, and no cycles.

    In a program that holds a long history, it would take as long as all the rest.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _cut_to(lines: Sequence[bytes], target: int, settings: CutSettings) -> DetailedCut:
    measured, recipe = settings.measured.for_next_run(), settings.recipe
    source = Source(path=None, lines=lines, digest=digest_of(lines), name="messages")
    transcript = parse(lines, settings.format)
    loaded = TranscriptFile(source=source, format=settings.format, transcript=transcript)
    size = TargetSize(value=max(1, int(target * _AIM)), unit="tokens")
    recipe = replace(recipe, plan=replace(recipe.plan, target=size))
    plan = make_plan(recipe, measured.limits, measured.model)
    # The next cut begins with the originals again.
    inputs = StageInputs(summarizer=settings.summarizer, texts=recipe.plan.texts, settles=False)
    compacted = compact_sized(loaded, _sized(transcript, measured, settings.fixed), plan, inputs)
    sizes = line_sizes(compacted.written.effective, len(compacted.lines), measured)
    notes = (str(item.details.get("fallback") or "") for item in inserted(compacted))
    return DetailedCut(
        note=next(filter(None, notes), ""),
        messages=tuple(
            NewMessage(
                origin=line.source_index,
                message=None if line.is_unchanged else json.loads(line.data),
                size=size,
            )
            for line, size in zip(compacted.lines, sizes, strict=True)
        ),
        loaded=loaded,
        recipe=recipe,
        plan=plan,
        compacted=compacted,
    )


def inserted(compacted: CompactedLines) -> Iterator[Synthetic]:
    """Yield the messages that stages inserted."""
    edits = compacted.run.applied.edits
    return (edit.message for edit in edits if isinstance(edit, Insert))


def line_sizes(messages: Iterable[Message], n_lines: int, measured: Measurement) -> list[float]:
    """Return the tokens that the messages in each line add to a request."""
    # A new one: it knows messages by their place in memory, where a run leaves others.
    framed = RequestMeter(measured.meter, measured.framed.overhead)
    sizes = [0.0] * n_lines
    for message in messages:
        sizes[message.line] += framed.total(message)
    return sizes


def _sized(transcript: Transcript, measured: Measurement, fixed: float) -> SizedTranscript:
    """Return messages with their size in a request, as the loop estimates it."""
    messages, meter = transcript.effective, measured.meter
    meter.prime(messages)
    weights = MessageWeights(visible=measured.framed.total)
    request = RequestModel(fixed=round(fixed), weights=weights, meter=meter)
    counted = meter.total(messages)
    size = ContextSize(counted=counted, overhead=request.tokens(messages) - counted)
    return SizedTranscript(transcript=transcript, measured=measured, size=size, request=request)
