"""Compacts the messages of an agent loop: a list in, a list out, no file."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Unpack

from compactctl.commands.compact.in_memory import LinesOptions, compact_lines
from compactctl.commands.planning.plan import PlanOptions
from compactctl.errors import UsageError
from compactctl.library.choices import Choosing, measure_options, plan_options, protect_options
from compactctl.llm.guarded import guarded
from compactctl.model.summary import Summarizer
from compactctl.summaries.by_model.answers import Answer
from compactctl.summaries.by_model.prompt import PromptStyle


def compact_messages(
    messages: Sequence[dict[str, Any]],
    *,
    format: str = "openai-chat",  # noqa: A002 - as the option
    summarizer: Callable[[str], str] | None = None,
    **choices: Unpack[Choosing],
) -> list[dict[str, Any]]:
    """Return what to send instead of these messages; those that stay are the same objects.

    Messages are JSON objects in the shape of ``format``, as ``--format`` takes it, a system prompt
    among them or not. Without ``target``, ``keep``, ``stages`` and ``profile`` as ``compactctl
    compact`` does by default; messages within the target come back as they are. ``summarizer``
    takes a prompt and returns a summary, where the stage ``summarize`` is to run.

    Pure but for the tables that counters read once: it may be called from several threads.

    Raises:
        NotUnderstoodError: the messages are not of that format.
        UsageError: a value is not JSON, or a choice means nothing.
    """
    if not messages:
        return []
    plan = plan_options(choices)
    if summarizer is not None and "summarize" not in _stages(plan):
        raise UsageError("a summarizer is asked by the stage summarize, which is not to run")
    made = compact_lines(
        [_line(index, message) for index, message in enumerate(messages)],
        LinesOptions(
            name="messages",
            format=format,
            measure=measure_options(choices),
            plan=plan,
            protect=protect_options(choices),
            summarizer=None if summarizer is None else _asking(summarizer),
        ),
    )
    return [
        messages[line.source] if line.kept and line.source is not None else json.loads(line.data)
        for line in made.lines
    ]


def _stages(plan: PlanOptions) -> tuple[str, ...]:
    return plan.stages or tuple(stage.name for stage in plan.chosen.stages)


def _line(index: int, message: dict[str, Any]) -> bytes:
    try:
        return json.dumps(message, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"messages[{index}]: is not JSON ({error}); pass plain objects") from error


def _asking(summarizer: Callable[[str], str]) -> Summarizer:
    """Return a summarizer that asks a function, whose answer is checked like any model's."""
    return guarded(
        lambda prompt, _: Answer(text=summarizer(prompt)), "the caller's summarizer", PromptStyle()
    )
