"""Messages of Bedrock Converse: in requests, in logs of invocations, on lines, or as an array."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compactctl.formats.api_format import ApiFormat, DialectFit
from compactctl.formats.content.anthropic import name_results
from compactctl.formats.content.bedrock import content_block_parts, new_block
from compactctl.formats.content.other_calls import new_other_result, other_call, other_result
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.records.chat_log import ConversationParser
from compactctl.formats.records.json_values import (
    integer_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.formats.records.message_draft import MessageDraft, preamble_drafts, role_with
from compactctl.model.message import (
    JsonPath,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    ReportedUsage,
    Role,
    Synthetic,
    TextPart,
)
from compactctl.pipeline.writer import InsertionContext

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
# Blocks that no other API writes so; pictures and documents are looked into.
_BLOCKS = frozenset(
    {
        "toolUse",
        "toolResult",
        "reasoningContent",
        "cachePoint",
        "guardContent",
        "citationsContent",
        "searchResult",
    }
)
_MEDIA = ("image", "document", "video", "audio")
_REQUEST = ("modelId", "toolConfig", "inferenceConfig", "guardrailConfig")
# The three are disjoint; together they are everything that was sent.
_SENT = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
_HOUR = "1h"


class BedrockConverse(ApiFormat):
    """Reads and writes messages as Bedrock's Converse takes them."""

    name = "bedrock-converse"
    title = "Bedrock Converse messages"

    def fits(
        self, messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any]
    ) -> DialectFit | None:
        """Recognize blocks without a type, beside what only this API's requests have."""
        if any(_answered(message) for message in messages):
            return "distinctive"
        known = [message for message in messages if _is_message(message)]
        if not known or len(known) * 2 < len(messages):
            return None
        has_system = any("text" in block for block in _bare(request.get("system")))
        if has_system or any(name in request for name in _REQUEST):
            return "distinctive"
        blocks = (block for message in known for block in _bare(message["content"]))
        return "distinctive" if any(map(_is_own, blocks)) else "shared"

    def start(self, number: int) -> ConversationParser:
        """Begin to read the conversation of a number."""
        return _ConverseConversation(number)

    def between(self, first: Message, second: Message) -> tuple[Role, ...]:
        """Keep the user, who gives the results, and the assistant taking turns.

        Converse refuses a conversation in which they do not.
        """
        if "system" in (first.role, second.role) or _by_user(first) != _by_user(second):
            return ()
        return ("assistant",) if _by_user(first) else ("user",)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a message of the user's or the assistant's.

        The missing half of a tool pair is a block, and a call comes from the assistant.
        """
        said = {"text": message.text}
        named = {"toolUseId": message.call_id}
        if message.kind == "result":
            return {"role": "user", "content": [{"toolResult": {**named, "content": [said]}}]}
        if message.kind == "call":
            call = {**named, "name": message.tool, "input": {}}
            return {"role": "assistant", "content": [said, {"toolUse": call}]}
        role = "assistant" if message.role == "assistant" else "user"
        return {"role": role, "content": [said]}

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return a block where one stands; see ``Format.new_content``."""
        result = new_other_result(part.path, current, text)
        return new_block(part.path, current, text) if result is None else result


class _ConverseConversation(ConversationParser):
    """Names the tool of each result by the call it answers."""

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        listed = object_or_empty(request.get("toolConfig")).get("tools")
        tools, prompt = (*path, "toolConfig", "tools"), (*path, "system")
        definitions = tuple(_definitions(listed, tools))
        system = _content_parts(request.get("system"), prompt)
        return preamble_drafts(definitions, tools, system, prompt)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        role = _ROLES.get(text_or_empty(record.get("role")))
        if role is None or not isinstance(record.get("content"), list):
            return None
        parts = _content_parts(record["content"], (*path, "content"))
        self.add_calls(parts)
        parts = name_results(parts, self.tools)
        return MessageDraft(role=role_with(parts, role), parts=parts)

    def answer(
        self, answer: Mapping[str, Any], path: JsonPath
    ) -> tuple[JsonPath, MessageDraft] | None:
        path = (*path, "output", "message")
        draft = self.message(_answered(answer), path)
        return None if draft is None else (path, replace(draft, usage=self.usage(answer)))

    def usage(self, answer: Mapping[str, Any]) -> ReportedUsage | None:
        usage = object_or_empty(answer.get("usage"))
        sent = [integer_or_none(usage.get(name)) for name in _SENT]
        if sent[0] is None:
            return None
        details = map(object_or_empty, list_or_empty(usage.get("cacheDetails")))
        for_hour = (each.get("inputTokens") for each in details if each.get("ttl") == _HOUR)
        return ReportedUsage(
            context=sum(tokens or 0 for tokens in sent),
            output=integer_or_none(usage.get("outputTokens")),
            cache_read=sent[1],
            cache_write=sent[2],
            cache_write_1h=sum(integer_or_none(tokens) or 0 for tokens in for_hour),
        )


