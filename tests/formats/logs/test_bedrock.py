"""Messages of Bedrock Converse: what is sent of them, and what is written in its place."""

import base64
import struct
from typing import Any

import pytest
from formats.content.block_kinds import PAGES
from formats.jsonl import detected, read, texts
from formats.logs.converse import assistant, response, result, talk, text, use, user

from compactctl.clients.apis.bedrock_converse import BedrockConverse
from compactctl.history.pairs import find_orphans, tool_pairs
from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    ReasoningPart,
    ReportedUsage,
    ToolDefinitionPart,
    is_replaceable,
)

_HEADER = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIB", 13, b"IHDR", 160, 120, 8)
PNG = base64.b64encode(_HEADER + bytes(range(256)) * 12).decode()
PICTURE = {"image": {"format": "png", "source": {"bytes": PNG}}}
TOOLS = {"tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": {}}}}, {"cachePoint": {}}]}


def only(record: object) -> Message:
    (message,) = read("bedrock-converse", record).effective
    return message


@pytest.mark.parametrize(
    "shape",
    [lambda m: m, lambda m: [m], lambda m: [{"messages": m}]],
    ids=["lines", "array", "doc"],
)
def test_messages_are_recognized_and_calls_joined(shape: Any) -> None:
    records = shape(talk(2))
    assert detected(*records) == "bedrock-converse"
    found = read("bedrock-converse", *records).effective
    assert [message.role for message in found] == ["user", "assistant", "tool", "assistant"] * 2
    assert sum(message.starts_turn for message in found) == 2
    assert not find_orphans(found)
    assert len(tool_pairs(found)) == 4
    assert [part.tool for part in found[2].results] == ["read", "shell"]
    assert found[2].results[1].text.startswith('{"output":"run 0')


@pytest.mark.parametrize(
    "row",
    [
        {"modelId": "amazon.nova-pro-v1:0", "messages": [user(text("Hi"))]},
        {"system": [text("Be brief.")], "messages": [user(text("Hi"))]},
        {"toolConfig": TOOLS, "messages": [user(text("Hi"))]},
        {"inferenceConfig": {"maxTokens": 9}, "messages": [user(text("Hi"))]},
        {"messages": [user(PICTURE)]},
        {"messages": [user(text("Hi"))], "response": response(text("Hello"))},
    ],
)
def test_a_request_shows_whose_it_is(row: Any) -> None:
    assert detected(row) == "bedrock-converse"


