"""Real sessions, put where their client finds them, and the ways in which they are tried."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from clients.desk import Client, Desk
from clients.pieces import WIRES
from clients.running import ALL_CLIENTS
from clients.stub import Json
from examples import LONG
from transcripts import FOLDER

NATIVE = ("--native", "--while-open")
WAYS: Mapping[str, tuple[str, ...]] = {
    "new session": ("compact", "--keep", "40%"),
    "new session, undone": ("compact", "--keep", "40%"),
    "native": ("compact", "--keep", "40%", *NATIVE),
    "native, undone": ("compact", "--keep", "40%", *NATIVE),
    "client's compaction undone": ("rewind", "--client", *NATIVE),
}
"""What is done with a session; it is rewound after those that end in ``, undone``."""


def given_sessions() -> Iterator[tuple[Client, Path]]:
    """Yield the sessions of each client: the smallest one, in the long run all of them."""
    for client in ALL_CLIENTS:
        files = sorted(FOLDER.glob(f"{client.name}/*.jsonl"), key=lambda path: path.stat().st_size)
        if client.name in WIRES:
            yield from ((client, path) for path in (files if LONG else files[:1]))


def table(outcomes: Iterable[tuple[str, bool]]) -> Iterator[str]:
    """Yield a table of how many sessions of each client are right in each way.

    ``outcomes`` are the ids of tests, which name both, and whether they passed.
    """
    tried = [(name, is_right) for name, is_right in outcomes if "test_given_sessions" in name]
    if tried:
        yield f"| | {' | '.join(WAYS)} |"
    for client in WIRES:
        counts = []
        for way in WAYS:
            of_it = [is_right for name, is_right in tried if f"[{client}-" in name
                     and name.endswith(f"-{way}]")]  # fmt: skip
            counts.append(f"{sum(of_it)} of {len(of_it)}")
        if tried:
            yield f"| {client} | {' | '.join(counts)} |"


def model_of(records: Iterable[Json]) -> str:
    """Return the model to go on with: reasoning is sent to the one alone that had it."""
    said = [record.get("message") or {} for record in records]
    names = (
        str(message.get("model") or "")
        for message in reversed(said)
        if message.get("provider", "anthropic") == "anthropic"
    )
    return next((name for name in names if name and not name.startswith("<")), "")


def placed(client: Client, source: Path, desk: Desk) -> Path:
    """Copy a session to where its client looks for it, with a header that fits there."""
    desk.project.mkdir(parents=True)
    data = source.read_bytes()
    folder, name, header = _PLACES[client.name](data, desk)
    path = desk.home / folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True)
    if header is not None:
        data = json.dumps(header).encode() + b"\n" + data.partition(b"\n")[2]
    path.write_bytes(data)
    return path


_Place = tuple[str, str, Json | None]


def _claude_code(data: bytes, desk: Desk) -> _Place:
    records = map(json.loads, data.splitlines()[:50])
    name = next(record["sessionId"] for record in records if record.get("sessionId"))
    return f".claude/projects/{re.sub('[^A-Za-z0-9]', '-', str(desk.project))}", name, None


def _codex(data: bytes, desk: Desk) -> _Place:  # noqa: ARG001
    header: Json = json.loads(data.partition(b"\n")[0])
    facts: Json = header.get("payload", header)
    facts["model_provider"] = "stub"
    date, time = facts["timestamp"][:19].split("T")
    name = f"rollout-{date}T{time.replace(':', '-')}-{facts['id']}"
    return f".codex/sessions/{date.replace('-', '/')}", name, header


def _pi(data: bytes, desk: Desk) -> _Place:
    header: Json = json.loads(data.partition(b"\n")[0])
    header["cwd"] = str(desk.project)
    folder = str(desk.project).strip("/").replace("/", "-")
    name = f"{re.sub('[:.]', '-', header['timestamp'])}_{header['id']}"
    return f".pi/agent/sessions/--{folder}--", name, header


_PLACES: Mapping[str, Callable[[bytes, Desk], _Place]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "pi": _pi,
}
