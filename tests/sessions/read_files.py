"""Sessions in which files were read, and what their clients would send of them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from cli.asking import Ask, Outcome
from file_commands import load_file
from formats.jsonl import write_lines
from sessions.homes import Home, Record
from sessions.long_sessions import SAID

from compactctl.commands.reading.proof import expected_messages

# The oldest version that tells what it has open, one that is proven and does not, and a newer one
# than those that are proven.
TELLS, OLDER, NEWER = "2.1.197", "2.0.76", "2.9.0"
RESULTS = 8
INTENT = "I read that log from its first line to its last, and then I say what it says."
PRUNE = ("--stages", "prune", "--prune-protect-tokens", "100", "--prune-min-savings", "0",
         "--keep-turns", "0")  # fmt: skip
SUMMARY = ("--stages", "summarize", "--keep-turns", "1", "--summarize-keep-ratio", "0.1")


def session(home: Home, version: str = TELLS, last: Record | None = None) -> Path:
    """Write a session in which files were read; ``last`` is a further record."""
    records: list[Record] = []
    parent = "a1"
    for at in range(RESULTS):
        call = {"type": "tool_use", "id": f"call{at}", "name": "Read", "input": {"file_path": "a"}}
        text = f"{at}: " + "the pilot waited for the tide. " * 60
        result = {"type": "tool_result", "tool_use_id": f"call{at}", "content": text}
        asked = {"role": "user", "content": f"What does log {at} say?"}
        called = {
            "id": f"msg_{at}",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": INTENT}, call],
            "usage": {"input_tokens": 900 * at, "output_tokens": 9},
        }
        for kind, message in (("user", asked), ("assistant", called),
                              ("user", {"role": "user", "content": [result]})):  # fmt: skip
            name = f"{kind}-{len(records)}"
            records.append(record(kind, name, parent, message=message))
            parent = name
    said = {"id": "msg_end", "role": "assistant", "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": "Read."}],
            "usage": {"input_tokens": 90_000, "output_tokens": 9}}  # fmt: skip
    records.append(record("assistant", "end", parent, message=said))
    return home.claude(SAID, *records, *([last] if last else []), version=version)


def record(kind: str, uuid: str, parent: str, **fields: Any) -> Record:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": SAID.id,
        "isSidechain": False,
        "timestamp": "2026-01-02T03:04:05Z",
        **fields,
    }


def goes_on(path: Path, text: str) -> None:
    """Append what is said next, as the client does: it hangs on the last record, by its uuid."""
    last = last_with(path, "uuid")
    said = record("user", text, last["uuid"], message={"role": "user", "content": text})
    with path.open("a") as stream:
        stream.write(json.dumps({**said, "sessionId": last["sessionId"]}) + "\n")


def last_with(path: Path, field: str) -> Record:
    """Return the last record of a session that has a field."""
    records = map(json.loads, reversed(path.read_bytes().splitlines()))
    return next(each for each in records if field in each)


def codex_session(home: Home, version: str = "0.169.0") -> Path:
    """Write a session of Codex that is numbered and tells what of its surroundings was sent."""
    records: list[tuple[str, Record]] = []
    for at in range(RESULTS):
        call, text = f"call{at}", f"{at}: " + "the pilot waited for the tide. " * 60
        records += [
            ("response_item", _said("user", "input_text", f"What does log {at} say?")),
            ("response_item", _said("assistant", "output_text", INTENT)),
            ("response_item", {"type": "function_call", "name": "shell", "arguments": "{}",
                               "call_id": call}),
            ("response_item", {"type": "function_call_output", "call_id": call, "output": text}),
        ]  # fmt: skip
    counts = {"input_tokens": 90_000, "cached_input_tokens": 0, "output_tokens": 9,
              "total_tokens": 90_009}  # fmt: skip
    info = {"last_token_usage": counts, "total_token_usage": counts}
    records += [
        ("world_state", {"full": True, "state": {"date": "2026-01-02"}}),
        ("turn_context", {"cwd": SAID.project, "model": "gpt-5.2-codex"}),
        ("response_item", _said("assistant", "output_text", "Read.")),
        ("event_msg", {"type": "token_count", "info": info}),
    ]
    path = home.codex(SAID, *({"type": kind, "payload": payload} for kind, payload in records))
    header, *lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    header["payload"]["cli_version"] = version
    rules = _said("developer", "input_text", "Ask the harbour master first. " * 60)
    lines = [header, {"type": "response_item", "payload": rules}, *lines]
    numbered = ({**line, "timestamp": "t", "ordinal": at} for at, line in enumerate(lines))
    return write_lines(path, *numbered)


def codex_goes_on(path: Path, text: str) -> None:
    """Append what is said next, with the number that follows."""
    last = last_with(path, "ordinal")
    said = {"type": "response_item", "payload": _said("user", "input_text", text)}
    with path.open("a") as stream:
        numbered = {"timestamp": "t", "ordinal": last["ordinal"] + 1, **said}
        stream.write(json.dumps(numbered) + "\n")


def _said(role: str, kind: str, text: str) -> Record:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def pi_session(home: Home, version: int = 3) -> Path:
    """Write a session of pi."""
    told: list[Record] = []
    for at in range(RESULTS):
        call = {"type": "toolCall", "id": f"call{at}", "name": "read", "arguments": {"path": "a"}}
        text = f"{at}: " + "the pilot waited for the tide. " * 60
        told += [
            {"role": "user", "content": _text(f"What does log {at} say?")},
            {"role": "assistant", "content": [*_text(INTENT), call], "stopReason": "toolUse"},
            {"role": "toolResult", "toolCallId": f"call{at}", "toolName": "read",
             "content": _text(text)},
        ]  # fmt: skip
    usage = {"input": 90_000, "output": 9, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 90_009}
    told.append({"role": "assistant", "content": _text("Read."), "stopReason": "stop",
                 "usage": usage})  # fmt: skip
    names = ["0000000b", *(f"000000{at}" for at in range(10, 10 + len(told)))]
    entries = [
        {"type": "message", "id": name, "parentId": parent, "timestamp": "t", "message": message}
        for (parent, name), message in zip(pairwise(names), told, strict=True)
    ]
    path = home.pi(SAID, *entries)
    header, *rest = path.read_bytes().splitlines(keepends=True)
    new = json.dumps({**json.loads(header), "version": version}).encode() + b"\n"
    path.write_bytes(b"".join((new, *rest)))
    return path


def pi_goes_on(path: Path, text: str) -> None:
    """Append what is said next: it follows the last entry of the file."""
    last = last_with(path, "id")
    name = f"{len(path.read_bytes()):08x}"
    message = {"role": "user", "content": _text(text)}
    entry = {"type": "message", "id": name, "parentId": last["id"], "timestamp": "t"}
    with path.open("a") as stream:
        stream.write(json.dumps({**entry, "message": message}) + "\n")


def _text(text: str) -> list[Record]:
    return [{"type": "text", "text": text}]


@dataclass(frozen=True, kw_only=True)
class Appended:
    """A client whose sessions are appended to, and which options that takes.

    ``counts`` leads to what it measures by, in the last line.
    """

    format: str
    session: Callable[[Home], Path]
    goes_on: Callable[[Path, str], None]
    resume: str
    counts: tuple[str, ...]
    insists: tuple[str, ...] = ()


def told(outcome: Outcome) -> dict[str, Any]:
    """Return the document that a command printed."""
    assert outcome.code == 0, outcome.err
    document: dict[str, Any] = json.loads(outcome.out)
    return document


@dataclass(frozen=True, kw_only=True)
class KeptSession:
    """A session that its client appends to, and the commands to ask about it."""

    client: Appended
    path: Path
    ask: Ask

    def goes_on(self, text: str) -> None:
        """Continue as the client does."""
        self.client.goes_on(self.path, text)

    @property
    def sent(self) -> list[bytes]:
        """What the next request sends."""
        return sent(self.path)


APPENDED = (
    Appended(
        format="claude-code",
        session=session,
        goes_on=goes_on,
        resume="claude --resume",
        counts=("message", "usage"),
    ),
    Appended(
        format="codex",
        session=codex_session,
        goes_on=codex_goes_on,
        resume="codex resume",
        counts=("payload", "info", "last_token_usage"),
    ),
    Appended(
        format="pi",
        session=pi_session,
        goes_on=pi_goes_on,
        resume="pi --session",
        counts=("message", "usage"),
        insists=("--while-open",),
    ),
)


def sent(path: Path) -> list[bytes]:
    return [each.content for each in expected_messages(load_file(path).transcript.effective)]
