"""OpenAI's Responses API: items as lines or an array, requests, and responses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from compactctl.formats.api_format import ApiFormat, DialectFit
from compactctl.formats.content.openai import content_parts, new_content
from compactctl.formats.content.response_items import is_api_item, is_item, item_draft
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.records.chat_log import ConversationParser
from compactctl.formats.records.json_values import (
    integer_or_none,
    list_or_empty,
    object_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft, preamble_drafts
from compactctl.formats.records.responses import ResponseNamer
from compactctl.formats.records.rows import ChainLink
from compactctl.model.message import (
    JsonPath,
    Part,
    ReportedUsage,
    Synthetic,
)
from compactctl.pipeline.writer import InsertionContext

# Fields beside ``input`` that the API of no other model provider has (``ResponseCreateParams`` of
# openai 3.57).
_OWN_FIELDS = frozenset(
    {
        "conversation",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "previous_response_id",
        "truncation",
    }
)
# The id of a response in the API, and in the Agents SDKs for Python and JavaScript.
_IDS = ("id", "response_id", "responseId")


class OpenAIResponses(ApiFormat):
    """Reads and writes items as OpenAI's Responses API and its Agents SDKs take them."""

    name = "openai-responses"
    title = "OpenAI Responses items"
    can_write_assistant = False
    # As for Codex, whose requests go to this API.
    drops_past_reasoning = True
    new_content = staticmethod(partial(new_content, kind="input_text"))

    def fits(
        self, messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any]
    ) -> DialectFit | None:
        """Recognize items, a response or fields of a request that only this API has."""
        known = [each for each in messages if is_item(each) or _is_response(each)]
        if len(known) * 2 < len(messages):
            return None
        is_request = "input" in request and bool(_OWN_FIELDS & request.keys())
        if is_request or any(is_api_item(each) or _is_response(each) for each in known):
            return "distinctive"
        # Messages alone are those of other APIs as well.
        return "shared" if any(each.get("role") for each in known) else None

    def start(self, number: int) -> ConversationParser:
        """Begin to read the conversation of a number."""
        return _ItemConversation(number)

    def link(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> ChainLink | None:
        """Return what a request goes on from: a response, or a conversation that the API keeps."""
        kept = next(filter(None, map(_conversation, (request, answer))), None)
        previous = (text_or_none(each.get("previous_response_id")) for each in (request, answer))
        name = next(filter(None, (text_or_none(answer.get(key)) for key in _IDS)), None)
        return ChainLink(
            follows=next(filter(None, previous), None),
            part_of=kept,
            name=name,
        )

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message of one text."""
        content = [{"type": "input_text", "text": message.text}]
        return {"type": "message", "role": "user", "content": content}


class _ItemConversation(ConversationParser):
    """Names the tool of each output by the call that it answers, and the items of a response."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.names = ResponseNamer(f"{number}-response-")

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        tools, prompt = (*path, "tools"), (*path, "instructions")
        definitions = tool_definitions(request.get("tools"), tools)
        system = tuple(_instructions(request.get("instructions"), prompt))
        return preamble_drafts(definitions, tools, system, prompt)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        draft = item_draft(record, path, self.tools)
        if draft is None or not draft.parts:
            return draft
        self.add_calls(draft.parts)
        return replace(draft, response_id=self.names.name_for(draft))

    def usage(self, answer: Mapping[str, Any]) -> ReportedUsage | None:
        usage = object_or_empty(answer.get("usage"))
        context = integer_or_none(_field(usage, "input_tokens"))
        if context is None:
            return None
        read, thought = (
            object_or_empty(_field(usage, name))
            for name in ("input_tokens_details", "output_tokens_details")
        )
        return ReportedUsage(
            context=context,
            output=integer_or_none(_field(usage, "output_tokens")),
            reasoning=max(0, integer_or_none(_field(thought, "reasoning_tokens")) or 0),
            cache_read=integer_or_none(_field(read, "cached_tokens")),
            cache_write=integer_or_none(_field(read, "cache_write_tokens")),
        )


def _field(usage: Mapping[str, Any], name: str) -> object:
    """Return a field of a usage, whose names the Agents SDK for JavaScript has in camel case."""
    first, *rest = name.split("_")
    return usage.get(name, usage.get("".join((first, *map(str.capitalize, rest)))))


def _conversation(holder: Mapping[str, Any]) -> str | None:
    value = holder.get("conversation")
    return text_or_none(value) or text_or_none(object_or_empty(value).get("id"))


def _is_response(record: Mapping[str, Any]) -> bool:
    items = record.get("output")
    if not isinstance(items, list) or "type" in record:
        return False
    is_told = record.get("object") == "response" or any(name in record for name in _IDS[1:])
    return is_told or any(isinstance(item, Mapping) and is_api_item(item) for item in items)


def _instructions(value: object, path: JsonPath) -> Iterator[Part]:
    """Yield the parts of instructions, which a response may hold as messages."""
    if isinstance(value, str):
        yield from content_parts(value, path)
    for index, item in enumerate(map(object_or_empty, list_or_empty(value))):
        yield from content_parts(item.get("content"), (*path, index, "content"))
