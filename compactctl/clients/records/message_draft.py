"""A record as its format understands it, before the builder adds it to the transcript."""

from collections.abc import Iterator, Sequence

from compactctl.model.message import (
    Clearing,
    ItemId,
    JsonPath,
    Part,
    ReportedUsage,
    Role,
    TextPart,
    ToolResultPart,
)
from compactctl.records import Record


class MessageDraft(Record):
    """The fields of a ``Message`` that depend on the format.

    ``record_id`` is None if the record has no id. ``timestamp`` is None if the builder should read
    it from the keys that all formats share.
    """

    role: Role
    parts: tuple[Part, ...]
    record_id: str | None = None
    response_id: str | None = None
    model: str | None = None
    is_injected: bool = False
    is_summary: bool = False
    is_subagent: bool = False
    is_logged_answer: bool = False
    immutable_reason: str | None = None
    unmovable_reason: str | None = None
    usage: ReportedUsage | None = None
    clearing: Clearing | None = None
    timestamp: float | None = None
    item_id: ItemId | None = None
    cache_marks: tuple[JsonPath, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing, and reports nothing either.

        An answer without parts, refused or cut off, still tells how large its request was, and
        which model it went to.
        """
        has_facts = self.role == "assistant" and (self.usage is not None or self.model is not None)
        return not self.parts and not has_facts


def text_parts(value: object, path: JsonPath) -> tuple[TextPart, ...]:
    """Return a text as a part; () if there is none."""
    return (TextPart(text=value, path=path),) if isinstance(value, str) and value else ()


def preamble_drafts(
    tools: tuple[Part, ...], tools_path: JsonPath, prompt: tuple[Part, ...], prompt_path: JsonPath
) -> Iterator[tuple[JsonPath, MessageDraft]]:
    """Yield the path and draft of the tool definitions and of the system prompt, if present."""
    if tools:
        yield tools_path, MessageDraft(role="system", parts=tools, is_injected=True)
    if prompt:
        draft = MessageDraft(role="system", parts=prompt, immutable_reason="system prompt")
        yield prompt_path, draft


def role_with(parts: Sequence[Part], role: Role) -> Role:
    """Return "tool" if all parts are tool results, else ``role``."""
    are_results = [isinstance(part, ToolResultPart) for part in parts]
    return "tool" if parts and all(are_results) else role
