"""One file for each shape that logs have: small, invented, with one long text in all of them."""

import json
from typing import Any

Record = dict[str, Any]

# What every shape that is read has to count: 600 words of a tool's result, or of a question.
LONG = "The tide gauge at the pilot quay reads low before the manifest is signed. " * 43
MODEL = {"model": "gpt-4o"}
CLAUDE = {"model": "claude-sonnet-4-5", "max_tokens": 99}
TEXT = {"type": "text", "text": "Look."}
RULE = "Never delete a manifest."


def say(role: str, content: object, **fields: object) -> Record:
    return {"role": role, "content": content, **fields}


def _call(name: str) -> Record:
    function = {"name": "read_log", "arguments": "{}"}
    return {"id": name, "type": "function", "function": function}


CHAT = [
    say("system", RULE),
    say("user", "Look."),
    say("assistant", None, tool_calls=[_call("c1")]),
    say("tool", LONG, tool_call_id="c1"),
    say("assistant", "It is low."),
]
TALK = [
    say("user", "Look."),
    say("assistant", [{"type": "tool_use", "id": "t1", "name": "read_log", "input": {}}]),
    say("user", [{"type": "tool_result", "tool_use_id": "t1", "content": LONG}]),
    say("assistant", [{"type": "text", "text": "It is low."}]),
]
ITEMS = [
    say("user", "Look."),
    {"type": "function_call", "call_id": "c1", "name": "read_log", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": LONG},
    {"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": "It is low.", "annotations": []}]},
]  # fmt: skip
AGENTS = [
    {"type": "message", "role": "user", "content": "Look."},
    {"type": "function_call", "callId": "c1", "name": "read_log", "arguments": "{}",
     "status": "completed"},
    {"type": "function_call_result", "callId": "c1", "name": "read_log", "status": "completed",
     "output": {"type": "text", "text": LONG}},
]  # fmt: skip
CONTENTS = [
    {"role": "user", "parts": [{"text": "Look."}]},
    {"role": "model", "parts": [{"functionCall": {"name": "read_log", "args": {}}}]},
    {"role": "user", "parts": [
        {"functionResponse": {"name": "read_log", "response": {"output": LONG}}}]},
]  # fmt: skip
CONVERSE = [
    say("user", [{"text": "Look."}]),
    say("assistant", [{"toolUse": {"toolUseId": "t1", "name": "read_log", "input": {}}}]),
    say("user", [{"toolResult": {"toolUseId": "t1", "content": [{"text": LONG}]}}]),
    say("assistant", [{"text": "It is low."}]),
]
MODEL_MESSAGES = [
    say("user", [TEXT]),
    say("assistant", [
        {"type": "tool-call", "toolCallId": "c1", "toolName": "read_log", "input": {}}]),
    say("tool", [{"type": "tool-result", "toolCallId": "c1", "toolName": "read_log",
                  "output": {"type": "text", "value": LONG}}]),
]  # fmt: skip
_USED = {"toolCallId": "c1", "toolName": "read_log", "args": {}, "state": "result"}
UI_4 = [
    say("user", "Look.", id="u", createdAt="2026-01-01T00:00:00Z"),
    say("assistant", "It is low.", id="a", toolInvocations=[{**_USED, "result": LONG}], parts=[
        {"type": "tool-invocation", "toolInvocation": {**_USED, "result": LONG}}, TEXT]),
]  # fmt: skip
UI_5 = [
    {"id": "u", "role": "user", "parts": [TEXT]},
    {"id": "a", "role": "assistant", "parts": [
        {"type": "tool-read_log", "toolCallId": "c1", "state": "output-available", "input": {},
         "output": LONG}]},
]  # fmt: skip
COMPLETION = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1760000000, **MODEL,
    "choices": [{"index": 0, "finish_reason": "stop", "message": say("assistant", LONG)}],
    "usage": {"prompt_tokens": 900, "completion_tokens": 700, "total_tokens": 1600},
}  # fmt: skip
MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": LONG}], "stop_reason": "end_turn",
    "usage": {"input_tokens": 900, "output_tokens": 700},
}  # fmt: skip
RESPONSE = {
    "id": "resp_1", "object": "response", "status": "completed", "model": "gpt-5", "output": [
        {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [
            {"type": "output_text", "text": LONG, "annotations": []}]}],
    "usage": {"input_tokens": 900, "output_tokens": 700, "total_tokens": 1600},
}  # fmt: skip
CANDIDATES = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": LONG}]}}],
    "usageMetadata": {"promptTokenCount": 900, "candidatesTokenCount": 700},
    "modelVersion": "gemini-2.5-pro",
}
OPENAI_REQUEST: Record = {**MODEL, "messages": CHAT}
ANTHROPIC_REQUEST: Record = {**CLAUDE, "system": RULE, "messages": TALK}
RESPONSES_REQUEST: Record = {"model": "gpt-5", "instructions": RULE, "input": ITEMS}
BEDROCK = {"modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "system": [{"text": RULE}]}
CONVERSE_REQUEST: Record = {**BEDROCK, "messages": CONVERSE}
GEMINI_REQUEST: Record = {"contents": CONTENTS, "systemInstruction": {"parts": [{"text": RULE}]}}
_BATCH = {"custom_id": "r1", "method": "POST"}
_INVOCATION = {"schemaType": "ModelInvocationLog", "operation": "InvokeModel"}


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def rows_of(customer: str) -> list[Record]:
    """Return a talk as a database of chats has it, a row a message."""
    said = (("user", "Look."), ("assistant", LONG))
    return [say(role, text, conversation_id=customer) for role, text in said]


# The format that reads a shape, and the bytes of a file that has it.
READ: dict[str, tuple[str, bytes]] = {
    "chat messages": ("openai-chat", lines(*CHAT)),
    "chat requests": ("openai-chat", lines(OPENAI_REQUEST, OPENAI_REQUEST)),
    "chat document": ("openai-chat", json.dumps(OPENAI_REQUEST, indent=2).encode()),
    "chat array": ("openai-chat", lines(CHAT)),
    "conversations in an array": ("openai-chat", lines([OPENAI_REQUEST, OPENAI_REQUEST])),
    "arrays in an array": ("openai-chat", lines([CHAT, CHAT])),
    "rows of two chats": ("openai-chat", lines(*rows_of("A"), *rows_of("B"))),
    "ModelMessage of the AI SDK": ("openai-chat", lines({"messages": MODEL_MESSAGES})),
    "thread of the Assistants API": ("openai-chat", lines(*(
        {"id": f"msg_{role}", "object": "thread.message", "thread_id": "t", "role": role,
         "content": [{"type": "text", "text": {"value": text, "annotations": []}}]}
        for role, text in (("user", "Look."), ("assistant", LONG))))),
    "batch input": ("openai-chat", lines(
        {**_BATCH, "url": "/v1/chat/completions", "body": OPENAI_REQUEST})),
    "batch output": ("openai-chat", lines(
        {"id": "b", "custom_id": "r1", "response": {"status_code": 200, "body": COMPLETION}})),
    "completions": ("openai-chat", lines(COMPLETION)),
    "request and response": ("openai-chat", lines(
        {"request": OPENAI_REQUEST, "response": COMPLETION})),
    "Helicone": ("openai-chat", lines(
        {"request_id": "r", "request_body": OPENAI_REQUEST, "response_body": COMPLETION})),
    "Langfuse": ("openai-chat", lines(
        {"id": "o", "traceId": "t", "type": "GENERATION", **MODEL, "input": CHAT,
         "output": say("assistant", "Good.")})),
    "LangSmith": ("openai-chat", lines(
        {"id": "r", "run_type": "llm", "inputs": {"messages": CHAT}, "outputs": COMPLETION})),
    "LiteLLM": ("openai-chat", lines(
        {"id": "c", "call_type": "acompletion", **MODEL, "messages": CHAT,
         "response": COMPLETION})),
    "LiteLLM spend log": ("openai-chat", lines(
        {"request_id": "r", "call_type": "acompletion", **MODEL, "messages": json.dumps(CHAT),
         "response": json.dumps(COMPLETION), "spend": 0.1})),
    "Docker": ("openai-chat", lines(*(
        {"log": json.dumps(each) + "\n", "stream": "stdout", "time": "2026-01-01T00:00:00Z"}
        for each in CHAT))),
    "time before the JSON": ("openai-chat", b"".join(
        b"2026-01-01T00:00:00.000000000Z stdout F " + lines(each) for each in CHAT)),
    "Anthropic requests": ("anthropic-messages", lines(ANTHROPIC_REQUEST)),
    "Anthropic messages": ("anthropic-messages", lines(*TALK)),
    "reminders among Anthropic's": ("anthropic-messages", lines(
        {**ANTHROPIC_REQUEST, "messages": [*TALK[:3], say("system", "It is late."), *TALK[3:]]})),
    "Anthropic batch": ("anthropic-messages", lines(
        {"custom_id": "r1", "params": ANTHROPIC_REQUEST})),
    "Anthropic batch results": ("anthropic-messages", lines(
        {"custom_id": "r1", "result": {"type": "succeeded", "message": MESSAGE}})),
    "Anthropic at LiteLLM": ("anthropic-messages", lines(
        {"call_type": "anthropic_messages", **CLAUDE, "messages": [say("user", "Look.")],
         "response": MESSAGE})),
    "Anthropic at Bedrock": ("anthropic-messages", lines(
        {**_INVOCATION, "input": {"inputBodyJson": ANTHROPIC_REQUEST},
         "output": {"outputBodyJson": MESSAGE}})),
    "Responses items": ("openai-responses", lines(*ITEMS)),
    "Responses requests": ("openai-responses", lines(RESPONSES_REQUEST)),
    "Responses": ("openai-responses", lines(RESPONSE)),
    "Responses batch input": ("openai-responses", lines(
        {**_BATCH, "url": "/v1/responses", "body": RESPONSES_REQUEST})),
    "Responses exchanges": ("openai-responses", lines(
        {"request": RESPONSES_REQUEST, "response": RESPONSE})),
    "Agents SDK": ("openai-responses", lines(AGENTS)),
    "Agents SDK, lines": ("openai-responses", lines(*AGENTS)),
    "Gemini requests": ("gemini-api", lines(GEMINI_REQUEST)),
    "Gemini batch": ("gemini-api", lines({"key": "r1", "request": GEMINI_REQUEST})),
    "Gemini exchanges": ("gemini-api", lines({"request": GEMINI_REQUEST, "response": CANDIDATES})),
    "Gemini contents": ("gemini-api", lines(CONTENTS)),
    "AI SDK 4": ("ai-sdk", lines(*UI_4)),
    "AI SDK 5": ("ai-sdk", lines(*UI_5)),
    "AI SDK 5, chats": ("ai-sdk", lines({"id": "c", "messages": UI_5})),
    "Bedrock Converse": ("bedrock-converse", lines(CONVERSE_REQUEST)),
    "Bedrock Converse, logged": ("bedrock-converse", lines(
        {**_INVOCATION, "operation": "Converse", "modelId": BEDROCK["modelId"],
         "input": {"inputBodyJson": CONVERSE_REQUEST}})),
    "two APIs": ("api-log", lines(
        {**OPENAI_REQUEST, "response": COMPLETION}, {**ANTHROPIC_REQUEST, "response": MESSAGE})),
    "chats and Responses": ("api-log", lines(
        {"request": OPENAI_REQUEST, "response": COMPLETION},
        {"request": RESPONSES_REQUEST, "response": RESPONSE})),
}  # fmt: skip

_PAIR = [say("user", "Look.")]
_SPAN = {"traceId": "5b8e", "spanId": "051581bf", "name": "chat gpt-4o", "attributes": [
    {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}]}  # fmt: skip
_NODE: Record = {
    "id": "n",
    "parent": None,
    "children": [],
    "message": {
        "id": "n",
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": [LONG]},
    },
}
# What is known by sight and cannot be read: a word of its name, and a file of it.
REFUSED: dict[str, bytes] = {
    "LangChain": lines({"type": "human", "data": {"content": LONG}}),
    "ShareGPT": lines({"conversations": [{"from": "human", "value": LONG}]}),
    "OpenHands": lines([{"id": 0, "source": "user", "action": "message", "args": {}}]),
    "Goose": lines({"working_dir": "/w", "message_count": 3}),
    "SWE-agent": lines({"trajectory": [], "history": [say("user", LONG)]}),
    "Inspect": lines({"version": 2, "status": "success", "eval": {}}),
    "tau-bench": lines([{"task_id": 0, "traj": [say("user", LONG)]}]),
    "Kiro": lines({"conversation_id": "c", "history": []}),
    "OpenTelemetry": lines({"resourceSpans": [{"resource": {}, "scopeSpans": [
        {"scope": {}, "spans": [_SPAN]}]}]}),
    "Open WebUI": lines([{"id": "c", "user_id": "u", "title": "t", "chat": {
        "id": "c", "title": "t", "models": ["gpt-4o"], "history": {
            "currentId": "m", "messages": {"m": say("user", LONG, id="m", parentId=None)}}}}]),
    "LM Studio": lines({"name": "t", "pinned": False, "createdAt": 1760000000000, "messages": [
        {"currentlySelected": 0, "versions": [
            {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": LONG}]}
        ]}]}),
    "ChatGPT": lines([{"title": "t", "create_time": 1760000000.0, "mapping": {"n": _NODE},
                       "current_node": "n", "conversation_id": "c"}]),
    "Claude": lines([{"uuid": "c", "name": "t", "created_at": "2026-01-01T00:00:00Z",
                      "account": {"uuid": "a"}, "chat_messages": [
                          {"uuid": "m", "text": LONG, "sender": "human", "content": []}]}]),
    "Pydantic": lines([{"kind": "request", "parts": [
        {"part_kind": "user-prompt", "content": LONG, "timestamp": "2026-01-01T00:00:00Z"}]}]),
    "preference": lines({"prompt": _PAIR, "chosen": [say("assistant", LONG)],
                         "rejected": [say("assistant", "No.")]}),
}  # fmt: skip
