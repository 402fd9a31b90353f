"""Writes a plan down as a session file of Claude Code."""

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from properties.plans import Plan, Step
from properties.spelling import Record, last_torn, spelled

_SESSION = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "/app",
    "sessionId": "5f0c1c1e-0000-4000-8000-000000000000",
    "version": "2.1.20",
    "gitBranch": "main",
}
# A black pixel.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)

_OPENING = Step(kind="prompt", number=0, size=5, style=0)


def claude_session(plan: Plan) -> bytes:
    """Return the bytes of a session in which the plan happens."""
    session = _Session()
    for step in (_OPENING, *plan):
        session.take(step)
    return last_torn(session.lines, plan[-1].style)


def claude_turn(plan: Plan, after: bytes) -> bytes:
    """Return lines that a client would append to a session that ends in ``after``."""
    session = _Session(first=10_000 + after.count(b"\n"))
    session.head = _last_uuid(after)
    for step in plan:
        session.take(step)
    return b"".join(session.lines)


def _last_uuid(data: bytes) -> str | None:
    """Return what a client goes on from: a subagent's records beside the chain are not it."""
    for line in reversed(data.split(b"\n")):
        piece = line[line.rfind(b'"uuid"') + 6 :].split(b'"')
        beside = b'"isSidechain":true' in line.replace(b" ", b"")
        if b'"uuid"' in line and not beside and len(piece) > 1:
            return piece[1].decode()
    return None


