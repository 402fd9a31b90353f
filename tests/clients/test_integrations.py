"""What ``integrate`` sets up is run by the client, which goes on whatever becomes of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from clients.desk import Desk
from clients.running import Led

HOW_TO_SEARCH = "--archived --grep"
LOST = "The summary does not tell"
# Of what a session holds, from where on the client compacts by itself: below that, so that it does.
LIMIT = 0.9
BY_COMMAND = "/compact"
BARE = frozenset({"copilot-cli", "cline", "gemini-cli"})


def integrate(desk: Desk, client: str, *options: str) -> None:
    """Set a client up as people do in this home, or skip one that nothing is set up for."""
    if client in BARE:
        pytest.skip(f"nothing is set up for {client}")
    command = [sys.executable, "-m", "compactctl", "integrate", client, *options]
    # Found by its name where this environment is the first on the path.
    subprocess.run(
        command, env={"HOME": str(desk.home)}, capture_output=True, check=True, cwd=desk.project
    )


def compact(led: Led) -> str:
    """Have the client compact its session and go on; return what it printed meanwhile."""
    session = led.client.id_of(led.session)
    led.desk.model.expect()
    if led.client.name == "claude-code":
        said = led.client.say(led.desk, BY_COMMAND, session=session)
        return said + led.client.say(led.desk, "And now?", session=session)
    return led.client.say(led.desk, "And now?", session=session, limit=int(led.full * LIMIT))


def state(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("words", ["as it is", "where compactctl fails"])
def test_after_a_compaction_the_agent_knows_how_to_search(led: Led, words: str) -> None:
    integrate(led.desk, led.client.name, "--install")
    if words != "as it is":
        for path in led.desk.home.rglob("*"):
            if path.is_file() and b" hook " in (content := path.read_bytes()):
                path.write_bytes(content.replace(b" hook ", b" no-such-command "))
    said = compact(led)
    assert "Understood." in said, said
    told = json.dumps(led.desk.model.requests)
    is_told = f"view {led.client.name}:. {HOW_TO_SEARCH}" in told
    # OpenCode shows it on its screen instead.
    assert is_told == (words == "as it is" and led.client.name != "opencode")


def test_a_client_that_was_set_up_is_as_it_was_afterwards(led: Led) -> None:
    settings = led.desk.home / ".claude" / "settings.json"
    if led.client.name == "claude-code":
        settings.write_text('{\n    "model": "sonnet" }')
    before = state(led.desk.home)
    integrate(led.desk, led.client.name, "--install")
    assert state(led.desk.home) != before
    integrate(led.desk, led.client.name, "--uninstall")
    assert state(led.desk.home) == before


def test_a_compaction_by_hand_is_refused_where_that_was_asked_for(led: Led) -> None:
    if led.client.name != "claude-code":
        pytest.skip(f"{led.client.name} compacts by hand on its screen only")
    integrate(led.desk, led.client.name, "--install", "--block-manual")
    led.desk.model.expect()
    said = led.client.say(led.desk, BY_COMMAND, session=led.client.id_of(led.session))
    assert "compactctl blocks manual compactions of this session" in said
    assert led.desk.model.requests == []
