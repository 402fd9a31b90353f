"""Ask a model behind an OpenAI-compatible server; connect only to the address that was checked."""

import http.client
import ipaddress
import json
import os
import socket
import ssl
import time
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from compactctl.errors import UsageError
from compactctl.llm.ask import AskModel, NoAnswerError
from compactctl.records import Record
from compactctl.summaries.by_model.answers import ModelAnswer

_PORTS = {"http": 80, "https": 443}
# A summary has some ten thousand bytes; an answer far longer is not one.
_MAX_ANSWER = 8 << 20
_CHUNK = 1 << 16


class Address(Record):
    """A base URL and the IP address behind its host name.

    Attributes:
        is_secure: whether the scheme is https.
        host, port, path: the parts of the URL; the path has no slash at its end.
        ip: the address the host name resolved to when it was checked. Connections go there even
            if the name resolves to another machine later.
    """

    is_secure: bool
    host: str
    port: int
    path: str
    ip: str

    @property
    def is_local(self) -> bool:
        """Whether it is a loopback address."""
        return _is_loopback(self.ip)


def resolve_address(url: str, *, allow_network: bool) -> Address:
    """Resolve a base URL such as ``http://127.0.0.1:8080/v1``.

    Raises UsageError for any other URL, for a host that does not resolve, and, unless
    ``allow_network``, for a host with an address outside of this machine.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"--base-url {url}: {error}") from error
    if parts.scheme not in _PORTS or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(f"--base-url {url}: must be a URL, e.g. http://127.0.0.1:8080/v1")
    if parts.username or parts.password:
        raise UsageError("--base-url: contains a password; use --api-key-env instead")
    if not all("!" <= letter <= "~" for letter in parts.path):
        raise UsageError(
            f"--base-url {url}: its path contains a space or a non-ASCII letter; percent-encode "
            "it, e.g. %C3%A9 for é"
        )
    ips = _resolve(parts.hostname)
    if not allow_network and not all(map(_is_loopback, ips)):
        raise UsageError(
            f"--base-url {url}: {parts.hostname} is another machine; add --allow-network to send "
            "the conversation there"
        )
    return Address(
        is_secure=parts.scheme == "https",
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        path=parts.path.rstrip("/"),
        ip=ips[0],
    )


def _resolve(host: str) -> list[str]:
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--base-url: the host {host} cannot be found: {error}") from error
    return [str(socket_address[0]) for *_, socket_address in entries]


def _is_loopback(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


class Server(Record):
    """Where to ask which model, with which key ("" for none), and the timeout in seconds."""

    address: Address
    model: str
    key: str
    timeout: float


def server_asker(
    url: str, model: str, *, key_variable: str = "", timeout: float, allow_network: bool = False
) -> AskModel:
    """Return a function that asks ``model`` at the base URL ``url``.

    It connects to no other address: redirects and proxies are not followed. The key comes from the
    environment variable ``key_variable``, if one is named. Raises UsageError for a URL or key that
    cannot be used.
    """
    address = resolve_address(url, allow_network=allow_network)
    key = _key(key_variable) if key_variable else ""
    if key and not (address.is_local or address.is_secure):
        raise UsageError(f"--base-url {url}: the API key would be sent unencrypted; use https")
    return partial(_ask, Server(address=address, model=model, key=key, timeout=timeout))


def _key(variable: str) -> str:
    """Return the key in a variable, stripped: one read from a file with CRLF ends in a blank.

    Raises UsageError, which never quotes the key, if it is missing or not valid in a header.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"--api-key-env {variable}: variable not set or empty")
    if not all("!" <= letter <= "~" for letter in key):
        raise UsageError(
            f"--api-key-env {variable}: the key contains a space, a control character or a "
            "non-ASCII letter; copy it again"
        )
    return key


def _ask(server: Server, prompt: str, max_tokens: int) -> ModelAnswer:
    try:
        status, body = _post(server, _request(server, prompt, max_tokens))
    except TimeoutError as error:
        raise NoAnswerError(f"no answer within {server.timeout:g} seconds") from error
    except (OSError, http.client.HTTPException) as error:
        raise NoAnswerError(f"{type(error).__name__}: {error}") from error
    if status != http.client.OK:
        message = _error_message(body)
        if server.key:
            message = message.replace(server.key, "[REDACTED:api-key]")
        raise NoAnswerError(f"status {status}: {message}")
    return _answer(body)


def _request(server: Server, prompt: str, max_tokens: int) -> bytes:
    request = {
        "model": server.model,
        "messages": [{"role": "user", "content": prompt}],
        "temperature": 0,
        "max_tokens": max_tokens,
        "stream": False,
    }
    return json.dumps(request).encode()


def _post(server: Server, body: bytes) -> tuple[int, bytes]:
    deadline = time.monotonic() + server.timeout
    address = server.address
    with _connect(server) as stream:
        connection = http.client.HTTPConnection(address.host, address.port)
        connection.sock = stream
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if server.key:
            headers["Authorization"] = f"Bearer {server.key}"
        connection.request("POST", f"{address.path}/chat/completions", body, headers)
        response = connection.getresponse()
        return response.status, _read(response, stream, deadline)


def _connect(server: Server) -> socket.socket:
    address = server.address
    stream = socket.create_connection((address.ip, address.port), server.timeout)
    if not address.is_secure:
        return stream
    try:
        return ssl.create_default_context().wrap_socket(stream, server_hostname=address.host)
    except BaseException:
        stream.close()
        raise


def _read(response: http.client.HTTPResponse, stream: socket.socket, deadline: float) -> bytes:
    """Read the body; raises TimeoutError if it is not complete by ``deadline``."""
    chunks, size = [], 0
    while chunk := response.read1(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > _MAX_ANSWER:
            raise NoAnswerError(f"an answer of more than {_MAX_ANSWER:,} bytes")
        # From Python 3.13 on the last chunk closes the response, and the socket with it.
        if response.isclosed():
            break
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        stream.settimeout(remaining)
    return b"".join(chunks)


def _answer(body: bytes) -> ModelAnswer:
    try:
        choice = json.loads(body)["choices"][0]
        text = choice["message"]["content"]
        reason = choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise NoAnswerError("the answer is not a chat completion") from error
    if not isinstance(text, str):
        raise NoAnswerError("the answer holds no text")
    return ModelAnswer(text=text, finish_reason=reason if isinstance(reason, str) else "")


def _error_message(body: bytes) -> str:
    """Return the message of an OpenAI-style error body, else the first line of any other body."""
    text = body.decode("utf-8", "replace")
    try:
        document: Any = json.loads(text)
        message = document["error"]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        message = text.strip().partition("\n")[0]
    return str(message) or "no reason given"
