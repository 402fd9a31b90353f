"""Summaries written by a model behind an OpenAI-compatible server."""

import http.client
import ipaddress
import json
import os
import socket
import ssl
import time
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from compactctl.errors import UsageError
from compactctl.llm.ask import AskModel, NoAnswerError
from compactctl.summaries.by_model.answers import ModelAnswer

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A base URL and the IP address behind its host name.

    Attributes:
        is_secure: whether it is reached with https.
        host, port, path: the parts of the URL; the path has no slash at its end.
        ip: what the host name stood for when it was checked; connections go there and nowhere
            else, whatever the name means later.
    """

    is_secure: bool
    host: str
    port: int
    path: str
    ip: str

    @property
    def is_local(self) -> bool:
        """Whether the address is that of this machine."""
        return _is_loopback(self.ip)


def address_of(url: str, *, allow_network: bool) -> Address:
    """Resolve a base URL such as ``http://127.0.0.1:8080/v1``.

    Raises UsageError for what is not such a URL, for a host that cannot be found, and, unless
    ``allow_network``, for one with any address that is not this machine's.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"--base-url {url}: {error}") from error
    if parts.scheme not in _PORTS or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(f"--base-url {url}: give a URL such as http://127.0.0.1:8080/v1")
    if parts.username or parts.password:
        raise UsageError("--base-url: a password does not belong there; see --api-key-env")
    if not all("!" <= letter <= "~" for letter in parts.path):
        raise UsageError(
            f"--base-url {url}: a blank or a letter that is not ASCII is in its path; write it "
            "with percent signs, as %C3%A9 for é"
        )
    found = _resolved(parts.hostname, port or _PORTS[parts.scheme])
    if not allow_network and not all(map(_is_loopback, found)):
        raise UsageError(
            f"--base-url {url}: {parts.hostname} is not this machine; the conversation would leave "
            "it, which --allow-network allows"
        )
    return Address(
        is_secure=parts.scheme == "https",
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        path=parts.path.rstrip("/"),
        ip=found[0],
    )


def _resolved(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--base-url: the host {host} cannot be found: {error}") from error
    return [str(each[4][0]) for each in found]


def _is_loopback(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


# A summary has some ten thousand bytes; what is far longer is not one.
_MAX_ANSWER = 8 << 20
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Which model to ask, where, with which key, and for how many seconds at most."""

    address: Address
    model: str
    key: str
    timeout: float


def server_asker(
    url: str, model: str, *, key_variable: str = "", timeout: float, allow_network: bool = False
) -> AskModel:
    """Return what asks ``model`` behind the base URL ``url``.

    Nothing but that address is ever connected to: redirects and proxies are not followed. The key
    is taken from the environment variable ``key_variable``, if one is named. Raises UsageError for
    a URL or key that cannot be used.
    """
    address = address_of(url, allow_network=allow_network)
    key = _key(key_variable) if key_variable else ""
    if key and not (address.is_local or address.is_secure):
        raise UsageError(f"--base-url {url}: a key would be sent in the clear; use https")
    return partial(_ask, Server(address=address, model=model, key=key, timeout=timeout))


def _key(variable: str) -> str:
    """Return the key in a variable without the blanks around it, as a file with CRLF leaves one.

    Raises UsageError, which never quotes the key, for one that is not there or fits no header.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"--api-key-env {variable}: that variable is not set, or empty")
    if not all("!" <= letter <= "~" for letter in key):
        raise UsageError(
            f"--api-key-env {variable}: a blank, a control character or a letter that is not ASCII "
            "is in that key; copy it again"
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
        said = _complaint(body)
        if server.key:
            said = said.replace(server.key, "[REDACTED:api-key]")
        raise NoAnswerError(f"status {status}: {said}")
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
    where = server.address
    with _connected(server) as stream:
        connection = http.client.HTTPConnection(where.host, where.port)
        connection.sock = stream
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if server.key:
            headers["Authorization"] = f"Bearer {server.key}"
        connection.request("POST", f"{where.path}/chat/completions", body, headers)
        response = connection.getresponse()
        return response.status, _read(response, stream, deadline)


def _connected(server: Server) -> socket.socket:
    where = server.address
    stream = socket.create_connection((where.ip, where.port), server.timeout)
    if not where.is_secure:
        return stream
    try:
        return ssl.create_default_context().wrap_socket(stream, server_hostname=where.host)
    except BaseException:
        stream.close()
        raise


def _read(response: http.client.HTTPResponse, stream: socket.socket, deadline: float) -> bytes:
    """Read an answer; raises TimeoutError when it is not complete by ``deadline``."""
    pieces, size = [], 0
    while piece := response.read1(_CHUNK):
        pieces.append(piece)
        size += len(piece)
        if size > _MAX_ANSWER:
            raise NoAnswerError(f"an answer of more than {_MAX_ANSWER:,} bytes")
        # From Python 3.13 on the last piece closes the response, and the socket with it.
        if response.isclosed():
            break
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        stream.settimeout(left)
    return b"".join(pieces)


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


def _complaint(body: bytes) -> str:
    """Return what a server says went wrong, in the form of OpenAI's API or in any other."""
    text = body.decode("utf-8", "replace")
    try:
        document: Any = json.loads(text)
        message = document["error"]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        message = text.strip().partition("\n")[0]
    return str(message) or "no reason given"
