"""A small sound talk, written as every format writes it.

The talk is a list of messages as Anthropic takes them; each writer puts them into its own shape and
tells where every block is: on which line, from 1, or in which message of a document, from 0.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refusals.media import encoded
from refusals.providers import Json

Messages = list[Json]

FERNET = base64.urlsafe_b64encode(
    b"\x80" + (1_772_400_000).to_bytes(8) + b"16 random bytes." + b"moorings" * 12 + b"m" * 32
).decode()
"""Reasoning in the form in which OpenAI encrypts it.

That is a Fernet token: 0x80, seconds since 1970, 16 random bytes, the text in blocks of 16 bytes,
and a MAC of 32 bytes.
"""
SIGNATURE = encoded(b"a signature of the provider's" * 6)
NAMES = ("toolu_plan", "toolu_hold", "toolu_crew")
SYSTEM = "You run the harbor of a small town."
CLAUDE = "claude-sonnet-4-5-20250929"


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def call(call_id: str, name: str, **arguments: Any) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, words: str) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": words}


def user(*blocks: Json) -> Json:
    return {"role": "user", "content": [*blocks]}


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": [*blocks]}


def sound_talk() -> Messages:
    """Return three questions, three tool calls with their results, and two answers."""
    plan, hold, crew = NAMES
    return [
        user(text("Which berth is free on Monday?")),
        assistant(text("I look at the plan."), call(plan, "read_plan", day="monday")),
        user(result(plan, "berth 4: free")),
        assistant(text("Berth 4 is free.")),
        user(text("What does the Heron carry, and who is aboard?")),
        assistant(call(hold, "read_hold", ship="Heron"), call(crew, "read_crew", ship="Heron")),
        user(result(hold, "80 t of timber"), result(crew, "a crew of 9")),
        assistant(text("Timber, and a crew of 9.")),
        user(text("Then book berth 4 for it.")),
    ]


def long_talk(rounds: int) -> Messages:
    """Return the talk several times over, with ids of its own each time and long results."""
    words = ["berth", "crane", "tide", "rope", "winch", "barge", "pilot", "crew", "hold", "quay"]
    messages = []
    for number in range(rounds):
        for message in sound_talk():
            for block in message["content"]:
                for key in ("id", "tool_use_id"):
                    if key in block:
                        block[key] += f"_{number}"
                if "content" in block:
                    log = " ".join(f"{words[n % 10]}{n * 7 + number}" for n in range(120))
                    block["content"] += f"\n{log}"
            messages.append(message)
        messages.append(assistant(text(f"Booked as number {number}.")))
    return messages[:-1]


@dataclass
class Written:
    """What a writer made of a talk.

    Attributes:
        records: the records of a file of lines, or the one document.
        places: the place of each block, by the index of its message and its own; of a message
            without blocks its own, as that of a block 0.
        kind: whether ``records`` are lines or a document.
    """

    records: list[Any]
    places: dict[tuple[int, int], int] = field(default_factory=dict)
    is_document: bool = False

    def data(self) -> bytes:
        """Return the bytes of the file."""
        if self.is_document:
            return json.dumps(self.records[0], indent=1).encode()
        return b"".join(json.dumps(record).encode() + b"\n" for record in self.records)


def _document(body: Json, places: dict[tuple[int, int], int]) -> Written:
    return Written([body], places, is_document=True)


def _own_places(messages: Messages) -> dict[tuple[int, int], int]:
    """Return the places where every message stays one message."""
    return {
        (index, block): index
        for index, message in enumerate(messages)
        for block in range(max(1, len(message["content"])))
    }


def anthropic(messages: Messages) -> Written:
    tools = [
        {"name": name, "description": "Read it.", "input_schema": {"type": "object"}}
        for name in ("read_crew", "read_hold", "read_plan")
    ]
    body = {"model": CLAUDE, "max_tokens": 1_000, "system": SYSTEM, "tools": tools}
    body |= {"messages": messages}
    return _document(body, _own_places(messages))


def bedrock(messages: Messages) -> Written:
    turns = [
        {"role": m["role"], "content": [_bedrock_block(block) for block in m["content"]]}
        for m in messages
    ]
    specs = [
        {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}}
        for name in ("read_crew", "read_hold", "read_plan")
    ]
    model = f"anthropic.{CLAUDE}-v1:0"
    body = {"modelId": model, "system": [{"text": SYSTEM}], "toolConfig": {"tools": specs}}
    body |= {"messages": turns}
    return _document(body, _own_places(messages))


def _bedrock_block(block: Json) -> Json:
    match block["type"]:
        case "tool_use":
            ids = {"toolUseId": block["id"], "name": block["name"], "input": block["input"]}
            return {"toolUse": ids}
        case "tool_result":
            content = [{"text": block["content"]}] if block["content"] else []
            status = {"status": "error"} if block.get("is_error") else {}
            ids = {"toolUseId": block["tool_use_id"], "content": content}
            return {"toolResult": ids | status}
        case "image":
            source = block["source"]
            form = source["media_type"].removeprefix("image/")
            return {"image": {"format": form, "source": {"bytes": source["data"]}}}
        case "document":
            source = {"bytes": block["source"]["data"]}
            return {"document": {"format": "pdf", "name": "plan", "source": source}}
        case _:
            return {"text": block["text"]}


def chat(messages: Messages) -> Written:
    turns: list[Json] = [{"role": "system", "content": SYSTEM}]
    places: dict[tuple[int, int], int] = {}
    for index, message in enumerate(messages):
        blocks = [*enumerate(message["content"])]
        results = [(n, block) for n, block in blocks if block["type"] == "tool_result"]
        others = [(n, block) for n, block in blocks if block["type"] != "tool_result"]
        for n, block in results:
            places[index, n] = len(turns)
            turns.append(
                {"role": "tool", "tool_call_id": block["tool_use_id"], "content": block["content"]}
            )
        if others or not blocks:
            places |= {(index, n): len(turns) for n, _ in others or [(0, None)]}
            turns.append(_chat_turn(message["role"], [block for _, block in others]))
    return _document({"model": "gpt-5", "messages": turns}, places)


def _chat_turn(role: str, blocks: Sequence[Json]) -> Json:
    calls = [_chat_call(block) for block in blocks if block["type"] == "tool_use"]
    parts = [_chat_part(block) for block in blocks if block["type"] != "tool_use"]
    content: Any = parts
    if all(part["type"] == "text" for part in parts):
        content = "\n".join(part["text"] for part in parts) if parts else None
    return {"role": role, "content": content} | ({"tool_calls": calls} if calls else {})


def _chat_call(block: Json) -> Json:
    function = {"name": block["name"], "arguments": _arguments(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}


def _arguments(value: Any) -> str:
    """Return JSON of an object; what is none is the text that a model wrote."""
    return value if isinstance(value, str) else json.dumps(value)


def _chat_part(block: Json) -> Json:
    if block["type"] == "image":
        return {"type": "image_url", "image_url": {"url": _data_url(block)}}
    return {"type": "text", "text": block["text"]}


def _data_url(block: Json) -> str:
    return f"data:{block['source']['media_type']};base64,{block['source']['data']}"


def _items(messages: Messages) -> Iterator[tuple[int, int, Json]]:
    """Yield the items of responses, each with the message and block that it begins with."""
    for index, message in enumerate(messages):
        parts: list[Json] = []
        for n, block in enumerate(message["content"]):
            item = _item(block)
            if item is None:
                parts.append(_responses_part(message["role"], block))
                continue
            if parts:
                yield index, n - len(parts), _responses_message(message, parts)
                parts = []
            yield index, n, item
        if parts:
            first = len(message["content"]) - len(parts)
            yield index, first, _responses_message(message, parts)


def _item(block: Json) -> Json | None:
    """Return the item that a block is, or None for a part of a message."""
    match block["type"]:
        case "tool_use":
            item = {"type": "function_call", "call_id": block["id"], "name": block["name"]}
            return item | {"arguments": _arguments(block["input"])}
        case "tool_result":
            item = {"type": "function_call_output", "call_id": block["tool_use_id"]}
            return item | {"output": block["content"]}
        case "item":
            return dict(block["item"])
        case _:
            return None


def _responses_message(message: Json, parts: list[Json]) -> Json:
    return {"type": "message", "role": message["role"], "content": parts}


def _responses_part(role: str, block: Json) -> Json:
    if block["type"] == "image":
        return {"type": "input_image", "image_url": _data_url(block)}
    return {"type": "output_text" if role == "assistant" else "input_text", "text": block["text"]}


def responses(messages: Messages) -> Written:
    items = [*_items(messages)]
    places = {(index, n): place for place, (index, n, _) in enumerate(items, 1)}
    part = {"type": "input_text", "text": SYSTEM}
    listed: list[Json] = [{"type": "message", "role": "developer", "content": [part]}]
    listed += [item for _, _, item in items]
    return _document({"model": "gpt-5-codex", "store": False, "input": listed}, places)


def gemini(messages: Messages) -> Written:
    names = _call_names(messages)
    contents = [
        {
            "role": "model" if m["role"] == "assistant" else "user",
            "parts": [_gemini_part(block, names) for block in m["content"]],
        }
        for m in messages
    ]
    system = {"parts": [{"text": SYSTEM}]}
    body = {"model": "gemini-3-pro-preview", "systemInstruction": system, "contents": contents}
    return _document(body, _own_places(messages))


def _call_names(messages: Messages) -> dict[str, str]:
    blocks = [block for message in messages for block in message["content"]]
    return {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}


def _gemini_part(block: Json, names: Mapping[str, str]) -> Json:
    match block["type"]:
        case "tool_use":
            part = {"functionCall": {"name": block["name"], "args": block["input"]}}
            return part | {"thoughtSignature": SIGNATURE}
        case "tool_result":
            name = names.get(block["tool_use_id"], "read_tide")
            return {"functionResponse": {"name": name, "response": {"output": block["content"]}}}
        case _:
            return {"text": block["text"]}


_SESSION = "5b1c7d1e-3c55-4c0e-9a53-6f1d2c3b9abc"


def _time(number: int) -> str:
    """Return a time; one is ten seconds from the next.

    Claude Code takes a record up to five seconds earlier for the parent that a record lost.
    """
    return f"2026-03-02T08:{number // 6:02d}:{number % 6}0.000Z"


def _uuid(number: int) -> str:
    return f"{number:08x}-7a1b-4c2d-8e3f-{number:012x}"


def claude_code(messages: Messages, version: str = "2.1.100") -> Written:
    common: Json = {"isSidechain": False, "userType": "external", "cwd": "/home/dev/harbor"}
    common |= {"sessionId": _SESSION, "version": version, "gitBranch": "main"}
    records: list[Any] = []
    for number, message in enumerate([*messages, *_closing(messages)], 1):
        row: Json = {"parentUuid": _uuid(number - 1) if records else None, **common}
        row |= {"type": message["role"], "uuid": _uuid(number), "timestamp": _time(number)}
        content = message["content"]
        is_plain = len(content) == 1 and content[0]["type"] == "text"
        if message["role"] == "user":
            own: Json = {"role": "user", "content": content[0]["text"] if is_plain else content}
            records.append(row | {"message": own})
            continue
        calls = any(block["type"] == "tool_use" for block in content)
        own = {
            "model": CLAUDE,
            "id": f"msg_{number:024d}",
            "type": "message",
            "role": "assistant",
        }
        own |= {"content": content, "stop_reason": "tool_use" if calls else "end_turn"}
        own |= {"usage": {"input_tokens": 900 + number, "output_tokens": 9}}
        records.append(row | {"requestId": f"req_{number:020d}", "message": own})
    places = _own_places(messages)
    return Written(records, {block: place + 1 for block, place in places.items()})


def claude_code_rows(messages: Messages) -> Written:
    """Write every block as a record of its own, as the client does with answers and results."""
    split = [{**m, "content": [block]} for m in messages for block in m["content"]]
    written = claude_code(split)
    names = [n for n, message in enumerate(messages) for _ in message["content"]]
    for record, number in zip(written.records, names, strict=False):
        if record["type"] == "assistant":
            record["message"]["id"] = f"msg_{number:024d}"
            record["message"]["usage"] = {"input_tokens": 900 + number, "output_tokens": 9}
            record["requestId"] = f"req_{number:020d}"
    return Written(written.records, {})


def _closing(messages: Messages) -> Messages:
    """Return the answer with which a client's session ends, if it does not end with one."""
    return [assistant(text("Booked."))] if messages[-1]["role"] == "user" else []


