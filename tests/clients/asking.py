"""The program as people run it beside a client, and what it shows of a session."""

import json
import subprocess
import sys
from collections.abc import Iterator

from clients.desk import Desk, Sent, bare
from clients.stub import Json


def compactctl(desk: Desk, *words: str) -> dict[str, object]:
    """Run the program as people do in this home; return its document."""
    command = [sys.executable, "-m", "compactctl", *words, "--json"]
    done = subprocess.run(
        command, cwd=desk.project, env={"HOME": str(desk.home)}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, object] = json.loads(done.stdout)
    return found


def viewed(desk: Desk, session: str) -> Iterator[Sent]:
    """Yield what ``view`` shows of a session, as pieces of a request."""
    found = compactctl(desk, "view", "--full", session)["messages"]
    assert isinstance(found, list)
    said = (message for message in found if message["role"] != "system")
    for part in (part for message in said for part in message["parts"]):
        text = bare(part.get("text", ""))
        if part["kind"] == "text" and text and not text.startswith("<"):
            yield "text", "", text.strip('"')
        elif part["kind"] == "tool_call":
            yield "call", call_of(part), part["tool"]
        elif part["kind"] == "tool_result":
            yield "result", call_of(part), text


def call_of(part: Json) -> str:
    """Return the id of a call, without the tool that Gemini CLI puts before it in its file."""
    found: str = part["callId"]
    return found.partition("__")[2] or found


def typed(prompt: str) -> Sent:
    """Return a prompt as it stands in a request."""
    return "text", "", prompt
