"""Contents of the Gemini API and of Vertex AI: in requests, on lines, or as an array."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compactctl.formats.api_format import ApiFormat, DialectFit
from compactctl.formats.content.call_queue import CallIdAssigner
from compactctl.formats.content.gemini import content_parts, field_of, key_of, new_content
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.records.chat_log import ConversationParser
from compactctl.formats.records.json_values import (
    integer_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft, preamble_drafts, role_with
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

_ROLES: Mapping[str, Role] = {
    # A request of one question may leave the role out.
    "": "user",
    "user": "user",
    "model": "assistant",
    # Of answers to calls, in older requests.
    "function": "tool",
    "tool": "tool",
    "system": "system",
}
# What a part may hold; parts of other APIs say in ``type`` or ``kind`` what they are.
_HELD = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "thoughtSignature",
)
_DISCRIMINATORS = frozenset({"type", "kind", "part_kind"})
_DERIVED = re.compile(r"call-\d+-\d+")


class GeminiApi(ApiFormat):
    """Reads and writes contents as the Gemini API takes them."""

    name = "gemini-api"
    title = "Gemini API contents"
    new_content = staticmethod(new_content)

    def fits(
        self,
        messages: Sequence[Mapping[str, Any]],
        request: Mapping[str, Any],
    ) -> DialectFit | None:
        """Recognize contents with Gemini's parts, or an answer with ``candidates``."""
        contents = [each for each in messages if _is_content(each) or "candidates" in each]
        return "distinctive" if contents and len(contents) * 2 >= len(messages) else None

    def start(self, number: int) -> ConversationParser:
        """Begin to read the conversation of a number."""
        return _GeminiConversation(number)

    def between(self, first: Message, second: Message) -> tuple[Role, ...]:
        """Keep calls right behind a content of the user, where alone the API takes them."""
        return ("user",) if first.role == "assistant" and second.calls else ()

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a content of the user's or the model's: there are none of the system here.

        The API takes names in camel case beside those in snake case, too.
        """
        said = {"text": message.text}
        # A file without ids joins an answer to its call by order.
        named = {} if _DERIVED.fullmatch(message.call_id) else {"id": message.call_id}
        called = {**named, "name": message.tool}
        if message.kind == "result":
            answer = {**called, "response": {"output": message.text}}
            return {"role": "user", "parts": [{"functionResponse": answer}]}
        if message.kind == "call":
            return {"role": "model", "parts": [said, {"functionCall": {**called, "args": {}}}]}
        return {"role": "model" if message.role == "assistant" else "user", "parts": [said]}


class _GeminiConversation(ConversationParser):
    """Joins answers to calls by id, or by name and order where there are no ids."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.queue = CallIdAssigner(f"call-{number}-")

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        # The Python SDK puts what stands beside the contents into ``config``.
        config = object_or_empty(request.get("config"))
        for around, at in ((request, path), (config, (*path, "config"))):
            tools: JsonPath = (*at, "tools")
            definitions = tuple(_definitions(around.get("tools"), tools))
            key = key_of(around, "systemInstruction")
            prompt: JsonPath = (*at, key)
            system = _system_parts(around.get(key), prompt)
            yield from preamble_drafts(definitions, tools, system, prompt)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        role = _role(record)
        if role is None or not isinstance(record.get("parts"), list):
            return None
        self.queue.begin_record(read_tags(record))
        parts = content_parts(record["parts"], (*path, "parts"), thoughts=True)
        parts = tuple(map(self._joined, parts))
        return MessageDraft(role=role_with(parts, role), parts=parts)

    def answer(
        self, answer: Mapping[str, Any], path: JsonPath
    ) -> tuple[JsonPath, MessageDraft] | None:
        candidates = list_or_empty(answer.get("candidates"))
        record = object_or_empty(candidates[0]).get("content") if candidates else None
        if not isinstance(record, Mapping):
            return None
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

    def _joined(self, part: Part) -> Part:
        match part:
            case ToolCallPart():
                name = part.call_id or self.queue.id_for_call(part.tool)
                self.tools[name] = part.tool
                return replace(part, call_id=name)
            case ToolResultPart():
                name = part.call_id or self.queue.id_for_result(part.tool)
                return replace(part, call_id=name, tool=part.tool or self.tools.get(name, ""))
            case _:
                return part


def _definitions(tools: object, path: JsonPath) -> Iterator[Part]:
    for index, tool in enumerate(list_or_empty(tools)):
        key = key_of(object_or_empty(tool), "functionDeclarations")
        declared = object_or_empty(tool).get(key)
        if isinstance(declared, list):
            yield from tool_definitions(declared, (*path, index, key))
        else:
            # A tool that the provider runs.
            yield from (replace(d, path=(*path, index)) for d in tool_definitions([tool], path))


def _system_parts(value: object, path: JsonPath) -> tuple[Part, ...]:
    if isinstance(value, Mapping) and "parts" in value:
        value, path = value["parts"], (*path, "parts")
    return content_parts(value, path, thoughts=True)


def _usage(response: Mapping[str, Any], parts: Sequence[Part]) -> ReportedUsage | None:
    """Return what a response reports; ``parts`` are those of the answer.

    Thoughts are counted beside the answer, and are sent again as far as they are stored.
    """
    usage = object_or_empty(field_of(response, "usageMetadata"))
    context = integer_or_none(field_of(usage, "promptTokenCount"))
    if context is None:
        return None
    said = integer_or_none(field_of(usage, "candidatesTokenCount"))
    thought = max(0, integer_or_none(field_of(usage, "thoughtsTokenCount")) or 0)
    is_stored = any(isinstance(part, ReasoningPart) for part in parts)
    return ReportedUsage(
        context=context,
        output=None if said is None else said + thought,
        growth=said if thought and not is_stored else None,
        reasoning=thought,
        cache_read=integer_or_none(field_of(usage, "cachedContentTokenCount")),
    )


def _role(record: Mapping[str, Any]) -> Role | None:
    role = record.get("role")
    return _ROLES.get("" if role is None else text_or_empty(role) or "?")


def _is_content(record: Mapping[str, Any]) -> bool:
    parts = [part for part in list_or_empty(record.get("parts")) if isinstance(part, Mapping)]
    return _role(record) is not None and any(map(_is_part, parts)) and all(map(_is_plain, parts))


def _is_part(part: Mapping[str, Any]) -> bool:
    return any(field_of(part, name) is not None for name in _HELD)


def _is_plain(part: Mapping[str, Any]) -> bool:
    return _DISCRIMINATORS.isdisjoint(part)
