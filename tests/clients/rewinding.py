"""How clients undo the last turn when a program asks them to."""

import json
import re
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

from clients.completions import Kilo, OpenCode
from clients.desk import Desk, ask_by_rpc
from clients.running import ClaudeCode, Codex
from clients.stub import Json


def rewind_claude_code(desk: Desk, session: str) -> str:
    """Undo the last prompt that was typed; return what the client says of it."""
    records = map(json.loads, Path(session).read_text().splitlines())
    prompts = [
        record["uuid"]
        for record in records
        if record["type"] == "user" and isinstance(record["message"]["content"], str)
    ]
    client = ClaudeCode()
    command = [client.program, "-p", "--resume", client.id_of(session), "--verbose"]
    command += ["--input-format", "stream-json", "--output-format", "stream-json"]
    request = {"subtype": "rewind_conversation", "target_message_uuid": prompts[-1]}
    asked = {"type": "control_request", "request_id": "rewind", "request": request}
    with desk.started(command, client.settings(desk)) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(f"{json.dumps(asked)}\n")
        program.stdin.flush()
        for line in program.stdout:
            if json.loads(line)["type"] == "control_response":
                return line
    return ""


def rewind_codex(desk: Desk, session: str) -> str:
    """Revert to before the last turn; return what the client says of it."""
    client = Codex()
    records = map(json.loads, Path(session).read_text().splitlines())
    turns = [record["payload"]["turn_id"] for record in records if record["type"] == "turn_context"]
    thread = {"threadId": client.id_of(session)}
    with desk.started([client.program, "app-server"], client.settings) as program:
        about = {
            "clientInfo": {"name": "watch", "version": "1"},
            "capabilities": {"experimentalApi": True},
        }
        ask_by_rpc(program, "initialize", about)
        ask_by_rpc(program, "thread/resume", thread)
        return ask_by_rpc(program, "thread/revert", {**thread, "beforeTurnId": turns[-1]})


def rewind_opencode(desk: Desk, session: str) -> str:
    """Revert to before the last prompt; return the session as the client says it is."""
    return _reverted(OpenCode(), desk, session)


def rewind_kilo(desk: Desk, session: str) -> str:
    """Do the same with Kilo."""
    return _reverted(Kilo(), desk, session)


def _reverted(client: OpenCode, desk: Desk, session: str) -> str:
    with desk.started([client.program, "serve"], client.settings(desk)) as server:
        assert server.stdout is not None
        address = next(match[1] for line in server.stdout if (match := _ADDRESS.search(line)))
        messages = json.loads(_asked(address, "GET", f"/session/{session}/message"))
        prompts = [
            message["info"]["id"] for message in messages if message["info"]["role"] == "user"
        ]
        return _asked(address, "POST", f"/session/{session}/revert", {"messageID": prompts[-1]})


_ADDRESS = re.compile(r"http://([\w.]+:\d+)")


def _asked(address: str, method: str, path: str, value: Json | None = None) -> str:
    """Ask a server for something in JSON; return its answer."""
    with closing(HTTPConnection(address)) as connection:
        connection.request(method, path, json.dumps(value), {"content-type": "application/json"})
        return connection.getresponse().read().decode()
