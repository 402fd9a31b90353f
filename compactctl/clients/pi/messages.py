"""Messages drafted from the entries of a pi session."""

from collections.abc import Iterable, Mapping
from typing import Any

from compactctl.clients.content.media import media_from_base64
from compactctl.clients.content.tool_definitions import tool_definitions
from compactctl.clients.content.unknown_block import unknown_parts
from compactctl.clients.records.json_values import (
    count_or_none,
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft, text_parts
from compactctl.clients.records.outcomes import stated_outcome
from compactctl.model.message import (
    CallId,
    JsonPath,
    MediaPart,
    Part,
    ReasoningPart,
    ReportedUsage,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
)
from compactctl.model.usage_fields import UsageFields

COUNTS = UsageFields(
    path=("message", "usage"),
    input=("input",),
    cached_inputs=(("cacheRead",), ("cacheWrite",)),
    output=("output",),
    total=("totalTokens",),
)
"""pi auto-compacts by the total of the newest answer."""
# Roles that only pi and its relatives have; ``hookMessage`` is what version 2 called ``custom``.
PI_ROLES = frozenset(
    {"toolResult", "bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary"}
)
# Of a tool definition, this says how the answer is to be decoded.
_DECODING = "constrainedSampling"
_CUSTOM_ROLES = frozenset({"custom", "hookMessage", "developer"})
_SUMMARY_ROLES = frozenset({"branchSummary", "compactionSummary"})
# The client never sends such a response again: it may have been cut anywhere.
_INTERRUPTED_REASONS = frozenset({"error", "aborted"})


def entry_draft(entry: Mapping[str, Any]) -> MessageDraft | None:
    """Return the message of an entry of any type, without parts if nothing is sent for it.

    Returns None for a message of an unknown role.
    """
    match entry.get("type"):
        case "message":
            return _message_draft(entry)
        case "custom_message":
            parts = content_parts(entry.get("content"), ("content",))
            return MessageDraft(role="user", parts=parts, is_injected=True)
        case "branch_summary":
            parts = text_parts(entry.get("summary"), ("summary",))
            return MessageDraft(role="user", parts=parts, is_summary=True)
        case "compaction":
            parts = text_parts(entry.get("summary"), ("summary",))
            reason = "the client's own compaction"
            return MessageDraft(role="user", parts=parts, is_summary=True, unmovable_reason=reason)
        case _:
            return MessageDraft(role="user", parts=())


def system_draft(message: Mapping[str, Any], path: JsonPath) -> MessageDraft:
    """Return a system message at ``path``: what it changes of the prompt and of the tools.

    A section or tool that it removes is a part without text.
    """
    sections = object_or_empty(message.get("sections"))
    removed = enumerate(map(object_or_empty, list_or_empty(message.get("toolsRemoved"))))
    added = [
        {name: value for name, value in object_or_empty(tool).items() if name != _DECODING}
        for tool in list_or_empty(message.get("toolsAdded"))
    ]
    parts: tuple[Part, ...] = (
        *content_parts(message.get("content") or [], (*path, "content")),
        *(
            TextPart(text=text_or_empty(text), path=(*path, "sections", name))
            for name, text in sections.items()
        ),
        *(
            ToolDefinitionPart(
                name=text_or_empty(tool.get("name")), text="", path=(*path, "toolsRemoved", index)
            )
            for index, tool in removed
        ),
        *tool_definitions(added, (*path, "toolsAdded")),
    )
    return MessageDraft(role="system", parts=parts, immutable_reason="system prompt")


def was_interrupted(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry is a response that ended in an error or was aborted."""
    reason = object_or_empty(entry.get("message")).get("stopReason")
    return isinstance(reason, str) and reason in _INTERRUPTED_REASONS


def _message_draft(entry: Mapping[str, Any]) -> MessageDraft | None:
    """Return the message of a ``message`` entry, without parts if it is empty.

    Returns None for an unknown role.
    """
    message = entry.get("message")
    if not isinstance(message, Mapping):
        return None
    role = message.get("role")
    content = content_parts(message.get("content"), ("message", "content"))
    match role:
        case "system":
            return system_draft(message, ("message",))
        case "user":
            return MessageDraft(role="user", parts=content)
        case "assistant":
            return _response(message, content)
        case "toolResult":
            result = _result_part(message, ("message",), cleared="evictedContent" in entry)
            return MessageDraft(role="tool", parts=(result,))
        case "bashExecution":
            return MessageDraft(role="user", parts=_shell_command(message), is_injected=True)
        case str() if role in _CUSTOM_ROLES:
            return MessageDraft(role="user", parts=content, is_injected=True)
        case str() if role in _SUMMARY_ROLES:
            parts = text_parts(message.get("summary"), ("message", "summary"))
            return MessageDraft(role="user", parts=parts, is_summary=True)
        case _:
            return None


def _response(message: Mapping[str, Any], parts: tuple[Part, ...]) -> MessageDraft:
    return MessageDraft(
        role="assistant",
        parts=parts,
        response_id=text_or_none(message.get("responseId")),
        model=text_or_none(message.get("model")),
        usage=_usage(object_or_empty(message.get("usage"))),
    )


def _usage(usage: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage of an answer, of which pi takes the total as the size of its context.

    The other counts may be sums of several requests; what they exceed the total by was sent again::

        input 10, cacheRead 900, output 50, totalTokens 560:  context 510, resent 400
    """
    if not usage:
        return None
    new, read, write, output = (
        count_or_none(usage.get(name)) for name in ("input", "cacheRead", "cacheWrite", "output")
    )
    sent, answer = sum(count or 0 for count in (new, read, write)), output or 0
    total = count_or_none(usage.get("totalTokens")) or sent + answer
    if total == sent + answer:
        return ReportedUsage(
            context=sent, output=output, cache_read=read, cache_write=write, is_sum=True
        )
    # An answer that is larger than the total is a sum, too.
    context = total - answer if answer < total else total
    first_read = min(read or 0, context)
    first_write = min(write or 0, context - first_read)
    resent = ReportedUsage(
        context=sent - context,
        cache_read=(read or 0) - first_read,
        cache_write=(write or 0) - first_write,
    )
    return ReportedUsage(
        context=context,
        output=output,
        growth=total - context,
        cache_read=None if read is None else first_read,
        cache_write=None if write is None else first_write,
        resent=resent if resent.context > 0 else None,
    )


def _shell_command(message: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return a command that the user ran, and its output; () if both are hidden from the model."""
    command = message.get("command")
    if message.get("excludeFromContext") is True or not isinstance(command, str):
        return ()
    command_part = TextPart(text=f"Ran `{command}`", embedded=True, path=("message", "command"))
    return (command_part, *text_parts(message.get("output"), ("message", "output")))


def content_parts(content: object, path: JsonPath) -> tuple[Part, ...]:
    """Return the parts of a message's content: a string or a list of blocks."""
    if isinstance(content, str):
        return text_parts(content, path)
    return tuple(
        part
        for index, block in enumerate(list_or_empty(content))
        for part in _block(block, (*path, index))
    )


def _result_part(message: Mapping[str, Any], path: JsonPath, *, cleared: bool) -> ToolResultPart:
    """Return the result in a ``toolResult`` message at ``path``; its details are never sent."""
    text, media = result_content(content_parts(message.get("content"), (*path, "content")))
    return ToolResultPart(
        call_id=CallId(text_or_empty(message.get("toolCallId"))),
        tool=text_or_empty(message.get("toolName")),
        text=text,
        outcome=stated_outcome(message.get("isError"), success=False),
        cleared=cleared,
        media=media,
        path=(*path, "content"),
    )


def result_content(parts: Iterable[Part]) -> tuple[str, tuple[MediaPart, ...]]:
    """Return the text and the media of a result, given its content."""
    parts = tuple(parts)
    text = "\n".join(part.text for part in parts if isinstance(part, TextPart))
    return text, tuple(part for part in parts if isinstance(part, MediaPart))


def _block(block: object, path: JsonPath) -> tuple[Part, ...]:
    part = _part(block, path) if isinstance(block, Mapping) else None
    return unknown_parts(block, path) if part is None else (part,)


def _part(block: Mapping[str, Any], path: JsonPath) -> Part | None:
    match block.get("type"):
        case "text":
            return TextPart(text=text_or_empty(block.get("text")), path=(*path, "text"))
        case "thinking":
            text = text_or_empty(block.get("thinking"))
            return ReasoningPart(text=text, opaque=not text, path=(*path, "thinking"))
        case "toolCall":
            return ToolCallPart(
                call_id=CallId(text_or_empty(block.get("id"))),
                tool=text_or_empty(block.get("name")),
                arguments=json_text(block.get("arguments", {})),
                path=(*path, "arguments"),
            )
        case "image":
            media_type = text_or_empty(block.get("mimeType")) or "image/unknown"
            return media_from_base64(text_or_empty(block.get("data")), media_type, path)
        case _:
            return None
