"""Items of OpenAI's Responses API: in lines, arrays, requests and responses."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from compactctl.clients.apis.api_format import ApiFormat, DialectFit
from compactctl.clients.content.openai import content_parts, new_content
from compactctl.clients.content.response_items import is_api_item, is_item, item_draft
from compactctl.clients.content.tool_definitions import tool_definitions
from compactctl.clients.records.chat_log import REFERENCE, ConversationParser, RecordRefusal
from compactctl.clients.records.json_values import (
    count_or_none,
    list_or_empty,
    object_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft, preamble_drafts
from compactctl.clients.records.responses import ResponseNamer
from compactctl.clients.records.rows import ChainLink
from compactctl.model.message import (
    JsonPath,
    Part,
    ReportedUsage,
    Synthetic,
)
from compactctl.pipeline.writer import InsertionContext
from compactctl.records import replace

# Fields of requests that only this API has (``ResponseCreateParams`` of openai 3.57).
_REQUEST_FIELDS = frozenset(
    {
        "conversation",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "previous_response_id",
        "truncation",
    }
)
# Keys of a response's id in the API, and in the Agents SDKs for Python and JavaScript.
_RESPONSE_ID_KEYS = ("id", "response_id", "responseId")
# The value of ``truncation`` with which the API leaves out items so that a request fits.
_TRIMS = "auto"
_NOT_STORED = RecordRefusal("item-reference", "it names a stored item, and nothing is stored")


class OpenAIResponses(ApiFormat):
    """Reads and writes items of OpenAI's Responses API and its Agents SDKs."""

    name = "openai-responses"
    title = "OpenAI Responses items"
    provider = "openai-responses"
    can_write_assistant = False
    # As in Codex, which uses this API.
    drops_past_reasoning = True
    new_content = staticmethod(partial(new_content, kind="input_text"))

    def fits(
        self, messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any]
    ) -> DialectFit | None:
        """Recognize items, responses or request fields that only this API has."""
        items = [item for item in messages if is_item(item) or _is_response(item)]
        if len(items) * 2 < len(messages):
            return None
        is_request = "input" in request and bool(_REQUEST_FIELDS & request.keys())
        if is_request or any(is_api_item(item) or _is_response(item) for item in items):
            return "distinctive"
        # Other APIs may write the same messages.
        return "shared" if any(item.get("role") for item in items) else None

    def start(self, number: int) -> ConversationParser:
        """Return the parser of a conversation."""
        return _ItemConversation(number)

    def link(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> ChainLink | None:
        """Return the response, or the conversation stored by the API, that a request continues."""
        conversation = next(filter(None, map(_conversation_id, (request, answer))), None)
        previous = (
            text_or_none(holder.get("previous_response_id")) for holder in (request, answer)
        )
        response_id = next(
            filter(None, (text_or_none(answer.get(key)) for key in _RESPONSE_ID_KEYS)), None
        )
        return ChainLink(
            previous_response_id=next(filter(None, previous), None),
            conversation_id=conversation,
            response_id=response_id,
        )

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message of one text."""
        content = [{"type": "input_text", "text": message.text}]
        return {"type": "message", "role": "user", "content": content}


class _ItemConversation(ConversationParser):
    """Name the tool of each output by the call it answers, and the response of each item."""

    provider = "OpenAI"

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.names = ResponseNamer(f"{number}-response-")
        self.may_trim = False
        self.is_stored = True

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        self.is_stored = self.is_stored and request.get("store") is not False
        self.may_trim = self.may_trim or request.get("truncation") == _TRIMS
        tools_path, prompt_path = (*path, "tools"), (*path, "instructions")
        definitions = tool_definitions(request.get("tools"), tools_path)
        system = tuple(_instruction_parts(request.get("instructions"), prompt_path))
        return preamble_drafts(definitions, tools_path, system, prompt_path)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        draft = item_draft(record, path, self.tools)
        if draft is None or not draft.parts:
            return draft
        self.add_calls(draft.parts)
        return replace(draft, response_id=self.names.name_for(draft))

    def refusal(self, record: Mapping[str, Any]) -> RecordRefusal | None:
        return None if self.is_stored or record.get("type") != REFERENCE else _NOT_STORED

    def usage(self, answer: Mapping[str, Any]) -> ReportedUsage | None:
        usage = object_or_empty(answer.get("usage"))
        sent = _usage_field(usage, "input_tokens")
        if sent is None:
            return None
        input_details, output_details = (
            object_or_empty(_usage_field(usage, name))
            for name in ("input_tokens_details", "output_tokens_details")
        )
        return ReportedUsage(
            context=count_or_none(sent) or 0,
            output=count_or_none(_usage_field(usage, "output_tokens")),
            reasoning=count_or_none(_usage_field(output_details, "reasoning_tokens")) or 0,
            cache_read=count_or_none(_usage_field(input_details, "cached_tokens")),
            cache_write=count_or_none(_usage_field(input_details, "cache_write_tokens")),
            is_trimmed=self.may_trim or answer.get("truncation") == _TRIMS,
        )


def _usage_field(usage: Mapping[str, Any], name: str) -> object:
    """Return a usage field; the Agents SDK for JavaScript writes its key in camel case."""
    head, *tail = name.split("_")
    return usage.get(name, usage.get("".join((head, *map(str.capitalize, tail)))))


def _conversation_id(holder: Mapping[str, Any]) -> str | None:
    value = holder.get("conversation")
    return text_or_none(value) or text_or_none(object_or_empty(value).get("id"))


def _is_response(record: Mapping[str, Any]) -> bool:
    if "type" in record:
        return False
    # A response that failed may have no items.
    if record.get("object") == "response":
        return True
    items = record.get("output")
    has_id = any(name in record for name in _RESPONSE_ID_KEYS[1:])
    return isinstance(items, list) and (
        has_id or any(isinstance(item, Mapping) and is_api_item(item) for item in items)
    )


def _instruction_parts(value: object, path: JsonPath) -> Iterator[Part]:
    """Yield the parts of instructions, which may be a text or a list of messages."""
    if isinstance(value, str):
        yield from content_parts(value, path)
    for index, item in enumerate(map(object_or_empty, list_or_empty(value))):
        yield from content_parts(item.get("content"), (*path, index, "content"))
