"""What clients append when they compact their own sessions."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sessions.homes import Record
from sessions.read_files import last_with, record

SUMMARY_TEXT = "Logs were read."


def compacted_by_claude(path: Path) -> None:
    """Append the boundary and the summary of ``/compact``, which keeps nothing."""
    tip = last_with(path, "uuid")["uuid"]
    number = len(path.read_bytes())
    metadata = {"trigger": "manual", "preTokens": 90_000}
    boundary = {
        **record("system", f"boundary-{number}", tip, subtype="compact_boundary"),
        "parentUuid": None,
        "logicalParentUuid": tip,
        "content": "Conversation compacted",
        "compactMetadata": metadata,
    }
    said = {"role": "user", "content": SUMMARY_TEXT}
    summary = record(
        "user", f"summary-{number}", f"boundary-{number}", message=said, isCompactSummary=True
    )
    _append(path, boundary, summary)


def compacted_by_codex(path: Path) -> None:
    """Append a record with what Codex keeps: the prompts, then its summary."""
    prompts: list[Record] = []
    for line in path.read_bytes().splitlines():
        value = json.loads(line)
        payload = value["payload"]
        if value["type"] == "compacted":
            prompts = [each for each in payload["replacement_history"] if _is_prompt(each)]
        elif _is_prompt(payload):
            prompts.append(payload)
    summary = _prompt(SUMMARY_TEXT)
    payload = {"message": "", "replacement_history": [*prompts, summary]}
    number = last_with(path, "ordinal")["ordinal"] + 1
    _append(path, {"timestamp": "t", "ordinal": number, "type": "compacted", "payload": payload})


def compacted_by_pi(path: Path) -> None:
    """Append an entry that keeps the newest entry alone."""
    last = last_with(path, "id")
    _append(
        path,
        {
            "type": "compaction",
            "id": f"{len(path.read_bytes()):08x}",
            "parentId": last["id"],
            "timestamp": "t",
            "summary": SUMMARY_TEXT,
            "firstKeptEntryId": last["id"],
            "tokensBefore": 90_000,
        },
    )


@dataclass(frozen=True, kw_only=True)
class Compacting:
    """How a client compacts a session of ``APPENDED``.

    ``middle`` is the line on which a turn begins, half way through; ``link`` are the fields with a
    record's id and its parent's, or a field that numbers records.
    """

    compact: Callable[[Path], None]
    middle: int
    link: tuple[str, ...]

    def compact_half(self, path: Path) -> None:
        """Compact a session as if its second half had been said after that."""
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[: self.middle]))
        self.compact(path)
        first, *rest = map(json.loads, lines[self.middle :])
        newest = last_with(path, self.link[0])[self.link[0]]
        if self.link == ("ordinal",):
            later = [{**each, "ordinal": newest + n} for n, each in enumerate((first, *rest), 1)]
        else:
            later = [{**first, self.link[1]: newest}, *rest]
        _append(path, *later)


BY_CLIENT: Mapping[str, Compacting] = {
    "claude-code": Compacting(compact=compacted_by_claude, middle=17, link=("uuid", "parentUuid")),
    "codex": Compacting(compact=compacted_by_codex, middle=24, link=("ordinal",)),
    "pi": Compacting(compact=compacted_by_pi, middle=15, link=("id", "parentId")),
}


def _append(path: Path, *records: Record) -> None:
    with path.open("a") as stream:
        stream.writelines(f"{json.dumps(each)}\n" for each in records)


def _prompt(text: str) -> Record:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def _is_prompt(item: Record) -> bool:
    return item.get("role") == "user" and item.get("type") == "message"