def test_what_stands_beside_the_messages_is_sent_first() -> None:
    guarded = {"guardContent": {"text": {"text": "Be kind.", "qualifiers": ["guard_content"]}}}
    system = [text("Be brief."), {"cachePoint": {"type": "default"}}, guarded]
    row = {"modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "system": system}
    found = read("bedrock-converse", {**row, "toolConfig": TOOLS, "messages": talk(1)})
    tools, prompt, *_ = found.effective
    assert [part.name for part in tools.parts if isinstance(part, ToolDefinitionPart)] == ["read"]
    assert texts((prompt,)) == ["Be brief. | Be kind."]
    assert found.session.model == "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


def test_the_answer_is_the_newest_message_and_reports_the_request() -> None:
    cached = {"cacheReadInputTokens": 300, "cacheWriteInputTokens": 20}
    hour = {"cacheDetails": [{"ttl": "1h", "inputTokens": 20}]}
    row = {"messages": talk(1)[:-1], "response": response(text("Done."), **cached, **hour)}
    newest = read("bedrock-converse", row).effective[-1]
    assert texts((newest,)) == ["Done."]
    assert newest.locks.immutable_reason
    assert newest.usage == ReportedUsage(
        context=1320, output=50, cache_read=300, cache_write=20, cache_write_1h=20
    )


ASKED: dict[str, Any] = {
    "system": [text("Be brief.")],
    "toolConfig": TOOLS,
    "messages": talk(2)[:-1],
}
LOGGED: dict[str, Any] = {
    "schemaType": "ModelInvocationLog", "schemaVersion": "1.0", "operation": "Converse",
    "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "input": {"inputContentType": "application/json", "inputBodyJson": ASKED},
    "output": {"outputBodyJson": response(text("Done.")), "outputTokenCount": 50},
}  # fmt: skip


@pytest.mark.parametrize("fields", [("system", "toolConfig"), ()])
def test_invocations_are_found_in_their_log(fields: tuple[str, ...]) -> None:
    asked = {name: ASKED[name] for name in (*fields, "messages")}
    row = {**LOGGED, "input": {**LOGGED["input"], "inputBodyJson": asked}}
    assert detected(row, row) == "bedrock-converse"
    found = read("bedrock-converse", row)
    assert texts(found.effective[-1:]) == ["Done."]
    assert [message.usage.context for message in found.effective if message.usage] == [1000]
    assert found.session.model == LOGGED["modelId"]
    assert (found.unread.fields, found.opaque) == ({}, ())


@pytest.mark.parametrize("body", [{"system": "s"}, {"anthropic_version": "bedrock-2023-05-31"}])
def test_the_body_tells_whose_messages_were_logged(body: dict[str, Any]) -> None:
    asked = {**body, "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    other = {**LOGGED, "input": {"inputBodyJson": asked}, "output": {}}
    assert detected(other, other) == "anthropic-messages"
    assert detected(LOGGED, other) == "api-log"


def test_pictures_count_by_their_pixels_and_text_documents_as_text() -> None:
    pages = {"document": {"format": "pdf", "name": "a", "source": {"bytes": PAGES}}}
    stored = {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/a.mp4"}}}}
    numbers = {"image": {"format": "png", "source": {"bytes": {"0": 137, "1": 80}}}}
    wrapped = {"image": {"format": "png", "source": {"bytes": {"data": PNG}}}}
    message = only(user(PICTURE, pages, stored, numbers, wrapped))
    media = [part for part in message.parts if isinstance(part, MediaPart)]
    assert [(part.media_type, part.width) for part in media] == [
        ("image/png", 160), ("application/pdf", 0), ("video/mp4", 0), ("image/png", 0),
        ("image/png", 160),
    ]  # fmt: skip
    assert [part.n_bytes for part in media[2:4]] == [0, 2]
    assert BedrockConverse().new_value(message, 0, PICTURE, "gone") == text("gone")


@pytest.mark.parametrize(
    "source",
    [
        {"bytes": base64.b64encode(b"A rule.").decode()},
        {"text": "A rule."},
        {"content": [{"text": "A rule."}]},
    ],
)
def test_a_document_of_text_is_a_file(source: Any) -> None:
    block = {"document": {"format": "txt", "name": "rules", "source": source}}
    message = only(user(block))
    (part,) = message.parts
    assert isinstance(part, FilePart)
    assert (part.file_path, part.text) == ("rules", "A rule.")
    record: Any = user(block)
    holder = record
    for step in part.path[:-1]:
        holder = holder[step]
    holder[part.path[-1]] = BedrockConverse().new_value(message, 0, holder[part.path[-1]], "gone")
    assert texts((only(record),)) == ["gone"]


def test_a_result_counts_what_stands_in_its_blocks() -> None:
    found = {"searchResult": {"source": "a.md", "title": "A", "content": [{"text": "a rule"}]}}
    blocks = (text("see"), {"json": [1]}, PICTURE, found, {"json": {"a": 2}})
    shown = only(user(result("c", *blocks, status="error")))
    (part,) = shown.results
    assert part.text == 'see\n[1]\na rule\n{"a":2}'
    assert [medium.width for medium in part.media] == [160]
    assert part.has_failed
    assert BedrockConverse().new_value(shown, 0, [], "gone") == [text("gone")]


def test_reasoning_is_sent_with_its_signature() -> None:
    said = {"reasoningContent": {"reasoningText": {"text": "So.", "signature": "abc"}}}
    hidden = {"reasoningContent": {"redactedContent": "abcd"}}
    message = only(assistant(said, hidden, text("Hi")))
    thoughts = [part for part in message.parts if isinstance(part, ReasoningPart)]
    assert [(t.text, t.opaque, t.sealed) for t in thoughts] == [("So.", False, 3), ("", True, 4)]


def test_what_only_the_provider_may_write_stays() -> None:
    server = {"type": "server_tool_use"}
    used = use("web", "c")
    used["toolUse"] |= server
    cited = {"citationsContent": {"content": [{"text": "It rains."}], "citations": []}}
    guarded = {"guardContent": PICTURE}
    unknown = {"hologram": {"depth": 3}}
    message = only(assistant(used, result("c", text("rain"), type="web"), cited, guarded, unknown))
    assert len(message.parts) == 5
    assert not any(map(is_replaceable, message.parts))
