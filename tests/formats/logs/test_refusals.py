"""What cannot be read is named, and the command that the error gives makes it readable."""

import bz2
import gzip
import io
import json
import lzma
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file
from formats.jsonl import texts

from compactctl.errors import NotATranscriptError, NotUnderstoodError

NEEDS_JQ = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
ASKED, SAID = "Why is it so?", 'Since "é" is not\nASCII'
TALK = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": SAID}]
BOTH = [ASKED, SAID]
CONVERSE = [{"role": each["role"], "content": [{"text": each["content"]}]} for each in TALK]
CONTENTS = [
    {"role": role, "parts": [{"text": text}]}
    for role, text in zip(("user", "model"), BOTH, strict=True)
]
ADK_EVENT = {"author": "agent", "actions": {}, "invocationId": "i", "id": "e", "timestamp": 1.0}
TIME = "2026-01-01T00:00:00Z"


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def _chatgpt_node(name: str, parent: str | None, message: Any) -> dict[str, Any]:
    return {"id": name, "parent": parent, "children": [], "message": message}


def _chatgpt_message(role: str, text: str) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    return {"author": {"role": role, "metadata": {}}, "content": content, "create_time": 1.0}


CHATGPT = [
    {
        "title": "Why",
        "create_time": 1.0,
        "mapping": {
            "r": _chatgpt_node("r", None, None),
            "s": _chatgpt_node("s", "r", _chatgpt_message("system", "")),
            "a": _chatgpt_node("a", "s", _chatgpt_message("user", ASKED)),
            "x": _chatgpt_node("x", "a", _chatgpt_message("assistant", "regenerated")),
            "b": _chatgpt_node("b", "a", _chatgpt_message("assistant", SAID)),
        },
        "current_node": "b",
    }
]
CLAUDE = [
    {
        "uuid": "c",
        "name": "Why",
        "account": {"uuid": "me"},
        "chat_messages": [
            {"uuid": "1", "sender": "human", "text": ASKED, "content": [], "attachments": []},
            {"uuid": "2", "sender": "assistant", "text": SAID, "content": [], "attachments": []},
        ],
    }
]
_NODES = {
    "a": {"id": "a", "parentId": None, "childrenIds": ["x", "b"], **TALK[0]},
    "x": {"id": "x", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "other"},
    "b": {"id": "b", "parentId": "a", "childrenIds": [], **TALK[1]},
}
OPEN_WEBUI = [
    {
        "id": "c",
        "user_id": "me",
        "title": "Why",
        "chat": {"models": ["m"], "history": {"messages": _NODES, "currentId": "b"}},
    }
]
_BLOCKS = [{"type": "text", "text": SAID}]
LM_STUDIO = {
    "name": "Why",
    "createdAt": 1,
    "tokenCount": 9,
    "messages": [
        {
            "versions": [
                {
                    "type": "singleStep",
                    "role": "user",
                    "content": [{"type": "text", "text": ASKED}],
                }
            ],
            "currentlySelected": 0,
        },
        {
            "versions": [
                {"type": "multiStep", "role": "assistant", "steps": []},
                {
                    "type": "multiStep",
                    "role": "assistant",
                    "steps": [{"type": "contentBlock", "content": _BLOCKS}],
                },
            ],
            "currentlySelected": 1,
        },
    ],
}
PYDANTIC_AI = [
    {
        "kind": "request",
        "instructions": None,
        "parts": [
            {"part_kind": "system-prompt", "content": "Be brief", "timestamp": TIME},
            {"part_kind": "user-prompt", "content": ASKED, "timestamp": TIME},
        ],
    },
    {
        "kind": "response",
        "model_name": "gpt-4o",
        "usage": {"input_tokens": 9},
        "parts": [
            {"part_kind": "tool-call", "tool_name": "look", "args": {"q": 1}, "tool_call_id": "c"}
        ],
    },
    {
        "kind": "request",
        "instructions": None,
        "parts": [
            {"part_kind": "tool-return", "tool_name": "look", "content": [2], "tool_call_id": "c"}
        ],
    },
    {"kind": "response", "parts": [{"part_kind": "text", "content": SAID}]},
]


