"""A conversation in pieces: as a request holds it, and as ``view --jsonl`` shows it."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from clients.running import REMINDER
from clients.stub import Json

Piece = tuple[str, str, str]
"""What it is, the id of its tool call, and what it says."""


def _digest(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def _bare(text: str) -> str:
    """Return a text without what a client adds to each request."""
    return REMINDER.sub("", text).strip()


def _plain(content: Any) -> str:
    """Return the text of a tool result; a picture in it is a digest."""
    if isinstance(content, str):
        return _bare(content)
    if any(block.get("type") == "tool_reference" for block in content or ()):
        return "[Tool references removed - tool search not enabled]"
    texts = [
        block["text"] if block.get("type") in _TEXTS else f"<{block.get('type')}>"
        for block in content or ()
    ]
    return _bare("\n".join(texts))


_TEXTS = ("text", "input_text", "output_text")


def _blocks(content: Any) -> Iterator[Piece]:
    """Yield the pieces of a message in the format of Anthropic."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks or ():
        kind = block["type"]
        if kind == "text":
            if text := _bare(block["text"]):
                yield "text", "", text
        elif kind == "tool_use":
            yield "call", block["id"], _digest(block["input"])
        elif kind == "tool_result":
            yield "result", block["tool_use_id"], _plain(block.get("content"))
        elif kind in ("thinking", "redacted_thinking"):
            yield "reasoning", "", _digest(block.get("signature") or block.get("data") or "")
        else:
            yield kind, "", _digest(block.get("source"))


def anthropic_request(request: Json) -> Iterator[Piece]:
    """Yield the pieces of a request in the format of Anthropic."""
    for message in request["messages"]:
        if message["role"] != "system":
            yield from _blocks(message["content"])


def claude_code_view(records: Iterable[Json]) -> Iterator[Piece]:
    """Yield the pieces of a session of Claude Code, the records of one response together."""
    groups: dict[str, list[Json]] = {}
    for number, record in enumerate(records):
        response = record.get("message", {}).get("id") or f"line {number}"
        groups.setdefault(response, []).append(record)
    typed: list[Piece] = []
    for record in (record for group in groups.values() for record in group):
        if record["type"] == "assistant":
            yield from _results_first(typed)
            typed = []
            yield from _blocks(record["message"]["content"])
        elif record["type"] == "user":
            typed += _blocks(record["message"]["content"])
        elif record["type"] == "system":
            typed += _blocks(record["content"])
    yield from _results_first(typed)


def _results_first(pieces: Iterable[Piece]) -> list[Piece]:
    """Return the pieces of a user's message in the order in which a provider takes them."""
    return sorted(pieces, key=lambda piece: piece[0] != "result")


def pi_view(records: Iterable[Json]) -> Iterator[Piece]:
    """Yield the pieces of a session of pi."""
    for record in records:
        if record["type"] != "message":
            yield "text", "", str(record.get("summary") or record.get("content") or "").strip()
            continue
        message = record["message"]
        content = message.get("content")
        if message["role"] == "toolResult":
            yield "result", message["toolCallId"], _plain(content)
        elif message["role"] == "bashExecution":
            yield "text", "", f"Ran `{message['command']}`"
        else:
            for block in (
                [{"type": "text", "text": content}] if isinstance(content, str) else content
            ):
                if block["type"] == "toolCall":
                    yield "call", block["id"], _digest(block["arguments"])
                elif block["type"] == "thinking":
                    yield "reasoning", "", _digest(block.get("thinkingSignature") or "")
                elif block["type"] == "image":
                    yield "image", "", ""
                elif block["text"].strip():
                    yield "text", "", block["text"].strip()


def _item(item: Json) -> Piece:
    kind = item.get("type", "message")
    call = str(item.get("call_id") or "")
    if kind == "message":
        return "text", "", _plain(item["content"])
    if kind == "reasoning":
        return "reasoning", "", _digest(item.get("encrypted_content") or item.get("summary"))
    if kind.endswith("_output"):
        output = item.get("output", item.get("tools"))
        return "result", call, _plain(output) if kind != "tool_search_output" else _digest(output)
    if kind.endswith("_call"):
        return "call", call, _digest(item.get("arguments", item.get("input", item.get("action"))))
    return kind, "", _digest({k: v for k, v in item.items() if k not in ("id", "status")})


def codex_request(request: Json) -> Iterator[Piece]:
    """Yield the pieces of a request in the format of OpenAI's responses."""
    return map(_item, request["input"])


def codex_view(records: Iterable[Json]) -> Iterator[Piece]:
    """Yield the pieces of a session of Codex."""
    for record in records:
        if record.get("type") == "response_item":
            yield _item(record["payload"])
        elif record.get("type") == "compacted":
            history = record["payload"].get("replacement_history")
            if history:
                yield from map(_item, history)
            else:
                yield "text", "", record["payload"]["message"]
        elif record.get("type") != "session_meta":
            yield "other", "", json.dumps(record)[:200]
