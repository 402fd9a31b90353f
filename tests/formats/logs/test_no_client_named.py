"""A log of anybody's, with fields that many logs have, is not taken for a client's session."""

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from typing import Any

import pytest
from formats.jsonl import detected

from compactctl.clients.registry import ALL_FORMATS
from compactctl.clients.sizes import CLIENT_SIZES
from compactctl.errors import CompactctlError

# The formats for which stats tells when their client compacts, or what it sends beside.
CLIENTS = {f.name for f in ALL_FORMATS if f.name in CLIENT_SIZES}
BLOCKS = [{"type": "text", "text": "Is the sluice gate open?"}]
COMMON: dict[str, Any] = {
    "ts": 1_767_225_600_000,
    "timestamp": "2026-01-01T00:00:00Z",
    "id": "m1",
    "uuid": "6f1b7c9e-0000-4000-8000-000000000001",
    "session_id": "s1",
    "sessionId": "s1",
    "messageId": "m1",
    "parentId": None,
    "parent_id": None,
    "model": "gpt-5.1",
    "cwd": "/work",
    "version": "1.0",
    "kind": "chat",
    "name": "desk",
    "metadata": {},
    "usage": {"input_tokens": 5, "output_tokens": 1},
}
SHAPES: dict[str, Callable[[str], dict[str, Any]]] = {
    "chat": lambda role: {"role": role, "content": "hi"},
    "chat in blocks": lambda role: {"role": role, "content": BLOCKS},
    "role as type": lambda role: {"type": role, "content": "hi"},
    "role as type, in blocks": lambda role: {"type": role, "content": BLOCKS},
    "typed": lambda role: {"type": "message", "role": role, "content": "hi"},
    "nested": lambda role: {"type": role, "message": {"role": role, "content": BLOCKS}},
    "nested twice": lambda role: {"type": "message", "message": {"role": role, "content": "hi"}},
    "event with data": lambda role: {"type": f"chat.{role}", "data": {"content": "hi"}},
    "event with payload": lambda role: {"type": "event", "payload": {"role": role, "text": "hi"}},
    "tool": lambda role: {"type": "tool_call", "name": role, "arguments": "{}", "output": "x"},
    "call": lambda role: {"type": "function_call", "call_id": role, "name": "f", "arguments": ""},
    "parts": lambda role: {"role": role, "parts": [{"text": "hi"}]},
}


def choices() -> Iterator[dict[str, Any]]:
    few = (combinations(COMMON, count) for count in range(3))
    for names in chain(*few, [tuple(COMMON)]):
        yield {name: COMMON[name] for name in names}


def named(*records: object) -> str | None:
    try:
        return detected(*records)
    except CompactctlError:
        return None


@pytest.mark.parametrize("shape", SHAPES)
def test_common_fields_name_no_client(shape: str) -> None:
    taken = set()
    for fields in choices():
        records = [{**SHAPES[shape](role), **fields} for role in ("user", "assistant") * 2]
        for log in (records, [records], [{"messages": records, **fields}]):
            taken |= {(named(*log), *fields)}
    wrong = [each for each in taken if each[0] in CLIENTS]
    assert wrong == [], "let sniff ask for more than fields that any API log may have"