def _attribute(name: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    told = [
        {"role": each["role"], "parts": [{"type": "text", "content": each["content"]}]}
        for each in messages
    ]
    return {"key": name, "value": {"stringValue": json.dumps(told)}}


OTEL = {
    "resourceSpans": [
        {
            "resource": {"attributes": []},
            "scopeSpans": [
                {
                    "scope": {"name": "gen_ai"},
                    "spans": [
                        {
                            "traceId": "t",
                            "spanId": "s",
                            "name": "chat gpt-4o",
                            "attributes": [
                                {
                                    "key": "gen_ai.request.model",
                                    "value": {"stringValue": "gpt-4o"},
                                },
                                _attribute("gen_ai.input.messages", TALK[:1]),
                                _attribute("gen_ai.output.messages", TALK[1:]),
                            ],
                        }
                    ],
                }
            ],
        }
    ]
}
PREFERENCES = {
    "input": {"messages": TALK[:1], "tools": []},
    "preferred_output": TALK[1:],
    "non_preferred_output": [{"role": "assistant", "content": "No"}],
}


def _chunk(**delta: str) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": None}]
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": choices}


def _events(*events: dict[str, Any], named: bool = True) -> str:
    names = (f"event: {event['type']}\n" if named else "" for event in events)
    pairs = zip(names, events, strict=True)
    return "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in pairs)


_PIECES = (SAID[:5], SAID[5:])
CHUNKS = _events(
    _chunk(role="assistant"), *(_chunk(content=piece) for piece in _PIECES), named=False
)
_DELTAS = [
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
    for piece in _PIECES
]
MESSAGE_EVENTS = _events(
    {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    *_DELTAS,
    {"type": "message_stop"},
)
_OUTPUT = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": SAID, "annotations": []}],
}


def _agent_run(asked: str, generated: str, raw: str) -> dict[str, Any]:
    """Return a run as the Agents SDKs save it, with a call that was approved."""
    is_js = raw == "rawItem"
    named = {"callId" if is_js else "call_id": "c", "name": "look"}
    call = {"type": "function_call", **named, "arguments": '{"q":1}', "status": "completed"}
    kind = "function_call_result" if is_js else "function_call_output"
    items = [
        ("tool_call_item", call),
        ("tool_approval_item", call),
        ("tool_call_output_item", {"type": kind, **named, "output": "[2]"}),
        ("message_output_item", _OUTPUT),
    ]
    run = {"$schemaVersion": "1.0", asked: ASKED, "context": {"usage": {"requests": 2}}}
    return {**run, generated: [{"type": name, raw: item} for name, item in items]}


_LONG = json.dumps({"model": "gpt-4o", "messages": TALK})
_CUT = [_LONG[:20], _LONG[20:60], f"{_LONG[60:]}\n"]
_KUBERNETES_PIECES = "".join(
    f"{TIME} stdout {kind} {piece.rstrip()}\n" for kind, piece in zip("PPF", _CUT, strict=True)
)
SHAPES: dict[str, tuple[str, str, list[str]]] = {
    "chatgpt": ("ChatGPT's export", json.dumps(CHATGPT), BOTH),
    "claude": ("Claude's export", json.dumps(CLAUDE, indent=2), BOTH),
    "open-webui": ("Open WebUI's export", json.dumps(OPEN_WEBUI), BOTH),
    "lm-studio": ("an LM Studio chat", json.dumps(LM_STUDIO, indent=2), BOTH),
    "pydantic-ai": (
        "Pydantic AI messages",
        json.dumps(PYDANTIC_AI),
        ["Be brief", ASKED, 'look({"q":1})', "[2]", SAID],
    ),
    "agents-js": (
        "a saved run of an Agents SDK",
        json.dumps(_agent_run("originalInput", "generatedItems", "rawItem")),
        [ASKED, 'look({"q":1})', "[2]", SAID],
    ),
    "agents-python": (
        "a saved run of an Agents SDK",
        json.dumps(_agent_run("original_input", "generated_items", "raw_item")),
        [ASKED, 'look({"q":1})', "[2]", SAID],
    ),
    "strands": (
        "a session of Strands Agents",
        lines(*({"message": each, "message_id": n} for n, each in enumerate(CONVERSE))),
        BOTH,
    ),
    "adk": (
        "events of Google's ADK",
        lines(*({"content": each, **ADK_EVENT} for each in (*CONTENTS, None))),
        BOTH,
    ),
    "adk session": (
        "a session of Google's ADK",
        json.dumps({"appName": "a", "events": [{"content": each} for each in CONTENTS]}),
        BOTH,
    ),
    "otel": ("OpenTelemetry spans", lines(OTEL), BOTH),
    "openai-preferences": ("preference pairs", lines(PREFERENCES), BOTH),
    "dpo": (
        "preference pairs (DPO)",
        lines({"prompt": ASKED, "chosen": SAID, "rejected": "No"}),
        BOTH,
    ),
    "dpo-chats": (
        "preference pairs (DPO)",
        lines({"prompt": TALK[:1], "chosen": TALK[1:], "rejected": TALK[1:]}),
        BOTH,
    ),
    "chunks": ("chunks of a streamed answer", CHUNKS + "data: [DONE]\n\n", [SAID]),
    "message-events": ("events of a streamed answer", MESSAGE_EVENTS, [SAID]),
    "pretty": (
        "several JSON values, each over several lines",
        "".join(json.dumps(message, indent=2) + "\n" for message in TALK),
        BOTH,
    ),
    "pretty, then lines": (
        "several JSON values, each over several lines",
        json.dumps(TALK[:-1], indent=2) + "\n" + lines(TALK[-1]),
        BOTH,
    ),
    "behind text": (
        "line 2 has JSON after other text ('>>> sent')",
        "Sending\n" + "".join(f">>> sent {line}\n" for line in lines(*TALK).splitlines()),
        BOTH,
    ),
    "docker-pieces": (
        "a piece of a line that Docker cut",
        lines(*({"log": piece, "stream": "stdout", "time": TIME} for piece in _CUT)),
        BOTH,
    ),
    "docker-pieces-later": (
        "line 2: a piece of a line that Docker cut",
        lines(
            *(
                {"log": piece, "stream": "stdout", "time": TIME}
                for piece in (json.dumps({"messages": TALK}) + "\n", *_CUT)
            )
        ),
        BOTH * 2,
    ),
    # As what a rotated log begins with: the end of a line that was cut.
    "docker-pieces-rotated": (
        "line 2: a piece of a line that Docker cut",
        lines(*({"log": piece, "stream": "stdout", "time": TIME} for piece in (_CUT[2], *_CUT))),
        BOTH,
    ),
    "kubernetes-pieces-rotated": (
        "line 2: a piece of a line that Kubernetes cut",
        f"{TIME} stdout F {_CUT[2]}{_KUBERNETES_PIECES}",
        BOTH,
    ),
    "kubernetes-pieces": (
        "a piece of a line that Kubernetes cut",
        _KUBERNETES_PIECES,
        BOTH,
    ),
}


@NEEDS_JQ
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", SHAPES)
def test_the_command_of_the_refusal_makes_a_file_that_is_read(
    name: str, *, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    title, text, said = SHAPES[name]
    path = tmp_path / ("a log.json.gz" if packed else "a log.json")
    data = text.encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(NotUnderstoodError, match=re.escape(title)) as refusal:
        load_file(path.name)
    command = re.search(r": ((?:gzip|jq|awk|sed) .* > \w+\.jsonl)$", str(refusal.value))
    assert command
    subprocess.run(["/bin/sh", "-c", command[1]], check=True, timeout=20)
    (made,) = set(tmp_path.iterdir()) - {path}
    assert texts(load_file(made).transcript.effective) == said


def _tar(data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        member = tarfile.TarInfo("messages.jsonl")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


@pytest.mark.parametrize(
    ("ending", "pack", "tool"),
    [
        ("bz2", bz2.compress, "bzip2"),
        ("xz", lzma.compress, "xz"),
        ("tar.gz", _tar, "tar"),
        ("jsonl", lambda data: data.decode().encode("utf-16"), "iconv"),
        ("gz", lambda data: gzip.compress(data.decode().encode("utf-16")), "iconv"),
    ],
)
def test_a_file_that_is_packed_or_coded_otherwise_is_refused_with_what_unpacks_it(
    ending: str,
    pack: Callable[[bytes], bytes],
    tool: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"a log.{ending}"
    path.write_bytes(pack(lines(*TALK).encode()))
    with pytest.raises((NotUnderstoodError, NotATranscriptError)) as refusal:
        load_file(path.name)
    _, _, command = str(refusal.value).rpartition(": ")
    assert tool in command
    if shutil.which(tool):
        subprocess.run(["/bin/sh", "-c", command], check=True, timeout=20)
        assert texts(load_file("messages.jsonl").transcript.effective) == BOTH


@pytest.mark.parametrize(
    ("title", "record"),
    [
        ("OpenTelemetry log records", {"resourceLogs": []}),
        (
            "an OpenTelemetry span",
            {"name": "chat", "parent_id": None, "start_time": TIME, "attributes": {}},
        ),
    ],
)
def test_what_no_command_makes_readable_is_named(
    title: str, record: object, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(lines(record))
    with pytest.raises(NotUnderstoodError, match=title):
        load_file(path)


@pytest.mark.parametrize(
    "row",
    [
        {"job": 1, "exchange": {"asked": {"turns": TALK}}},
        {"job": 1, "exchange": json.dumps({"asked": {"turns": TALK}})},
    ],
)
def test_messages_at_another_path_are_read_with_the_option_of_the_refusal(
    row: object, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(lines(row, row))
    with pytest.raises(NotATranscriptError, match=r"--messages-at exchange\.asked\.turns$"):
        load_file(path)
    read = load_file(path, format="api-log:exchange.asked.turns").transcript
    assert texts(read.effective) == BOTH * 2


def test_text_in_docker_s_log_is_told_from_json(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    said = ({"log": f"{line}\n", "stream": "stdout", "time": TIME} for line in ("{", "}"))
    path.write_text(lines(*said))
    with pytest.raises(NotUnderstoodError, match=r"Docker's log.*: jq -j \.log .* \| jq -c \."):
        load_file(path)
