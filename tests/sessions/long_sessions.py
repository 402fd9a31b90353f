"""Sessions in the store of each client, long enough that something of them can go."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from sessions.homes import Home, Record, Said

TURNS = 12
# Enough of each session goes.
SMALL = ("--stages", "truncate", "--keep", "10%")
SAID = Said(name="tides", title="Tide windows", project="/home/dev/quay side")


def claude(home: Home, said: Said = SAID, **marks: Any) -> Path:
    def record(at: int, role: str) -> Record:
        return {
            "type": role,
            "uuid": f"{role}{at}",
            "parentUuid": f"user{at}"
            if role == "assistant"
            else f"assistant{at - 1}"
            if at
            else "a1",
            "sessionId": said.id,
            "isSidechain": False,
            "message": {"role": role, "content": [text_of(said, at)]},
            **marks,
        }

    turns = [record(at, role) for at in range(TURNS) for role in ("user", "assistant")]
    return home.claude(said, *turns, **marks)


def codex(home: Home, said: Said = SAID) -> Path:
    def record(at: int, role: str) -> Record:
        kind = {"user": "input_text", "assistant": "output_text"}[role]
        content = [{**text_of(said, at), "type": kind}]
        payload = {"type": "message", "role": role, "content": content}
        return {"timestamp": "t", "type": "response_item", "payload": payload}

    turns = [record(at, role) for at in range(TURNS) for role in ("user", "assistant")]
    return home.codex(said, *turns)


def pi(home: Home, said: Said = SAID) -> Path:
    names = ["0000000b", *(f"000000{at}" for at in range(10, 10 + 2 * TURNS))]
    turns = [
        {"type": "message", "id": name, "parentId": parent,
         "message": {"role": ("user", "assistant")[at % 2], "content": [text_of(said, at)]}}
        for at, (parent, name) in enumerate(pairwise(names))
    ]  # fmt: skip
    return home.pi(said, *turns)


def copilot(home: Home, said: Said = SAID) -> Path:
    def event(at: int, role: str) -> Record:
        data: dict[str, Any] = {"content": text_of(said, at)["text"]}
        if role == "assistant":
            data |= {"messageId": f"m{at}", "toolRequests": []}
        return {
            "type": f"{role}.message",
            "data": data,
            "id": f"{role}{at}",
            "timestamp": "2026-01-02T03:04:05.006Z",
            "parentId": f"user{at}" if role == "assistant" else f"assistant{at - 1}",
        }

    turns = [event(at, role) for at in range(TURNS) for role in ("user", "assistant")]
    turns[0] = {**turns[0], "parentId": "e3"}
    sizes = {"systemTokens": 30_000, "conversationTokens": 8_000, "toolDefinitionsTokens": 16_000}
    end = {**turns[-1], "id": "end", "parentId": turns[-1]["id"], "type": "session.shutdown",
           "data": {**sizes, "currentTokens": 54_000}}  # fmt: skip
    return home.copilot(said, *turns, end)


def gemini(home: Home, said: Said = SAID) -> Path:
    kinds = ("user", "gemini")
    turns = [
        {"id": f"t{at}", "type": kinds[at % 2], "content": text_of(said, at)["text"]}
        for at in range(2 * TURNS)
    ]
    return home.gemini(said, *turns, {"$set": {"sessionId": said.id}})


def qwen(home: Home, said: Said = SAID) -> Path:
    kinds = (("user", "user"), ("assistant", "model"))
    turns = [
        {
            "uuid": f"t{at}",
            "parentUuid": f"t{at - 1}" if at else "m2",
            "sessionId": said.id,
            "type": kinds[at % 2][0],
            "message": {
                "role": kinds[at % 2][1],
                "parts": [{"text": text_of(said, at)["text"]}],
            },
        }
        for at in range(2 * TURNS)
    ]
    return home.qwen(said, *turns)


def text_of(said: Said, at: int) -> dict[str, Any]:
    """Return a block that names the session as people and tools do."""
    return {"type": "text", "text": f"{at} of {said.id}: " + "the tide turns. " * 40}


Write = Callable[..., Path]
WRITERS: dict[str, Write] = {
    "claude-code": claude,
    "codex": codex,
    "pi": pi,
    "copilot-cli": copilot,
    "gemini-cli": gemini,
    "qwen-code": qwen,
}
EACH = pytest.mark.parametrize("client", WRITERS)


def forked(ask: Ask, reference: str | Path, *options: str) -> dict[str, Any]:
    outcome = ask("compact", reference, *SMALL, *options, "--json")
    assert outcome.code == 0, outcome.err
    document: dict[str, Any] = outcome.json
    return document


def everything_below(folder: Path) -> dict[Path, tuple[bytes, int]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def opencode(home: Home, said: Said = SAID, client: str = "opencode") -> str:
    """Write a session of OpenCode or Kilo with ids as the client makes them; return its own."""
    own = home.opencode(said, client=client)
    path = home.root / ".local" / "share" / client / f"{client}.db"
    renamed = "ses_0a1b2c3d4e5fAbCdEfGhIjKlMn"
    with closing(sqlite3.connect(path)) as database:
        database.execute("alter table session add column slug text default 'calm-tide'")
        for table, column in (("session", "id"), ("message", "session_id"), ("part", "session_id")):
            database.execute(f"update {table} set {column} = ?", (renamed,))  # noqa: S608
        newest = ""
        for at in range(2 * TURNS):
            name = f"msg_{0xF00000000000 + at:012x}AbCdEfGhIjKlMn"
            asked: dict[str, Any] = {"role": "user"}
            answered = {"role": "assistant", "parentID": newest, "modelID": "m"}
            data = json.dumps(answered if at % 2 else asked)
            newest = newest if at % 2 else name
            database.execute("insert into message values (?, ?, 1, 1, ?)", (name, renamed, data))
            part = (
                f"prt_{name[4:]}",
                name,
                renamed,
                json.dumps({"type": "text", "text": text_of(said, at)["text"]}),
            )
            database.execute("insert into part values (?, ?, ?, 1, 1, ?)", part)
        database.commit()
    assert own != renamed
    return renamed


def state_of(home: Home) -> Path:
    return home.root / ".local" / "state" / "compactctl" / "archives"


def in_place(ask: Ask, path: Path) -> None:
    outcome = ask("compact", path, "--in-place", *SMALL)
    assert outcome.code == 0, outcome.err
