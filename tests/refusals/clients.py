"""What the files of clients send, without what a client sets right, and what a client refuses.

Nothing here is the package's: results are held against it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from refusals.providers import Json, blocks_of

Line = tuple[int, Json]
"""A record with its line, from 1."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Request(NamedTuple):
    """A request that a file stands for.

    Attributes:
        provider: whose validator it is for.
        body: the request; of a client's file the messages alone.
        places: of each message the place of each block: its line, from 1. Empty for a request that
            is the file itself, in which a place is the index of the message.
    """

    provider: str
    body: Json
    places: Sequence[Sequence[int]] = ()


class FileFault(NamedTuple):
    """A rule that the file breaks before anything is sent, and the line (or message) of it."""

    rule: str
    line: int


class ClientFile(NamedTuple):
    """The client of a file, what it sends of it, and what it refuses in it."""

    client: str
    request: Request
    faults: Sequence[FileFault] = ()


def read_file(path: Path) -> ClientFile:
    """Return what a file of any format stands for."""
    data = path.read_bytes()
    text = data.removeprefix(BYTE_ORDER_MARK).decode(errors="replace")
    marks = [FileFault("bom", 1)] if data.startswith(BYTE_ORDER_MARK) else []
    client = _document(text) if path.suffix == ".json" else _lines(text, path)
    return client._replace(faults=[*marks, *client.faults])


def _document(text: str) -> ClientFile:
    try:
        document = json.loads(text)
    except ValueError:
        messages = [*_complete_values(text)]
        torn = FileFault("torn", len(messages))
        return ClientFile("cline", _anthropic({"messages": messages}), [torn])
    match document:
        case list():
            return ClientFile("cline", _anthropic({"messages": document}))
        case {"info": _, "messages": messages}:
            return ClientFile("opencode", _opencode(messages))
        case {"contents": _}:
            return ClientFile("gemini", Request("gemini", document))
        case {"input": _}:
            return ClientFile("responses", Request("responses", document))
        case {"modelId": _}:
            return ClientFile("bedrock", Request("bedrock", document))
        case {"model": str(model)} if model.startswith("claude"):
            return ClientFile("anthropic", _anthropic(document))
        case _:
            return ClientFile("chat", Request("chat", document))


def _anthropic(body: Json) -> Request:
    """Return a request as Anthropic reads it: turns of one role in a row are combined."""
    merged = _Merged()
    for index, message in enumerate(body["messages"]):
        merged.add(message["role"], message["content"], index)
    request = merged.request()
    return request._replace(body=body | request.body)


def _complete_values(text: str) -> Iterator[Any]:
    """Yield the values of a JSON array that is cut off."""
    end = text.find("[") + 1
    while end:
        try:
            value, end = json.JSONDecoder().raw_decode(text, end)
        except ValueError:
            return
        yield value
        end = text.find("{", end) if text[end : end + 1] == "," else 0


def _lines(text: str, path: Path) -> ClientFile:
    lines: list[Line] = []
    torn = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            lines.append((number, json.loads(line)))
        except ValueError:
            torn.append(FileFault("torn", number))
    client, request, faults = _of_records(lines, path)
    if client == "codex":
        torn = [FileFault("header", 1) if fault.line == 1 else fault for fault in torn]
    return ClientFile(client, request, [*torn, *faults])


def _of_records(lines: Sequence[Line], path: Path) -> tuple[str, Request, Iterable[FileFault]]:
    kinds = {record.get("type") for _, record in lines}
    first = lines[0][1]
    if path.name.startswith("rollout-") or "response_item" in kinds:
        return "codex", _codex(lines), _codex_faults(lines)
    if "session.start" in kinds:
        return "copilot-cli", _copilot(lines), _copilot_faults(lines)
    if "projectHash" in first:
        return "gemini-cli", _gemini_cli(lines), ()
    if first.get("type") == "session":
        return "pi", _pi(lines), _missing_parents(lines, "id", "parentId")
    return "claude-code", _claude_code(lines), _claude_code_faults(lines)


def _missing_parents(lines: Sequence[Line], name: str, parent: str) -> Iterator[FileFault]:
    """Yield the records that name a parent which the file has not."""
    names = {record.get(name) for _, record in lines}
    for number, record in lines:
        if record.get(parent) is not None and record[parent] not in names:
            yield FileFault("parent-missing", number)


class _Merged:
    """Messages of Anthropic's; those of one role in a row are one, unless one of them is empty."""

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self.places: list[list[int]] = []

    def add(self, role: str, content: Any, place: int) -> None:
        blocks = blocks_of({"content": content})
        last = self.messages[-1] if self.messages else None
        if last and last["role"] == role and last["content"] and blocks:
            last["content"] += blocks
            self.places[-1] += [place] * len(blocks)
        else:
            self.messages.append({"role": role, "content": [*blocks]})
            self.places.append([place] * max(1, len(blocks)))

    def request(self) -> Request:
        return Request("anthropic", {"messages": self.messages}, self.places)


