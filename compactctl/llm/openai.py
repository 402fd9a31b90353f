"""Summaries written by a model behind an OpenAI-compatible server."""

import http.client
import json
import os
import socket
import ssl
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from compactctl.errors import UsageError
from compactctl.llm.address import Address, address_of
from compactctl.llm.ask import Ask, NoAnswerError
from compactctl.summaries.by_model.answers import Answer

# A summary has some ten thousand bytes; what is far longer is not one.
_LARGEST_ANSWER = 8 << 20
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Which model to ask, where, with which key, and for how many seconds at most."""

    address: Address
    model: str
    key: str
    timeout: float


def asking_server(
    url: str, model: str, *, key_variable: str = "", timeout: float, allow_network: bool = False
) -> Ask:
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


def _ask(server: Server, prompt: str, max_tokens: int) -> Answer:
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
    while piece := response.read1(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > _LARGEST_ANSWER:
            raise NoAnswerError(f"an answer of more than {_LARGEST_ANSWER:,} bytes")
        # From Python 3.13 on the last piece closes the response, and the socket with it.
        if response.isclosed():
            break
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        stream.settimeout(left)
    return b"".join(pieces)


def _answer(body: bytes) -> Answer:
    try:
        choice = json.loads(body)["choices"][0]
        text = choice["message"]["content"]
        reason = choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise NoAnswerError("the answer is not a chat completion") from error
    if not isinstance(text, str):
        raise NoAnswerError("the answer holds no text")
    return Answer(text=text, finish_reason=reason if isinstance(reason, str) else "")


def _complaint(body: bytes) -> str:
    """Return what a server says went wrong, in the form of OpenAI's API or in any other."""
    text = body.decode("utf-8", "replace")
    try:
        document: Any = json.loads(text)
        message = document["error"]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        message = text.strip().partition("\n")[0]
    return str(message) or "no reason given"
