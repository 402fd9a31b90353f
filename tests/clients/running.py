"""The real clients, each in a home of its own with the stub as its only provider.

Another client is a class here and its entry in ``ALL_CLIENTS``, its package in ``run.py``, the
pieces of its sessions and requests in ``WIRES`` of ``pieces.py``, and a row in the table of
docs/sessions.md.
"""

import json
import os
import re
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from clients.stub import Answer, Json, StubModel

# What a client takes at most, in seconds, on a machine that does other things as well.
_PATIENCE = 180
# As long as Claude Code reads a file at once.
_LINES = 1_000
# Tokens that OpenCode keeps free for an answer.
_ANSWER = 8_000
# What Claude Code puts into a request beside what was said.
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
Sent = tuple[str, str, str]
"""A piece of a request: text, call or result; the id of its call; what it says."""


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A home, a project, and the model that answers there; ``programs`` holds the clients.

    ``asked`` is the model of Anthropic that clients ask for, "" for any.
    """

    home: Path
    programs: Path
    model: StubModel
    asked: str = ""

    @property
    def project(self) -> Path:
        """The folder that sessions are about."""
        return self.home / "project"

    def run(
        self, command: Sequence[str | Path], more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program here, with nothing of the environment of whoever runs the tests."""
        environment = {
            "PATH": os.pathsep.join((str(self.programs), os.environ["PATH"])),
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "DO_NOT_TRACK": "1",
            **(more or {}),
        }
        return subprocess.run(
            [str(word) for word in command],
            cwd=self.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )


class Client(Protocol):
    """A client: how it is told something, where its session lies, and what it sends.

    ``program`` is what is run; ``reading`` is the name of its tool that shows a file, and of the
    argument that says which; ``has_files`` tells whether its sessions are files.
    """

    name: str
    program: str
    reading: tuple[str, str]
    has_files: bool

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        """Say something in a new session, or go on with one; return what it printed.

        ``limit`` are the tokens from which on it compacts by itself, 0 for never; with None it
        neither compacts nor refuses anything.
        """

    def session(self, desk: Desk) -> str:
        """Return the newest session: its file, or its id where it has none."""

    def id_of(self, session: str) -> str:
        """Return the id by which it goes on with a session."""

    def take_in(self, desk: Desk, session: str) -> None:
        """Give it a session that was written for it, where it does not find that by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        """Yield what a request holds of the conversation, in order."""


def _text(value: Any) -> str:
    """Return the texts of content, however it is wrapped."""
    if isinstance(value, str):
        return value
    return "".join(_text(each.get("text", "")) for each in value or () if isinstance(each, dict))


def _newest(files: Iterator[Path]) -> str:
    return str(max(files, key=lambda path: (path.stat().st_mtime_ns, path.name)))


def _anthropic(request: Json) -> Iterator[Sent]:
    for message in request["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "text":
                yield "text", "", block["text"].strip()
            elif block["type"] == "tool_use":
                yield "call", block["id"], block["name"]
            elif block["type"] == "tool_result":
                yield "result", block["tool_use_id"], _text(block.get("content")).strip()


class ClaudeCode:
    """Claude Code, told without a screen."""

    name = "claude-code"
    program = "claude"
    reading = ("Read", "file_path")
    has_files = True

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        name = (desk.asked or "claude-sonnet-4-5-20250929") + ("[1m]" if limit is None else "")
        command = ["claude", "-p", prompt, "--model", name, "--allowedTools", "Read"]
        command += ["--resume", session] if session else []
        settings = {
            "ANTHROPIC_BASE_URL": desk.model.url,
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
        }
        key = "CLAUDE_CODE_AUTO_COMPACT_WINDOW" if limit else "DISABLE_AUTO_COMPACT"
        # What it keeps free for the answer and for its own summary is taken off the window.
        value = limit + 33_000 if limit else 1
        done = desk.run(command, settings | {key: str(value)})
        return done.stdout + done.stderr

    def session(self, desk: Desk) -> str:
        return _newest((desk.home / ".claude" / "projects").glob("*/*.jsonl"))

    def id_of(self, session: str) -> str:
        return Path(session).stem

    def take_in(self, desk: Desk, session: str) -> None:
        """Find it by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        said = (
            (kind, call, REMINDER.sub("", text).strip()) for kind, call, text in _anthropic(request)
        )
        return (each for each in said if each[0] != "text" or each[2])


