"""Put the events of a streamed answer together, for each API, to the answer it would not stream."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from compactctl.clients.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.model.json_paths import json_in
from compactctl.records import Record

Event = Mapping[str, Any]
_Object = dict[str, Any]
# The number of a message in a stream, and the index of a block in it.
_Place = tuple[int, int]

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


class _Members(list[Any]):
    """A list that grows, with the places of its members by their index."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[int | str, int] = {}


class Assembly(Record, kw_only=False):
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
                _join(message, object_or_empty(choice.get("delta")))
                finish_reason = choice.get("finish_reason") or finish_reason
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [_without_index(call) for call in calls]
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return Assembly({**answer, "choices": [choice]}, tuple(leftover))


def is_anthropic_event(event: Event) -> bool:
    """Whether this is an event of Anthropic's Messages API."""
    return text_or_empty(event.get("type")) in _ANTHROPIC_EVENTS


def assemble_anthropic(events: Sequence[Event]) -> Assembly:
    """Join the blocks of a message of Anthropic's API, or of several that follow one another."""
    message: _Object = {"type": "message", "role": "assistant"}
    blocks: dict[_Place, _Object] = {}
    inputs: dict[_Place, _Pieces] = {}
    leftover: list[object] = []
    n_messages = 0
    for event in events:
        place, delta = (n_messages, _index(event, "index")), object_or_empty(event.get("delta"))
        match text_or_empty(event.get("type")):
            case "message_start":
                message |= object_or_empty(event.get("message"))
                n_messages += 1
            case "message_delta":
                message |= {**delta, **_changed_fields(message, event)}
            case "content_block_start":
                blocks[place] = _copied(object_or_empty(event.get("content_block")))
            case "content_block_delta" if delta.get("type") == "input_json_delta":
                inputs.setdefault(place, _Pieces()).append(text_or_empty(delta.get("partial_json")))
            case "content_block_delta":
                _join_delta(blocks.setdefault(place, {"type": "text"}), delta)
            case kind:
                leftover += [] if kind in _ANTHROPIC_FRAMES else [event]
    for place, pieces in inputs.items():
        call, text = blocks.get(place, {"type": "tool_use"}), "".join(pieces)
        blocks[place] = {**call, "input": json_in(text) if text else call.get("input", {})}
    content = [blocks[place] for place in sorted(blocks)] or message.get("content") or []
    return Assembly({**message, "role": "assistant", "content": content}, tuple(leftover))


def _changed_fields(message: Mapping[str, Any], event: Event) -> _Object:
    """Return the fields of a message that the event at its end states anew."""
    counts = (*_usage(message).items(), *_usage(event).items())
    fields = {"usage": {key: value for key, value in counts if value is not None}}
    fields |= {key: event[key] for key in ("context_management",) if key in event}
    return {key: value for key, value in fields.items() if value}


def _join_delta(block: _Object, delta: Event) -> None:
    citation = delta.get("citation")
    if citation is not None:
        delta = {"citations": [citation]}
    _join(block, {key: value for key, value in delta.items() if key != "type"})


def is_response_event(event: Event) -> bool:
    """Whether this is an event of OpenAI's Responses API."""
    return text_or_empty(event.get("type")).startswith(_RESPONSE_PREFIX)


def assemble_response(events: Sequence[Event]) -> Assembly:
    """Take the complete response from its last event, or else join its items.

    Of several responses that follow one another, the items of all are joined.
    """
    responses: list[_Object] = [{"object": "response"}]
    items: list[dict[int, _Object]] = [{}]
    complete: set[_Place] = set()
    leftover: list[object] = []
    for event in events:
        kind = text_or_empty(event.get("type")).removeprefix(_RESPONSE_PREFIX)
        name, _, phase = kind.rpartition(".")
        index, item = _index(event, "output_index"), event.get("item")
        if isinstance(event.get("response"), Mapping):
            if _is_another(responses[-1], event["response"]):
                responses.append({"object": "response"})
                items.append({})
            responses[-1] |= event["response"]
            continue
        place = (len(items), index)
        if isinstance(item, Mapping):
            items[-1][index] = _copied(item)
            complete |= {place} if phase == "done" else set()
        elif phase == "delta" and name in _PIECES:
            if place not in complete:
                _join_piece(items[-1], index, name, event)
        elif phase == "delta" or not is_response_event(event):
            leftover.append(event)
    output = [
        item
        for response, own_items in zip(responses, items, strict=True)
        for item in list_or_empty(response.get("output"))
        or [own_items[index] for index in sorted(own_items)]
    ]
    return Assembly({**responses[-1], "output": output}, tuple(leftover))


def _join_piece(items: dict[int, _Object], index: int, name: str, event: Event) -> None:
    list_key, index_key, member_type, text_key, item_type = _PIECES[name]
    role = {"role": "assistant"} if item_type == "message" else {}
    item = items.setdefault(index, {"type": item_type, **role})
    piece: _Object = {text_key: text_or_empty(event.get("delta"))}
    if list_key:
        piece = {"type": member_type, "index": _index(event, index_key), **piece}
        _join(item, {list_key: [piece]})
    else:
        _join(item, piece)


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
        _join(message, piece)
        answer |= {key: value for key, value in event.items() if key not in ("message", "response")}
    leftover = (event for event in events if not is_ollama_chunk(event))
    return Assembly({**answer, "message": message}, tuple(leftover))


