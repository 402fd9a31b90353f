"""Builds records of Claude Code sessions; the parent is given, everything else has defaults."""

from typing import Any

from formats.jsonl import raw_lines

from compactctl.clients.claude_code.format import ClaudeCode
from compactctl.clients.records.decode import decode_lines
from compactctl.model.transcript import RawLine, Transcript

Record = dict[str, Any]


def record(kind: str, uuid: str, parent: str | None, **fields: object) -> Record:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": kind,
        "uuid": uuid,
        "sessionId": "s",
        "cwd": "/w",
        **fields,
    }


def user(uuid: str, parent: str | None, content: object, **fields: object) -> Record:
    return record("user", uuid, parent, message={"role": "user", "content": content}, **fields)


def said(uuid: str, parent: str | None, text: str, response: str = "", **fields: object) -> Record:
    return response_line(uuid, parent, {"type": "text", "text": text}, response, **fields)


def called(
    uuid: str, parent: str | None, call: str, response: str = "", **fields: object
) -> Record:
    block = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": call}}
    return response_line(uuid, parent, block, response, **fields)


def response_line(
    uuid: str, parent: str | None, block: object, response: str, **fields: Any
) -> Record:
    inner = {"role": "assistant", "id": response or f"msg-{uuid}", "model": "m", "content": [block]}
    inner |= fields.pop("inner", {})
    return record("assistant", uuid, parent, message=inner, **fields)


def answered(
    uuid: str, parent: str | None, call: str, text: str = "ok", **fields: object
) -> Record:
    block = {"type": "tool_result", "tool_use_id": call, "content": text}
    return user(uuid, parent, [block], **fields)


def attached(uuid: str, parent: str | None, kind: str, **fields: object) -> Record:
    return record("attachment", uuid, parent, attachment={"type": kind, **fields})


def boundary(uuid: str, logical: str | None = None, **metadata: object) -> Record:
    return record(
        "system",
        uuid,
        None,
        subtype="compact_boundary",
        logicalParentUuid=logical,
        content="Conversation compacted",
        compactMetadata={"trigger": "auto", **metadata},
    )


def microcompacted(
    uuid: str, parent: str, *cleared: str, attachments: tuple[str, ...] = ()
) -> Record:
    metadata = {"compactedToolIds": list(cleared), "clearedAttachmentUUIDs": list(attachments)}
    return record(
        "system", uuid, parent, subtype="microcompact_boundary", microcompactMetadata=metadata
    )


def summarized(uuid: str, parent: str, text: str) -> Record:
    return user(uuid, parent, text, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def read(*records: Record) -> Transcript:
    """Read a session of these records."""
    lines = enumerate(raw_lines(*records))
    return ClaudeCode().read(decode_lines(RawLine(index, line) for index, line in lines))
