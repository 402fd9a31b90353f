"""A server on loopback that answers like OpenAI's chat API, and refuses what that refuses."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Chat = Mapping[str, Any]


def unpaired(messages: Sequence[Chat]) -> str:
    """Return why the API refuses messages for what they call and answer, "" if it does not."""
    waiting: set[str] = set()
    for message in messages:
        answered = {message["tool_call_id"]} if message["role"] == "tool" else set[str]()
        if answered - waiting:
            return "messages with role 'tool' must follow a message with 'tool_calls'"
        if waiting and not answered:
            return "'tool_calls' must be followed by tool messages for each 'tool_call_id'"
        waiting -= answered
        waiting |= {call["id"] for call in message.get("tool_calls") or ()}
    return "'tool_calls' without tool messages" if waiting else ""


@dataclass
class StrictServer:
    """Takes requests of up to ``window`` tokens, and makes these calls of tools before it ends.

    A call is a tool's name and its arguments; a token is four bytes of JSON. ``requests`` are the
    messages of each request that was answered, ``refusals`` what was wrong with others, and
    ``too_large`` the sizes of those that were that.
    """

    window: int
    calls: Sequence[tuple[str, Chat]]
    url: str = ""
    requests: list[list[Chat]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    too_large: list[int] = field(default_factory=list)

    def answer(self, request: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of an answer."""
        messages = request["messages"]
        size = len(json.dumps(messages)) // 4
        if size > self.window:
            self.too_large.append(size)
            said = (
                f"This model's maximum context length is {self.window} tokens. However, your "
                f"messages resulted in {size} tokens. Please reduce the length of the messages."
            )
            return 400, _error(said, "context_length_exceeded")
        if why := unpaired(messages):
            self.refusals.append(why)
            return 400, _error(why, None)
        number = len(self.requests)
        self.requests.append(messages)
        message: dict[str, Any] = {"role": "assistant", "content": "All parts are read."}
        for name, arguments in self.calls[number : number + 1]:
            function = {"name": name, "arguments": json.dumps(arguments)}
            call = {"id": f"call_{number}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return 200, {
            "id": f"answer_{number}",
            "object": "chat.completion",
            "created": 1,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": size, "completion_tokens": 9, "total_tokens": size + 9},
        }


def _error(message: str, code: str | None) -> dict[str, Any]:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return {"error": error}


@contextmanager
def serving(server: StrictServer) -> Iterator[StrictServer]:
    """Let a server listen as long as the context lasts; ``url`` is its base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, answer = server.answer(json.loads(body))
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_port}/v1"
        thread = Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
