"""Answers that a gateway logged as it received them: a list of events, or their raw text."""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from compactctl.clients.records.decode import parse_value
from compactctl.clients.records.json_values import list_or_empty, object_or_empty, text_or_none
from compactctl.clients.records.stream_answers import (
    Assembly,
    Event,
    assemble_anthropic,
    assemble_chat,
    assemble_converse,
    assemble_gemini,
    assemble_ollama,
    assemble_response,
    is_anthropic_event,
    is_chat_chunk,
    is_converse_event,
    is_gemini_chunk,
    is_ollama_chunk,
    is_response_event,
    with_whole_texts,
)
from compactctl.model.json_parser import BoundedDecoder
from compactctl.model.json_paths import json_in

_APIS: tuple[tuple[Callable[[Event], bool], Callable[[Sequence[Event]], Assembly]], ...] = (
    (is_chat_chunk, assemble_chat),
    (is_anthropic_event, assemble_anthropic),
    (is_response_event, assemble_response),
    (is_ollama_chunk, assemble_ollama),
    (is_gemini_chunk, assemble_gemini),
    (is_converse_event, assemble_converse),
)
# Keys of the events in an object around them, and of one event in an object around it.
_LIST_KEYS = ("chunks", "events", "deltas", "stream")
_EVENT_KEYS = ("data", "chunk", "event")
# Fields of server-sent events, and the data at the end of OpenAI's.
_FIELDS = ("data", "event", "id", "retry", "")
_STARTS = ("data:", "event:", "id:", "retry:", ":")
_END = "[DONE]"
_DECODER = BoundedDecoder(strict=False)
_SPACE = re.compile(r"\s*")
_LEFTOVER = "leftoverEvents"
"""The key of what was not understood in an answer, where its text counts as unread."""


class StreamedAnswer(dict[str, Any]):
    """An answer put together from a stream: the file has no value at the paths into it."""


def assemble_answer(value: object) -> StreamedAnswer | None:
    """Return the answer of a stream as its API returns it when it does not stream; None if none.

    A stream is a list of events or chunks, an object around one, or the text of the events: as
    server-sent events, or one JSON object per line.
    """
    events = _events_in(value)
    if events is None:
        return None
    api_events = [event for event in events.events if any(is_own(event) for is_own, _ in _APIS)]
    if 2 * len(api_events) < len(events.events) or not api_events:
        return None
    assemble = next(assemble for is_own, assemble in _APIS if any(map(is_own, api_events)))
    try:
        assembly = assemble(events.events)
        answer = with_whole_texts(assembly.answer)
    except RecursionError:
        return None
    leftover = [*assembly.leftover, *events.torn]
    return StreamedAnswer({**answer, **({_LEFTOVER: leftover} if leftover else {})})


def is_gemini_stream(values: Sequence[object]) -> bool:
    """Whether an array is what Gemini's API returns for a stream, and not a list of answers."""
    candidates = [_first_candidate(value) for value in values]
    ends = [bool(candidate.get("finishReason")) for candidate in candidates]
    return len(values) > 1 and all(candidates) and not any(ends[:-1])


def _first_candidate(value: object) -> Mapping[str, Any]:
    candidates = list_or_empty(object_or_empty(value).get("candidates"))
    return object_or_empty(candidates[0]) if candidates else {}


def may_be_body(text: str) -> bool:
    """Whether a text may be all or a part of what an API returned, and not what a model wrote."""
    return text.lstrip().startswith(("{", "[", *_STARTS))


class _Events(NamedTuple):
    """The events of a stream, and the texts in it that are torn."""

    events: list[Event]
    torn: list[str]


def _events_in(value: object) -> _Events | None:
    if isinstance(value, StreamedAnswer):
        return None
    if isinstance(value, Mapping):
        lists = [value[key] for key in _LIST_KEYS if isinstance(value.get(key), list)]
        return _events_in(lists[0]) if len(lists) == 1 else None
    if isinstance(value, str):
        return _events_in_text(value)
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(item, str) for item in value):
        return _events_in_text("".join(_with_break(item) for item in value))
    return _Events(list(map(_unwrapped, value)), []) if _are_objects(value) else None


