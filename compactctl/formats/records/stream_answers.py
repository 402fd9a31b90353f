"""Put the events of a streamed answer together, for each API, to the answer it would not stream."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from compactctl.formats.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.model.json_paths import json_in
from compactctl.records import dataclass

Event = Mapping[str, Any]
_Object = dict[str, Any]

# Texts of these keys are whole in each event, and may be repeated. All others are pieces.
_WHOLE_KEYS = frozenset({"id", "type", "role", "name", "index", "format", "call_id", "toolUseId"})
_ANTHROPIC_FRAMES = frozenset({"ping", "content_block_stop", "message_stop"})
_ANTHROPIC_EVENTS = frozenset(
    {
        *_ANTHROPIC_FRAMES,
        "message_start",
        "message_delta",
        "content_block_start",
        "content_block_delta",
    }
)
_RESPONSE_PREFIX = "response."
# Where the pieces of an item of the Responses API belong: the key of a list, with the key of the
# index in it and the type of its members, or "" for the item itself; then the key of the text, and
# the type of an item that no event announced.
_PIECES: Mapping[str, tuple[str, str, str, str, str]] = {
    "output_text": ("content", "content_index", "output_text", "text", "message"),
    "refusal": ("content", "content_index", "refusal", "refusal", "message"),
    "reasoning_text": ("content", "content_index", "reasoning_text", "text", "reasoning"),
    "reasoning_summary_text": ("summary", "summary_index", "summary_text", "text", "reasoning"),
    "function_call_arguments": ("", "", "", "arguments", "function_call"),
    "mcp_call_arguments": ("", "", "", "arguments", "mcp_call"),
    "custom_tool_call_input": ("", "", "", "input", "custom_tool_call"),
    "code_interpreter_call_code": ("", "", "", "code", "code_interpreter_call"),
}
_CONVERSE_EVENTS = frozenset(
    {
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    }
)


class _Pieces(list[str]):
    """A text that grows: joined at the end, so that many pieces take linear time."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """An answer as its API returns it when it does not stream, and the events left over."""

    answer: Mapping[str, Any]
    leftover: tuple[object, ...] = ()


def with_whole_texts(value: Any) -> Any:  # noqa: ANN401 - JSON is any value
    """Return an assembled value with its texts as texts."""
    match value:
        case _Pieces():
            return "".join(value)
        case dict():
            return {key: with_whole_texts(item) for key, item in value.items()}
        case list():
            return [with_whole_texts(item) for item in value]
        case _:
            return value


def is_chat_chunk(event: Event) -> bool:
    """Whether this is a chunk of Chat Completions; the last one may have only usage."""
    choices = map(object_or_empty, list_or_empty(event.get("choices")))
    is_delta = any(isinstance(choice.get("delta"), Mapping) for choice in choices)
    return is_delta or event.get("object") == "chat.completion.chunk"


def assemble_chat(events: Sequence[Event]) -> Assembly:
    """Join the deltas of the first choice of Chat Completions."""
    message: _Object = {"role": "assistant"}
    answer: _Object = {"object": "chat.completion"}
    finish_reason = None
    leftover: list[object] = []
    for event in events:
        if not (is_chat_chunk(event) or _has_only_usage(event)):
            leftover.append(event)
            continue
        answer |= {key: event[key] for key in ("id", "model", "usage") if event.get(key)}
        for choice in map(object_or_empty, list_or_empty(event.get("choices"))):
            if choice.get("index", 0) == 0:
                message = _joined(message, object_or_empty(choice.get("delta")))
                finish_reason = choice.get("finish_reason") or finish_reason
    if isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = [_without_index(call) for call in message["tool_calls"]]
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return Assembly({**answer, "choices": [choice]}, tuple(leftover))


def is_anthropic_event(event: Event) -> bool:
    """Whether this is an event of Anthropic's Messages API."""
    return text_or_empty(event.get("type")) in _ANTHROPIC_EVENTS


def assemble_anthropic(events: Sequence[Event]) -> Assembly:
    """Join the blocks of a message of Anthropic's API."""
    message: _Object = {"type": "message", "role": "assistant"}
    blocks: dict[int, _Object] = {}
    inputs: dict[int, _Pieces] = {}
    leftover: list[object] = []
    for event in events:
        index, delta = _index(event, "index"), object_or_empty(event.get("delta"))
        match text_or_empty(event.get("type")):
            case "message_start":
                message |= object_or_empty(event.get("message"))
            case "message_delta":
                message |= {**delta, **_changed_fields(message, event)}
            case "content_block_start":
                blocks[index] = dict(object_or_empty(event.get("content_block")))
            case "content_block_delta" if delta.get("type") == "input_json_delta":
                inputs.setdefault(index, _Pieces()).append(text_or_empty(delta.get("partial_json")))
            case "content_block_delta":
                blocks[index] = _with_delta(blocks.get(index, {"type": "text"}), delta)
            case kind:
                leftover += [] if kind in _ANTHROPIC_FRAMES else [event]
    for index, pieces in inputs.items():
        call, text = blocks.get(index, {"type": "tool_use"}), "".join(pieces)
        blocks[index] = {**call, "input": json_in(text) if text else call.get("input", {})}
    content = [blocks[index] for index in sorted(blocks)]
    return Assembly({**message, "content": content}, tuple(leftover))


