"""Object stores to test against: one in memory, and S3 as a server on this machine."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any, Self

import obstore
import pytest

from compactctl.store.files import objects

BUCKET = "s3://logs"


@dataclass(frozen=True)
class Bucket:
    """A bucket with the URL ``s3://logs``."""

    store: Any

    def put(self, key: str, data: bytes) -> None:
        obstore.put(self.store, key, data)

    def get(self, key: str) -> bytes:
        return bytes(obstore.get(self.store, key).bytes())

    def keys(self) -> list[str]:
        return sorted(item["path"] for page in obstore.list(self.store) for item in page)


@contextmanager
def bucket_in_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    from obstore.store import MemoryStore

    store = MemoryStore()
    monkeypatch.setattr(objects, "_open_store", lambda _: store)
    yield Bucket(store)


@contextmanager
def bucket_on_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """Start a server that behaves as S3 does, and use it for all buckets."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        use_server(monkeypatch, server.get_host_and_port()[1])
        store: Any = objects._open_store(BUCKET)
        import boto3

        # Servers of one process have the same buckets.
        with closing(HTTPConnection("127.0.0.1", server_port())) as connection:
            connection.request("POST", "/moto-api/reset")
            connection.getresponse().read()
        boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"]).create_bucket(Bucket="logs")
        yield Bucket(store)
    finally:
        objects._open_store.cache_clear()
        server.stop()


def use_server(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """Send all requests to this port of this machine."""
    objects._open_store.cache_clear()
    variables = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def server_port() -> int:
    """Return the port that requests are sent to."""
    return int(os.environ["AWS_ENDPOINT_URL"].rpartition(":")[2])


@dataclass
class Proxy:
    """Passes connections on to a server, unless ``fault`` takes one over.

    ``fault`` gets the head of a request, and returns what to do with it: "pass", "cut" the answer
    after some bytes, "drop" the request once half of it has come, answer with a status such as
    "500" and the body ``reason``, or "stall".
    """

    target: int
    fault: Callable[[bytes], str] = lambda _: "pass"
    reason: bytes = b""
    requests: list[bytes] = field(default_factory=list)
    _listener: socket.socket = field(default_factory=socket.socket)

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    def __enter__(self) -> Self:
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._handle, args=(client,), daemon=True).start()

    def _handle(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            while head := _head(client):
                self.requests.append(head)
                what = self.fault(head)
                body = _body(client, head, part=0.5 if what == "drop" else 1)
                if what == "drop":
                    return
                if what == "stall":
                    client.recv(1)
                    return
                answer = self._refusal(what) if what.isdigit() else self._answer(head, body)
                client.sendall(answer[: len(answer) * 2 // 3] if what == "cut" else answer)
                if what == "cut":
                    return

    def _refusal(self, status: str) -> bytes:
        size = len(self.reason)
        return f"HTTP/1.1 {status} Refused\r\nContent-Length: {size}\r\n\r\n".encode() + self.reason

    def _answer(self, head: bytes, body: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.target)) as server:
            lines = [
                line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")
            ]
            lines[1:1] = [b"Connection: close"]
            server.sendall(b"\r\n".join(lines) + body)
            return b"".join(iter(lambda: server.recv(1 << 16), b""))


def _head(client: socket.socket) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        if not byte:
            return b""
        head += byte
    return head


def _body(client: socket.socket, head: bytes, part: float) -> bytes:
    size = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            size = int(int(value) * part)
    body = b""
    while len(body) < size:
        received = client.recv(min(1 << 16, size - len(body)))
        if not received:
            break
        body += received
    return body
