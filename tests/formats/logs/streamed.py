"""Answers of every API, cut into the pieces that it streams, and how logs hold them."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from formats.jsonl import raw_lines
from formats.written import load
from hypothesis import strategies as st

from compactctl.model.message import Message, Part
from compactctl.model.transcript import Transcript
from compactctl.records import replace

Record = dict[str, Any]
Cuts = Callable[[str], list[str]]
# Python breaks lines at U+2028 and at form feeds, streams do not.
TEXT = "The disk of node seven was full. \U0001f4be Nobody\u2028had\x0cnoticed:\n\n" * 6
THOUGHT = "First I look at the log, then at the disk. " * 3
ARGUMENTS = {"path": "a.log", "lines": [1, 2, {"deep": '\u00e9 "quoted" \\ text'}]}
JSON_ARGUMENTS = json.dumps(ARGUMENTS)


@st.composite
def cutters(draw: st.DrawFn) -> Cuts:
    """Draw how to cut texts into pieces, none of them empty."""
    places = draw(st.lists(st.integers(1, 400), max_size=8))

    def cut(text: str) -> list[str]:
        ends = sorted({0, len(text), *(place for place in places if place < len(text))})
        return [text[start:end] for start, end in pairwise(ends)]

    return cut


def chat(cut: Cuts) -> tuple[Record, list[Record]]:
    usage = {"prompt_tokens": 90, "completion_tokens": 30}
    head = {"id": "c1", "model": "gpt-5.1"}
    functions = [{"name": "read", "arguments": JSON_ARGUMENTS}, {"name": "list", "arguments": "{}"}]
    calls: list[Record] = [
        {"id": f"t{n}", "type": "function", "function": f} for n, f in enumerate(functions)
    ]
    message = {"role": "assistant", "content": TEXT, "reasoning_content": THOUGHT}
    whole = {**head, "choices": [{"index": 0, "message": {**message, "tool_calls": calls}}]}

    def deltas() -> Iterator[Record]:
        yield {"role": "assistant", "content": ""}
        for piece in cut(THOUGHT):
            yield {"reasoning_content": piece}
        for piece in cut(TEXT):
            yield {"content": piece}
        for n, call in enumerate(calls):
            function = {"name": call["function"]["name"], "arguments": ""}
            yield {"tool_calls": [{**call, "index": n, "function": function}]}
            for piece in cut(call["function"]["arguments"]):
                yield {"tool_calls": [{"index": n, "function": {"arguments": piece}}]}
        yield {}

    chunk = {**head, "object": "chat.completion.chunk"}
    chunks = [{**chunk, "choices": [{"index": 0, "delta": delta}]} for delta in deltas()]
    return {**whole, "usage": usage}, [*chunks, {**chunk, "choices": [], "usage": usage}]


def anthropic(cut: Cuts) -> tuple[Record, list[Record]]:
    usage = {"input_tokens": 90, "output_tokens": 30}
    head = {"id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-4-6"}
    call = {"type": "tool_use", "id": "t1", "name": "read", "input": ARGUMENTS}
    blocks: list[Record] = [
        {"type": "thinking", "thinking": THOUGHT, "signature": "EqQB" * 9},
        {"type": "text", "text": TEXT},
        call,
        {**call, "id": "t2", "input": {}},
    ]

    def deltas(block: Record) -> Iterator[Record]:
        if block["type"] == "thinking":
            yield from ({"type": "thinking_delta", "thinking": p} for p in cut(THOUGHT))
            yield {"type": "signature_delta", "signature": block["signature"]}
        elif block["type"] == "text":
            yield from ({"type": "text_delta", "text": piece} for piece in cut(TEXT))
        elif block["input"]:
            for piece in cut(json.dumps(block["input"])):
                yield {"type": "input_json_delta", "partial_json": piece}

    def events() -> Iterator[Record]:
        start: Record = {
            **head,
            "content": [],
            "stop_reason": None,
            "usage": {**usage, "output_tokens": 1},
        }
        yield {"type": "message_start", "message": start}
        yield {"type": "ping"}
        for index, block in enumerate(blocks):
            empty: Record = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": ""}}
            fields = {**block, **empty.get(block["type"], {"input": {}})}
            yield {"type": "content_block_start", "index": index, "content_block": fields}
            for delta in deltas(block):
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        end = {"stop_reason": "tool_use", "stop_sequence": None}
        yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 30}}
        yield {"type": "message_stop"}

    whole = {**head, "content": blocks, "stop_reason": "tool_use", "usage": usage}
    return whole, list(events())


def responses(cut: Cuts) -> tuple[Record, list[Record]]:
    head = {"id": "r1", "object": "response", "model": "gpt-5.1"}
    summary = {"type": "summary_text", "text": THOUGHT}
    call = {"type": "function_call", "id": "f1", "call_id": "t1", "name": "read"}
    text = {"type": "output_text", "text": TEXT}
    message = {"type": "message", "id": "m1", "role": "assistant"}
    items: list[Record] = [
        {"type": "reasoning", "id": "rs1", "summary": [summary]},
        {**message, "content": [text]},
        {**call, "arguments": JSON_ARGUMENTS},
    ]
    starts = [{**items[0], "summary": []}, {**message, "content": []}, {**call, "arguments": ""}]
    pieces = [
        ("reasoning_summary_text", THOUGHT),
        ("output_text", TEXT),
        ("function_call_arguments", JSON_ARGUMENTS),
    ]

    def events() -> Iterator[Record]:
        yield {"type": "response.created", "response": {**head, "output": []}}
        for index, (start, (name, whole)) in enumerate(zip(starts, pieces, strict=True)):
            place = {"output_index": index}
            yield {"type": "response.output_item.added", **place, "item": start}
            for piece in cut(whole):
                yield {"type": f"response.{name}.delta", **place, "delta": piece}

    return {**head, "output": items}, list(events())


def ollama(cut: Cuts) -> tuple[Record, list[Record]]:
    calls = [{"function": {"name": "read", "arguments": ARGUMENTS}}]
    end = {"model": "llama3", "done": True, "prompt_eval_count": 90, "eval_count": 30}
    message = {"role": "assistant", "content": TEXT, "thinking": THOUGHT, "tool_calls": calls}
    pieces: list[Record] = [
        *({"content": "", "thinking": piece} for piece in cut(THOUGHT)),
        *({"content": piece} for piece in cut(TEXT)),
        {"content": "", "tool_calls": calls},
    ]
    chunks = [
        {"model": "llama3", "message": {"role": "assistant", **piece}, "done": False}
        for piece in pieces
    ]
    last = {**end, "message": {"role": "assistant", "content": ""}}
    return {**end, "message": message}, [*chunks, last]


def gemini(cut: Cuts) -> tuple[Record, list[Record]]:
    head = {"responseId": "g1", "modelVersion": "gemini-3-pro"}
    usage = {"promptTokenCount": 90, "candidatesTokenCount": 30}
    call = {"functionCall": {"name": "read", "args": ARGUMENTS}}
    thought = {"thought": True}

    def answer(*parts: Record, **fields: object) -> Record:
        candidate = {"content": {"role": "model", "parts": [*parts]}, "index": 0, **fields}
        return {**head, "candidates": [candidate], "usageMetadata": usage}

    whole = answer({"text": THOUGHT, **thought}, {"text": TEXT}, call, finishReason="STOP")
    chunks = [
        *(answer({"text": piece, **thought}) for piece in cut(THOUGHT)),
        *(answer({"text": piece}) for piece in cut(TEXT)),
        answer(call, finishReason="STOP"),
    ]
    return whole, chunks


def converse(cut: Cuts) -> tuple[Record, list[Record]]:
    usage = {"inputTokens": 90, "outputTokens": 30, "totalTokens": 120}
    reasoning = {"reasoningText": {"text": THOUGHT, "signature": "EqQB"}}
    call = {"toolUseId": "t1", "name": "read"}
    content = [
        {"reasoningContent": reasoning},
        {"text": TEXT},
        {"toolUse": {**call, "input": ARGUMENTS}},
    ]
    message = {"role": "assistant", "content": content}
    whole = {"output": {"message": message}, "stopReason": "tool_use", "usage": usage}

    def deltas() -> Iterator[tuple[int, Record]]:
        for piece in cut(THOUGHT):
            yield 0, {"reasoningContent": {"text": piece}}
        yield 0, {"reasoningContent": {"signature": "EqQB"}}
        yield from ((1, {"text": piece}) for piece in cut(TEXT))
        yield from ((2, {"toolUse": {"input": piece}}) for piece in cut(JSON_ARGUMENTS))

    def events() -> Iterator[Record]:
        yield {"messageStart": {"role": "assistant"}}
        start = {"contentBlockIndex": 2, "start": {"toolUse": call}}
        blocks = [{"contentBlockDelta": {"contentBlockIndex": n, "delta": d}} for n, d in deltas()]
        first_call = next(n for n, block in enumerate(blocks) if "toolUse" in str(block))
        yield from blocks[:first_call]
        yield {"contentBlockStart": start}
        yield from blocks[first_call:]
        yield {"contentBlockStop": {"contentBlockIndex": 2}}
        yield {"messageStop": {"stopReason": "tool_use"}}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 5}}}

    return whole, list(events())


PROMPT = "Why is the node down?"
CHAT = {"model": "gpt-5.1", "messages": [{"role": "user", "content": PROMPT}]}
REQUESTS: dict[str, tuple[Record, Callable[[Cuts], tuple[Record, list[Record]]]]] = {
    "chat": (CHAT, chat),
    "anthropic": ({**CHAT, "model": "claude-opus-4-6", "system": "Be kind."}, anthropic),
    "responses": ({"model": "gpt-5.1", "instructions": "Be kind.", "input": PROMPT}, responses),
    "ollama": ({**CHAT, "model": "llama3"}, ollama),
    "gemini": ({"contents": [{"role": "user", "parts": [{"text": PROMPT}]}]}, gemini),
    "converse": (
        {"modelId": "x", "messages": [{"role": "user", "content": [{"text": PROMPT}]}]},
        converse,
    ),
}


def server_sent(events: list[Record]) -> str:
    """Return events as Anthropic and OpenAI send them."""
    named = [(event.get("type"), json.dumps(event, ensure_ascii=False)) for event in events]
    return "".join(
        f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n" for name, data in named
    )


def encoded(event: Record) -> Record:
    """Return an event of a model as Bedrock sends it."""
    return {"chunk": {"bytes": b64encode(json.dumps(event).encode()).decode()}}


def on_several_lines(event: Record) -> str:
    lines = json.dumps(event, indent=1).splitlines()
    return "".join(f"data: {line}\n" for line in lines)


CONTAINERS: dict[str, Callable[[list[Record]], Any]] = {
    "list": lambda events: events,
    "chunks": lambda events: {"chunks": events},
    "events": lambda events: {"events": events},
    "named": lambda events: [{"event": e.get("type"), "data": json.dumps(e)} for e in events],
    "sse": server_sent,
    "sse without spaces": lambda events: server_sent(events).replace("data: ", "data:"),
    "sse until done": lambda events: server_sent(events) + "data: [DONE]\n\n",
    "sse with a comment": lambda events: ": keep-alive\n\n" + server_sent(events),
    "sse with other line breaks": lambda events: server_sent(events).replace("\n", "\r\n"),
    "sse without empty lines": lambda events: server_sent(events).replace("\n\n", "\n"),
    "sse on several lines": lambda events: "\n".join(map(on_several_lines, events)),
    "sse on several lines without empty ones": lambda events: "".join(
        map(on_several_lines, events)
    ),
    "bytes": lambda events: list(map(encoded, events)),
    "sse pieces": lambda events: [server_sent([event]) for event in events],
    "lines": lambda events: "".join(
        f"{json.dumps(event, ensure_ascii=False)}\n" for event in events
    ),
}


def read_row(row: Record) -> Transcript:
    return load(raw_lines(row))


def said(history: tuple[Message, ...]) -> list[Any]:
    """Return what a history says and reports, but not where it stands; an answer is one message."""
    answers = [message for message in history if message.origin.is_logged_answer]
    parts = [part for message in answers for part in message.parts]
    usages = [message.usage for message in answers if message.usage]
    models = {message.model for message in answers}
    asked = [
        (message.role, [*map(without_place, message.parts)])
        for message in history
        if message not in answers
    ]
    return [asked, [*map(without_place, parts)], usages, models]


def without_place(part: Part) -> Part:
    return replace(part, path=())
