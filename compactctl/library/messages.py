"""Compact the messages of an agent loop in memory: a list in, a list out."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack

from compactctl.commands.compact.in_memory import CompactedLines, compact_lines
from compactctl.commands.planning.plan import Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import DoesNotFitError, NotUnderstoodError, UsageError
from compactctl.history.pairs import unpaired_parts
from compactctl.library.choices import CompactKwargs, check_keywords, parse_recipe
from compactctl.llm.guarded import guarded_summarizer
from compactctl.model.message import ToolResultPart
from compactctl.model.summary import Summarizer
from compactctl.profiles.profile import Profile
from compactctl.records import replace
from compactctl.summaries.by_model.answers import ModelAnswer
from compactctl.summaries.by_model.prompt import PromptStyle


class CompactedMessages(list[dict[str, Any]]):
    """The messages to send: a list with its size.

    Attributes:
        tokens: size of the next request.
        limit: its maximum: the target, or what the model has room for if there is no target.
        unread: where text is that was not read, "" if all was; ``tokens`` is then too small.
    """

    def __init__(
        self,
        messages: Iterable[dict[str, Any]] = (),
        *,
        tokens: int = 0,
        limit: int = 0,
        unread: str = "",
    ) -> None:
        super().__init__(messages)
        self.tokens, self.limit, self.unread = tokens, limit, unread

    @property
    def fits(self) -> bool:
        """Whether the next request is known to be within the limit."""
        return self.tokens <= self.limit and not self.unread


# Keywords that say when or how far to compact.
_SIZES = frozenset({"target", "keep", "stages", "profile"})


def compact_messages(
    messages: Sequence[dict[str, Any]],
    *,
    format: str = "openai-chat",
    summarizer: Callable[[str], str] | None = None,
    require_fit: bool = False,
    **choices: Unpack[CompactKwargs],
) -> CompactedMessages:
    """Return the messages to send instead; unchanged messages are the same objects.

    Messages are JSON objects in ``format`` (a name that ``--format`` accepts), with or without a
    system prompt. The defaults are those of ``compactctl compact --if-needed``: from 80% of the
    tokens that are available, messages are compacted to half of them. With a target, those within
    it are returned unchanged. ``summarizer`` takes a prompt and returns a summary, for runs with
    the stage ``summarize``. If all stages together do not reach the target, ``fits`` of the result
    is false.

    Thread-safe: it has no side effects, except that counters load their tables once.

    Raises:
        TypeError: there is no such keyword.
        NotUnderstoodError: a message is not in that format, or a tool result has no call before it
            and the stage ``repair`` does not run; the error names the message.
        UsageError: the messages are not a list of dicts, a value is not JSON, or a keyword has an
            invalid value.
        DoesNotFitError: with ``require_fit``, the target was not reached.
    """
    check_keywords(choices, CompactKwargs, "compact_messages")
    recipe = parse_recipe(choices)
    if _SIZES.isdisjoint(choices):
        recipe = replace(recipe, plan=replace(recipe.plan, if_needed=True))
    lines = _encode_messages(messages)
    if not lines:
        return CompactedMessages()
    if summarizer is not None and "summarize" not in _stage_names(recipe):
        raise UsageError("a summarizer needs the stage summarize; add it to the stages")
    compacted = compact_lines(
        lines,
        InputOptions(path="messages", format=format),
        recipe,
        None if summarizer is None else _function_summarizer(summarizer, recipe.profile),
    )
    _check_messages(messages, compacted, format, repairs="repair" in _stage_names(recipe))
    if require_fit and compacted.unread:
        raise NotUnderstoodError(
            f"messages: {compacted.unread}, so it is unknown whether they fit; put it where the "
            "format has it, or leave out require_fit"
        )
    if require_fit and not compacted.fits:
        raise DoesNotFitError(
            f"messages: {compacted.largest_after:,} tokens after all stages, over the limit of "
            f"{compacted.limit:,}; add a stage, protect less or raise the target"
        )
    return CompactedMessages(
        (
            messages[line.source_index]
            if line.is_unchanged and line.source_index is not None
            else json.loads(line.data)
            for line in compacted.lines
        ),
        tokens=compacted.largest_after,
        limit=compacted.limit,
        unread=compacted.unread,
    )


def _check_messages(
    messages: Sequence[dict[str, Any]],
    compacted: CompactedLines,
    format_name: str,
    *,
    repairs: bool,
) -> None:
    """Raise NotUnderstoodError for the first message that cannot be read or sent."""
    damage = {opaque.line: opaque.damage for opaque in compacted.opaque}
    damage |= _describe_unread_content(
        messages, {message.line for message in compacted.transcript.messages if message.parts}
    )
    if damage:
        index = min(damage)
        raise NotUnderstoodError(
            f"messages[{index}]: is not a message of {format_name} ({damage[index]}); name another "
            "format, or leave it out"
        )
    if repairs:
        return
    before = compacted.transcript.effective
    for part_index, part in unpaired_parts(before).items():
        if isinstance(part, ToolResultPart):
            index = before[part_index.message].line
            raise NotUnderstoodError(
                f"messages[{index}]: is a tool result without its call before it "
                f"({part.call_id}); add the call, or run the stage repair"
            )


def _stage_names(recipe: Recipe) -> tuple[str, ...]:
    return recipe.plan.stages or tuple(stage.name for stage in recipe.profile.stages)


def _describe_unread_content(messages: Sequence[dict[str, Any]], lines: set[int]) -> dict[int, str]:
    """Describe the content of messages that the format did not recognize, by index.

    ``lines`` are the indices of the recognized messages.
    """
    contents = {i: m["content"] for i, m in enumerate(messages) if "role" in m and m.get("content")}
    return {
        index: f"content of type {type(content).__name__}"
        for index, content in contents.items()
        if index not in lines
    }


def _encode_messages(messages: object) -> list[bytes]:
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        type_name = type(messages).__name__
        raise UsageError(f"messages: is {type_name}, not a list; pass a list of dicts")
    return [_encode_message(index, message) for index, message in enumerate(messages)]


def _encode_message(index: int, message: object) -> bytes:
    if not isinstance(message, dict):
        type_name = type(message).__name__
        raise UsageError(f"messages[{index}]: is {type_name}, not a dict; pass plain objects")
    try:
        return json.dumps(message, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"messages[{index}]: cannot be written as JSON ({error}); pass plain objects"
        ) from error


def _function_summarizer(summarizer: Callable[[str], str], profile: Profile) -> Summarizer:
    """Return a summarizer that calls a function and checks its answer like a model's."""
    return guarded_summarizer(
        lambda prompt, _: ModelAnswer(text=summarizer(prompt)),
        "the caller's summarizer",
        PromptStyle(label=profile.summarizer.label_style),
        may_be_unrelated=profile.summarizer.may_be_unrelated,
    )