def codex(messages: Messages, version: str = "0.130.0") -> Written:
    header: Json = {"id": _SESSION, "timestamp": _time(0), "cwd": "/home/dev/harbor"}
    header |= {"originator": "codex_cli_rs", "cli_version": version, "source": "cli"}
    header |= {"model_provider": "openai", "base_instructions": {"text": "You watch a harbor."}}
    context: Json = {"cwd": "/home/dev/harbor", "approval_policy": "never", "model": "gpt-5-codex"}
    context |= {"sandbox_policy": {"type": "danger-full-access"}, "summary": "auto"}
    records = [("session_meta", header), ("turn_context", context)]
    places: dict[tuple[int, int], int] = {}
    for index, n, item in _items([*messages, *_closing(messages)]):
        if item["type"] == "message":
            records.append(("event_msg", _codex_event(item)))
        records.append(("response_item", item))
        places[index, n] = len(records)
    rows = [
        {"timestamp": _time(number), "type": kind, "payload": payload}
        for number, (kind, payload) in enumerate(records)
    ]
    return Written(rows, places)


def _codex_event(item: Json) -> Json:
    words = "\n".join(part.get("text", "") for part in item["content"])
    if item["role"] == "user":
        return {"type": "user_message", "message": words, "images": []}
    return {"type": "agent_message", "message": words}


