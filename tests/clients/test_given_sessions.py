"""Real sessions, compacted and undone, are sent by their client as ``view`` shows them."""

from pathlib import Path

import pytest
from clients.asking import compactctl, viewed_records
from clients.desk import Client, Desk
from clients.given import WAYS, given_sessions, model_of, placed
from clients.pieces import WIRES, pieces_expected, pieces_sent
from clients.stub import StubModel

from compactctl.records import replace

PROMPT = "And now, please?"
SESSIONS = [pytest.param(*each, id=f"{each[0].name}-{each[1].stem}") for each in given_sessions()]


@pytest.fixture
def desk(programs: Path, model: StubModel, tmp_path: Path) -> Desk:
    return Desk(home=tmp_path / "home", programs=programs, model=model)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("client", "source"), SESSIONS)
def test_it_is_sent_as_view_shows_it(client: Client, source: Path, way: str, desk: Desk) -> None:
    wire, path = WIRES[client.name], placed(client, source, desk)
    before, whole = path.read_bytes(), pieces_expected(wire, viewed_records(desk, path))
    command, *options = WAYS[way]
    done = compactctl(desk, command, str(path), *options)
    if command == "rewind" and not done["byClient"]:
        pytest.skip("its client has compacted nothing")
    session = str(done["output"])
    if way.endswith(", undone"):
        compactctl(desk, "rewind", session, "--while-open")
    records = viewed_records(desk, session)
    expected = pieces_expected(wire, records)
    if way.endswith(", undone"):
        assert expected == whole
    desk.model.expect()
    named = session if client.name == "pi" else client.id_of(session)
    asking = replace(desk, asked=model_of(records))
    said = client.say(asking, PROMPT, session=named, limit=None)
    requests = [request for request in desk.model.requests if request.get("tools")]
    assert len(requests) == 1, said
    assert pieces_sent(wire, requests[0], expected, PROMPT) == expected
    assert path.read_bytes().startswith(before)
