"""Real sessions, put where their client finds them, and the ways in which they are tried."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks import tables
from clients.desk import Client, Desk, version_of
from clients.pieces import WIRES
from clients.running import ALL_CLIENTS, LEADS, Lead
from clients.stub import Json
from examples import LONG
from transcripts import FOLDER

from compactctl.clients.stores import store_named

KEEP = ("compact", "--keep", "40%")
NATIVE = ("--native", "--while-open")
WAYS: Mapping[str, tuple[str, ...]] = {
    "as it is": (),
    "new session": KEEP,
    "new session, undone": KEEP,
    "in place": (*KEEP, "--in-place"),
    "in place, undone": (*KEEP, "--in-place"),
    "native": (*KEEP, *NATIVE),
    "native, undone": (*KEEP, *NATIVE),
    "client's compaction undone": ("rewind", "--client", *NATIVE),
}
"""What is done with a session; it is rewound after those that end in ``, undone``."""

# Those to whose sessions a compaction is appended.
_APPENDED = frozenset({"claude-code", "codex", "pi"})


def may_go(client: Client, way: str) -> bool:
    """Whether a session of a client can be tried in a way."""
    options = WAYS[way]
    if "--native" in options:
        return client.name in _APPENDED
    return client.has_files or "--in-place" not in options


# The sessions of a client that a run tries: one, some, or all of them.
_CHOICES = {"": 12 if LONG else 1, "few": 3, "all": None}


def given_sessions() -> Iterator[tuple[Client, Path | Lead]]:
    """Yield sessions of each client: files, and where too few are given how it leads its own."""
    limit = _CHOICES[os.environ.get("CLIENTS_SESSIONS", "")]
    for client in ALL_CLIENTS:
        if client.name not in WIRES or client.program.endswith("-older"):
            continue
        pattern = f"{client.name}/*.{'jsonl' if client.has_files else 'json'}"
        files = sorted(FOLDER.glob(pattern), key=lambda path: path.stat().st_size)
        files = [path for path in files if client.has_files or _has_ids(path.read_bytes())]
        # First those that are more than a plain chain.
        if limit != 1:
            files = sorted(files, key=lambda path: not _has_turns_of_its_own(path.read_bytes()))
        yield from ((client, path) for path in files[:limit])
        missing = max(0, min(limit or 0, len(LEADS)) - len(files))
        yield from ((client, lead) for lead in LEADS[:missing])


def _has_ids(document: bytes) -> bool:
    """Whether a session can be imported: the ids of published ones may be redacted."""
    return b'"REDACTED"' not in document


def _has_turns_of_its_own(data: bytes) -> bool:
    """Whether a session has a compaction, pictures, branches or a gap."""
    return any(mark in data for mark in _MARKS) or _is_broken(data)


_MARKS = (b"compact_boundary", b'"compacted"', b'"compaction"', b'"type":"image"', b'"input_image"')


def _is_broken(data: bytes) -> bool:
    """Whether a record of Claude Code names a parent that is not there, or one that has more."""
    records = [record for line in data.splitlines() if (record := _record(line)).get("uuid")]
    parents = Counter(
        record.get("parentUuid") for record in records if record.get("type") == "user"
    )
    uuids = {record["uuid"] for record in records}
    return any(parent and (parent not in uuids or count > 1) for parent, count in parents.items())


def _record(line: bytes) -> Json:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def table(outcomes: Iterable[tuple[str, bool]], programs: Path) -> str:
    """Return a table of how many sessions of each client are right in each way, "" for none.

    ``outcomes`` are the ids of tests, which name both, and whether they passed.
    """
    tried = [(name, is_right) for name, is_right in outcomes if "test_given_sessions" in name]
    rows = []
    for client in ALL_CLIENTS:
        of_client = [outcome for outcome in tried if f"[{client.program}:" in outcome[0]]
        if of_client:
            title = f"{store_named(client.name).title} {version_of(programs / client.program)}"
            counts = (
                _count(is_right for name, is_right in of_client if name.endswith(f":{way}]"))
                for way in WAYS
            )
            rows.append([title, *counts])
    return tables.table(("Client", *WAYS), rows) if rows else ""


def _count(outcomes: Iterable[bool]) -> str:
    outcomes = [*outcomes]
    return f"{sum(outcomes)} of {len(outcomes)}" if outcomes else ""


def model_of(session: bytes) -> str:
    """Return the model to go on with: reasoning is sent to the one alone that had it."""
    records = map(_record, session.splitlines())
    # Codex notes it beside what was said.
    facts = [
        record.get("payload" if record.get("type") == "turn_context" else "message") or {}
        for record in records
    ]
    names = (
        str(fact.get("model") or "")
        for fact in reversed(facts)
        if fact.get("provider", "anthropic") == "anthropic"
    )
    return next((name for name in names if name and not name.startswith("<")), "")


def placed(client: Client, data: bytes, desk: Desk) -> str:
    """Put a session where its client looks for it, with a header that fits there; return which."""
    desk.project.mkdir(parents=True, exist_ok=True)
    if not client.has_files:
        path = desk.home / "session.json"
        path.write_bytes(data)
        client.take_in(desk, str(path))
        return str(json.loads(data)["info"]["id"])
    folder, name, header = _PLACES[client.name](data, desk)
    path = desk.home / folder / name
    path.parent.mkdir(parents=True)
    if header is not None:
        data = json.dumps(header).encode() + b"\n" + data.partition(b"\n")[2]
    path.write_bytes(data)
    return str(path)


def resumed_by(client: Client, session: str) -> str:
    """Return by what a client goes on with a session."""
    return session if client.name == "pi" else client.id_of(session)


def claude_code_folder(desk: Desk) -> str:
    """Return the folder below the home where Claude Code looks for the sessions of the project."""
    return f".claude/projects/{re.sub('[^A-Za-z0-9]', '-', str(desk.project))}"


_Place = tuple[str, str, Json | None]
"""The folder below the home, the name of the file, and its first record if that is another."""


def _claude_code(data: bytes, desk: Desk) -> _Place:
    records = map(json.loads, data.splitlines()[:50])
    name = next(record["sessionId"] for record in records if record.get("sessionId"))
    return claude_code_folder(desk), f"{name}.jsonl", None


def _codex(data: bytes, desk: Desk) -> _Place:  # noqa: ARG001
    header: Json = json.loads(data.partition(b"\n")[0])
    facts: Json = header.get("payload", header)
    facts["model_provider"] = "stub"
    date, time = facts["timestamp"][:19].split("T")
    name = f"rollout-{date}T{time.replace(':', '-')}-{facts['id']}.jsonl"
    return f".codex/sessions/{date.replace('-', '/')}", name, header


def _copilot_cli(data: bytes, desk: Desk) -> _Place:  # noqa: ARG001
    records = map(_record, data.splitlines())
    start = next(record["data"] for record in records if record.get("type") == "session.start")
    return f".copilot/session-state/{start['sessionId']}", "events.jsonl", None


def _gemini_cli(data: bytes, desk: Desk) -> _Place:
    header = json.loads(data.partition(b"\n")[0])
    name = f"session-2026-11-01T10-00-{header['sessionId'][:8]}.jsonl"
    return f".gemini/tmp/{desk.project.name}/chats", name, header


def _pi(data: bytes, desk: Desk) -> _Place:
    header: Json = json.loads(data.partition(b"\n")[0])
    header["cwd"] = str(desk.project)
    folder = str(desk.project).strip("/").replace("/", "-")
    name = f"{re.sub('[:.]', '-', header['timestamp'])}_{header['id']}.jsonl"
    return f".pi/agent/sessions/--{folder}--", name, header


def _qwen_code(data: bytes, desk: Desk) -> _Place:
    first: Json = json.loads(data.partition(b"\n")[0])
    first["cwd"] = str(desk.project)
    folder = re.sub("[^A-Za-z0-9]", "-", str(desk.project))
    return f".qwen/projects/{folder}/chats", f"{first['sessionId']}.jsonl", first


_PLACES: Mapping[str, Callable[[bytes, Desk], _Place]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "copilot-cli": _copilot_cli,
    "gemini-cli": _gemini_cli,
    "pi": _pi,
    "qwen-code": _qwen_code,
}
