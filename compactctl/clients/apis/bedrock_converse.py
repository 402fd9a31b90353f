"""Messages of Bedrock Converse: in requests, invocation logs, lines or an array."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.apis.api_format import ApiFormat, DialectFit
from compactctl.clients.content.anthropic import name_results
from compactctl.clients.content.bedrock import content_block_parts, new_block
from compactctl.clients.content.other_calls import new_other_result, other_call, other_result
from compactctl.clients.content.tool_definitions import tool_definitions, tool_list
from compactctl.clients.content.unknown_block import unknown_parts
from compactctl.clients.records.chat_log import NO_CONTENT, ConversationParser, RecordRefusal
from compactctl.clients.records.json_values import (
    count_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.clients.records.message_draft import MessageDraft, preamble_drafts, role_with
from compactctl.model.json_paths import json_in
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
from compactctl.records import replace

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
# Keys of blocks that only this API writes. Media blocks are recognized by their ``source``.
_BLOCK_KEYS = frozenset(
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
_MEDIA_KEYS = ("image", "document", "video", "audio")
_TOOL_KEYS = ("toolSpec", "systemTool")
_REQUEST_KEYS = ("modelId", "toolConfig", "inferenceConfig", "guardrailConfig")
# Disjoint: their sum is the size of the whole request.
_INPUT_FIELDS = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
_ONE_HOUR = "1h"


class BedrockConverse(ApiFormat):
    """Reads and writes messages of Bedrock Converse."""

    name = "bedrock-converse"
    title = "Bedrock Converse messages"
    provider = "bedrock"
    pair_order = "next turn"
    tools_path = ("toolConfig", "tools")

    def fits(
        self, messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any]
    ) -> DialectFit | None:
        """Recognize untyped blocks, and fields that only requests to this API have."""
        if any(_answer_message(message) for message in messages):
            return "distinctive"
        chat = [message for message in messages if _is_message(message)]
        if not chat or len(chat) * 2 < len(messages):
            return None
        has_system = any("text" in block for block in _untyped_blocks(request.get("system")))
        if has_system or any(name in request for name in _REQUEST_KEYS):
            return "distinctive"
        blocks = (block for message in chat for block in _untyped_blocks(message["content"]))
        return "distinctive" if any(map(_is_converse_block, blocks)) else "shared"

    def start(self, number: int) -> ConversationParser:
        """Return the parser of a conversation."""
        return _ConverseConversation(number)

    def roles_between(self, first: Message, second: Message) -> tuple[Role, ...]:
        """Keep user and assistant messages alternating; tool results count as the user's.

        Converse rejects other conversations.
        """
        if "system" in (first.role, second.role) or _is_user_side(first) != _is_user_side(second):
            return ()
        return ("assistant",) if _is_user_side(first) else ("user",)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user or assistant message.

        Half of a tool pair becomes a block, of the assistant if it is a call.
        """
        text_block = {"text": message.text}
        call_ref = {"toolUseId": message.call_id}
        if message.kind == "result":
            return {
                "role": "user",
                "content": [{"toolResult": {**call_ref, "content": [text_block]}}],
            }
        if message.kind == "call":
            call = {**call_ref, "name": message.tool, "input": {}}
            return {"role": "assistant", "content": [text_block, {"toolUse": call}]}
        role = "assistant" if message.role == "assistant" else "user"
        return {"role": role, "content": [text_block]}

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return ``text`` in the shape of the current block; see ``Format.new_content``."""
        result = new_other_result(part.path, current, text)
        return new_block(part.path, current, text) if result is None else result


class _ConverseConversation(ConversationParser):
    """Name the tool of each result by the call it answers."""

    provider = "Bedrock"

    def refusal(self, record: Mapping[str, Any]) -> RecordRefusal | None:
        return NO_CONTENT if text_or_empty(record.get("role")) in _ROLES else None

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        tools = object_or_empty(json_in(request.get("toolConfig"))).get("tools")
        tools_path, prompt_path = (*path, "toolConfig", "tools"), (*path, "system")
        definitions = tuple(_definitions(tools, tools_path))
        system = _content_parts(request.get("system"), prompt_path)
        return preamble_drafts(definitions, tools_path, system, prompt_path)

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
        usage = self.usage(answer)
        draft = self.message(_answer_message(answer), (*path, "output", "message"))
        if draft is None and usage is not None:
            draft = MessageDraft(role="assistant", parts=())
        if draft is None:
            return None
        return (*path, "output", "message"), replace(draft, usage=usage)

    def usage(self, answer: Mapping[str, Any]) -> ReportedUsage | None:
        usage = object_or_empty(answer.get("usage"))
        if usage.get(_INPUT_FIELDS[0]) is None:
            return None
        counts = [count_or_none(usage.get(name)) for name in _INPUT_FIELDS]
        details = map(object_or_empty, list_or_empty(usage.get("cacheDetails")))
        hour_writes = (
            detail.get("inputTokens") for detail in details if detail.get("ttl") == _ONE_HOUR
        )
        return ReportedUsage(
            context=sum(tokens or 0 for tokens in counts),
            output=count_or_none(usage.get("outputTokens")),
            cache_read=counts[1],
            cache_write=counts[2],
            cache_write_1h=sum(count_or_none(tokens) or 0 for tokens in hour_writes),
        )


def _is_user_side(message: Message) -> bool:
    return message.role != "assistant"


def _content_parts(content: object, path: JsonPath) -> tuple[Part, ...]:
    """Parse the content of a message, or a system prompt."""
    return tuple(
        part
        for index, block in enumerate(list_or_empty(content))
        for part in _block_parts(block, (*path, index))
    )


def _block_parts(block: object, path: JsonPath) -> Iterator[Part]:
    if not isinstance(block, Mapping):
        yield from unknown_parts(block, path)
        return
    call, result = other_call(block, path), other_result(block, path)
    if call is not None:
        # ``server_tool_use`` is the only type there is.
        yield replace(call, embedded="type" in object_or_empty(block.get("toolUse")))
    elif result is not None:
        yield replace(result, embedded="type" in object_or_empty(block.get("toolResult")))
    elif isinstance(block.get("guardContent"), Mapping):
        # The block wraps content that a guardrail checks.
        yield from _guard_parts(block["guardContent"], (*path, "guardContent"))
    elif isinstance(block.get("reasoningContent"), Mapping):
        yield _reasoning(block["reasoningContent"], (*path, "reasoningContent"))
    elif isinstance(block.get("citationsContent"), Mapping):
        yield from _citation_parts(block["citationsContent"], (*path, "citationsContent"))
    elif "cachePoint" not in block:
        # A cache point has no content.
        yield from content_block_parts(block, path)


def _guard_parts(block: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    text = object_or_empty(block.get("text")).get("text")
    if isinstance(text, str):
        yield TextPart(text=text, path=(*path, "text", "text"))
        return
    # A guard block does not accept text in place of its image.
    for part in content_block_parts(block, path):
        yield replace(part, embedded=True) if isinstance(part, MediaPart | TextPart) else part


def _reasoning(block: Mapping[str, Any], path: JsonPath) -> ReasoningPart:
    fields = object_or_empty(block.get("reasoningText"))
    text_path = (*path, "reasoningText", "text")
    text = text_or_empty(fields.get("text"))
    sealed = len(text_or_empty(fields.get("signature", block.get("redactedContent"))))
    return ReasoningPart(
        text=text,
        opaque=not text,
        sealed=sealed,
        path=text_path if text else (*path, "redactedContent"),
    )


def _citation_parts(block: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    """Yield the text of an answer with citations; they would not fit another text."""
    for index, item in enumerate(map(object_or_empty, list_or_empty(block.get("content")))):
        text = text_or_empty(item.get("text"))
        yield TextPart(text=text, embedded=True, path=(*path, "content", index, "text"))


def _definitions(tools: object, path: JsonPath) -> Iterator[Part]:
    """Yield the definitions of tools, in data sets also as other APIs take them."""
    for index, tool in enumerate(tool_list(tools)):
        keys = [key for key in _TOOL_KEYS if isinstance(object_or_empty(tool).get(key), Mapping)]
        inner = [((*path, index, key), tool[key]) for key in keys]
        if not keys and not (isinstance(tool, Mapping) and "cachePoint" in tool):
            inner = [((*path, index), tool)]
        for tool_path, definition in inner:
            parts = tool_definitions([definition], tool_path)
            yield from (replace(part, path=tool_path) for part in parts)


def _answer_message(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message of an answer, or {}."""
    return object_or_empty(object_or_empty(answer.get("output")).get("message"))


def _untyped_blocks(content: object) -> list[Mapping[str, Any]]:
    """Return the blocks of a content that have no ``type``."""
    blocks = (block for block in list_or_empty(content) if isinstance(block, Mapping))
    return [block for block in blocks if "type" not in block]


def _is_message(record: Mapping[str, Any]) -> bool:
    content = record.get("content")
    is_untyped = isinstance(content, list) and len(_untyped_blocks(content)) == len(content)
    return text_or_empty(record.get("role")) in _ROLES and is_untyped


def _is_converse_block(block: Mapping[str, Any]) -> bool:
    media = (object_or_empty(block.get(name)) for name in _MEDIA_KEYS)
    return not _BLOCK_KEYS.isdisjoint(block) or any("source" in medium for medium in media)