class Codex:
    """Codex, told without a screen."""

    name = "codex"
    program = "codex"
    reading = ("exec_command", "cmd")
    has_files = True

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        folder = desk.home / ".codex"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(_CODEX.format(url=desk.model.url, limit=limit or 10**8))
        command = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        command += ["resume", session, prompt] if session else [prompt]
        done = desk.run(command, {"STUB_KEY": "none", "CODEX_API_KEY": "none"})
        return done.stdout + done.stderr

    def session(self, desk: Desk) -> str:
        return _newest((desk.home / ".codex" / "sessions").rglob("rollout-*.jsonl"))

    def id_of(self, session: str) -> str:
        return Path(session).stem[-36:]

    def take_in(self, desk: Desk, session: str) -> None:
        """Find it by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        for item in request["input"]:
            kind = item.get("type", "message")
            if kind == "message" and item["role"] != "developer":
                text = _text(item["content"])
                if not text.startswith("<"):
                    yield "text", "", text.strip()
            elif kind == "function_call":
                yield "call", item["call_id"], item["name"]
            elif kind == "function_call_output":
                yield "result", item["call_id"], _text(item["output"]).strip()


_CODEX = """
model = "gpt-5.1-codex"
model_provider = "stub"
model_auto_compact_token_limit = {limit}
model_context_window = 2000000
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
[analytics]
enabled = false
[model_providers.stub]
name = "stub"
base_url = "{url}/v1"
env_key = "STUB_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
"""


class Pi:
    """pi, told without a screen."""

    name = "pi"
    program = "pi"
    reading = ("read", "path")
    has_files = True

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        folder = desk.home / ".pi" / "agent"
        folder.mkdir(parents=True, exist_ok=True)
        # What it keeps free for the answer is taken off the window.
        window = limit + 16_384 if limit else 2_000_000
        stub = {"id": "stub", "contextWindow": window, "maxTokens": 8_000}
        here = {"baseUrl": desk.model.url, "apiKey": "none"}
        providers = {
            "anthropic": here,
            "stub": {**here, "api": "anthropic-messages", "models": [stub]},
        }
        (folder / "models.json").write_text(json.dumps({"providers": providers}))
        settings = {"compaction": {"enabled": bool(limit)}, "retry": {"enabled": False}}
        (folder / "settings.json").write_text(json.dumps(settings))
        chosen = ("anthropic", desk.asked) if desk.asked else ("stub", "stub")
        command = ["pi", "--provider", chosen[0], "--model", chosen[1], "-p", prompt]
        command += ["--session", session] if session else []
        done = desk.run(command, {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"})
        return done.stdout + done.stderr

    def session(self, desk: Desk) -> str:
        return _newest((desk.home / ".pi" / "agent" / "sessions").glob("*/*.jsonl"))

    def id_of(self, session: str) -> str:
        return Path(session).stem[-36:]

    def take_in(self, desk: Desk, session: str) -> None:
        """Find it by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        return _anthropic(request)


class OpenCode:
    """OpenCode, told without a screen; its sessions are rows of a database."""

    name = "opencode"
    program = "opencode"
    reading = ("read", "filePath")
    has_files = False

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        # What it keeps free for the answer is taken off the window.
        window = limit + _ANSWER if limit else 2_000_000
        model = {"name": "stub", "tool_call": True, "limit": {"context": window, "output": _ANSWER}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{desk.model.url}/v1", "apiKey": "none"},
            "models": {"stub": model},
        }
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "model": "stub/stub",
            "small_model": "stub/stub",
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
        path = desk.home / ".local" / "share" / "opencode" / "opencode.db"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            newest = "select id from session order by time_updated desc limit 1"
            return str(database.execute(newest).fetchone()[0])

    def id_of(self, session: str) -> str:
        return Path(session).stem

    def take_in(self, desk: Desk, session: str) -> None:
        done = self._run(desk, "import", session)
        assert done.returncode == 0, done.stderr

    def sent(self, request: Json) -> Iterator[Sent]:
        for message in request["messages"]:
            if message["role"] == "tool":
                yield "result", message["tool_call_id"], _text(message["content"]).strip()
                continue
            # What was typed is put in quotation marks.
            text = _text(message.get("content")).strip().strip('"')
            if text and message["role"] != "system":
                yield "text", "", text
            for call in message.get("tool_calls") or ():
                yield "call", call["id"], call["function"]["name"]

    def _run(self, desk: Desk, *words: str) -> subprocess.CompletedProcess[str]:
        settings = {
            "OPENCODE_CONFIG": str(desk.home / "opencode.json"),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }
        return desk.run([self.program, *words], settings)


@dataclass(frozen=True, kw_only=True)
class Led:
    """A session that a client has led; the next request would have ``full`` tokens and more."""

    client: Client
    desk: Desk
    session: str
    full: int

    def say(self, prompt: str, session: str, limit: int | None = 0) -> list[list[Sent]]:
        """Go on with a session; return what each request held that may call tools."""
        self.desk.model.expect()
        said = self.client.say(self.desk, prompt, session=self.client.id_of(session), limit=limit)
        assert "Understood." in said, said
        asked = (each for each in self.desk.model.requests if each.get("tools"))
        return [list(self.client.sent(each)) for each in asked]


ALL_CLIENTS: tuple[Client, ...] = (ClaudeCode(), Codex(), Pi(), OpenCode())


def talk(client: Client, desk: Desk) -> str:
    """Have a client lead a session of three turns that read large files; return the session."""
    tool, argument = client.reading
    desk.project.mkdir(parents=True, exist_ok=True)
    session = ""
    for turn in range(3):
        calls = []
        for number in range(3):
            path = desk.project / f"log-{turn}-{number}.txt"
            path.write_text("".join(map(_entry, range(_LINES))))
            value = f"cat {path}" if argument == "cmd" else str(path)
            calls.append(Answer(tool=tool, arguments={argument: value}))
        desk.model.expect(*calls, Answer(text=f"Answer {turn}."))
        prompt = f"Question {turn}: what does the log say?"
        said = client.say(desk, prompt, session=session, limit=None)
        assert f"Answer {turn}." in said, said
        session = client.id_of(client.session(desk))
    return client.session(desk)


def _entry(number: int) -> str:
    return f"{number}: the pilot waited for the tide at the outer harbour, as the log tells.\n"
