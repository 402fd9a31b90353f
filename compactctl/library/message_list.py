"""Lists of messages as callers hold them: what they become, how they are read, what is refused."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from compactctl.errors import NotUnderstoodError, UsageError
from compactctl.history.pairs import unpaired_parts
from compactctl.llm.ask import AskModel
from compactctl.llm.guarded import guarded_summarizer
from compactctl.model.message import Message, ToolResultPart
from compactctl.model.summary import Summarizer
from compactctl.model.transcript import Opaque
from compactctl.profiles.profile import Profile
from compactctl.records import Record
from compactctl.summaries.by_model.prompt import PromptStyle


class CutResult(Record):
    """What it meant to make the messages of a loop smaller, in tokens of a request.

    Attributes:
        before: the size of the request without the cut.
        after: its size.
        resent: the part of ``after`` that is no longer what the prompt cache holds.
        pays_after: after how many requests the smaller size has paid for that; None if it never
            does, or if all had to be sent anew anyway.
        note: why the summary is not the summarizer's, "" if it is or none was asked for.
    """

    before: int
    after: int
    resent: int
    pays_after: int | None = None
    note: str = ""


class CompactedMessages(list[dict[str, Any]]):
    """The messages to send: a list with its size.

    Attributes:
        tokens: size of the next request.
        limit: its maximum: the target, or what the model has room for if there is no target.
        unread: where text is that was not read, "" if all was; ``tokens`` is then too small.
        cut: what was done to get there; None if a ``Compactor`` only added messages, and for what
            ``compact_messages`` returns.
    """

    def __init__(
        self,
        messages: Iterable[dict[str, Any]] = (),
        *,
        tokens: int = 0,
        limit: int = 0,
        unread: str = "",
        cut: CutResult | None = None,
    ) -> None:
        super().__init__(messages)
        self.tokens, self.limit, self.unread, self.cut = tokens, limit, unread, cut

    @property
    def fits(self) -> bool:
        """Whether the next request is known to be within the limit."""
        return self.tokens <= self.limit and not self.unread


def check_messages(
    messages: Sequence[dict[str, Any]],
    read: Iterable[Message],
    opaque: Iterable[Opaque],
    format_name: str,
    start: int = 0,
) -> None:
    """Raise NotUnderstoodError for the first message that cannot be read; ``start`` is its index.

    ``read`` is what was read of them, and ``opaque`` what was not.
    """
    damage = {line.line: line.damage for line in opaque}
    damage |= _describe_unread_content(
        messages, {message.line for message in read if message.parts}
    )
    if damage:
        index = min(damage)
        raise NotUnderstoodError(
            f"messages[{start + index}]: is not a message of {format_name} ({damage[index]}); name "
            "another format, or leave it out"
        )


def check_pairs(messages: Sequence[Message], calls: Iterable[str] = (), start: int = 0) -> None:
    """Raise NotUnderstoodError for the first tool result without its call before it.

    ``calls`` are the ids of calls before these messages, and ``start`` is the index of the first.
    """
    for part_index, part in unpaired_parts(messages).items():
        if isinstance(part, ToolResultPart) and part.call_id not in calls:
            index = messages[part_index.message].line
            raise NotUnderstoodError(
                f"messages[{start + index}]: is a tool result without its call before it "
                f"({part.call_id}); add the call, or run the stage repair"
            )


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


def check_list(messages: object) -> None:
    """Raise UsageError for anything but a list."""
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        type_name = type(messages).__name__
        raise UsageError(f"messages: is {type_name}, not a list; pass a list of dicts")


def encode_messages(messages: Sequence[object], start: int = 0) -> list[bytes]:
    """Return each message as a line; ``start`` is the index of the first.

    Raises UsageError for a message that is not a JSON object.
    """
    return [_encode_message(index, message) for index, message in enumerate(messages, start)]


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


def function_summarizer(ask: AskModel, profile: Profile) -> Summarizer:
    """Return a summarizer that calls a function and checks its answer like a model's."""
    return guarded_summarizer(
        ask,
        "the caller's summarizer",
        PromptStyle(label=profile.summarizer.label_style),
        may_be_unrelated=profile.summarizer.may_be_unrelated,
    )