class _Session:
    """The state a client keeps: the record that the next one follows, and open calls."""

    def __init__(self, first: int = 0) -> None:
        self.lines: list[bytes] = []
        self.head: str | None = None
        self.uuids: list[str] = []
        self.count = first
        self.late: list[tuple[str, str, Step]] = []

    def take(self, step: Step) -> None:
        getattr(self, "_" + step.kind.replace(" ", "_"))(step)

    def _name(self) -> str:
        self.count += 1
        return str(uuid.uuid5(uuid.NAMESPACE_OID, str(self.count)))

    def _link(self, step: Step, record: Record, *, parent: str | None = None) -> str:
        name = self._name()
        whole = {
            "parentUuid": parent or self.head,
            **_SESSION,
            **record,
            "uuid": name,
            "timestamp": f"2026-01-01T00:00:{self.count % 60:02}.000Z",
        }
        self.lines.append(spelled(whole, step.style))
        self.uuids.append(name)
        return name

    def _user(self, step: Step, content: Any, **fields: Any) -> None:
        record = {"type": "user", "message": {"role": "user", "content": content}, **fields}
        self.head = self._link(step, record)

    def _assistant(self, step: Step, *blocks: Record, response: str | None = None) -> str:
        message = {
            "id": response or f"msg_{self.count}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": list(blocks),
            "usage": {"input_tokens": step.size, "output_tokens": 5},
        }
        self.head = self._link(step, {"type": "assistant", "message": message})
        return self.head

    def _result(self, step: Step, call: str, parent: str, content: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        record = {
            "type": "user",
            "message": {"role": "user", "content": [block]},
            "toolUseResult": {"stdout": step.text},
        }
        self.head = self._link(step, record, parent=parent)

    def _prompt(self, step: Step) -> None:
        content: Any = step.text
        self._user(step, [{"type": "text", "text": content}] if step.number % 2 else content)

    def _say(self, step: Step) -> None:
        self._assistant(step, {"type": "text", "text": step.text})

    def _think(self, step: Step) -> None:
        self._assistant(step, {"type": "thinking", "thinking": step.text, "signature": "c2ln"})

    def _call(self, step: Step) -> None:
        self._calls(step, [step.number])

    def _parallel(self, step: Step) -> None:
        self._calls(step, [step.number, step.number + 1, step.number + 2])

    def _calls(self, step: Step, numbers: Sequence[int]) -> None:
        """Write calls of one response, then their results, each below its own call."""
        response = f"msg_{self.count}_parallel"
        calls = []
        for number in numbers:
            name = f"toolu_{self.count}_{number}"
            block = {"type": "tool_use", "id": name, **_tool(step, number)}
            calls.append((name, self._assistant(step, block, response=response), number))
        ordered = calls[::-1] if step.style % 2 else calls
        for name, parent, number in ordered:
            self._result(step, name, parent, _output(step, number))

    def _late_result(self, step: Step) -> None:
        """Write a call whose result comes a few steps later."""
        name = f"toolu_{self.count}_late"
        parent = self._assistant(step, {"type": "tool_use", "id": name, **_tool(step, 0)})
        for open_name, open_parent, open_step in self.late:
            self._result(open_step, open_name, open_parent, open_step.content)
        self.late = [(name, parent, step)]

    def _lost_call(self, step: Step) -> None:
        name = f"toolu_{self.count}_lost"
        self._assistant(step, {"type": "tool_use", "id": name, **_tool(step, 1)})

    def _edit(self, step: Step) -> None:
        arguments = {"file_path": step.file, "old_string": "a", "new_string": step.text}
        name = f"toolu_{self.count}_edit"
        block = {"type": "tool_use", "id": name, "name": "Edit", "input": arguments}
        self._result(step, name, self._assistant(step, block), "The file has been updated.")

    def _reminder(self, step: Step) -> None:
        attachments: list[Record] = [
            {"type": "file", "filename": step.file, "content": {"file": {"content": step.content}}},
            {"type": "todo", "content": [{"text": step.text}]},
            {"type": "skill_listing", "content": step.text},
            {"type": "diagnostics", "files": []},
        ]
        attachment = attachments[step.number % len(attachments)]
        name = self._link(step, {"type": "attachment", "attachment": attachment})
        if step.style % 2:
            self.head = name

    def _system(self, step: Step) -> None:
        record = {"type": "system", "subtype": "local_command", "content": step.text}
        self.head = self._link(step, record)

    def _image(self, step: Step) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        self._user(step, [{"type": "text", "text": step.text}, {"type": "image", "source": source}])

    def _side(self, step: Step) -> None:
        """Write a subagent's records beside the main chain, as old clients do."""
        head, main = self.head, self.uuids
        self.head, self.uuids = None, []
        self._user(step, step.text, isSidechain=True)
        message = {"role": "assistant", "content": [{"type": "text", "text": step.text}]}
        record = {"type": "assistant", "message": message, "isSidechain": True}
        self._link(step, record)
        self.head, self.uuids = head, main

    def _noise(self, step: Step) -> None:
        noise: list[Record] = [
            {"type": "file-history-snapshot", "messageId": "x", "snapshot": {"files": {}}},
            {"type": "summary", "summary": step.text, "leafUuid": self.head or "none"},
            {"type": "queue-operation", "operation": "enqueue", "content": step.text},
        ]
        if step.number % 4 < len(noise):
            self.lines.append(spelled(noise[step.number % 4], step.style))
            return
        data = {"type": "bash_progress", "output": step.text}
        name = self._link(step, {"type": "progress", "data": data, "toolUseID": "t"})
        if step.style % 2:
            self.head = name

    def _fork(self, step: Step) -> None:
        """Go back to an earlier record and write another prompt below it."""
        if self.uuids:
            self.head = self.uuids[-(1 + step.number) % len(self.uuids)]
        self._user(step, step.text)

    def _boundary(self, step: Step, **meta: Any) -> None:
        parent, self.head = self.head, None
        record = {
            "type": "system",
            "subtype": "compact_boundary",
            "logicalParentUuid": parent,
            "content": "Conversation compacted",
            "compactMetadata": {"trigger": "auto", "preTokens": step.size, **meta},
        }
        self.head = self._link(step, record)
        self._user(step, f"This session is being continued. {step.text}", isCompactSummary=True)

    def _preserved(self, step: Step) -> None:
        """Compact but keep the newest records, which then follow the summary."""
        kept = self.uuids[-(1 + step.number % 3) :]
        if not kept or step.style % 3 == 0:
            self._boundary(step)
            return
        summary = str(uuid.uuid5(uuid.NAMESPACE_OID, str(self.count + 2)))
        meta: Record = {
            "preservedSegment": {"headUuid": kept[0], "anchorUuid": summary, "tailUuid": kept[-1]}
        }
        if step.style % 5 == 1:
            meta["preservedMessages"] = {
                "anchorUuid": summary,
                "uuids": kept[:: 1 + step.number % 2],
            }
        self._boundary(step, **meta)
        self.head = kept[-1] if step.style % 2 else self.head

    def _cleared(self, step: Step) -> None:
        names = [f"toolu_{n}_{step.number}" for n in range(self.count)]
        record = {
            "type": "system",
            "subtype": "microcompact_boundary",
            "content": "Context microcompacted",
            "microcompactMetadata": {"compactedToolIds": names},
        }
        self.head = self._link(step, record)

    def _client_error(self, step: Step) -> None:
        content = [{"type": "text", "text": "API Error: 529"}]
        message = {"role": "assistant", "model": "<synthetic>", "content": content}
        record = {"type": "assistant", "message": message, "isApiErrorMessage": True}
        self.head = self._link(step, record)

    def _blank(self, step: Step) -> None:
        self.lines.append(b"\r\n" if step.style == 3 else b"\n")

    def _garbage(self, step: Step) -> None:
        self.lines.append((b"\xff\xfe not JSON", b"[1, 2]", b'"x"', b"{}")[step.number % 4] + b"\n")

    def _torn(self, step: Step) -> None:
        self._user(step, step.text)
        self.lines[-1] = self.lines[-1][: len(self.lines[-1]) // 2] + b"\n"

    def _padded(self, step: Step) -> None:
        self._user(step, step.text)
        self.lines[-1] = b"\0\0\0" + self.lines[-1]

    def _glued(self, step: Step) -> None:
        """Write two records on one line."""
        self._user(step, step.text)
        self._user(step, step.text)
        second = self.lines.pop()
        self.lines[-1] = self.lines[-1].rstrip(b"\r\n") + second

    def _twice(self, step: Step) -> None:
        """Write a record again, as a resumed session does, or another one in its place."""
        if not self.lines:
            return
        line = self.lines[-(1 + step.number) % len(self.lines)]
        self.lines.append(_superseding(line, step) if step.style % 2 else line)


def _superseding(line: bytes, step: Step) -> bytes:
    """Return a record that stands for the one on a line: other content, or another parent."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    if not isinstance(record, dict) or "uuid" not in record:
        return line
    block = next(iter(record.get("message", {}).get("content", ())), None)
    if isinstance(block, dict) and block["type"] == "tool_result":
        block["content"] = step.text
    else:
        record["parentUuid"] = None
    return spelled(record, step.style)


def _tool(step: Step, number: int) -> Record:
    tools: Iterable[tuple[str, Record]] = (
        ("Read", {"file_path": step.file}),
        ("Bash", {"command": f"ls {step.number}"}),
        ("Read", {"file_path": "src/file0.py", "offset": 1, "limit": step.size}),
        ("Grep", {"pattern": step.text}),
    )
    name, arguments = list(tools)[number % 4]
    return {"name": name, "input": arguments}


def _output(step: Step, number: int) -> Any:
    if number % 2:
        return step.text
    if step.style == 1:
        return [{"type": "text", "text": step.content}]
    return step.content
