"""Summaries by a server: real sockets on loopback, and nowhere else."""

import socket
import threading

import pytest
from summarizers.talks import Reply, completion, served

from compactctl.errors import UsageError
from compactctl.llm.ask import AskModel, NoAnswerError
from compactctl.llm.openai import resolve_address, server_asker
from compactctl.summaries.by_model.answers import ModelAnswer


def asking(url: str, **fields: object) -> AskModel:
    return server_asker(url, "small", **({"timeout": 5.0} | fields))  # type: ignore[arg-type]


def test_a_server_is_asked_for_a_chat_completion() -> None:
    with served(lambda _: completion("text")) as stub:
        answer = asking(stub.url + "/")("prompt", 300)
    assert answer == ModelAnswer(text="text", finish_reason="stop")
    (asked,) = stub.asked
    assert asked == {
        "path": "/v1/chat/completions",
        "model": "small",
        "messages": [{"role": "user", "content": "prompt"}],
        "temperature": 0,
        "max_tokens": 300,
        "stream": False,
    }
    assert "Authorization" not in stub.headers[0]


def test_a_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k-1")
    with served(lambda _: completion("text")) as stub:
        asking(stub.url, key_variable="MY_KEY")("prompt", 1)
    assert stub.headers[0]["Authorization"] == "Bearer k-1"
    with pytest.raises(UsageError, match="OTHER_KEY: variable not set or empty"):
        asking(stub.url, key_variable="OTHER_KEY")


def test_blanks_around_a_key_are_not_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", " k-1\r\n")
    with served(lambda _: completion("text")) as stub:
        asking(stub.url, key_variable="MY_KEY")("prompt", 1)
    assert stub.headers[0]["Authorization"] == "Bearer k-1"


@pytest.mark.parametrize("odd", ["\r", "\n", " ", "\t", "ü", "€", "\x7f", "\udc80"])
def test_a_key_that_fits_no_header_is_refused_and_not_quoted(
    odd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", f"hunter{odd}hunter")
    with pytest.raises(UsageError, match="--api-key-env MY_KEY: ") as raised:
        asking("http://127.0.0.1:9/v1", key_variable="MY_KEY")
    assert "hunter" not in str(raised.value)


@pytest.mark.parametrize("path", ["/vé", "/v 1", "/v\x7f", "/€/v1"])
def test_a_path_that_is_not_ascii_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match=r"--base-url .*; percent-encode it"):
        asking(f"http://127.0.0.1:9{path}")


@pytest.mark.parametrize("path", ["/!~", "/v%C3%A9"])
def test_a_path_may_have_any_printable_ascii(path: str) -> None:
    assert resolve_address(f"http://127.0.0.1:9{path}", allow_network=False).path == path


def test_a_key_may_have_any_printable_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "!k-1~")
    with served(lambda _: completion("text")) as stub:
        asking(stub.url, key_variable="MY_KEY")("prompt", 1)
    assert stub.headers[0]["Authorization"] == "Bearer !k-1~"


def test_a_complaint_that_quotes_a_key_is_told_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "hunter-2")
    others = "sk" + "-abcdefghij0123456789"
    reply = (401, f"key hunter-2 is wrong, and {others} as well".encode())
    with served(lambda _: reply) as stub, pytest.raises(NoAnswerError) as raised:
        asking(stub.url, key_variable="MY_KEY")("prompt", 1)
    assert str(raised.value) == (
        "status 401: key [REDACTED:api-key] is wrong, and [REDACTED:api-key] as well"
    )


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ((500, b"broken\nbadly"), "status 500: broken"),
        ((400, b'{"error": {"message": "too long"}}'), "status 400: too long"),
        ((404, b""), "status 404: no reason given"),
        ((500, b'{"error": "flat"}'), "status 500: "),
        ((200, b"{garbage"), "not a chat completion"),
        ((200, b"[]"), "not a chat completion"),
        ((200, b'{"choices": []}'), "not a chat completion"),
        ((200, b"[" * 100_000), "not a chat completion"),
        (completion(None), "holds no text"),
    ],
)
def test_what_is_no_answer_is_told(reply: Reply, reason: str) -> None:
    with served(lambda _: reply) as stub, pytest.raises(NoAnswerError, match=reason):
        asking(stub.url)("prompt", 1)