def _by_user(message: Message) -> bool:
    return message.role != "assistant"


def _content_parts(content: object, path: JsonPath) -> tuple[Part, ...]:
    """Return the parts of a message's content, or of a system prompt."""
    return tuple(
        part
        for index, block in enumerate(list_or_empty(content))
        for part in _block_parts(block, (*path, index))
    )


def _block_parts(block: object, path: JsonPath) -> Iterator[Part]:
    fields = object_or_empty(block)
    call, result = other_call(fields, path), other_result(fields, path)
    if call is not None:
        # ``server_tool_use`` is the only type there is.
        yield replace(call, embedded="type" in fields["toolUse"])
    elif result is not None:
        yield replace(result, embedded="type" in fields["toolResult"])
    elif isinstance(fields.get("guardContent"), Mapping):
        # It is what stands in it, after a guardrail has looked at that.
        yield from _guarded(fields["guardContent"], (*path, "guardContent"))
    elif isinstance(fields.get("reasoningContent"), Mapping):
        yield _reasoning(fields["reasoningContent"], (*path, "reasoningContent"))
    elif isinstance(fields.get("citationsContent"), Mapping):
        yield from _cited(fields["citationsContent"], (*path, "citationsContent"))
    elif "cachePoint" not in fields:
        # A cache point says nothing to the model.
        yield from content_block_parts(fields, path)


def _guarded(block: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    text = object_or_empty(block.get("text")).get("text")
    if isinstance(text, str):
        yield TextPart(text=text, path=(*path, "text", "text"))
        return
    # A guard takes no text in place of its picture.
    for part in content_block_parts(block, path):
        yield replace(part, embedded=True) if isinstance(part, MediaPart | TextPart) else part


def _reasoning(block: Mapping[str, Any], path: JsonPath) -> ReasoningPart:
    said, at = object_or_empty(block.get("reasoningText")), (*path, "reasoningText", "text")
    text = text_or_empty(said.get("text"))
    sealed = len(text_or_empty(said.get("signature", block.get("redactedContent"))))
    return ReasoningPart(
        text=text,
        opaque=not text,
        sealed=sealed,
        path=at if text else (*path, "redactedContent"),
    )


def _cited(block: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    """Yield an answer with citations, which would not fit another text."""
    for index, item in enumerate(map(object_or_empty, list_or_empty(block.get("content")))):
        text = text_or_empty(item.get("text"))
        yield TextPart(text=text, embedded=True, path=(*path, "content", index, "text"))


def _definitions(tools: object, path: JsonPath) -> Iterator[Part]:
    for index, tool in enumerate(map(object_or_empty, list_or_empty(tools))):
        for key in ("toolSpec", "systemTool"):
            if isinstance(tool.get(key), Mapping):
                at = (*path, index, key)
                yield from (replace(part, path=at) for part in tool_definitions([tool[key]], at))


def _answered(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message that Converse answered with, empty where there is none."""
    return object_or_empty(object_or_empty(answer.get("output")).get("message"))


def _bare(content: object) -> list[Mapping[str, Any]]:
    """Return the blocks of a content that have no type."""
    blocks = (block for block in list_or_empty(content) if isinstance(block, Mapping))
    return [block for block in blocks if "type" not in block]


def _is_message(record: Mapping[str, Any]) -> bool:
    content = record.get("content")
    is_bare = isinstance(content, list) and len(_bare(content)) == len(content)
    return text_or_empty(record.get("role")) in _ROLES and is_bare


def _is_own(block: Mapping[str, Any]) -> bool:
    media = (object_or_empty(block.get(name)) for name in _MEDIA)
    return not _BLOCKS.isdisjoint(block) or any("source" in medium for medium in media)
