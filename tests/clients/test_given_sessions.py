"""Real sessions, compacted and undone, are sent by their client as ``view`` shows them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from clients.asking import compactctl
from clients.desk import Client, Desk
from clients.given import WAYS, given_sessions, may_go, model_of, placed, resumed_by
from clients.pieces import WIRES, Piece, in_any_order, pieces_expected, pieces_sent
from clients.running import ALL_CLIENTS, Lead
from clients.stub import StubModel

PROMPT = "And now, please?"


@dataclass(frozen=True, kw_only=True)
class Given:
    """A session of a client, and what is done with it."""

    client: Client
    source: Path | Lead
    way: str

    @property
    def name(self) -> str:
        """By what the session is known."""
        return self.source.name if isinstance(self.source, Lead) else self.source.stem


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A session that was changed: its bytes, those before, and what ``view`` shows of it.

    ``whole`` is what it showed before, where the change is undone. There are no bytes of a session
    that is not a file. With ``is_new`` it is another session than the one that was changed.
    """

    desk: Desk
    session: str
    is_new: bool
    data: bytes
    original: bytes
    expected: Sequence[Piece]
    whole: Sequence[Piece]


# All versions of a client go on with one session after another: it is changed once for them.
CASES = [
    pytest.param(given, client, id=f"{client.program}:{given.name}:{way}")
    for first, source in given_sessions()
    for way in WAYS
    for given in [Given(client=first, source=source, way=way)]
    for client in ALL_CLIENTS
    if client.name == first.name and may_go(first, way)
]


@pytest.fixture(scope="module")
def changed(
    request: pytest.FixtureRequest,
    programs: Path,
    model: StubModel,
    tmp_path_factory: pytest.TempPathFactory,
) -> Changed:
    given: Given = request.param
    versions = [client for client in ALL_CLIENTS if client.name == given.client.name]
    if not any((programs / client.program).exists() for client in versions):
        pytest.skip(f"{given.client.name} is not installed")
    desk = Desk(home=tmp_path_factory.mktemp("given") / "home", programs=programs, model=model)
    wire, client = WIRES[given.client.name], given.client
    session = begun(given, desk)
    first, original = session, bytes_of(client, session)
    is_undone = given.way.endswith(", undone")
    whole = pieces_expected(wire, desk, session) if is_undone else []
    if WAYS[given.way]:
        command, *options = WAYS[given.way]
        done = compactctl(desk, command, session, *options)
        if command == "rewind" and not done["byClient"]:
            pytest.skip("its client has compacted nothing")
        if done["output"] is None:
            pytest.skip("nothing is left to compact of what its client has compacted")
        session = taken_in(client, desk, str(done["output"]))
    if is_undone:
        done = compactctl(desk, "rewind", session, "--while-open")
        session = taken_in(client, desk, str(done["output"]))
    return Changed(
        desk=desk,
        session=session,
        is_new=session != first,
        data=bytes_of(client, session),
        original=original,
        expected=pieces_expected(wire, desk, session),
        whole=whole,
    )


def begun(given: Given, desk: Desk) -> str:
    """Return the session, which its client finds."""
    if isinstance(given.source, Lead):
        return given.source.go(given.client, desk)
    return placed(given.client, given.source.read_bytes(), desk)


def taken_in(client: Client, desk: Desk, output: str) -> str:
    """Have a client take in what was written for it; return the session."""
    if client.has_files:
        return output
    client.take_in(desk, output)
    return client.id_of(output)


def bytes_of(client: Client, session: str) -> bytes:
    """Return the bytes of a session, none if it is not a file."""
    return Path(session).read_bytes() if client.has_files else b""


@pytest.mark.parametrize(("changed", "client"), CASES, indirect=["changed"], scope="module")
def test_it_is_sent_as_view_shows_it(
    changed: Changed, client: Client, request: pytest.FixtureRequest
) -> None:
    if not (changed.desk.programs / client.program).exists():
        pytest.skip(f"{client.program} is not installed")
    way = request.node.callspec.id.rpartition(":")[2]
    if way.endswith(", undone"):
        assert changed.expected == changed.whole
    if way != "in place" and not changed.is_new:
        assert changed.data.startswith(changed.original)
    if client.has_files:
        Path(changed.session).write_bytes(changed.data)
    desk = replace(changed.desk, asked=model_of(changed.data))
    desk.model.expect()
    said = client.say(desk, PROMPT, session=resumed_by(client, changed.session), limit=None)
    requests = [asked for asked in desk.model.requests if asked.get("tools")]
    assert len(requests) == 1, said
    expected = [*changed.expected]
    sent = pieces_sent(WIRES[client.name], requests[0], expected, PROMPT)
    if client.program.endswith("-older"):
        sent, expected = in_any_order(sent), in_any_order(expected)
    assert sent == expected
