"""Homes of people with sessions of every client, written by us in the layouts of the clients.

``Home`` writes one session of a client at a time; ``everything`` a home with one of each, and
``python tests/sessions/homes.py FOLDER [COUNT]`` one to look at, or with so many more sessions.
"""

import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from formats.copilot_cli.sessions import accepted

MINUTE, HOUR, DAY = 60, 3_600, 86_400
# Claude Code puts a hash behind the beginning of a longer name of a folder.
_LONGEST_NAME = 200
Record = Mapping[str, Any]


def uuid_of(name: str) -> str:
    """Return the same id for the same name."""
    return str(UUID(bytes=sha256(name.encode()).digest()[:16]))


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a session holds: the same in whatever way a client writes it.

    ``age`` is in seconds; ``context`` are the tokens of the newest request and its answer.
    """

    name: str = "tides"
    project: str = "/home/dev/quayside"
    prompt: str = "Mend the tide windows"
    title: str = ""
    model: str = ""
    context: int = 50_000
    age: float = HOUR

    @property
    def id(self) -> str:
        """A UUID that follows from the name."""
        return uuid_of(self.name)


@dataclass(frozen=True, kw_only=True)
class Home:
    """A home folder, and the time that ages count back from."""

    root: Path
    now: float = field(default_factory=time.time)

    def claude(self, said: Said, *more: Record, **marks: Any) -> Path:
        """Write a session of Claude Code; ``marks`` stand on each of its records."""
        # The client's JavaScript replaces units of UTF-16, of which an emoji has two.
        folder = "".join(
            each
            if each.isascii() and each.isalnum()
            else "-" * (len(each.encode("utf-16-le")) // 2)
            for each in said.project
        )
        if len(folder) > _LONGEST_NAME:
            folder = f"{folder[:_LONGEST_NAME]}-1x2y3z"
        common = {"sessionId": said.id, "cwd": said.project, "isSidechain": False, **marks}
        model = said.model or "claude-sonnet-4-5-20250929"
        usage = {
            "input_tokens": 7,
            "cache_read_input_tokens": said.context - 1_007,
            "cache_creation_input_tokens": 500,
            "output_tokens": 500,
        }
        answer = {
            "id": "msg_1",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": "Done."}],
            "usage": usage,
        }
        records: list[Record] = [
            {"type": "file-history-snapshot", "messageId": "m"},
            {**common, "type": "user", "uuid": "u0", "isMeta": True,
             "message": {"role": "user", "content": "Caveat: not typed"}},
            {**common, "type": "user", "uuid": "u1", "parentUuid": "u0",
             "message": {"role": "user", "content": said.prompt}},
            {**common, "type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": answer},
        ]  # fmt: skip
        if said.title:
            records.append({"type": "custom-title", "customTitle": said.title})
        path = self.root / ".claude" / "projects" / folder / f"{said.id}.jsonl"
        return self.lines(path, [*records, *more], said.age)

    def claude_is_open(self, said: Said, pid: int) -> None:
        """Leave what a running Claude Code leaves about a session."""
        left = {"pid": pid, "sessionId": said.id, "cwd": said.project, "status": "idle"}
        self.document(self.root / ".claude" / "sessions" / f"{pid}.json", left, 0)

    def codex(
        self, said: Said, *more: Record, source: object = "cli", archived: bool = False
    ) -> Path:
        """Write a session of Codex."""
        meta = {"id": said.id, "cwd": said.project, "source": source, "cli_version": "0.169.0"}
        counted = {"last_token_usage": {"input_tokens": said.context - 40, "output_tokens": 40,
                                        "total_tokens": said.context},
                   "total_token_usage": {"total_tokens": 9_999_999},
                   "model_context_window": 258_400}  # fmt: skip
        injected = [{"type": "input_text", "text": "<environment_context>x</environment_context>"}]
        typed = [{"type": "input_text", "text": said.prompt}]
        records = [
            ("session_meta", meta),
            ("response_item", {"type": "message", "role": "user", "content": injected}),
            ("response_item", {"type": "message", "role": "user", "content": typed}),
            ("event_msg", {"type": "user_message", "message": said.prompt}),
            ("turn_context", {"cwd": said.project, "model": said.model or "gpt-5.2-codex"}),
            ("event_msg", {"type": "token_count", "info": counted}),
            ("event_msg", {"type": "token_count", "info": None}),
        ]
        lines: list[Record] = [{"timestamp": "t", "type": t, "payload": p} for t, p in records]
        name = f"rollout-2026-01-02T03-04-05-{said.id}.jsonl"
        root = self.root / ".codex"
        folder = root / "archived_sessions" if archived else root / "sessions" / "2026/01/02"
        path = self.lines(folder / name, [*lines, *more], said.age)
        if said.title:
            index = root / "session_index.jsonl"
            named = json.dumps({"id": said.id, "thread_name": said.title})
            with index.open("a") as stream:
                stream.write(f"{named}\n")
        return path

    def opencode(
        self,
        said: Said,
        *,
        parent: str | None = None,
        archived: bool = False,
        client: str = "opencode",
        version: str = "1.18.33",
    ) -> str:
        """Write a session of OpenCode, or of a client with its tables; return its id.

        The answer's id sorts before the prompt's, as across 14 August 2026, when the time in the
        client's ids wrapped; the client sorts messages by their time.
        """
        path = self.root / ".local" / "share" / client / f"{client}.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        number = sha256(said.name.encode()).hexdigest()
        own = f"ses_{number[:26]}"
        updated = int((self.now - said.age) * 1000)
        cache = {"read": said.context - 3_000, "write": 1_000}
        messages = (
            {"role": "user", "time": {"created": 1}},
            {"role": "assistant", "modelID": said.model or "claude-sonnet-4-5",
             "providerID": "anthropic",
             "tokens": {"input": 1_500, "output": 400, "reasoning": 100, "cache": cache}},
        )  # fmt: skip
        texts = (said.prompt, "Done.")
        with closing(sqlite3.connect(path)) as database:
            database.executescript(_SCHEMA)
            database.execute(
                "insert into session values (?, 'p1', ?, ?, ?, ?, null, 1, ?, ?)",
                (own, parent, said.project, said.title or said.prompt, version, updated,
                 updated if archived else None),
            )  # fmt: skip
            for at, (message, text) in enumerate(zip(messages, texts, strict=True)):
                # Of Kilo they are from after it, as it leaves out prompts with older ones.
                name = f"msg_{'0' if client == 'kilo' else ''}{9 - at}{number[:20]}"
                row = (name, own, at + 1, json.dumps(message))
                database.execute("insert into message values (?, ?, ?, 1, ?)", row)
                part = (f"prt_{9 - at}{number[:20]}", name, own,
                        json.dumps({"type": "text", "text": text}))  # fmt: skip
                database.execute("insert into part values (?, ?, ?, 1, 1, ?)", part)
            database.commit()
        return own

    def kilo(self, said: Said) -> str:
        """Write a session of Kilo; return its id."""
        return self.opencode(said, client="kilo", version="7.7.9")

    def pi(self, said: Said, *more: Record) -> Path:
        """Write a session of pi."""
        usage = {"input": 9, "output": 300, "cacheRead": said.context - 309, "cacheWrite": 0}
        answer = {"role": "assistant", "content": [{"type": "text", "text": "Done."}],
                  "model": said.model or "claude-sonnet-4-5", "usage": usage}  # fmt: skip
        records: list[Record] = [
            {"type": "session", "version": 3, "id": said.id, "cwd": said.project},
            {"type": "message", "id": "0000000a", "parentId": None,
             "message": {"role": "user", "content": [{"type": "text", "text": said.prompt}]}},
            {"type": "message", "id": "0000000b", "parentId": "0000000a", "message": answer},
        ]  # fmt: skip
        if said.title:
            records.append({"type": "session_info", "name": said.title})
        folder = f"--{said.project.strip('/').replace('/', '-')}--"
        name = f"2026-01-02T03-04-05-006Z_{said.id}.jsonl"
        path = self.root / ".pi" / "agent" / "sessions" / folder / name
        return self.lines(path, [*records, *more], said.age)

    def copilot(self, said: Said, *more: Record) -> Path:
        """Write a session of Copilot CLI."""
        end = {"currentModel": said.model or "claude-sonnet-4.6", "currentTokens": said.context}
        events = [
            ("session.start", {"sessionId": said.id, "context": {"cwd": said.project}}),
            ("user.message", {"content": said.prompt, "transformedContent": said.prompt}),
            ("assistant.message", {"content": "Done.", "messageId": "m1", "toolRequests": []}),
            ("session.shutdown", end),
        ]
        records: list[Record] = [
            {
                "type": kind,
                "data": data,
                "id": f"e{at}",
                "timestamp": "2026-01-02T03:04:05.006Z",
                "parentId": f"e{at - 1}" if at else None,
            }
            for at, (kind, data) in enumerate(events)
        ]
        path = self.root / ".copilot" / "session-state" / said.id / "events.jsonl"
        named = f'name: "{said.title}"\nuser_named: true\n' if said.title else ""
        self.text(
            path.with_name("workspace.yaml"), f"id: {said.id}\ncwd: {said.project}\n{named}", 0
        )
        return self.lines(path, [accepted(record) for record in (*records, *more)], said.age)

    def gemini(self, said: Said, *more: Record, kind: str = "main") -> Path:
        """Write a session of Gemini CLI."""
        tokens = {"input": said.context - 20, "output": 15, "thoughts": 5, "cached": 1_000}
        records: list[Record] = [
            {"sessionId": said.id, "projectHash": "0" * 64, "kind": kind},
            {"id": "m0", "type": "user", "content": "<session_context>x</session_context>"},
            {"id": "m1", "type": "user", "content": [{"text": said.prompt}]},
            {"id": "m2", "type": "gemini", "content": "Done.", "tokens": tokens,
             "model": said.model or "gemini-3-pro-preview"},
        ]  # fmt: skip
        if said.title:
            records.append({"$set": {"summary": said.title}})
        project = self.root / ".gemini" / "tmp" / Path(said.project).name
        self.text(project / ".project_root", said.project, 0)
        path = project / "chats" / f"session-2026-01-02T03-04-{said.id[:8]}.jsonl"
        return self.lines(path, [*records, *more], said.age)

    def qwen(self, said: Said, *more: Record) -> Path:
        """Write a session of Qwen Code."""
        counts = {"promptTokenCount": said.context - 20, "totalTokenCount": said.context}
        kinds = [
            {"type": "user", "message": {"role": "user", "parts": [{"text": said.prompt}]}},
            {"type": "assistant", "message": {"role": "model", "parts": [{"text": "Done."}]},
             "model": said.model or "qwen3-coder", "usageMetadata": counts},
        ]  # fmt: skip
        if said.title:
            title = {"customTitle": said.title, "titleSource": "manual"}
            kinds.append({"type": "system", "subtype": "custom_title", "systemPayload": title})
        records = [
            {"uuid": f"m{at}", "parentUuid": f"m{at - 1}" if at else None, "sessionId": said.id,
             "cwd": said.project, "version": "0.24.4", **kind}
            for at, kind in enumerate(kinds)
        ]  # fmt: skip
        folder = self.root / ".qwen" / "projects" / said.project.replace("/", "-").replace(" ", "-")
        return self.lines(folder / "chats" / f"{said.id}.jsonl", [*records, *more], said.age)

    def cline(self, said: Said, **manifest: Any) -> Path:
        """Write a session of Cline's command line."""
        own = f"1795000000000_{said.id[:5]}"
        folder = self.root / ".cline" / "data" / "sessions" / own
        about = {"session_id": own, "cwd": said.project, "prompt": said.prompt,
                 "metadata": {"title": said.title}, **manifest}  # fmt: skip
        metrics = {"inputTokens": 500, "cacheReadTokens": said.context - 600, "outputTokens": 100}
        messages = [
            {"id": "m1", "role": "user", "content": [{"type": "text", "text": said.prompt}]},
            {"id": "m2", "role": "assistant", "content": [{"type": "text", "text": "Done."}],
             "modelInfo": {"id": said.model or "claude-sonnet-4-5"}, "metrics": metrics},
        ]  # fmt: skip
        self.document(folder / f"{own}.json", about, 0)
        held = {"version": 1, "sessionId": own, "messages": messages}
        return self.document(folder / f"{own}.messages.json", held, said.age)

    def task(self, said: Said, extension: str, own: str) -> Path:
        """Write a task of an extension of VS Code, Cline's older one or Roo Code."""
        folder = self.editor / "globalStorage" / extension / "tasks" / own
        request = {"request": "…", "tokensIn": 10, "tokensOut": 90, "cacheWrites": 900,
                   "cacheReads": said.context - 1_000}  # fmt: skip
        shown = [
            {"ts": 1, "type": "say", "say": "text", "text": said.prompt},
            {"ts": 2, "type": "say", "say": "api_req_started", "text": json.dumps(request),
             "modelInfo": {"modelId": said.model or "claude-sonnet-4-5"}},
            {"ts": 3, "type": "say", "say": "text", "text": 'not "tokensIn" at all'},
        ]  # fmt: skip
        self.document(folder / "ui_messages.json", shown, 0)
        sent = [
            {"role": "user", "content": [{"type": "text", "text": said.prompt}], "ts": 1},
            {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "ts": 2},
        ]
        return self.document(folder / "api_conversation_history.json", sent, said.age)

    def cline_task(self, said: Said) -> Path:
        """Write a task of Cline's older extension, and its line in the list of them."""
        extension = "saoudrizwan.claude-dev"
        own = "1769064454592"
        listed = [{"id": own, "task": said.prompt, "cwdOnTaskInitialization": said.project}]
        history = self.editor / "globalStorage" / extension / "state" / "taskHistory.json"
        self.document(history, listed, 0)
        return self.task(said, extension, own)

    def roo(self, said: Said, **history: Any) -> Path:
        """Write a task of Roo Code."""
        path = self.task(said, "rooveterinaryinc.roo-cline", said.id)
        about = {"id": said.id, "task": said.prompt, "workspace": said.project, **history}
        self.document(path.with_name("history_item.json"), about, 0)
        return path

    def vscode(self, said: Said, **listed: Any) -> Path:
        """Write a chat of VS Code; with ``listed`` there is a line in the editor's own index."""
        workspace = self.editor / "workspaceStorage" / ("f" * 32)
        self.document(workspace / "workspace.json", {"folder": f"file://{said.project}"}, 0)
        request = {"requestId": "r1", "message": {"text": said.prompt, "parts": []},
                   "modelId": said.model or "copilot/gpt-4.1"}  # fmt: skip
        state = {"version": 3, "sessionId": said.id, "requests": [request],
                 "customTitle": said.title or None}  # fmt: skip
        if listed:
            index = {"version": 1, "entries": {said.id: {"sessionId": said.id, **listed}}}
            with closing(sqlite3.connect(workspace / "state.vscdb")) as database:
                database.execute("create table ItemTable (key text unique, value blob)")
                key = "chat.ChatSessionStore.index"
                database.execute("insert into ItemTable values (?, ?)", (key, json.dumps(index)))
                database.commit()
        path = workspace / "chatSessions" / f"{said.id}.jsonl"
        return self.lines(path, [{"kind": 0, "v": state}], said.age)

    @property
    def editor(self) -> Path:
        """The folder that VS Code keeps what is the user's in."""
        return self.root / ".config" / "Code" / "User"

    def lines(self, path: Path, records: Sequence[Record], age: float) -> Path:
        """Write records, one a line."""
        return self.text(path, "".join(f"{json.dumps(each)}\n" for each in records), age)

    def document(self, path: Path, value: object, age: float) -> Path:
        """Write a document over several lines."""
        return self.text(path, json.dumps(value, indent=2), age)

    def text(self, path: Path, text: str, age: float) -> Path:
        """Write a file that changed so many seconds ago."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (self.now - age, self.now - age))
        return path


HomeAt = Callable[[str], Home]
"""Makes an empty home with a name, which is the user's from then on."""