def _changed_fields(message: Mapping[str, Any], event: Event) -> _Object:
    """Return the fields of a message that the event at its end states anew."""
    counts = (*_usage(message).items(), *_usage(event).items())
    fields = {"usage": {key: value for key, value in counts if value is not None}}
    fields |= {key: event[key] for key in ("context_management",) if key in event}
    return {key: value for key, value in fields.items() if value}


def _with_delta(block: _Object, delta: Event) -> _Object:
    citation = delta.get("citation")
    if citation is not None:
        return {**block, "citations": [*list_or_empty(block.get("citations")), citation]}
    return _joined(block, {key: value for key, value in delta.items() if key != "type"})


def is_response_event(event: Event) -> bool:
    """Whether this is an event of OpenAI's Responses API."""
    return text_or_empty(event.get("type")).startswith(_RESPONSE_PREFIX)


def assemble_response(events: Sequence[Event]) -> Assembly:
    """Take the complete response from its last event, or else join its items."""
    response: _Object = {"object": "response"}
    items: dict[int, _Object] = {}
    complete: set[int] = set()
    leftover: list[object] = []
    for event in events:
        index, item = _index(event, "output_index"), event.get("item")
        kind = text_or_empty(event.get("type")).removeprefix(_RESPONSE_PREFIX)
        name, _, phase = kind.rpartition(".")
        if isinstance(event.get("response"), Mapping):
            response |= event["response"]
        elif isinstance(item, Mapping):
            items[index] = dict(item)
            complete |= {index} if phase == "done" else set()
        elif phase == "delta" and name in _PIECES:
            if index not in complete:
                items[index] = _with_piece(items.get(index), name, event)
        elif phase == "delta" or not is_response_event(event):
            leftover.append(event)
    output = list_or_empty(response.get("output")) or [items[index] for index in sorted(items)]
    return Assembly({**response, "output": output}, tuple(leftover))


def _with_piece(item: _Object | None, name: str, event: Event) -> _Object:
    list_key, index_key, member_type, text_key, item_type = _PIECES[name]
    if item is None:
        item = {"type": item_type, **({"role": "assistant"} if item_type == "message" else {})}
    piece = {text_key: text_or_empty(event.get("delta"))}
    if not list_key:
        return _joined(item, piece)
    member = {"type": member_type, "index": _index(event, index_key), **piece}
    members = _joined_list(list_or_empty(item.get(list_key)), [member])
    return {**item, list_key: members}


def is_ollama_chunk(event: Event) -> bool:
    """Whether this is a chunk of Ollama's API, for chats or for single prompts."""
    has_content = isinstance(event.get("message"), Mapping) or isinstance(
        event.get("response"), str
    )
    return isinstance(event.get("done"), bool) and has_content


def assemble_ollama(events: Sequence[Event]) -> Assembly:
    """Join the messages of Ollama's chunks; the last one has the usage."""
    message: _Object = {"role": "assistant"}
    answer: _Object = {}
    for event in filter(is_ollama_chunk, events):
        piece = object_or_empty(event.get("message")) or {"content": event.get("response")}
        message = _joined(message, piece)
        answer |= {key: value for key, value in event.items() if key not in ("message", "response")}
    leftover = (event for event in events if not is_ollama_chunk(event))
    return Assembly({**answer, "message": message}, tuple(leftover))


def is_gemini_chunk(event: Event) -> bool:
    """Whether this is one of the answers in which Gemini's API streams an answer."""
    return isinstance(event.get("candidates"), list) or "usageMetadata" in event


def assemble_gemini(events: Sequence[Event]) -> Assembly:
    """Join the parts of the first candidates; texts that follow one another are one."""
    answer: _Object = {}
    candidate: _Object = {}
    parts: list[Any] = []
    for event in filter(is_gemini_chunk, events):
        answer |= {key: value for key, value in event.items() if value is not None}
        for first in map(object_or_empty, list_or_empty(event.get("candidates"))[:1]):
            candidate |= first
            for part in list_or_empty(object_or_empty(first.get("content")).get("parts")):
                _append_part(parts, part)
    leftover = (event for event in events if not is_gemini_chunk(event))
    candidate["content"] = {"role": "model", "parts": parts}
    return Assembly({**answer, "candidates": [candidate]}, tuple(leftover))


