"""What a format makes of one record, before it takes its place in the transcript."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compactctl.model.message import JsonPath, Part, ReportedUsage, Role, TextPart, ToolResultPart


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDraft:
    """The half of a message that a format decides; its fields mean what those of ``Message`` mean.

    ``record_id`` is the record's own id, None when it has none; ``timestamp`` is None where the
    record tells it under a name that every format uses.
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
    timestamp: float | None = None


def text_parts(value: object, path: JsonPath) -> tuple[TextPart, ...]:
    """Return a text as a part; () where there is none."""
    return (TextPart(text=value, path=path),) if isinstance(value, str) and value else ()


def opening_drafts(
    tools: tuple[Part, ...], tools_at: JsonPath, prompt: tuple[Part, ...], prompt_at: JsonPath
) -> Iterator[tuple[JsonPath, MessageDraft]]:
    """Yield what a request sends before its messages, as far as there is any, with its path."""
    if tools:
        yield tools_at, MessageDraft(role="system", parts=tools, is_injected=True)
    if prompt:
        yield prompt_at, MessageDraft(role="system", parts=prompt, immutable_reason="system prompt")


def role_with(parts: Sequence[Part], role: Role) -> Role:
    """Return the role of a message with these parts: a tool's where they are results alone."""
    are_results = bool(parts) and all(isinstance(part, ToolResultPart) for part in parts)
    return "tool" if are_results else role