def is_gemini_chunk(event: Event) -> bool:
    """Whether this is one of the answers in which Gemini's API streams an answer."""
    candidates = map(object_or_empty, list_or_empty(event.get("candidates")))
    has_usage = isinstance(event.get("usageMetadata"), Mapping)
    return has_usage or any(map(is_candidate, candidates))


def is_candidate(value: Mapping[str, Any]) -> bool:
    """Whether this is a candidate in an answer of Gemini's API; a blocked one has no content."""
    return isinstance(value.get("content"), Mapping) or isinstance(value.get("finishReason"), str)


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
    names = [name for name in _CONVERSE_EVENTS if isinstance(event.get(name), Mapping)]
    # Objects of many kinds have metadata.
    return bool(names) and (names != ["metadata"] or "usage" in event["metadata"])


def assemble_converse(events: Sequence[Event]) -> Assembly:
    """Join the blocks of a message of Bedrock Converse, or of several that follow one another."""
    answer: _Object = {}
    blocks: dict[_Place, _Object] = {}
    n_messages = 0
    for event in filter(is_converse_event, events):
        n_messages += "messageStart" in event
        start, delta = (
            object_or_empty(event.get(name)) for name in ("contentBlockStart", "contentBlockDelta")
        )
        for holder, key in ((start, "start"), (delta, "delta")):
            if holder:
                place = (n_messages, _index(holder, "contentBlockIndex"))
                _join(blocks.setdefault(place, {}), object_or_empty(holder.get(key)))
        answer |= object_or_empty(event.get("messageStop"))
        answer |= object_or_empty(event.get("metadata"))
    content = [_converse_block(blocks[place]) for place in sorted(blocks)]
    message = {"role": "assistant", "content": content}
    leftover = (event for event in events if not is_converse_event(event))
    return Assembly({**answer, "output": {"message": message}}, tuple(leftover))


def _converse_block(block: _Object) -> _Object:
    """Return a block as Converse returns it when it does not stream."""
    call, reasoning = block.get("toolUse"), block.get("reasoningContent")
    if isinstance(call, Mapping):
        text = with_whole_texts(call.get("input")) or ""
        return {**block, "toolUse": {**call, "input": json_in(text) if text else {}}}
    if isinstance(reasoning, Mapping) and ("text" in reasoning or "signature" in reasoning):
        return {**block, "reasoningContent": {"reasoningText": reasoning}}
    return block


def _join(whole: _Object, piece: Mapping[str, Any]) -> None:
    """Append the texts of a piece to those of ``whole``, and join its lists and objects.

    ``whole`` is changed: to copy it for each piece would take quadratic time.
    """
    for key, value in piece.items():
        present = whole.get(key)
        if value is None:
            whole.setdefault(key, None)
        elif _is_text(present) and isinstance(value, str) and key not in _WHOLE_KEYS:
            whole[key] = _appended(present, value)
        elif isinstance(value, Mapping) and isinstance(present, dict):
            _join(present, value)
        elif isinstance(value, list):
            whole[key] = _join_list(present, value)
        elif not present or not isinstance(value, str):
            whole[key] = _copied(value)


def _copied(value: Any) -> Any:  # noqa: ANN401 - JSON is any value
    """Return a value that may be changed."""
    match value:
        case Mapping():
            return {key: _copied(item) for key, item in value.items()}
        case list():
            return _join_list(None, value)
        case _:
            return value


def _is_text(value: object) -> TypeGuard[str | _Pieces]:
    return isinstance(value, str | _Pieces)


def _appended(text: str | _Pieces, piece: str) -> _Pieces:
    if isinstance(text, str):
        return _Pieces((text, piece))
    text.append(piece)
    return text


def _join_list(present: object, pieces: Iterable[Any]) -> _Members:
    """Append pieces to a list, or join them with the member that has their index."""
    members = present if isinstance(present, _Members) else _Members()
    for piece in pieces:
        fields = object_or_empty(piece)
        index = fields.get("index")
        place = members.places.get(index) if isinstance(index, int | str) else None
        if place is not None and not _is_new_call(members[place], fields):
            _join(members[place], fields)
            continue
        if isinstance(index, int | str):
            members.places[index] = len(members)
        members.append(_copied(piece))
    return members


def _without_index(call: Any) -> Any:  # noqa: ANN401 - JSON is any value
    fields = object_or_empty(call)
    return {key: value for key, value in fields.items() if key != "index"} if fields else call


def _is_another(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether an object has another id than an earlier one at its place."""
    return bool(old.get("id") and new.get("id")) and old["id"] != new["id"]


def _is_new_call(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a call begins at the index of another: some servers number none of them."""
    has_name = bool(new.get("name") or object_or_empty(new.get("function")).get("name"))
    return has_name and _is_another(old, new)


def _has_only_usage(event: Event) -> bool:
    return isinstance(event.get("usage"), Mapping) and not event.get("choices")


def _usage(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_or_empty(holder.get("usage"))


def _index(holder: Mapping[str, Any], key: str) -> int:
    value = holder.get(key)
    return value if isinstance(value, int) else 0