def _append_part(parts: list[Any], part: object) -> None:
    fields, newest = object_or_empty(part), object_or_empty(parts[-1] if parts else None)
    is_text = isinstance(fields.get("text"), str) and _is_text(newest.get("text"))
    if is_text and fields.get("thought") == newest.get("thought"):
        parts[-1] = {**newest, **fields, "text": _appended(newest["text"], fields["text"])}
    else:
        parts.append(part)


def is_converse_event(event: Event) -> bool:
    """Whether this is an event of Bedrock's ConverseStream, which has its type as its key."""
    return any(isinstance(event.get(name), Mapping) for name in _CONVERSE_EVENTS)


def assemble_converse(events: Sequence[Event]) -> Assembly:
    """Join the blocks of a message of Bedrock Converse."""
    answer: _Object = {}
    message: _Object = {"role": "assistant"}
    blocks: dict[int, _Object] = {}
    for event in filter(is_converse_event, events):
        message |= object_or_empty(event.get("messageStart"))
        start, delta = (
            object_or_empty(event.get(name)) for name in ("contentBlockStart", "contentBlockDelta")
        )
        for holder, key in ((start, "start"), (delta, "delta")):
            if holder:
                index = _index(holder, "contentBlockIndex")
                piece = object_or_empty(holder.get(key))
                blocks[index] = _joined(blocks.get(index, {}), piece)
        answer |= object_or_empty(event.get("messageStop"))
        answer |= object_or_empty(event.get("metadata"))
    content = [_converse_block(blocks[index]) for index in sorted(blocks)]
    leftover = (event for event in events if not is_converse_event(event))
    return Assembly(
        {**answer, "output": {"message": {**message, "content": content}}}, tuple(leftover)
    )


def _converse_block(block: _Object) -> _Object:
    """Return a block as Converse returns it when it does not stream."""
    call, reasoning = block.get("toolUse"), block.get("reasoningContent")
    if isinstance(call, Mapping):
        text = with_whole_texts(call.get("input")) or ""
        return {**block, "toolUse": {**call, "input": json_in(text) if text else {}}}
    if isinstance(reasoning, Mapping) and ("text" in reasoning or "signature" in reasoning):
        return {**block, "reasoningContent": {"reasoningText": reasoning}}
    return block


def _joined(old: Mapping[str, Any], piece: Mapping[str, Any]) -> _Object:
    """Return an object with the texts of a piece appended, and its lists and objects joined."""
    joined = dict(old)
    for key, value in piece.items():
        present = joined.get(key)
        if value is None:
            joined.setdefault(key, None)
        elif _is_text(present) and isinstance(value, str) and key not in _WHOLE_KEYS:
            joined[key] = _appended(present, value)
        elif isinstance(value, Mapping) and isinstance(present, Mapping):
            joined[key] = _joined(present, value)
        elif isinstance(value, list):
            joined[key] = _joined_list(list_or_empty(present), value)
        elif not present or not isinstance(value, str):
            joined[key] = value
    return joined


def _is_text(value: object) -> TypeGuard[str | _Pieces]:
    return isinstance(value, str | _Pieces)


def _appended(text: str | _Pieces, piece: str) -> _Pieces:
    if isinstance(text, str):
        return _Pieces((text, piece))
    text.append(piece)
    return text


def _joined_list(old: Sequence[Any], pieces: Iterable[Any]) -> list[Any]:
    """Append pieces to a list, or join them with the member that has their index."""
    members = list(old)
    for piece in pieces:
        index = object_or_empty(piece).get("index")
        places = (n for n, member in enumerate(members) if _has_index(member, index))
        place = None if index is None else next(places, None)
        if place is None:
            members.append(piece)
        else:
            members[place] = _joined(members[place], piece)
    return members


def _has_index(member: object, index: object) -> bool:
    return isinstance(member, Mapping) and member.get("index") == index


def _without_index(call: Any) -> Any:  # noqa: ANN401 - JSON is any value
    fields = object_or_empty(call)
    return {key: value for key, value in fields.items() if key != "index"} if fields else call


def _has_only_usage(event: Event) -> bool:
    return isinstance(event.get("usage"), Mapping) and not event.get("choices")


def _usage(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_or_empty(holder.get("usage"))


def _index(holder: Mapping[str, Any], key: str) -> int:
    value = holder.get(key)
    return value if isinstance(value, int) else 0
