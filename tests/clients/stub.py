"""A model on loopback that says what a test wants, in the four wire formats of the clients.

It keeps every request, and reports what it may have cost by its length.
"""

import gzip
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)
"""A picture of one pixel: a PNG as base64."""
# As many characters of English and JSON make a token; and what each answer says it has cost.
_CHARACTERS = 4
_OUTPUT = 20
# Seconds after which a call is under way.
_UNDER_WAY = 5


class InterruptedAnswerError(Exception):
    """The rest of an answer is never said."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the model says: a text, or a call of ``tool``, and calls ``beside`` it.

    With ``interrupts`` the client is interrupted in the middle of the text, or of the call.
    """

    text: str = "Understood."
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    beside: tuple["Answer", ...] = ()
    interrupts: bool = False

    def calls(self, number: str) -> Iterator[tuple[str, "Answer"]]:
        """Yield the calls with numbers of their own."""
        if self.tool:
            yield number, self
            yield from ((f"{number}_{at}", call) for at, call in enumerate(self.beside))


class StubModel:
    """Answers requests that may call tools from a script, all others with a word."""

    def __init__(self) -> None:
        self.requests: list[Json] = []
        self.script: deque[Answer] = deque()
        self.usual = Answer()
        self.context = 0
        self.interrupt: Callable[[], None] = lambda: None
        self._count = 0
        handler = type("_Asked", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def expect(self, *script: Answer, usual: Answer | None = None) -> None:
        """Forget what was asked, and answer so from now on."""
        self.requests = []
        self.script = deque(script)
        self.usual = usual or Answer()

    def answer(self, path: str, body: Json) -> tuple[str, Iterator[Json] | Json]:
        """Return the answer to a request: a document, or the events of a stream."""
        if path.endswith(("count_tokens", ":countTokens")):
            return "document", {"input_tokens": 10, "totalTokens": 10}
        self.requests.append(body)
        self.context = len(json.dumps(body)) // _CHARACTERS
        self._count += 1
        chosen = self.script.popleft() if body.get("tools") and self.script else self.usual
        number = f"{self._count:06}"
        if path.endswith(":generateContent"):
            return "document", _generated(chosen, number, self.context)
        kind, events = self._stream(path, chosen, number)
        return kind, self._interrupted(events, chosen) if chosen.interrupts else events

    def _stream(self, path: str, chosen: Answer, number: str) -> tuple[str, Iterator[Json]]:
        if path.endswith("/messages"):
            return "events", _anthropic(chosen, number, self.context)
        if path.endswith("/responses"):
            return "events", _responses(chosen, number, self.context)
        if path.endswith(":streamGenerateContent"):
            return "values", iter([_generated(chosen, number, self.context)])
        return "chunks", _completions(chosen, number, self.context)

    def _interrupted(self, events: Iterator[Json], chosen: Answer) -> Iterator[Json]:
        """Yield all of a call, which is interrupted while it runs, or the first half of a text."""
        if chosen.tool:
            yield from events
            threading.Timer(_UNDER_WAY, self.interrupt).start()
            return
        half = [*events]
        yield from half[: (len(half) + 1) // 2]
        self.interrupt()
        raise InterruptedAnswerError


class _Handler(BaseHTTPRequestHandler):
    """Reads a request in whatever way it is sent, and passes on what the model says."""

    protocol_version = "HTTP/1.1"
    model: StubModel

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._document({})

    def do_GET(self) -> None:
        if "models" in self.path:
            self._document({"object": "list", "data": [], "models": []})
        else:
            self._document({}, 404)

    def do_POST(self) -> None:
        kind, answer = self.model.answer(self.path.split("?")[0], self._body())
        if isinstance(answer, dict):
            self._document(answer)
        else:
            self._stream(answer, kind)

    def _body(self) -> Json:
        if self.headers.get("transfer-encoding") == "chunked":
            data = b"".join(self._chunks())
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        found: Json = json.loads(data or b"{}")
        return found

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _document(self, value: Json, code: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: Iterator[Json], kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for event in events:
                name = f"event: {event['type']}\n" if kind == "events" else ""
                self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        except InterruptedAnswerError:
            # Until the client goes: it must not take this for the end of an answer.
            with suppress(OSError):
                self.rfile.read(1)
            return
        if kind == "chunks":
            self.wfile.write(b"data: [DONE]\n\n")


def _anthropic(answer: Answer, number: str, context: int) -> Iterator[Json]:
    usage = {
        "input_tokens": context,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    }
    blocks: list[tuple[Json, Json]] = [
        (
            {"type": "tool_use", "id": f"toolu_{name}", "name": call.tool, "input": {}},
            {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)},
        )
        for name, call in answer.calls(number)
    ]
    text = {"type": "text_delta", "text": answer.text}
    blocks = blocks or [({"type": "text", "text": ""}, text)]
    message: Json = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "stub",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    reason = "tool_use" if answer.tool else "end_turn"
    yield {"type": "message_start", "message": message}
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": _OUTPUT},
    }
    yield {"type": "message_stop"}


def _responses(answer: Answer, number: str, context: int) -> Iterator[Json]:
    message: Json = {
        "type": "message",
        "id": f"msg_{number}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
    }
    calls: list[Json] = [
        {
            "type": "function_call",
            "id": f"fc_{name}",
            "call_id": f"call_{name}",
            "name": call.tool,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        for name, call in answer.calls(number)
    ]
    items = calls or [message]
    usage = {
        "input_tokens": context,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": _OUTPUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": context + _OUTPUT,
    }
    response = {"id": f"resp_{number}", "object": "response", "created_at": 1, "output": []}
    yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
    for index, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    done = {**response, "status": "completed", "output": items, "usage": usage}
    yield {"type": "response.completed", "response": done}


def _completions(answer: Answer, number: str, context: int) -> Iterator[Json]:
    chunk = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "stub",
    }
    delta: Json = {"role": "assistant", "content": answer.text}
    calls = [
        {
            "index": index,
            "id": f"call_{name}",
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
        }
        for index, (name, call) in enumerate(answer.calls(number))
    ]
    if calls:
        delta = {"role": "assistant", "content": None, "tool_calls": calls}
    reason = "tool_calls" if answer.tool else "stop"
    usage = {
        "prompt_tokens": context,
        "completion_tokens": _OUTPUT,
        "total_tokens": context + _OUTPUT,
    }
    yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield {**chunk, "choices": [], "usage": usage}


def _generated(answer: Answer, number: str, context: int) -> Json:
    calls: list[Json] = [
        {"functionCall": {"id": f"call_{name}", "name": call.tool, "args": call.arguments}}
        for name, call in answer.calls(number)
    ]
    content = {"role": "model", "parts": calls or [{"text": answer.text}]}
    usage = {
        "promptTokenCount": context,
        "candidatesTokenCount": _OUTPUT,
        "totalTokenCount": context + _OUTPUT,
    }
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage,
        "modelVersion": "stub",
        "responseId": f"response_{number}",
    }
