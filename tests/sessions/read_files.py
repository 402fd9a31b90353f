"""A session of Claude Code in which files were read, and what it would send."""

import json
from pathlib import Path
from typing import Any

from sessions.homes import Home, Record
from sessions.long_sessions import SAID

from compactctl.commands.loading.load import load
from compactctl.commands.loading.verify_output import meant_by

# The oldest version that tells what it has open, one that is proven and does not, and a newer one
# than those that are proven.
TELLS, OLDER, NEWER = "2.1.197", "2.0.76", "2.9.0"
RESULTS = 8
PRUNE = ("--stages", "prune", "--prune-protect-tokens", "100", "--prune-min-savings", "0",
         "--keep-turns", "0")  # fmt: skip
SUMMARY = ("--stages", "summarize", "--keep-turns", "1")


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
            "content": [call],
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
    last = json.loads(path.read_bytes().splitlines()[-1])
    message = {"role": "user", "content": text}
    with path.open("a") as stream:
        stream.write(json.dumps(record("user", text, last["uuid"], message=message)) + "\n")


def sent(path: Path) -> list[bytes]:
    return [each.content for each in meant_by(load(str(path)).transcript.effective)]
