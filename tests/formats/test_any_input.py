"""Whatever the bytes are, reading never raises and loses no line."""

import json
from typing import Any

import pytest
from examples import tries
from formats.jsonl import decoded, raw_lines
from formats.promises import check
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.detection import detect
from compactctl.clients.format import Format
from compactctl.clients.records.json_values import TOO_DEEP, json_text
from compactctl.clients.registry import ALL_FORMATS
from compactctl.errors import NotUnderstoodError

# The words of all formats, so that arbitrary records take every path of the readers.
KEYS = (
    "type", "role", "content", "message", "payload", "uuid", "parentUuid", "sessionId", "id",
    "messages", "tools", "system", "response", "choices", "usage", "tool_calls", "function",
    "function_call", "name", "arguments", "input", "output", "call_id", "tool_use_id",
    "tool_call_id", "text", "value", "thinking", "reasoning_content", "source", "data",
    "image_url", "url", "attachment", "compactMetadata", "preservedSegment", "headUuid",
    "anchorUuid", "tailUuid", "subtype", "microcompactMetadata", "compactedToolIds", "metadata",
    "isSummary", "stepIndex", "tool", "args", "result", "info", "total_token_usage",
    "last_token_usage", "input_tokens", "num_turns", "replacement_history", "base_instructions",
    "dynamic_tools", "summary", "encrypted_content", "isSidechain", "isMeta", "model", "cwd",
    "condenseId", "condenseParent", "truncationParent", "compactctl", "op", "$set", "$rewindTo",
    "session_id", "message_type", "message_data", "events", "responses", "archived", "branch",
    "requests", "requestId", "toolCallRounds", "toolCallResults", "kind", "k", "v",
    "prompts", "logs",
    "toolUse", "toolResult", "toolUseId", "bytes", "format", "document", "guardContent",
    "toolConfig", "toolSpec", "reasoningContent", "modelId",
    "contents", "systemInstruction", "functionDeclarations", "candidates", "usageMetadata",
    "thought", "thoughtSignature", "inline_data", "fileData", "mimeType",
    "instructions", "previous_response_id", "conversation", "providerData", "callId", "object",
    "toolInvocations", "toolInvocation", "toolCallId", "state", "details", "approval",
    "projectHash", "toolCalls", "functionCall", "functionResponse", "parts", "inlineData", "tokens",
)  # fmt: skip
WORDS = (
    "user", "assistant", "system", "tool", "function", "developer", "tool_call", "tool_result",
    "tool_use", "text", "thinking", "image", "document", "image_url", "input_audio", "file",
    "reasoning", "message", "function_call", "function_call_output", "tool_search_output",
    "image_generation_call", "compaction", "response_item", "event_msg", "session_meta",
    "compacted", "turn_context", "token_count", "thread_rolled_back", "attachment", "progress",
    "compact_boundary", "microcompact_boundary", "queued_command", "u1", "u2", "u3", "base64",
    "USER", "TOOL", '[{"id":"u1"}, 1]',
    "function_call_result", "hosted_tool_call", "mcp_list_tools", "response", "response.completed",
    "tool-read", "dynamic-tool", "tool-invocation", "output-available", "output-denied", "result",
    "data:text/plain;base64,eA=", "data:image/png;base64,iVBORw0KGgo=", "\ud800",
    '{"name":"f"}', "gemini",
)  # fmt: skip

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)
records = st.dictionaries(st.sampled_from(KEYS), values, min_size=1, max_size=8)
# Records that get past the first check of each reader.
shaped = st.one_of(
    records,
    st.builds(
        lambda kind, payload: {"type": kind, "payload": payload}, st.sampled_from(WORDS), records
    ),
    st.builds(
        lambda kind, uuid, parent, inner, rest: {
            **rest, "type": kind, "uuid": uuid, "parentUuid": parent, "message": inner,
        },
        st.sampled_from(WORDS), st.sampled_from(("u1", "u2", "u3")),
        st.sampled_from(("u1", "u2", "u3", None)), records, records,
    ),
    st.builds(lambda role, rest: {**rest, "role": role}, st.sampled_from(WORDS), records),
    st.builds(
        lambda inner, rest: {**rest, "messages": inner}, st.lists(records, max_size=3), records
    ),
    st.builds(
        lambda inner, rest: {**rest, "contents": inner}, st.lists(records, max_size=3), records
    ),
    st.lists(records, max_size=3),
)  # fmt: skip


@pytest.mark.parametrize("candidate", ALL_FORMATS, ids=lambda each: each.name)
@tries(50)
@given(lines=st.lists(st.binary(max_size=60).map(lambda data: data + b"\n"), max_size=6))
def test_arbitrary_bytes(candidate: Format, lines: list[bytes]) -> None:
    check(candidate, lines)


@pytest.mark.parametrize("candidate", ALL_FORMATS, ids=lambda each: each.name)
@tries(30)
@given(found=st.lists(shaped, max_size=6))
def test_arbitrary_records(candidate: Format, found: list[Any]) -> None:
    check(candidate, raw_lines(*found))


@tries(50)
@given(found=st.lists(shaped, max_size=6))
def test_detection_says_yes_or_says_why(found: list[Any]) -> None:
    lines = raw_lines(*found)
    words = "test: names a format"
    try:
        chosen: Format | None = detect(decoded(lines), "test", b"".join(lines)[:100])
    except NotUnderstoodError as error:
        chosen, words = None, str(error)

    assert chosen is None or chosen.name in {known.name for known in ALL_FORMATS}
    assert words.startswith("test: ")


@pytest.mark.long
@pytest.mark.each_choice
@pytest.mark.parametrize("candidate", ALL_FORMATS, ids=lambda each: each.name)
@pytest.mark.parametrize(
    "opening", ["[", '{"content":', '{"content":[{"type":"tool_result","content":']
)
def test_deep_nesting(candidate: Format, opening: str) -> None:
    depth = 900 // opening.count("{") if "{" in opening else 900
    closing = {"[": "]", "{": "}"}
    deep = (
        opening * depth
        + "0"
        + "".join(closing[c] for c in reversed(opening * depth) if c in closing)
    )
    for shape in (
        '{"role":"user","content":%s}',
        '{"type":"user","uuid":"u","message":{"content":[{"type":"x","y":%s}]}}',
        '{"type":"response_item","payload":{"type":"function_call_output","output":%s}}',
        '{"role":"tool_call","id":"a","args":%s}',
        '{"messages":[{"role":"assistant","content":[%s]}],"tools":[%s]}',
        '{"messages":[{"type":"assistant","uuid":"u","content":[%s]}]}',
        '{"session_id":"s","message_type":"TOOL","message_data":[%s]}',
        "%s",
    ):
        check(candidate, [shape.replace("%s", deep).encode() + b"\n"])


def test_a_value_too_deep_to_be_written_is_still_a_text() -> None:
    value: object = 0
    for _ in range(100_000):
        value = [value]

    assert json_text(value) == TOO_DEEP


def test_an_id_is_the_same_for_the_same_record() -> None:
    record = json.dumps({"role": "user", "content": "\ud800", "n": 2**70})
    first, second = (
        check(ALL_FORMATS[-1], [record.encode() + b"\n"]).messages[0].id for _ in range(2)
    )

    assert first == second
