"""The Responses API and its Agents SDKs: what is sent of their items, and what is written."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from formats import openai_talk
from formats.content.block_kinds import PAGES, PICTURE
from formats.jsonl import detected, read, texts
from formats.logs.response_items import (
    call,
    chain,
    js_call,
    js_output,
    js_talk,
    log,
    output,
    request,
    response,
    said,
    talk,
)
from formats.squeeze import squeezed
from unit.commands.conversations import saved

from compactctl.errors import NotATranscriptError
from compactctl.history.pairs import find_orphans, tool_pairs
from compactctl.model.message import Message, ReasoningPart, is_replaceable, media_of


def sent(*records: object) -> list[str]:
    return texts(read("openai-responses", *records).effective)


def named(record: object) -> str | None:
    """Return the name of the format of a record, None where it is of none."""
    try:
        return detected(record)
    except NotATranscriptError:
        return None


def only(item: object) -> Message:
    (message,) = read("openai-responses", item).effective
    return message


@pytest.mark.parametrize("items", [talk(2), js_talk(2)], ids=["api", "js"])
@pytest.mark.parametrize(
    "shape",
    [lambda items: items, lambda items: [items], lambda items: [request(items)]],
    ids=["lines", "array", "request"],
)
def test_items_are_recognized_and_joined_in_every_container(items: list[Any], shape: Any) -> None:
    records = shape(items)
    assert detected(*records) == "openai-responses"
    found = read("openai-responses", *records).effective
    assert [m.role for m in found if m.role != "system"] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ] * 2
    assert not find_orphans(found)
    assert len(tool_pairs(found)) == 2
    assert {result.tool for message in found for result in message.results} == {"read_log"}
    assert {result.text for message in found for result in message.results} == {log(0), log(1)}


@pytest.mark.parametrize(
    "record",
    [
        request("Look at the log."),
        {"model": "gpt-5.1", "input": [said("user", "Hi")]},
        response("r", said("assistant", "Hi")),
        {"type": "response.completed", "response": response("r", said("assistant", "Hi"))},
        {"output": [js_call("c")], "usage": {}, "responseId": "r"},
    ],
    ids=str,
)
def test_requests_and_responses_are_recognized(record: Any) -> None:
    assert detected(record) == "openai-responses"
    assert read("openai-responses", record).opaque == ()


@pytest.mark.parametrize(
    "record",
    [
        # A request for embeddings, a row of some log, events that anybody may have written.
        {"model": "text-embedding-3-small", "input": ["a", "b"]},
        {"model": "m", "input": "a question", "output": "an answer"},
        {"input": [{"role": "user", "content": "Hi"}], "output": {"role": "assistant"}},
        {"type": "tool_call", "id": "1", "ts": 1, "name": "f"},
        {"type": "reasoning", "id": "1", "content": "hm"},
        {"type": "function_call", "id": 1, "ts": 1},
        {"type": "message", "role": "user", "content": "Hi", "id": "1"},
    ],
    ids=str,
)
def test_what_only_looks_like_it_is_not_taken_for_it(record: Any) -> None:
    assert named(record) != "openai-responses"


REQUEST = request(talk(2), tools=[{"type": "function", "name": "read_log", "parameters": {}}])
ANSWER = response("resp_9", said("assistant", "Both are fine."), sent=900, answered=9)
ENVELOPES: Mapping[str, dict[str, Any]] = {
    "beside": {**REQUEST, "response": ANSWER},
    "merged": {**ANSWER, **REQUEST},
    "gateway": {"request": REQUEST, "response": ANSWER},
    "batch": {"custom_id": "1", "body": REQUEST, "response": {"status_code": 200, "body": ANSWER}},
    "Helicone": {"request_id": "r", "request_body": REQUEST, "response_body": ANSWER},
    "Langfuse": {"id": "o", "type": "GENERATION", "input": REQUEST, "output": ANSWER},
    "as text": {"request": json.dumps(REQUEST), "response": json.dumps(ANSWER)},
}


@pytest.mark.parametrize("row", ENVELOPES.values(), ids=ENVELOPES)
def test_requests_and_responses_stand_in_any_envelope(row: dict[str, Any]) -> None:
    assert detected(row) == "openai-responses"
    found = read("openai-responses", row)
    assert (found.opaque, found.warnings) == ((), ())
    definition, instructions, *items, newest = texts(found.effective)
    assert definition.startswith('{"type":"function"')
    assert (instructions, len(items), newest) == ("Be brief.", 8, "Both are fine.")
    assert [m.usage.context for m in found.effective if m.usage] == [900]


def test_a_log_of_two_apis_is_read_row_by_row() -> None:
    chats = {"messages": openai_talk.TALK, "model": "gpt-4o"}
    rows = [chats, {"request": REQUEST, "response": ANSWER}, chats]
    assert detected(*rows) == "api-log"
    found = read("api-log", *rows)
    assert [m.dialect for m in found.effective] == [
        *["openai-chat"] * 5, *["openai-responses"] * 11, *["openai-chat"] * 5
    ]  # fmt: skip
    assert not find_orphans(found.effective)
    assert found.opaque == ()


def test_a_chain_of_responses_is_one_conversation_with_the_newest_instructions() -> None:
    found = read("openai-responses", *chain())
    assert [m.conversation for m in found.effective] == [0] * 6
    assert texts(found.effective)[1:] == [
        "Be kind.",
        "Look at run 0, please.",
        'read_log({"path":"a.log"})',
        log(0),
        "Run 0 is fine.",
    ]
    reported = [(m.usage.context, m.usage.output) for m in found.effective if m.usage]
    assert reported == [(60, 40), (80, 10)]
    assert found.session.model == "gpt-5.1"
    assert found.warnings == ()


def test_an_exchange_that_another_one_left_aside_is_not_sent() -> None:
    again = request("And the other log?", previous_response_id="resp_0")
    found = read("openai-responses", *chain(), again)
    assert texts(found.effective)[-3:] == [
        "Look at run 0, please.",
        'read_log({"path":"a.log"})',
        "And the other log?",
    ]
    assert "Run 0 is fine." in texts(found.messages)


def test_a_conversation_that_the_api_keeps_is_one() -> None:
    rows = [
        request("One", response("r1", said("assistant", "1")), conversation="conv_1"),
        request("Two", response("r2", said("assistant", "2")), conversation={"id": "conv_1"}),
        request("Three", response("r3", said("assistant", "3")), conversation="conv_2"),
    ]
    found = read("openai-responses", *rows)
    assert [m.conversation for m in found.effective] == [0] * 5 + [1] * 3


def test_a_warning_tells_that_the_history_before_is_not_in_the_file() -> None:
    (warning,) = read("openai-responses", chain()[1]).warnings
    assert warning.startswith("1 request continues a response not in this file")


def test_usage_of_a_response_has_what_was_cached_and_thought() -> None:
    row = request("Hi", response("r", said("assistant", "Hi"), sent=90, answered=9))
    (usage,) = [m.usage for m in read("openai-responses", row).effective if m.usage]
    assert (usage.context, usage.output, usage.reasoning, usage.cache_read) == (90, 9, 3, 7)


def test_usage_under_the_names_of_the_sdk_for_javascript() -> None:
    usage = {"inputTokens": 90, "outputTokens": 9, "inputTokensDetails": {"cachedTokens": 7}}
    row = {"output": [said("assistant", "Hi")], "usage": usage, "responseId": "r"}
    (found,) = [m.usage for m in read("openai-responses", row).effective if m.usage]
    assert (found.context, found.output, found.cache_read) == (90, 9, 7)


HOSTED: Mapping[str, dict[str, Any]] = {
    "web_search_call": {"action": {"type": "search", "query": "what is new"}},
    "code_interpreter_call": {"code": "what is new", "outputs": [{"logs": "what is old"}]},
    "mcp_call": {"name": "echo", "arguments": '{"a":"what is new"}', "server_label": "mine"},
    "mcp_approval_request": {"id": "apr", "name": "echo", "arguments": "what is new"},
}


@pytest.mark.parametrize("kind", HOSTED)
def test_hosted_tools_of_the_sdk_for_javascript_hold_items_of_the_api(kind: str) -> None:
    held = {"type": kind, **HOSTED[kind]}
    message = only({"type": "hosted_tool_call", "id": "h", "name": kind, "providerData": held})
    assert "what is new" in texts((message,))[0]
    assert not any(map(is_replaceable, message.parts))


def test_what_a_hosted_tool_returned_stands_beside_what_the_sdk_holds() -> None:
    held = {"type": "mcp_call", "id": "m", "name": "echo", "arguments": "{}"}
    message = only({"type": "hosted_tool_call", "id": "m", "name": "mcp_call", "output": log(1),
                    "providerData": held})  # fmt: skip
    assert texts((message,)) == [f"echo({{}}) | {log(1)}"]
    assert len(tool_pairs([message])) == 1
    drawn = {"type": "image_generation_call", "id": "i", "revised_prompt": "a boat"}
    message = only({"type": "hosted_tool_call", "id": "i", "name": drawn["type"],
                    "output": PICTURE, "providerData": drawn})  # fmt: skip
    assert texts((message,)) == ["image_generation(a boat) | <image/png>"]
    assert [media.n_bytes > 0 for part in message.parts for media in media_of(part)] == [True]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"type": "input_image", "image": f"data:image/png;base64,{PICTURE}"}, "image/png"),
        ({"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"}, "image/png"),
        ({"type": "input_file", "file": PAGES, "filename": "a.pdf"}, "application/pdf"),
        ({"type": "input_file", "file_data": f"data:application/pdf;base64,{PAGES}"},
         "application/pdf"),
        ({"type": "audio", "audio": PAGES, "format": "wav"}, "audio/unknown"),
    ],
)  # fmt: skip
def test_media_count_by_their_size_under_the_names_of_the_api_and_the_sdks(
    content: dict[str, Any], kind: str
) -> None:
    message = only({"type": "message", "role": "user", "content": [content]})
    assert [m.media_type for part in message.parts for m in media_of(part)] == [kind]
    assert all(m.n_bytes > 3_000 for part in message.parts for m in media_of(part))
    assert not any(data in texts((message,))[0] for data in (PICTURE, PAGES))


def test_reasoning_of_the_sdk_for_javascript() -> None:
    item = {"type": "reasoning", "content": [{"type": "input_text", "text": "hm"}],
            "providerData": {"encrypted_content": "g" * 900}}  # fmt: skip
    (thought, hidden) = only(item).parts
    assert (thought.text, hidden.sealed, hidden.opaque) == ("hm", 900, True)  # type: ignore[union-attr]


def test_encrypted_reasoning_of_earlier_turns_is_not_read_again() -> None:
    thought = {"type": "reasoning", "summary": [], "encrypted_content": "g" * 900}
    turn = [said("user", "Hi"), thought, said("assistant", "Hi")]
    found = read("openai-responses", {"input": [*turn, *turn]}, {"input": turn})
    parts = [part for m in found.effective for part in m.parts]
    thoughts = [part for part in parts if isinstance(part, ReasoningPart)]
    assert [part.is_expired for part in thoughts] == [True, False, False]
    assert found.session.drops_past_reasoning
    assert not read("openai-chat", {"messages": openai_talk.TALK}).session.drops_past_reasoning


def test_tools_that_come_on_the_way_are_definitions_and_settings_are_no_text() -> None:
    tools = [{"name": "echo", "input_schema": {}}]
    listed = {"type": "mcp_list_tools", "id": "l", "server_label": "mine", "tools": tools}
    more = {"type": "additional_tools", "role": "developer", "tools": tools}
    found = read(
        "openai-responses", said("user", "Hi"), listed, more, {"type": "compaction_trigger"}
    )
    assert [m.origin.is_injected for m in found.effective] == [False, True, True]
    assert found.opaque == ()
    assert found.metadata["empty message"].count == 1


def test_a_reference_to_an_item_elsewhere_is_not_understood() -> None:
    found = read("openai-responses", said("user", "Hi"), {"type": "item_reference", "id": "msg_1"})
    assert [opaque.line for opaque in found.opaque] == [1]


CALLS = [(call("c"), output("c", log(1))), (js_call("c"), js_output("c", log(1)))]


@pytest.mark.parametrize("pair", CALLS, ids=["api", "js"])
@pytest.mark.parametrize("shape", [str, lambda t: [{"type": "input_text", "text": t}],
                                   lambda t: {"type": "text", "text": t}])  # fmt: skip
def test_results_of_every_shape_are_joined_by_any_name_of_the_id(pair: Any, shape: Any) -> None:
    asked, answer = pair
    found = read("openai-responses", asked, {**answer, "output": shape(log(1))}).effective
    assert not find_orphans(found)
    (result,) = found[1].results
    assert (result.text, result.tool, is_replaceable(result)) == (log(1), "read_log", True)


@pytest.mark.parametrize("stages", [("summarize",), ("truncate",), ("prune",)], ids="+".join)
def test_responses_alone_are_compacted_though_some_are_left_empty(
    stages: tuple[str, ...], tmp_path: Path
) -> None:
    rows = [
        response(f"resp_{number}", said("assistant", log(number)), call(f"c{number}"),
                 previous_response_id=f"resp_{number - 1}")
        for number in range(8)
    ]  # fmt: skip
    path = saved(tmp_path / "in.jsonl", rows)
    squeezed(path, stages, "split", tmp_path)
    assert read("openai-responses", response("r"), {"output": [], "responseId": "r"}).opaque == ()