def copilot_cli(messages: Messages, version: str = "1.0.64") -> Written:
    start: Json = {"sessionId": _SESSION, "version": 1, "producer": "copilot-agent"}
    start |= {"copilotVersion": version, "startTime": _time(0), "alreadyInUse": False}
    start |= {"context": {"cwd": "/home/dev/harbor"}}
    events = [("session.start", start), ("session.model_change", {"newModel": "claude-sonnet-4.5"})]
    places: dict[tuple[int, int], int] = {}
    for index, message in enumerate([*messages, *_closing(messages)]):
        for n, event in _copilot_events(index, message):
            events.append(event)
            places |= {(index, block): len(events) for block in n}
    rows: list[Any] = [
        {"type": kind, "data": data, "id": _uuid(number), "timestamp": _time(number)}
        | {"parentId": _uuid(number - 1) if number > 1 else None}
        for number, (kind, data) in enumerate(events, 1)
    ]
    return Written(rows, places)


def _copilot_events(index: int, message: Json) -> Iterator[tuple[Iterable[int], tuple[str, Json]]]:
    """Yield the events of a message, each with the blocks that it holds."""
    blocks = message["content"]
    words = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    if message["role"] == "assistant":
        calls = [block for block in blocks if block["type"] == "tool_use"]
        data: Json = {"messageId": _uuid(1_000 + index), "content": words}
        asked = [
            {"toolCallId": block["id"], "name": block["name"], "arguments": block["input"]}
            | {"type": "function"}
            for block in calls
        ]
        yield range(max(1, len(blocks))), ("assistant.message", data | {"toolRequests": asked})
        return
    for n, block in enumerate(blocks):
        if block["type"] == "tool_result":
            data = {"toolCallId": block["tool_use_id"], "success": True}
            data |= {"result": {"content": block["content"]}}
            yield [n], ("tool.execution_complete", data)
    if words:
        data = {"content": words, "transformedContent": words, "attachments": []}
        spoken = [n for n, block in enumerate(blocks) if block["type"] == "text"]
        yield spoken, ("user.message", data)