def test_an_answer_has_at_most_8_mib() -> None:
    _, empty = completion("")
    room = (8 << 20) - len(empty)
    with served(lambda number: completion("a" * (room + number))) as stub:
        ask = asking(stub.url)
        assert len(ask("prompt", 1).text) == room
        with pytest.raises(NoAnswerError, match=r"^an answer of more than 8,388,608 bytes$"):
            ask("prompt", 1)


def test_a_redirect_is_not_followed() -> None:
    with served(lambda _: completion("stolen")) as other:
        moved = served(lambda _: (307, b""), moved_to=f"{other.url}/chat/completions")
        with moved as stub, pytest.raises(NoAnswerError, match="status 307"):
            asking(stub.url)("prompt", 1)
    assert other.asked == []


def test_a_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(lambda _: completion("text")) as stub, served(lambda _: (200, b"")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert asking(stub.url)("prompt", 1).text == "text"
    assert proxy.asked == []


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(NoAnswerError, match=r"no answer within 0\.1 seconds"):
            asking(url, timeout=0.1)("prompt", 1)


def test_a_server_that_talks_for_ever_is_not_listened_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as chatty:
        threading.Thread(target=_talk, args=(chatty,), daemon=True).start()
        url = f"http://127.0.0.1:{chatty.getsockname()[1]}"
        with pytest.raises(NoAnswerError, match=r"no answer within 0\.3 seconds"):
            asking(url, timeout=0.3)("prompt", 1)


def _talk(server: socket.socket) -> None:
    stream, _ = server.accept()
    with stream:
        stream.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                stream.sendall(b" ")
                threading.Event().wait(0.02)
        except OSError:
            return


def test_a_server_that_does_not_speak_tls_gives_no_answer() -> None:
    with served(lambda _: completion("text")) as stub:
        ask = asking(stub.url.replace("http:", "https:"))
        with pytest.raises(NoAnswerError, match=r"^SSLError: "):
            ask("prompt", 1)
    assert stub.asked == []


def test_a_server_that_is_not_there_gives_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(NoAnswerError, match="ConnectionRefusedError"):
        asking(f"http://127.0.0.1:{port}/v1")("prompt", 1)


@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.1:80/v1",
        "http://0.0.0.0/v1",
        "https://[2001:db8::1]/v1",
        "http://[::ffff:192.0.2.1]/v1",
        "http://3221225985/v1",
    ],
)
def test_an_address_that_is_not_this_machines_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is another machine; add --allow-network"):
        asking(url)


def test_a_name_that_has_an_address_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def both(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(0, 0, 0, "", (ip, 80)) for ip in ("127.0.0.1", "192.0.2.7")]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with pytest.raises(UsageError, match="example is another machine"):
        resolve_address("http://example/v1", allow_network=False)
    assert resolve_address("http://example/v1", allow_network=True).ip == "127.0.0.1"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:9/v1/", ("127.0.0.1", 9, "/v1", False)),
        ("http://127.8.8.8", ("127.8.8.8", 80, "", False)),
        ("https://127.0.0.1", ("127.0.0.1", 443, "", True)),
        ("https://[::1]:8443/v1", ("::1", 8443, "/v1", True)),
        ("http://[::ffff:127.0.0.1]:9", ("::ffff:127.0.0.1", 9, "", False)),
    ],
)
def test_this_machines_addresses_are_allowed(
    url: str, expected: tuple[str, int, str, bool]
) -> None:
    address = resolve_address(url, allow_network=False)
    assert (address.ip, address.port, address.path, address.is_secure) == expected
    assert address.is_local


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:80", "ftp://127.0.0.1", "http://", "http://127.0.0.1:99999", "http://[::1",
     "http://127.0.0.1/v1?x=1", "http://127.0.0.1/v1#x", "http://me:pass@127.0.0.1/v1",
     "http://me@127.0.0.1/v1", "http://:pass@127.0.0.1/v1"],
)  # fmt: skip
def test_what_is_no_base_url_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="--base-url"):
        asking(url)


def test_a_key_does_not_cross_the_network_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k-1")
    with pytest.raises(UsageError, match="use https"):
        asking("http://192.0.2.1/v1", key_variable="MY_KEY", allow_network=True)
    asking("http://192.0.2.1/v1", allow_network=True)
    asking("https://192.0.2.1/v1", key_variable="MY_KEY", allow_network=True)
