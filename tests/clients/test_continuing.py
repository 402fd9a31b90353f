"""A compacted session goes on in its client, which sends what is left and nothing before it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from clients.running import Client, Desk, Sent, talk

# Of what a session holds, from where on the client compacts by itself: below what it was when it
# is compacted, above what is left.
LIMIT = 0.7
STAGES = {
    "outputs": ("--stages", "dedup,prune", "--prune-protect-tokens", "500",
                "--prune-min-savings", "0", "--keep-turns", "0"),
    "default": ("--keep", "40%"),
    "summary": ("--stages", "summarize", "--keep-turns", "1"),
}  # fmt: skip
LAYOUTS = ("fork", "--in-place")


def compactctl(desk: Desk, *words: str | Path) -> dict[str, object]:
    """Run the program as people do in this home; return its document."""
    command = [sys.executable, "-m", "compactctl", *words, "--json"]
    done = subprocess.run(
        command, cwd=desk.project, env={"HOME": str(desk.home)}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, object] = json.loads(done.stdout)
    return found


def compacted(desk: Desk, session: Path, layout: str, *stages: str) -> Path:
    """Compact a session; return the file that the client goes on with."""
    how = () if layout == "fork" else (layout,)
    return Path(str(compactctl(desk, "compact", session, *stages, *how)["output"]))


def viewed(desk: Desk, session: Path) -> Iterator[Sent]:
    """Yield what ``view`` shows of a session, as pieces of a request."""
    found = compactctl(desk, "view", "--full", session)["messages"]
    assert isinstance(found, list)
    said = (message for message in found if message["role"] != "system")
    for part in (part for message in said for part in message["parts"]):
        if part["kind"] == "text" and part["text"] and not part["text"].startswith("<"):
            yield "text", "", part["text"].strip()
        elif part["kind"] == "tool_call":
            yield "call", part["callId"], part["tool"]
        elif part["kind"] == "tool_result":
            yield "result", part["callId"], part["text"].strip()


def sent(client: Client, desk: Desk) -> list[list[Sent]]:
    """Return what each request held, without those that may call no tools."""
    return [list(client.sent(each)) for each in desk.model.requests if each.get("tools")]


def test_a_full_session_is_compacted_by_its_client(client: Client, desk: Desk) -> None:
    session = talk(client, desk)
    full = desk.model.context
    desk.model.expect()
    client.say(desk, "And now?", session=client.id_of(session), limit=int(full * LIMIT))
    assert sent(client, desk) != [[*viewed(desk, session), ("text", "", "And now?")]]


@pytest.mark.each_choice
@pytest.mark.parametrize("limit", [0, LIMIT], ids=["off", "auto"])
@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_sends_what_view_shows(
    client: Client, desk: Desk, layout: str, stages: str, limit: float
) -> None:
    session = talk(client, desk)
    before = session.read_bytes()
    small = compacted(desk, session, layout, *STAGES[stages])
    expected = [*viewed(desk, small), ("text", "", "And now?")]
    full = desk.model.context
    desk.model.expect()
    said = client.say(desk, "And now?", session=client.id_of(small), limit=int(full * limit))
    assert "Understood." in said, said
    assert sent(client, desk) == [expected]
    if layout == "fork":
        assert session.read_bytes() == before
