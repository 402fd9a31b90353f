"""Sessions that their own clients compacted, with the originals in them."""

from pathlib import Path
from typing import Any

from sessions.homes import Home, Record, Said

SAID = Said(name="tides", title="Tide windows", project="/home/dev/quay side")
OLD, SUMMARY, NEW = "The gate is at four.", "A gate was spoken of.", "And the moon?"


def claude(home: Home) -> Path:
    def record(kind: str, uuid: str, parent: str | None, **fields: Any) -> Record:
        return {"type": kind, "uuid": uuid, "parentUuid": parent, **fields}

    def said(text: str) -> Record:
        return {"role": "user", "content": text}

    return home.claude(
        SAID,
        record("user", "u1", "a1", message=said(OLD)),
        record("system", "b1", None, subtype="compact_boundary"),
        record("user", "s1", "b1", message=said(SUMMARY), isCompactSummary=True),
        record("user", "u2", "s1", message=said(NEW)),
    )


def claude_that_kept_messages(home: Home) -> Path:
    """Write a session whose compaction kept its newest message, and that goes on at length."""

    def said(uuid: str, parent: str, text: str) -> Record:
        message = {"role": "user", "content": text}
        return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": message}

    segment = {"headUuid": "u2", "anchorUuid": "s1", "tailUuid": "u2"}
    boundary = {"type": "system", "uuid": "b1", "subtype": "compact_boundary"}
    return home.claude(
        SAID,
        said("u1", "a1", OLD),
        said("u2", "u1", "Is it still so?"),
        {**boundary, "parentUuid": None, "compactMetadata": {"preservedSegment": segment}},
        {**said("s1", "b1", SUMMARY), "isCompactSummary": True},
        said("u3", "s1", f"{NEW} {'Tell me all of it. ' * 99}"),
        said("u4", "u3", "Please."),
    )


def codex(home: Home) -> Path:
    def said(role: str, kind: str, text: str) -> Record:
        content = [{"type": kind, "text": text}]
        payload = {"type": "message", "role": role, "content": content}
        return {"timestamp": "t", "type": "response_item", "payload": payload}

    compacted = {"timestamp": "t", "type": "compacted", "payload": {"message": SUMMARY}}
    old, new = said("assistant", "output_text", OLD), said("user", "input_text", NEW)
    return home.codex(SAID, old, compacted, new)


def pi(home: Home) -> Path:
    def said(name: str, parent: str, text: str) -> Record:
        content = [{"type": "text", "text": text}]
        message = {"role": "user", "content": content}
        return {"type": "message", "id": name, "parentId": parent, "message": message}

    compaction = {
        "type": "compaction",
        "id": "00000011",
        "parentId": "00000010",
        "summary": SUMMARY,
        "firstKeptEntryId": "00000011",
        "tokensBefore": 9,
    }
    return home.pi(
        SAID, said("00000010", "0000000b", OLD), compaction, said("00000012", "00000011", NEW)
    )
