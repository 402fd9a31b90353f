"""Contents of the Gemini API and Vertex AI: in requests, lines or an array."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.apis.api_format import ApiFormat, DialectFit
from compactctl.clients.content.call_queue import CallIdAssigner, call_prefix, is_derived
from compactctl.clients.content.gemini import content_parts, field_of, key_of, new_content
from compactctl.clients.content.tool_definitions import tool_definitions, tool_list
from compactctl.clients.records.chat_log import NO_CONTENT, ConversationParser, RecordRefusal
from compactctl.clients.records.json_values import (
    count_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft, preamble_drafts, role_with
from compactctl.model.message import (
    JsonPath,
    Message,
    Part,
    ReasoningPart,
    ReportedUsage,
    Role,
    Synthetic,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.tags import read_tags
from compactctl.pipeline.writer import InsertionContext
from compactctl.records import replace

_ROLES: Mapping[str, Role] = {
    # A request with a single prompt may omit the role.
    "": "user",
    "user": "user",
    "model": "assistant",
    # Function responses in older requests.
    "function": "tool",
    "tool": "tool",
    "system": "system",
}
# Keys of parts. Parts of other APIs have a ``type`` or ``kind``.
_PART_KEYS = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "thoughtSignature",
)
_ANSWER_KEYS = ("candidates", "usageMetadata", "promptFeedback")
_DISCRIMINATORS = frozenset({"type", "kind", "part_kind"})


class GeminiApi(ApiFormat):
    """Reads and writes contents of the Gemini API."""

    name = "gemini-api"
    title = "Gemini API contents"
    provider = "gemini"
    pair_order = "next turn"
    new_content = staticmethod(new_content)

    def fits(
        self,
        messages: Sequence[Mapping[str, Any]],
        request: Mapping[str, Any],
    ) -> DialectFit | None:
        """Recognize contents with Gemini's parts, or answers with ``candidates``."""
        contents = [
            message for message in messages if _is_content(message) or "candidates" in message
        ]
        return "distinctive" if contents and len(contents) * 2 >= len(messages) else None

    def start(self, number: int) -> ConversationParser:
        """Return the parser of a conversation."""
        return _GeminiConversation(number)

    def roles_between(self, first: Message, second: Message) -> tuple[Role, ...]:
        """Keep calls directly after a user content; the API accepts them nowhere else."""
        return ("user",) if first.role == "assistant" and second.calls else ()

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user or model content; there are no system contents.

        Keys are in camel case, which the API accepts also among keys in snake case.
        """
        text_part = {"text": message.text}
        # A file without ids matches responses to calls by order.
        id_field = {} if is_derived(message.call_id) else {"id": message.call_id}
        call_fields = {**id_field, "name": message.tool}
        if message.kind == "result":
            response = {**call_fields, "response": {"output": message.text}}
            return {"role": "user", "parts": [{"functionResponse": response}]}
        if message.kind == "call":
            return {
                "role": "model",
                "parts": [text_part, {"functionCall": {**call_fields, "args": {}}}],
            }
        return {"role": "model" if message.role == "assistant" else "user", "parts": [text_part]}


class _GeminiConversation(ConversationParser):
    """Match responses to calls by id, or by name and order if there are no ids."""

    provider = "Gemini"

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.queue = CallIdAssigner(call_prefix(number))

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        # The Python SDK stores tools and the system prompt in ``config``.
        config = object_or_empty(request.get("config"))
        for holder, holder_path in ((request, path), (config, (*path, "config"))):
            tools_path: JsonPath = (*holder_path, "tools")
            definitions = tuple(_definitions(holder.get("tools"), tools_path))
            key = key_of(holder, "systemInstruction")
            prompt_path: JsonPath = (*holder_path, key)
            system = _system_parts(holder.get(key), prompt_path)
            yield from preamble_drafts(definitions, tools_path, system, prompt_path)

    def refusal(self, record: Mapping[str, Any]) -> RecordRefusal | None:
        return NO_CONTENT if _role(record) else None

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        role = _role(record)
        if role is None or not isinstance(record.get("parts"), list):
            return None
        self.queue.begin_record(read_tags(record))
        parts = content_parts(record["parts"], (*path, "parts"), thoughts=True)
        parts = tuple(map(self._with_call_id, parts))
        return MessageDraft(role=role_with(parts, role), parts=parts)

    def answer(
        self, answer: Mapping[str, Any], path: JsonPath
    ) -> tuple[JsonPath, MessageDraft] | None:
        if not any(key_of(answer, key) in answer for key in _ANSWER_KEYS):
            return None
        candidates = list_or_empty(answer.get("candidates"))
        content = object_or_empty(candidates[0]).get("content") if candidates else None
        # A prompt that was blocked has no candidate, and a blocked candidate no parts.
        record = {"parts": [], **object_or_empty(content)}
        path = (*path, "candidates", 0, "content")
        draft = self.message(record, path)
        if draft is None:
            return None
        return path, replace(
            draft,
            role="assistant",
            response_id=text_or_none(field_of(answer, "responseId")),
            model=text_or_none(field_of(answer, "modelVersion")),
            usage=_usage(answer, draft.parts),
        )

    def usage(self, answer: Mapping[str, Any]) -> ReportedUsage | None:
        return _usage(answer, ())

    def _with_call_id(self, part: Part) -> Part:
        match part:
            case ToolCallPart():
                call_id = part.call_id or self.queue.id_for_call(part.tool)
                self.tools[call_id] = part.tool
                return replace(part, call_id=call_id)
            case ToolResultPart():
                call_id = part.call_id or self.queue.id_for_result(part.tool)
                return replace(part, call_id=call_id, tool=part.tool or self.tools.get(call_id, ""))
            case _:
                return part


def _definitions(tools: object, path: JsonPath) -> Iterator[Part]:
    for index, tool in enumerate(tool_list(tools)):
        key = key_of(object_or_empty(tool), "functionDeclarations")
        declarations = object_or_empty(tool).get(key)
        if isinstance(declarations, list):
            yield from tool_definitions(declarations, (*path, index, key))
        else:
            # A tool that the provider runs, such as a search.
            yield from (
                replace(part, path=(*path, index)) for part in tool_definitions([tool], path)
            )


def _system_parts(value: object, path: JsonPath) -> tuple[Part, ...]:
    if isinstance(value, Mapping) and "parts" in value:
        value, path = value["parts"], (*path, "parts")
    return content_parts(value, path, thoughts=True)


def _usage(response: Mapping[str, Any], parts: Sequence[Part]) -> ReportedUsage | None:
    """Return the usage of a response with these ``parts``.

    Thoughts are counted separately from the answer, and sent again only if they are stored.
    """
    usage = object_or_empty(field_of(response, "usageMetadata"))
    sent = field_of(usage, "promptTokenCount")
    if sent is None:
        return None
    answer_tokens = count_or_none(field_of(usage, "candidatesTokenCount"))
    reasoning_tokens = count_or_none(field_of(usage, "thoughtsTokenCount")) or 0
    is_stored = any(isinstance(part, ReasoningPart) for part in parts)
    return ReportedUsage(
        context=count_or_none(sent) or 0,
        output=None if answer_tokens is None else answer_tokens + reasoning_tokens,
        growth=answer_tokens if reasoning_tokens and not is_stored else None,
        reasoning=reasoning_tokens,
        cache_read=count_or_none(field_of(usage, "cachedContentTokenCount")),
    )


def _role(record: Mapping[str, Any]) -> Role | None:
    role = record.get("role")
    return _ROLES.get("" if role is None else text_or_empty(role) or "?")


def _is_content(record: Mapping[str, Any]) -> bool:
    parts = [part for part in list_or_empty(record.get("parts")) if isinstance(part, Mapping)]
    return _role(record) is not None and any(map(_is_part, parts)) and all(map(_is_untyped, parts))


def _is_part(part: Mapping[str, Any]) -> bool:
    return any(field_of(part, name) is not None for name in _PART_KEYS)


def _is_untyped(part: Mapping[str, Any]) -> bool:
    return _DISCRIMINATORS.isdisjoint(part)
