"""Real sessions, compacted and undone, are sent by their client as ``view`` shows them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from clients.asking import compactctl
from clients.desk import Client, Desk
from clients.given import WAYS, given_sessions, model_of, placed, resumed_by
from clients.pieces import WIRES, Piece, in_any_order, pieces_expected, pieces_sent
from clients.running import ALL_CLIENTS
from clients.stub import StubModel

PROMPT = "And now, please?"


@dataclass(frozen=True, kw_only=True)
class Given:
    """A session of a client, and what is done with it."""

    client: Client
    source: Path
    way: str


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A session that was changed: its bytes, those before, and what ``view`` shows of it.

    ``whole`` is what it showed before, where the change is undone.
    """

    desk: Desk
    path: Path
    data: bytes
    original: bytes
    expected: Sequence[Piece]
    whole: Sequence[Piece]


# All versions of a client go on with one session after another: it is changed once for them.
CASES = [
    pytest.param(given, client, id=f"{client.program}:{source.stem}:{way}")
    for first, source in given_sessions()
    for way in WAYS
    for given in [Given(client=first, source=source, way=way)]
    for client in ALL_CLIENTS
    if client.name == first.name
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
    wire, path = WIRES[given.client.name], placed(given.client, given.source.read_bytes(), desk)
    original, session = path.read_bytes(), path
    is_undone = given.way.endswith(", undone")
    whole = pieces_expected(wire, desk, path) if is_undone else []
    if WAYS[given.way]:
        command, *options = WAYS[given.way]
        done = compactctl(desk, command, str(path), *options)
        if command == "rewind" and not done["byClient"]:
            pytest.skip("its client has compacted nothing")
        session = Path(str(done["output"]))
    if is_undone:
        compactctl(desk, "rewind", str(session), "--while-open")
    return Changed(
        desk=desk,
        path=session,
        data=session.read_bytes(),
        original=original,
        expected=pieces_expected(wire, desk, session),
        whole=whole,
    )


@pytest.mark.parametrize(("changed", "client"), CASES, indirect=["changed"], scope="module")
def test_it_is_sent_as_view_shows_it(
    changed: Changed, client: Client, request: pytest.FixtureRequest
) -> None:
    if not (changed.desk.programs / client.program).exists():
        pytest.skip(f"{client.program} is not installed")
    way = request.node.callspec.id.rpartition(":")[2]
    if way.endswith(", undone"):
        assert changed.expected == changed.whole
    if way != "in place":
        assert changed.data.startswith(changed.original) or way.startswith("new session")
    changed.path.write_bytes(changed.data)
    desk = replace(changed.desk, asked=model_of(changed.data))
    desk.model.expect()
    said = client.say(desk, PROMPT, session=resumed_by(client, changed.path), limit=None)
    requests = [asked for asked in desk.model.requests if asked.get("tools")]
    assert len(requests) == 1, said
    expected = [*changed.expected]
    sent = pieces_sent(WIRES[client.name], requests[0], expected, PROMPT)
    if client.program.endswith("-older"):
        sent, expected = in_any_order(sent), in_any_order(expected)
    assert sent == expected