# How many seconds before a record whose parent is missing the newest record may be that the
# client (Claude Code 2.1.197) takes for its parent.
_MOST_SECONDS = 5


def _claude_code(lines: Sequence[Line]) -> Request:
    """Return the messages on the way from the newest record to the first."""
    records = [(number, record) for number, record in lines if record.get("uuid")]
    by_id = {record["uuid"]: (number, record) for number, record in records}
    talk = [line for line in records if _is_message(line[1])]
    step = max(talk, key=lambda line: (_seconds(line[1]), line[0])) if talk else None
    chain: list[Line] = []
    seen: set[str] = set()
    while step:
        chain.append(step)
        seen.add(step[1]["uuid"])
        parent = step[1].get("parentUuid")
        if parent is None:
            break
        step = by_id.get(parent) or _adopted(step, records, seen)
    merged = _Merged()
    for number, record in reversed(chain):
        if _is_message(record):
            merged.add(record["message"]["role"], record["message"]["content"], number)
    return merged.request()


def _is_message(record: Json) -> bool:
    return record.get("type") in ("user", "assistant") and not record.get("isSidechain")


def _seconds(record: Json) -> float:
    return datetime.fromisoformat(record["timestamp"]).timestamp()


def _adopted(line: Line, records: Sequence[Line], seen: set[str]) -> Line | None:
    number, record = line
    older = [
        other
        for other in records
        if other[0] < number
        and other[1]["uuid"] not in seen
        and 0 <= _seconds(record) - _seconds(other[1]) <= _MOST_SECONDS
    ]
    return max(older, key=lambda other: (_seconds(other[1]), other[0])) if older else None


def _claude_code_faults(lines: Sequence[Line]) -> Iterator[FileFault]:
    number, first = lines[0]
    if first.get("type") == "pr-link":
        yield FileFault("header", number)
    yield from _missing_parents(lines, "uuid", "parentUuid")


def _codex(lines: Sequence[Line]) -> Request:
    """Return the items since the last compaction, which the client never lets the API store."""
    items: list[tuple[int, Json]] = []
    for number, record in lines:
        if record.get("type") == "response_item":
            items.append((number, record["payload"]))
        elif record.get("type") == "compacted":
            items = [(number, item) for item in record["payload"].get("replacement_history") or ()]
    places = [[number] * _width(item) for number, item in items]
    return Request("responses", {"input": [item for _, item in items], "store": False}, places)


def _width(item: Json) -> int:
    """Return the number of blocks of an item, at least 1."""
    listed = [item[key] for key in ("content", "output") if isinstance(item.get(key), list)]
    return max([1, *map(len, listed)])


def _codex_faults(lines: Sequence[Line]) -> Iterator[FileFault]:
    number, header = lines[0]
    is_header = header.get("type") == "session_meta" and header["payload"].get("id")
    if number == 1 and not is_header:
        yield FileFault("header", 1)
    numbered = any("ordinal" in record for _, record in lines)
    for position, (number, record) in enumerate(lines):
        if not isinstance(record.get("timestamp"), str):
            yield FileFault("field-type", number)
        if numbered and record.get("ordinal") != position:
            yield FileFault("ordinal", number)


# The fields that Copilot CLI (1.0.102) requires in an event's data, and those that it refuses
# below 0, wherever in the data.
_REQUIRED = {
    "session.start": ("sessionId", "version", "producer", "copilotVersion", "startTime"),
    "session.task_complete": ("summary",),
    "skill.invoked": ("name", "path", "content"),
    "user.message": ("content",),
    "assistant.message": ("messageId", "content"),
    "assistant.turn_start": ("turnId",),
    "assistant.turn_end": ("turnId",),
    "tool.execution_start": ("toolCallId", "toolName"),
    "tool.execution_complete": ("toolCallId", "success"),
}
_NEVER_NEGATIVE = ("tokensRemoved", "messagesRemoved", "exitCode")


def _copilot_faults(lines: Sequence[Line]) -> Iterator[FileFault]:
    for number, record in lines:
        data = record["data"]
        if any(field not in data for field in _REQUIRED.get(record["type"], ())):
            yield FileFault("field-required", number)
        values = {**data, **(data.get("result") or {})}
        if any(values.get(field, 0) < 0 for field in _NEVER_NEGATIVE):
            yield FileFault("field-value", number)
    yield from _missing_parents(lines, "id", "parentId")


