"""A server and commands that stand in for models, and a conversation to summarize."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from builders import assistant, conversation, user

from compactctl.model.summary import SummaryRequest

TALK = conversation(
    user("Make the port configurable, but never change the default of 8080. " + "Please. " * 30),
    assistant("The port is read in src/serve/config.py. " + "Hm. " * 80),
    user("Then go on. " + "Now. " * 60),
)
REQUEST = SummaryRequest(messages=TALK, budget=150)
GOOD = "The port of src/serve/config.py becomes configurable; 8080 stays the default."

Reply = tuple[int, bytes]


def count(text: str) -> int:
    return len(text.split())


def completion(text: object, finish_reason: str = "stop") -> Reply:
    """Return the answer of a chat API."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    return 200, json.dumps({"choices": [choice]}).encode()


@dataclass
class Stub:
    """A server's base URL and the requests it got: headers and documents."""

    url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def served(answer: Callable[[int], Reply], *, moved_to: str = "") -> Iterator[Stub]:
    """Serve on loopback; ``answer`` gets the number of the request, from 0."""
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            stub.headers.append(dict(self.headers))
            stub.asked.append({"path": self.path, **json.loads(body)})
            status, data = answer(len(stub.asked) - 1)
            self.send_response(status)
            if moved_to:
                self.send_header("Location", moved_to)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def program(code: str) -> str:
    """Return a command line that runs a line of Python."""
    return f"{sys.executable} -c '{code}'"
