"""Compact a list of messages in memory: a list in, a list out."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Unpack

from compactctl.commands.compact.in_memory import compact_lines
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import DoesNotFitError, NotUnderstoodError, UsageError
from compactctl.library.choices import CompactKwargs, check_keywords, parse_recipe
from compactctl.library.message_list import (
    CompactedMessages,
    check_list,
    check_messages,
    check_pairs,
    encode_messages,
    function_summarizer,
)
from compactctl.records import replace
from compactctl.summaries.by_model.answers import ModelAnswer

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
    check_list(messages)
    lines = encode_messages(messages)
    if not lines:
        return CompactedMessages()
    if summarizer is not None and "summarize" not in recipe.stage_names:
        raise UsageError("a summarizer needs the stage summarize; add it to the stages")
    compacted = compact_lines(
        lines,
        InputOptions(path="messages", format=format),
        recipe,
        None
        if summarizer is None
        else function_summarizer(
            lambda prompt, _: ModelAnswer(text=summarizer(prompt)), recipe.profile
        ),
    )
    check_messages(messages, compacted.transcript.messages, compacted.opaque, format)
    if "repair" not in recipe.stage_names:
        check_pairs(compacted.transcript.effective)
    if require_fit and compacted.unread:
        raise NotUnderstoodError(
            f"messages: {compacted.unread}, so it is unknown whether they fit; put it where the "
            "format has it, or leave out require_fit"
        )
    if require_fit and not compacted.judgment.is_within:
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