# The columns that matter, and one that does not.
_SCHEMA = """
create table if not exists session (id text primary key, project_id text, parent_id text,
  directory text, title text, version text, summary_diffs text, time_created integer,
  time_updated integer, time_archived integer);
create table if not exists message (id text primary key, session_id text, time_created integer,
  time_updated integer, data text);
create table if not exists part (id text primary key, message_id text, session_id text,
  time_created integer, time_updated integer, data text);
"""


# One session of a client, by the client's name.
WRITERS = {
    "claude-code": Home.claude,
    "codex": Home.codex,
    "opencode": Home.opencode,
    "kilo": Home.kilo,
    "pi": Home.pi,
    "copilot-cli": Home.copilot,
    "gemini-cli": Home.gemini,
    "qwen-code": Home.qwen,
    "cline": Home.cline,
    "roo": Home.roo,
    "vscode-chat": Home.vscode,
}


# Those whose sessions are rows of a database.
IN_DATABASES = frozenset({"opencode", "kilo"})
# What sessions of some clients do not record: the project, a title, the size of the context.
UNRECORDED: Mapping[str, frozenset[str]] = {
    "roo": frozenset({"title"}),
    "vscode-chat": frozenset({"context"}),
}


def recording(what: str) -> list[str]:
    """Return the clients whose sessions record something."""
    return [name for name in WRITERS if what not in UNRECORDED.get(name, ())]