def _copilot(lines: Sequence[Line]) -> Request:
    merged = _Merged()
    for number, record in lines:
        data = record["data"]
        match record["type"]:
            case "user.message":
                merged.add("user", data["content"], number)
            case "assistant.message":
                merged.add("assistant", [*_copilot_answer(data)], number)
            case "tool.execution_complete":
                content = (data.get("result") or {}).get("content", "")
                merged.add("user", [_result(data["toolCallId"], content)], number)
            case _:
                pass
    return merged.request()


def _copilot_answer(data: Json) -> Iterator[Json]:
    if data["content"]:
        yield {"type": "text", "text": data["content"]}
    for call in data.get("toolRequests") or ():
        yield _call(call["toolCallId"], call["name"], call["arguments"])


def _call(call_id: str, name: str, arguments: Any) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _result(call_id: str, content: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def _pi(lines: Sequence[Line]) -> Request:
    """Return the messages on the way from the last record to the first."""
    by_id = {record["id"]: (number, record) for number, record in lines[1:] if "id" in record}
    chain = []
    step = lines[-1] if len(lines) > 1 else None
    while step:
        chain.append(step)
        step = by_id.get(step[1].get("parentId"))
    merged = _Merged()
    for number, record in reversed(chain):
        if record["type"] == "message":
            merged.add(*_pi_message(record["message"]), number)
    return merged.request()


def _pi_message(message: Json) -> tuple[str, Any]:
    content = message["content"]
    if message["role"] == "toolResult":
        return "user", [_result(message["toolCallId"], [*map(_pi_block, content)])]
    return message["role"], content if isinstance(content, str) else [*map(_pi_block, content)]


def _pi_block(block: Json) -> Json:
    match block["type"]:
        case "toolCall":
            return _call(block["id"], block["name"], block["arguments"])
        case "thinking":
            return {**block, "signature": block.get("thinkingSignature")}
        case "image":
            source = {"type": "base64", "media_type": block["mimeType"], "data": block["data"]}
            return {"type": "image", "source": source}
        case _:
            return block


def _gemini_cli(lines: Sequence[Line]) -> Request:
    """Return the contents of the records; a record takes the place of an earlier of its id."""
    messages: dict[str, Line] = {}
    model = "gemini-2.5-pro"
    for number, record in lines:
        if "$set" in record:
            listed = record["$set"].get("messages")
            if listed is not None:
                messages = {message["id"]: (number, message) for message in listed}
        elif record.get("type") in ("user", "gemini"):
            messages[record["id"]] = (number, record)
            model = record.get("model") or model
    contents, places = [], []
    for number, message in messages.values():
        for content in _gemini_contents(message):
            contents.append(content)
            places.append([number] * max(1, len(content["parts"])))
    return Request("gemini", {"model": model, "contents": contents}, places)


def _gemini_contents(message: Json) -> Iterator[Json]:
    content = message["content"]
    parts = [{"text": content}] if isinstance(content, str) and content else [*content]
    if message["type"] == "user":
        yield {"role": "user", "parts": parts}
        return
    calls = message.get("toolCalls") or ()
    called = [{"functionCall": {"name": c["name"], "args": c["args"]}} for c in calls]
    yield {"role": "model", "parts": parts + called}
    answers = [part for call in calls for part in call.get("result") or ()]
    if calls and answers:
        yield {"role": "user", "parts": answers}


def _opencode(messages: Sequence[Json]) -> Request:
    """Return the messages of an exported session; a place is the index of its message."""
    merged = _Merged()
    for index, message in enumerate(messages):
        tools = [part for part in message["parts"] if part["type"] == "tool"]
        blocks = [block for part in message["parts"] for block in _opencode_blocks(part)]
        merged.add(message["info"]["role"], blocks, index)
        results = [*map(_opencode_result, tools)]
        if any(results):
            merged.add("user", [result for result in results if result], index)
    return merged.request()


def _opencode_blocks(part: Json) -> Iterator[Json]:
    match part["type"]:
        case "text":
            yield {"type": "text", "text": part["text"]}
        case "tool":
            yield _call(part["callID"], part["tool"], part["state"]["input"])
        case "file":
            media_type, _, data = part["url"].removeprefix("data:").partition(";base64,")
            source = {"type": "base64", "media_type": media_type, "data": data}
            yield {"type": "image", "source": source}
        case _:
            pass


_OPENCODE_OUTPUTS: Mapping[str, str] = {"completed": "output", "error": "error"}


def _opencode_result(part: Json) -> Json | None:
    field = _OPENCODE_OUTPUTS.get(part["state"]["status"])
    return _result(part["callID"], part["state"][field]) if field else None
