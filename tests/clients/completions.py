"""Clients that ask for chat completions: OpenCode, Copilot CLI and Cline, told without a screen."""

import json
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from clients.desk import Desk, Sent, ask_by_rpc, bare, newest, text_of
from clients.stub import Answer, Json

# Tokens that OpenCode keeps free for an answer.
_ANSWER = 8_000


def completions(request: Json) -> Iterator[Sent]:
    for message in request["messages"]:
        if message["role"] == "tool":
            yield "result", message["tool_call_id"], text_of(message["content"]).strip()
            continue
        text = bare(text_of(message.get("content")))
        if text and message["role"] != "system":
            yield "text", "", text
        for call in message.get("tool_calls") or ():
            yield "call", call["id"], call["function"]["name"]


class OpenCode:
    """OpenCode, told without a screen; its sessions are rows of a database."""

    name = "opencode"
    program = "opencode"
    has_files = False
    lines = 1_000

    def read(self, path: Path) -> Answer:
        return Answer(tool="read", arguments={"filePath": str(path)})

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        # What it keeps free for the answer is taken off the window.
        window = limit + _ANSWER if limit else 2_000_000
        name = desk.asked or "stub"
        model = {
            "name": "stub",
            "tool_call": True,
            "attachment": True,
            "modalities": {"input": ["text", "image"], "output": ["text"]},
            "limit": {"context": window, "output": _ANSWER},
        }
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{desk.model.url}/v1", "apiKey": "none"},
            "models": {"stub": model, name: model},
        }
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "model": f"stub/{name}",
            "small_model": f"stub/{name}",
            "compaction": {"auto": bool(limit), "prune": False},
            "enabled_providers": ["stub"],
            "permission": {"*": "allow"},
            "provider": {"stub": provider},
        }
        (desk.home / "opencode.json").write_text(json.dumps(settings))
        went_on = ["-s", session] if session else []
        done = self._run(desk, "run", *went_on, prompt)
        return done.stdout + done.stderr

    def session(self, desk: Desk) -> str:
        path = desk.home / ".local" / "share" / self.program / f"{self.program}.db"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            newest = "select id from session order by time_updated desc limit 1"
            return str(database.execute(newest).fetchone()[0])

    def id_of(self, session: str) -> str:
        return Path(session).stem

    def take_in(self, desk: Desk, session: str) -> None:
        done = self._run(desk, "import", session)
        assert done.returncode == 0, done.stderr

    def sent(self, request: Json) -> Iterator[Sent]:
        # What was typed is put in quotation marks.
        return (
            (kind, call, text.strip('"') if kind == "text" else text)
            for kind, call, text in completions(request)
        )

    def settings(self, desk: Desk) -> dict[str, str]:
        """Return the variables by which it asks the model at this desk."""
        settings = {
            "CONFIG": str(desk.home / "opencode.json"),
            "DISABLE_AUTOUPDATE": "1",
            "DISABLE_MODELS_FETCH": "1",
            "DISABLE_DEFAULT_PLUGINS": "1",
            "DISABLE_LSP_DOWNLOAD": "1",
        }
        prefix = self.program.upper()
        return {f"{prefix}_{name}": value for name, value in settings.items()}

    def _run(self, desk: Desk, *words: str) -> subprocess.CompletedProcess[str]:
        return desk.run([self.program, *words], self.settings(desk))


class Kilo(OpenCode):
    """Kilo, which is built on OpenCode and has variables and a database of its own."""

    name = "kilo"
    program = "kilo"


class CopilotCli:
    """Copilot CLI, told without a screen."""

    name = "copilot-cli"
    program = "copilot"
    has_files = True
    lines = 1_000

    def read(self, path: Path) -> Answer:
        return Answer(tool="bash", arguments={"command": f"cat {path}", "description": "Read"})

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        command = ["copilot", "--allow-all-tools", "-p", prompt]
        command += [f"--resume={session}"] if session else []
        settings = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{desk.model.url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": str(int(limit / 0.8) if limit else 2_000_000),
            "COPILOT_MODEL": desk.asked or "stub",
        }
        done = desk.run(command, settings)
        return done.stdout + done.stderr

    def session(self, desk: Desk) -> str:
        return newest((desk.home / ".copilot" / "session-state").glob("*/events.jsonl"))

    def id_of(self, session: str) -> str:
        return Path(session).parent.name if session.endswith(".jsonl") else session

    def take_in(self, desk: Desk, session: str) -> None:
        """Find it by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        return completions(request)


class Cline:
    """Cline's command line, which goes on with a session on its screen or for an editor only."""

    name = "cline"
    program = "cline"
    has_files = True
    lines = 1_000

    def read(self, path: Path) -> Answer:
        return Answer(tool="read_files", arguments={"files": [{"path": str(path)}]})

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:  # noqa: ARG002
        provider = ["-p", "openai-compatible", "-k", "none", "-m", desk.asked or "stub"]
        desk.run(["cline", "auth", *provider, "-b", f"{desk.model.url}/v1"], _CLINE)
        if session:
            return self._edit(desk, session, prompt)
        done = desk.run(["cline", "--json", "--compaction", "off", prompt], _CLINE)
        return done.stdout + done.stderr

    def session(self, desk: Desk) -> str:
        return newest((desk.home / ".cline" / "data" / "sessions").glob("*/*.messages.json"))

    def id_of(self, session: str) -> str:
        return Path(session).name.removesuffix(".messages.json")

    def take_in(self, desk: Desk, session: str) -> None:
        """Find it by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        for kind, call, text in completions(request):
            # What a tool has returned is sent as JSON.
            yield kind, call, _joined(json.loads(text)) if kind == "result" else text

    def _edit(self, desk: Desk, session: str, prompt: str) -> str:
        """Go on with a session as an editor does."""
        with desk.started(["cline", "--acp", "--auto-approve", "true"], _CLINE) as editor:
            version = {"protocolVersion": 1, "clientCapabilities": {}}
            ask_by_rpc(editor, "initialize", version)
            place = {"sessionId": session, "cwd": str(desk.project), "mcpServers": []}
            ask_by_rpc(editor, "session/load", place)
            said = {"sessionId": session, "prompt": [{"type": "text", "text": prompt}]}
            return ask_by_rpc(editor, "session/prompt", said)


_CLINE = {
    "CLINE_TELEMETRY_DISABLED": "1",
    "CLINE_NO_AUTO_UPDATE": "1",
    "CLINE_PROVIDER": "openai-compatible",
    "CLINE_API_KEY": "none",
    "CLINE_MODEL": "stub",
}


def _joined(blocks: list[Json]) -> str:
    return "\n".join(
        each.get("text") or json.dumps(each, separators=(",", ":"), ensure_ascii=False)
        for each in blocks
    )