def _with_break(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _are_objects(values: Sequence[object]) -> bool:
    return all(isinstance(value, Mapping) for value in values)


def _unwrapped(item: Any) -> Event:  # noqa: ANN401 - JSON is any value
    """Return an event without an object around it that has its name beside it, or its time."""
    for key in _EVENT_KEYS:
        inner = json_in(item.get(key)) if isinstance(item.get(key), str | Mapping) else None
        if isinstance(inner, Mapping):
            name = text_or_none(item.get("event")) or text_or_none(item.get("type"))
            event = _encoded_event(inner) or inner
            return {"type": name, **event} if name and "type" not in event else event
    return _encoded_event(item) or object_or_empty(item)


def _encoded_event(item: Mapping[str, Any]) -> Event | None:
    """Return the event of a model's own API in one of Bedrock, which encodes it in base64."""
    text = item.get("bytes")
    try:
        value = _loaded(b64decode(text, validate=True)) if isinstance(text, str) else None
    except ValueError:
        return None
    return value if isinstance(value, Mapping) else None


def _events_in_text(text: str) -> _Events | None:
    start = text.lstrip()
    if start.startswith("{"):
        return _json_lines(text)
    return _server_sent(text) if start.startswith(_STARTS) else None


def _json_lines(text: str) -> _Events | None:
    """Return the objects of a text with one in each line; the last may be torn."""
    lines = [line for line in _event_lines(text) if line.strip()]
    objects = [item for item in map(_loaded, lines) if isinstance(item, dict)]
    n_torn = len(lines) - len(objects)
    is_torn_at_end = n_torn == 1 and not isinstance(_loaded(lines[-1]), dict)
    if len(lines) == 1 or not objects or (n_torn and not is_torn_at_end):
        return None
    return _Events([*objects], lines[-1:] if n_torn else [])


def _event_lines(text: str) -> list[str]:
    """Return the lines of a text: JSON may hold other characters that break lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _server_sent(text: str) -> _Events | None:
    """Return the data of server-sent events; None if a line is not of such an event."""
    events: list[Event] = []
    torn: list[str] = []
    name, data = "", list[str]()
    # An empty line ends the last event as well.
    lines = [*_event_lines(text), ""]
    for number, line in enumerate(lines, 2):
        field, colon, content = (part.strip() for part in line.partition(":"))
        if not colon and field:
            # The last line may be torn.
            if number < len(lines) or not _is_start_of_field(field):
                return None
        elif field not in _FIELDS:
            return None
        elif field == "data":
            data += [content] if content != _END else []
        elif not colon or field == "event":
            values, texts = _values_in(data)
            has_name = name and len(values) == 1
            events += [{"type": name, **v} if has_name and "type" not in v else v for v in values]
            torn += texts
            name, data = content, []
    return _Events(events, torn) if events or torn else None


def _values_in(data: Sequence[str]) -> tuple[list[Event], list[str]]:
    """Return the objects in the data of an event, and the texts that are none, in linear time.

    A value may take several lines; some logs have no empty lines between events.
    """
    text = "\n".join(data)
    events: list[Event] = []
    start = 0
    while start < len(text):
        try:
            value, end = _DECODER.raw_decode(text, start)
        except ValueError:
            break
        if not isinstance(value, Mapping):
            break
        events.append(value)
        start = _skip_space(text, end)
    torn: list[str] = []
    for line in text[start:].split("\n"):
        value = _loaded(line)
        if isinstance(value, Mapping):
            events.append(value)
        elif line.strip():
            torn.append(line)
    return events, ["\n".join(torn)] if torn else []


def _skip_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _is_start_of_field(line: str) -> bool:
    return any(name.startswith(line.strip()) for name in _FIELDS)


def _loaded(text: str | bytes) -> object:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    try:
        return parse_value(data)
    except ValueError:
        return None
