"""Shows the prompts that a summarizer would get, without asking one."""

from collections.abc import Callable

from compactctl.commands.measuring.measure import Measurement, measure
from compactctl.commands.operations.find_history import history_behind
from compactctl.commands.operations.states import originals_of
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.planning.run_stages import (
    Outcome,
    SizedTranscript,
    StageInputs,
    run_stages,
)
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.errors import DoesNotFitError
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.records import Record, field
from compactctl.summaries.by_model.prompt import PromptStyle, write_prompt


class PromptOptions(Record):
    """The transcript, the stages that ask for summaries, and the style of prompts."""

    input: InputOptions
    recipe: Recipe = field(default_factory=Recipe)
    style: PromptStyle = field(default_factory=PromptStyle)


class WrittenPrompt(Record):
    """A prompt, its size, the number of messages it is about, and the size of the summary."""

    text: str
    tokens: int
    messages: int
    summary_tokens: int


class PromptResult(Record):
    """The prompts of one run; if there are none, ``reasons`` say why, by stage."""

    options: PromptOptions
    measure: Measurement
    prompts: tuple[WrittenPrompt, ...]
    reasons: tuple[str, ...]


def prompt(options: PromptOptions) -> PromptResult:
    """Write the prompts that the stages of a compaction would send.

    Stages run in memory only. Raises as reading does, UsageError for unknown stages, and
    DoesNotFitError if a prompt cannot be made as small as ``style`` requires.
    """
    loaded = load(options.input)
    measured = measure(loaded.transcript, options.recipe.measure)
    requests: dict[SummaryRequest, None] = {}

    def record_request(
        request: SummaryRequest,
        count: Callable[[str], int],  # noqa: ARG001 - a Summarizer
    ) -> Summary:
        requests[request] = None
        return Summary(text="")

    inputs = StageInputs(
        originals=originals_of(loaded, history_behind(loaded)),
        summarizer=record_request,
        texts=options.recipe.plan.texts,
    )
    plan = make_plan(options.recipe, measured.limits, measured.model)
    outcome = run_stages(SizedTranscript.of(loaded.transcript, measured), plan, inputs).outcome
    return PromptResult(
        options=options,
        measure=measured,
        prompts=tuple(_write_prompt(request, options, measured) for request in requests),
        reasons=() if requests else _reasons(outcome),
    )


def _write_prompt(
    request: SummaryRequest, options: PromptOptions, measured: Measurement
) -> WrittenPrompt:
    count = measured.meter.text
    written = write_prompt(request, options.style, count)
    if written is None:
        raise DoesNotFitError(
            f"{options.input.path}: the prompt for {len(request.messages):,} messages does not "
            f"fit into {options.style.max_tokens:,} tokens; raise --summarizer-context or "
            "protect more messages"
        )
    return WrittenPrompt(
        text=written.text,
        tokens=count(written.text),
        messages=len(request.messages),
        summary_tokens=request.budget,
    )


def _reasons(outcome: Outcome) -> tuple[str, ...]:
    return tuple(f"{record.name}: {record.detail}" for record in outcome.stages if record.detail)
