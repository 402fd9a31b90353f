"""The real clients, told without a screen.

Another client is a class here or beside this, and its entry in ``ALL_CLIENTS``, its package in
``run.py``, the pieces of its sessions and requests in ``WIRES`` of ``pieces.py``, and a row in the
table of docs/sessions.md. A version beside the newest one is a class whose program has a name of
its own.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from clients.completions import Cline, CopilotCli, Kilo, OpenCode
from clients.desk import Client, Desk, Sent, bare, newest, text_of, write_picture
from clients.gemini import GeminiCli
from clients.qwen import QwenCode
from clients.stub import Answer, Json


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
                yield "result", block["tool_use_id"], text_of(block.get("content")).strip()


class ClaudeCode:
    """Claude Code of the newest version, told without a screen."""

    name = "claude-code"
    program = "claude"
    has_files = True
    lines = 1_000

    def read(self, path: Path) -> Answer:
        return Answer(tool="Read", arguments={"file_path": str(path)})

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        name = (desk.asked or "claude-sonnet-4-5-20250929") + ("[1m]" if limit is None else "")
        key = "CLAUDE_CODE_AUTO_COMPACT_WINDOW" if limit else "DISABLE_AUTO_COMPACT"
        # What it keeps free for the answer and for its own summary is taken off the window.
        value = limit + 33_000 if limit else 1
        return self.ask(desk, prompt, session, name, {key: str(value)})

    def ask(
        self, desk: Desk, prompt: str, session: str, model: str, more: Mapping[str, str]
    ) -> str:
        """Say something to a model, with these settings; return what the client printed."""
        command = [self.program, "-p", prompt, "--model", model, "--allowedTools", "Read,Bash"]
        command += ["--resume", session] if session else []
        done = desk.run(command, {**self.settings(desk), **more})
        return done.stdout + done.stderr

    def settings(self, desk: Desk) -> dict[str, str]:
        """Return the variables by which it asks the model at this desk, and nobody else."""
        return {
            "ANTHROPIC_BASE_URL": desk.model.url,
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
        }

    def session(self, desk: Desk) -> str:
        return newest((desk.home / ".claude" / "projects").glob("*/*.jsonl"))

    def id_of(self, session: str) -> str:
        return Path(session).stem

    def take_in(self, desk: Desk, session: str) -> None:
        """Find it by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        said = ((kind, call, bare(text)) for kind, call, text in _anthropic(request))
        return (each for each in said if each[0] != "text" or each[2])


class OlderClaudeCode(ClaudeCode):
    """An older version that is still in use."""

    program = "claude-older"


class Codex:
    """Codex, told without a screen."""

    name = "codex"
    program = "codex"
    has_files = True
    lines = 1_000
    settings: Mapping[str, str] = {"STUB_KEY": "none", "CODEX_API_KEY": "none"}

    def read(self, path: Path) -> Answer:
        return Answer(tool="exec_command", arguments={"cmd": f"cat {path}"})

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        folder = desk.home / ".codex"
        folder.mkdir(exist_ok=True)
        name = "gpt-5.5" if desk.asked.startswith(_FORMER) else desk.asked or "gpt-5.1-codex"
        settings = _CODEX.format(url=desk.model.url, limit=limit or 10**8, model=name)
        (folder / "config.toml").write_text(settings)
        command = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        command += ["resume", session, prompt] if session else [prompt]
        done = desk.run(command, self.settings)
        return done.stdout + done.stderr

    def session(self, desk: Desk) -> str:
        return newest((desk.home / ".codex" / "sessions").rglob("rollout-*.jsonl"))

    def id_of(self, session: str) -> str:
        # Behind the id there may be that of a revert.
        return Path(session).stem.removeprefix("rollout-")[20:][:36]

    def take_in(self, desk: Desk, session: str) -> None:
        """Find it by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        for item in request["input"]:
            kind = item.get("type", "message")
            if kind == "message" and item["role"] != "developer":
                text = text_of(item["content"])
                if not text.startswith("<"):
                    yield "text", "", text.strip()
            elif kind == "function_call":
                yield "call", item["call_id"], item["name"]
            elif kind == "function_call_output":
                yield "result", item["call_id"], text_of(item["output"]).strip()


# Models that 0.171.0 no longer lists, so that it would send less of an output than older versions.
_FORMER = ("gpt-5-codex", "gpt-5.1-codex", "gpt-5.2-codex", "gpt-5.3-codex", "gpt-5.4")
_CODEX = """
model = "{model}"
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
    has_files = True
    lines = 1_000

    def read(self, path: Path) -> Answer:
        return Answer(tool="read", arguments={"path": str(path)})

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        folder = desk.home / ".pi" / "agent"
        folder.mkdir(parents=True, exist_ok=True)
        # What it keeps free for the answer is taken off the window.
        window = limit + 16_384 if limit else 2_000_000
        limits = {"contextWindow": window, "maxTokens": 8_000}
        stub = {"id": "stub", "input": ["text", "image"], **limits}
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
        return newest((desk.home / ".pi" / "agent" / "sessions").glob("*/*.jsonl"))

    def id_of(self, session: str) -> str:
        return Path(session).stem[-36:]

    def take_in(self, desk: Desk, session: str) -> None:
        """Find it by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        return _anthropic(request)


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


ALL_CLIENTS: tuple[Client, ...] = (
    ClaudeCode(),
    OlderClaudeCode(),
    Codex(),
    Pi(),
    OpenCode(),
    Kilo(),
    CopilotCli(),
    Cline(),
    GeminiCli(),
    QwenCode(),
)


def talk(client: Client, desk: Desk) -> str:
    """Have a client lead a session of three turns that read large files; return the session."""
    desk.project.mkdir(parents=True, exist_ok=True)
    session = ""
    for turn in range(3):
        calls = []
        for number in range(3):
            path = desk.project / f"log-{turn}-{number}.txt"
            path.write_text("".join(map(entry, range(client.lines))))
            calls.append(client.read(path))
        desk.model.expect(*calls, Answer(text=f"Answer {turn}."))
        prompt = f"Question {turn}: what does the log say?"
        said = client.say(desk, prompt, session=session, limit=None)
        assert f"Answer {turn}." in said, said
        session = client.id_of(client.session(desk))
    return client.session(desk)


@dataclass(frozen=True, kw_only=True)
class Lead:
    """A way in which a client leads a session of its own; ``go`` returns the session."""

    name: str
    go: Callable[[Client, Desk], str]


def _with_picture(client: Client, desk: Desk) -> str:
    session = talk(client, desk)
    desk.model.expect(client.read(write_picture(desk)), Answer(text="Seen."))
    client.say(desk, "And the picture?", session=client.id_of(session), limit=None)
    return client.session(desk)


def _compacted(client: Client, desk: Desk) -> str:
    session = talk(client, desk)
    full = desk.model.context
    desk.model.expect(usual=SUMMARY)
    client.say(desk, "One?", session=client.id_of(session), limit=full // 2)
    desk.model.expect()
    client.say(desk, "Two?", session=client.id_of(session), limit=None)
    return client.session(desk)


# Gemini CLI knows its summaries by what they begin with.
SUMMARY = Answer(text="In short:\n<state_snapshot>All was about the tide.</state_snapshot>")
LEADS = (
    Lead(name="compacted by it", go=_compacted),
    Lead(name="with a picture", go=_with_picture),
    Lead(name="led by it", go=talk),
)
"""How a client leads its own sessions, those first that are more than a plain chain."""


def entry(number: int) -> str:
    """Return a line of a log."""
    return f"{number}: the pilot waited for the tide at the outer harbour, as the log tells.\n"
