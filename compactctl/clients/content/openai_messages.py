"""A conversation of OpenAI chat messages, shared by Chat and by files that hold such messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.content.anthropic import name_results, reported_usage
from compactctl.clients.content.call_queue import CallIdAssigner, call_prefix
from compactctl.clients.content.openai import (
    call_parts,
    content_parts,
    extra_parts,
    result_content,
)
from compactctl.clients.content.openai_reasoning import reasoning_parts
from compactctl.clients.content.tool_definitions import tool_definitions
from compactctl.clients.records.chat_log import ConversationParser
from compactctl.clients.records.json_values import (
    count_or_none,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft, role_with
from compactctl.model.message import (
    CallId,
    CallOutcome,
    JsonPath,
    Part,
    ReasoningPart,
    ReportedUsage,
    Role,
    ToolCallPart,
    ToolResultPart,
    is_replaceable,
)
from compactctl.model.tags import read_tags
from compactctl.records import replace

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
# Cache reads in LiteLLM and DeepSeek, in addition to or instead of OpenAI's details.
_NO_MESSAGE: Mapping[str, Any] = {"role": "assistant"}
_NO_CHOICE: Mapping[str, Any] = {"message": None}
_CACHE_READ_KEYS = ("cache_read_input_tokens", "prompt_cache_hit_tokens")
# How LangChain says how a call ended.
_OUTCOMES: Mapping[str, CallOutcome] = {"success": "ok", "error": "failed"}


class OpenAIConversation(ConversationParser):
    """Match results to calls by id, or by order if there are no ids."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.queue = CallIdAssigner(call_prefix(number))

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        """Yield the definitions of tools."""
        for key in ("tools", "functions"):
            definitions = tool_definitions(request.get(key), (*path, key))
            if definitions:
                yield (*path, key), MessageDraft(role="system", parts=definitions, is_injected=True)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Parse a message; None if its role is unknown."""
        role = role_of(record)
        if role is None:
            return None
        self.queue.begin_record(read_tags(record))
        parts = _message_parts(record, path)
        if role == "tool" and not _holds_results(record, parts):
            return MessageDraft(role=role, parts=(self._result(record, path, parts),))
        parts = self._with_call_ids(parts)
        return MessageDraft(
            role=role_with(parts, role),
            parts=parts,
            response_id=text_or_none(record.get("id")) if role == "assistant" else None,
            model=text_or_none(record.get("model")) if role == "assistant" else None,
            usage=chat_usage(record, parts) if role == "assistant" else None,
        )

    def answer(
        self, answer: Mapping[str, Any], path: JsonPath
    ) -> tuple[JsonPath, MessageDraft] | None:
        """Parse the first choice of an answer."""
        choices = answer.get("choices")
        # A filter may leave no choice, or a choice without its message.
        choice = next(iter(choices), _NO_CHOICE) if isinstance(choices, list) else {}
        record = object_or_empty(choice).get("message", {})
        path = (*path, "choices", 0, "message")
        draft = self.message(_NO_MESSAGE if record is None else object_or_empty(record), path)
        if draft is None:
            return None
        response_id, model = (text_or_none(answer.get(key)) for key in ("id", "model"))
        usage = chat_usage(answer, draft.parts)
        return path, replace(draft, response_id=response_id, model=model, usage=usage)

    def usage(self, answer: Mapping[str, Any]) -> ReportedUsage | None:
        """Return the usage that an answer reports."""
        return chat_usage(answer)

    def _result(
        self, record: Mapping[str, Any], path: JsonPath, parts: Sequence[Part]
    ) -> ToolResultPart:
        content = record.get("content")
        # Ollama uses ``tool_name``.
        name = text_or_empty(record.get("name")) or text_or_empty(record.get("tool_name"))
        recorded_id = text_or_none(record.get("tool_call_id"))
        call_id = CallId(recorded_id) if recorded_id else self.queue.id_for_result(name)
        text, media = result_content(content, (*path, "content"))
        return ToolResultPart(
            call_id=call_id,
            tool=name or self.tools.get(call_id, ""),
            text=text,
            outcome=_OUTCOMES.get(text_or_empty(record.get("status")), "unknown"),
            # Without a recorded id, a block of unknown type may name the call.
            embedded=not (recorded_id or all(map(is_replaceable, parts))),
            media=media,
            path=(*path, "content"),
        )

    def _with_call_ids(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        """Assign ids to calls without one, and remember the tools of all calls."""
        identified = tuple(
            replace(part, call_id=self.queue.id_for_call(part.tool))
            if isinstance(part, ToolCallPart) and not part.call_id
            else part
            for part in parts
        )
        self.add_calls(identified)
        return name_results(identified, self.tools)


def _message_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    calls = tuple(call_parts(record, path))
    content = content_parts(record.get("content"), (*path, "content"))
    if calls:
        # Exporters repeat the calls of ``tool_calls`` in the content; the model sees them once.
        content = tuple(part for part in content if not isinstance(part, ToolCallPart))
    return (*reasoning_parts(record, path), *content, *extra_parts(record, path), *calls)


def _holds_results(record: Mapping[str, Any], parts: Iterable[Part]) -> bool:
    """Whether a tool message has result blocks in its content, as in the AI SDK."""
    return "tool_call_id" not in record and any(isinstance(p, ToolResultPart) for p in parts)


def chat_usage(record: Mapping[str, Any], parts: Sequence[Part] = ()) -> ReportedUsage | None:
    """Return the usage of an answer with these ``parts``.

    Reasoning that is not stored is never sent again. Some providers count it apart from the output.
    """
    usage = object_or_empty(record.get("usage"))
    if "prompt_tokens" not in usage:
        # Gateways pass on the usage of Anthropic's API unchanged.
        return reported_usage(record) if "input_tokens" in usage else None
    context = count_or_none(usage.get("prompt_tokens")) or 0
    input_details = object_or_empty(usage.get("prompt_tokens_details"))
    output_details = object_or_empty(usage.get("completion_tokens_details"))
    output = count_or_none(usage.get("completion_tokens"))
    reasoning = count_or_none(output_details.get("reasoning_tokens")) or 0
    if (
        output is not None
        and count_or_none(usage.get("total_tokens")) == context + output + reasoning
    ):
        output += reasoning
    is_stored = any(isinstance(part, ReasoningPart) for part in parts)
    growth = None if output is None or is_stored else max(0, output - reasoning)
    cache_reads = map(
        count_or_none,
        (input_details.get("cached_tokens"), *map(usage.get, _CACHE_READ_KEYS)),
    )
    return ReportedUsage(
        context=context,
        output=output,
        growth=growth if reasoning else None,
        reasoning=reasoning,
        cache_read=next((tokens for tokens in cache_reads if tokens is not None), None),
        cache_write=count_or_none(usage.get("cache_creation_input_tokens")),
    )


def role_of(record: Mapping[str, Any]) -> Role | None:
    """Return the role of a message; None if the API has none of this name."""
    return _ROLES.get(text_or_empty(record.get("role")))