def pi(messages: Messages) -> Written:
    header: Json = {"type": "session", "version": 3, "id": _SESSION, "timestamp": _time(0)}
    records: list[Any] = [header | {"cwd": "/home/dev/harbor"}]
    places: dict[tuple[int, int], int] = {}
    for index, message in enumerate([*messages, *_closing(messages)]):
        for held, own in _pi_messages(message, _call_names(messages)):
            number = len(records)
            row: Json = {"type": "message", "id": f"{number:08x}", "timestamp": _time(number)}
            row |= {"parentId": f"{number - 1:08x}" if number > 1 else None}
            records.append(row | {"message": own | {"timestamp": 1_772_400_000_000 + number}})
            places |= {(index, n): number + 1 for n in held}
    return Written(records, places)


def _pi_messages(message: Json, names: Mapping[str, str]) -> Iterator[tuple[Iterable[int], Json]]:
    """Yield the messages that one is in pi, each with the blocks that it holds."""
    blocks = [*enumerate(message["content"])]
    for n, block in blocks:
        if block["type"] == "tool_result":
            own: Json = {"role": "toolResult", "toolCallId": block["tool_use_id"], "isError": False}
            own |= {"toolName": names.get(block["tool_use_id"], "read_tide")}
            yield [n], own | {"content": [text(block["content"])]}
    others = [(n, block) for n, block in blocks if block["type"] != "tool_result"]
    if not others and blocks:
        return
    own = {"role": message["role"], "content": [_pi_block(block) for _, block in others]}
    if message["role"] == "assistant":
        own |= {"api": "anthropic-messages", "provider": "anthropic", "model": CLAUDE}
        own |= {"usage": {"input": 900, "output": 9, "cacheRead": 0, "cacheWrite": 0}}
        calls = any(block["type"] == "tool_use" for _, block in others)
        own |= {"stopReason": "toolUse" if calls else "stop"}
    yield [n for n, _ in others] or [0], own