def everything(home: Home, project: str = "/home/dev/quayside") -> None:
    """Write a session of each client, of different ages."""
    oldest_last = [*(name for name in WRITERS if name != "claude-code"), "claude-code"]
    for number, client in enumerate(oldest_last):
        write = WRITERS[client]
        name = getattr(write, "__name__", "")
        said = Said(name=name, project=project, prompt=f"Ask {name}", age=(number + 1) * HOUR)
        write(home, said)  # type: ignore[operator]


def many(home: Home, count: int, n_bytes: int = 300_000) -> None:
    """Write so many sessions of Claude Code and Codex, each of about so many bytes."""
    filling = "x" * 4_000
    noise: list[Record] = [{"type": "progress", "data": {"text": filling}}] * (n_bytes // 4_000)
    for number in range(count):
        said = Said(
            name=f"session {number}",
            project=f"/home/dev/project-{number % 40}",
            prompt=f"Task {number}",
            context=1_000 * (number % 190 + 10),
            age=number * MINUTE,
        )
        if number % 2:
            self_written = home.codex(said)
            _grow(self_written, noise)
        else:
            _grow(home.claude(said), noise)


def _grow(path: Path, noise: Sequence[Record]) -> None:
    """Put records between the first lines of a file and its last two."""
    written = path.stat().st_mtime
    lines = path.read_text().splitlines(keepends=True)
    filling = [f"{json.dumps(each)}\n" for each in noise]
    path.write_text("".join([*lines[:3], *filling, *lines[3:]]))
    os.utime(path, (written, written))


if __name__ == "__main__":
    made = Home(root=Path(sys.argv[1]))
    everything(made)
    many(made, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
