"""Entries of a pi session as drafts of messages."""

from collections.abc import Mapping
from typing import Any

from compactctl.formats.pi.content import content_parts, result_part, text_parts
from compactctl.formats.records.json_values import integer_or_none, object_or_empty, text_or_none
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.model.counts import CountFields
from compactctl.model.message import Part, ReportedUsage, TextPart

COUNTS = CountFields(
    path=("message", "usage"),
    sent=("input",),
    cached=(("cacheRead",), ("cacheWrite",)),
    answer=("output",),
    total=("totalTokens",),
)
"""What pi compacts by: the total of the newest answer."""
# Roles that only pi and its relatives have; ``hookMessage`` is what version 2 called ``custom``.
OWN_ROLES = frozenset(
    {"toolResult", "bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary"}
)
_CUSTOM = frozenset({"custom", "hookMessage", "developer"})
_SUMMARIES = frozenset({"branchSummary", "compactionSummary"})
# The client never sends such a response again: it may have been cut anywhere.
_BROKEN_OFF = frozenset({"error", "aborted"})
_CONTEXT = ("input", "cacheRead", "cacheWrite")


def message_draft(entry: Mapping[str, Any]) -> MessageDraft | None:
    """Return what a ``message`` entry says, without parts when that is nothing.

    None stands for a role that is not known.
    """
    message = entry.get("message")
    if not isinstance(message, Mapping):
        return None
    role = message.get("role")
    content = content_parts(message.get("content"), ("message", "content"))
    match role:
        case "user":
            return MessageDraft(role="user", parts=content)
        case "assistant":
            return _response(message, content)
        case "toolResult":
            result = result_part(message, ("message",), cleared="evictedContent" in entry)
            return MessageDraft(role="tool", parts=(result,))
        case "bashExecution":
            return MessageDraft(role="user", parts=_shell_command(message), injected=True)
        case str() if role in _CUSTOM:
            return MessageDraft(role="user", parts=content, injected=True)
        case str() if role in _SUMMARIES:
            parts = text_parts(message.get("summary"), ("message", "summary"))
            return MessageDraft(role="user", parts=parts, summary=True)
        case _:
            return None


def entry_draft(entry: Mapping[str, Any]) -> MessageDraft | None:
    """Return what an entry of any type puts into the context.

    It has no parts when that is nothing; None stands for a message of an unknown role.
    """
    match entry.get("type"):
        case "message":
            return message_draft(entry)
        case "custom_message":
            parts = content_parts(entry.get("content"), ("content",))
            return MessageDraft(role="user", parts=parts, injected=True)
        case "branch_summary":
            parts = text_parts(entry.get("summary"), ("summary",))
            return MessageDraft(role="user", parts=parts, summary=True)
        case "compaction":
            parts = text_parts(entry.get("summary"), ("summary",))
            why = "the client's own compaction"
            return MessageDraft(role="user", parts=parts, summary=True, anchored=why)
        case _:
            return MessageDraft(role="user", parts=())


def was_broken_off(entry: Mapping[str, Any]) -> bool:
    """Tell whether an entry is a response that ended in an error or was aborted."""
    reason = object_or_empty(entry.get("message")).get("stopReason")
    return isinstance(reason, str) and reason in _BROKEN_OFF


def _response(message: Mapping[str, Any], parts: tuple[Part, ...]) -> MessageDraft:
    return MessageDraft(
        role="assistant",
        parts=parts,
        response_id=text_or_none(message.get("responseId")),
        model=text_or_none(message.get("model")),
        usage=_usage(object_or_empty(message.get("usage"))),
    )


def _usage(usage: Mapping[str, Any]) -> ReportedUsage | None:
    context = sum(n for n in map(usage.get, _CONTEXT) if isinstance(n, int))
    if not usage:
        return None
    return ReportedUsage(
        context=context,
        output=integer_or_none(usage.get("output")),
        cache_read=integer_or_none(usage.get("cacheRead")),
        cache_write=integer_or_none(usage.get("cacheWrite")),
        is_sum=True,
    )


def _shell_command(message: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return a command that a person ran, and its output, unless they are kept from the model."""
    command = message.get("command")
    if message.get("excludeFromContext") is True or not isinstance(command, str):
        return ()
    ran = TextPart(text=f"Ran `{command}`", embedded=True, path=("message", "command"))
    return (ran, *text_parts(message.get("output"), ("message", "output")))