def _pi_block(block: Json) -> Json:
    match block["type"]:
        case "tool_use":
            own: Json = {"type": "toolCall", "id": block["id"], "name": block["name"]}
            return own | {"arguments": block["input"]}
        case "image":
            source = block["source"]
            return {"type": "image", "mimeType": source["media_type"], "data": source["data"]}
        case _:
            return block


def gemini_cli(messages: Messages) -> Written:
    header: Json = {"sessionId": _SESSION, "projectHash": "5f0c", "startTime": _time(0)}
    records: list[Any] = [header | {"lastUpdated": _time(0), "kind": "main"}]
    answers = {
        block["tool_use_id"]: block
        for message in messages
        for block in message["content"]
        if block["type"] == "tool_result"
    }
    places: dict[tuple[int, int], int] = {}
    for index, message in enumerate([*messages, *_closing(messages)]):
        blocks = message["content"]
        if blocks and all(block["type"] == "tool_result" for block in blocks):
            places |= {(index, n): len(records) for n in range(len(blocks))}
            continue
        row: Json = {"id": f"m{index}", "timestamp": _time(index)}
        records.append(row | _gemini_cli_message(message, answers))
        places |= {(index, n): len(records) for n in range(max(1, len(blocks)))}
    return Written(records, places)


def _gemini_cli_message(message: Json, answers: Mapping[str, Json]) -> Json:
    texts = [block["text"] for block in message["content"] if block["type"] == "text"]
    if message["role"] == "user":
        return {"type": "user", "content": [{"text": words} for words in texts]}
    calls = [
        _gemini_cli_call(block, answers.get(block["id"]))
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    own: Json = {"type": "gemini", "content": "\n".join(texts), "model": "gemini-2.5-pro"}
    return own | ({"toolCalls": calls} if calls else {})


def _gemini_cli_call(block: Json, answer: Json | None) -> Json:
    own: Json = {"id": block["id"], "name": block["name"], "args": block["input"]}
    if answer is None:
        return own | {"status": "cancelled", "timestamp": _time(1)}
    response = {"id": block["id"], "name": block["name"], "response": {"output": answer["content"]}}
    done = {"status": "success", "timestamp": _time(1)}
    return own | done | {"result": [{"functionResponse": response}]}


def opencode(messages: Messages) -> Written:
    answers = {
        block["tool_use_id"]: block
        for message in messages
        for block in message["content"]
        if block["type"] == "tool_result"
    }
    info: Json = {
        "id": "ses_harbor",
        "version": "1.14.28",
        "title": "Berths",
        "projectID": "harbor",
    }
    info |= {"directory": "/home/dev/harbor", "time": {"created": 1, "updated": 99}}
    records: list[Json] = []
    places: dict[tuple[int, int], int] = {}
    for index, message in enumerate([*messages, *_closing(messages)]):
        blocks = message["content"]
        if blocks and all(block["type"] == "tool_result" for block in blocks):
            places |= {(index, n): len(records) - 1 for n in range(len(blocks))}
            continue
        places |= {(index, n): len(records) for n in range(max(1, len(blocks)))}
        records.append(_opencode_message(len(records) + 1, message, answers))
    return _document({"info": info, "messages": records}, places)


def _opencode_message(number: int, message: Json, answers: Mapping[str, Json]) -> Json:
    name = f"msg_{number:03d}"
    info: Json = {"id": name, "sessionID": "ses_harbor", "role": message["role"]}
    info |= {"time": {"created": number, "completed": number}}
    if message["role"] == "user":
        model = {"providerID": "anthropic", "modelID": CLAUDE}
        info |= {"agent": "build", "model": model}
    else:
        info |= {"parentID": f"msg_{number - 1:03d}", "mode": "build", "cost": 0}
        info |= {"providerID": "anthropic", "modelID": CLAUDE}
        info |= {"path": {"cwd": "/home/dev/harbor", "root": "/home/dev/harbor"}}
        cache = {"read": 0, "write": 0}
        info |= {"tokens": {"input": 900, "output": 9, "reasoning": 0, "cache": cache}}
    parts = [
        {"id": f"prt_{number:03d}{n}", "messageID": name, "sessionID": "ses_harbor"}
        | _opencode_part(block, answers)
        for n, block in enumerate(message["content"])
    ]
    return {"info": info, "parts": parts}


def _opencode_part(block: Json, answers: Mapping[str, Json]) -> Json:
    if block["type"] == "image":
        own: Json = {"type": "file", "mime": block["source"]["media_type"], "filename": "berth.png"}
        return own | {"url": _data_url(block)}
    if block["type"] != "tool_use":
        return {"type": "text", "text": block["text"]}
    own = {"type": "tool", "callID": block["id"], "tool": block["name"]}
    answer = answers.get(block["id"])
    if answer is None:
        return own | {"state": {"status": "pending", "input": block["input"], "raw": ""}}
    state: Json = {"status": "completed", "input": block["input"], "output": answer["content"]}
    state |= {"title": "Read", "metadata": {}, "time": {"start": 1, "end": 2}}
    return own | {"state": state}


def cline(messages: Messages) -> Written:
    written = [*messages, *_closing(messages)]
    return _document(written, _own_places(messages))  # type: ignore[arg-type]


Writer = Callable[[Messages], Written]

WRITERS: Mapping[str, Writer] = {
    "anthropic": anthropic,
    "bedrock": bedrock,
    "chat": chat,
    "responses": responses,
    "gemini": gemini,
    "claude-code": claude_code,
    "codex": codex,
    "copilot-cli": copilot_cli,
    "pi": pi,
    "gemini-cli": gemini_cli,
    "opencode": opencode,
    "cline": cline,
}
"""The writers of the formats."""

FILE_NAMES: Mapping[str, str] = {
    "anthropic": "request.json",
    "bedrock": "request.json",
    "chat": "request.json",
    "responses": "request.json",
    "gemini": "request.json",
    "claude-code": f"{_SESSION}.jsonl",
    "codex": f"rollout-2026-03-02T08-00-00-{_SESSION}.jsonl",
    "copilot-cli": "events.jsonl",
    "pi": f"2026-03-02T08-00-00-000Z_{_SESSION}.jsonl",
    "gemini-cli": "session-2026-03-02T08-00-5b1c7d1e.jsonl",
    "opencode": "session.json",
    "cline": "api_conversation_history.json",
}
"""How the client names its file."""
