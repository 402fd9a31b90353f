"""Requests and answers in the rows of gateways, SDKs and proxies, in whichever fields."""

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file, scan_file
from formats import anthropic_talk, openai_talk
from formats.jsonl import detected, read, texts, write_lines
from formats.logs import contents, converse, ui_messages
from formats.squeeze import ALL, squeezed

from compactctl.clients.records.envelope import REQUEST_PATHS
from compactctl.history.usage.requests import find_requests
from compactctl.model.message import JsonPath, ToolDefinitionPart
from compactctl.pipeline.layout import Layout

Record = dict[str, Any]

TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {}}}
MESSAGES = openai_talk.TALK[:-1]
SAID = {"role": "assistant", "content": "It prints 1."}
REQUEST: Record = {"model": "gpt-4o", "messages": MESSAGES, "tools": [TOOL]}
ANSWER: Record = {
    "id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-4o-2024-08-06",
    "choices": [{"index": 0, "finish_reason": "stop", "message": SAID}],
    "usage": {"prompt_tokens": 900, "completion_tokens": 4, "total_tokens": 904},
}  # fmt: skip
PARAMS: Record = {
    "model": "claude-sonnet-4-5", "max_tokens": 99, "system": "Be brief.",
    "messages": anthropic_talk.TALK[:3],
}  # fmt: skip
MESSAGE: Record = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "It prints 1."}], "stop_reason": "end_turn",
    "usage": {"input_tokens": 900, "output_tokens": 4},
}  # fmt: skip
COUNTED = {"prompt_tokens": 900, "completion_tokens": 4, "total_tokens": 904}

# Names are those of the APIs' references, LiteLLM's StandardLoggingPayload, Helicone's export,
# Portkey's logs, Langfuse's observations, LangSmith's runs, and OpenPipe's export.
OPENAI: dict[str, Record] = {
    "request and answer in one": {**REQUEST, **ANSWER},
    "gateway": {"request": REQUEST, "response": ANSWER},
    "Portkey": {
        "request": {"url": "/v1/chat/completions", "method": "POST", "body": REQUEST},
        "response": {"status": 200, "headers": {}, "body": ANSWER},
    },
    "Helicone": {
        "request_id": "r", "request_model": "gpt-4o", "request_body": REQUEST,
        "response_body": ANSWER, "prompt_tokens": 900, "completion_tokens": 4,
    },
    "LiteLLM": {
        "id": "chatcmpl-1", "call_type": "acompletion", "model": "gpt-4o", "messages": MESSAGES,
        "model_parameters": {"tools": [TOOL]}, "response": ANSWER, **COUNTED,
    },
    "LiteLLM spend log": {
        "request_id": "r", "call_type": "acompletion", "model": "gpt-4o", "messages": {},
        "proxy_server_request": REQUEST, "response": ANSWER, **COUNTED,
    },
    "Langfuse": {
        "id": "o", "traceId": "t", "type": "GENERATION", "model": "gpt-4o",
        "modelParameters": {"temperature": 1}, "input": {"messages": MESSAGES, "tools": [TOOL]},
        "output": SAID, "usageDetails": {"input": 900, "output": 4, "total": 904},
    },
    "Langfuse, messages alone": {
        "id": "o", "model": "gpt-4o", "modelParameters": {"tools": [TOOL]}, "input": MESSAGES,
        "output": "It prints 1.", "usage": {"input": 900, "output": 4, "unit": "TOKENS"},
    },
    "LangSmith": {
        "id": "r", "run_type": "llm", "inputs": {"messages": MESSAGES, "model": "gpt-4o"},
        "outputs": ANSWER, "extra": {"invocation_params": {"tools": [TOOL]}},
    },
    "OpenPipe": {"input": REQUEST, "output": ANSWER, "tags": {}},
    "Braintrust": {
        "id": "s", "input": MESSAGES, "output": [{"message": SAID}], "tools": [TOOL],
        "metadata": {}, "metrics": COUNTED, "model": "gpt-4o",
    },
    "loggers of LiteLLM": {
        "kwargs": {"model": "gpt-4o", "messages": MESSAGES, "optional_params": {"tools": [TOOL]}},
        "response_obj": ANSWER,
    },
    "Ollama": {
        "request": REQUEST, "response": {"model": "gpt-4o", "message": SAID, "done": True},
        **COUNTED,
    },
}  # fmt: skip
ANTHROPIC: dict[str, Record] = {
    "gateway": {"request": PARAMS, "response": MESSAGE},
    "Bedrock": {
        "modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0", "operation": "InvokeModel",
        "input": {"inputContentType": "application/json", "inputBodyJson": PARAMS},
        "output": {"outputBodyJson": MESSAGE, "outputTokenCount": 4},
    },
    "Bedrock batch": {"recordId": "r", "modelInput": PARAMS, "modelOutput": MESSAGE},
}  # fmt: skip
# A request in the dialect of another API, and the answer to it.
OTHERS: dict[str, tuple[Record, Record]] = {
    "gemini-api": (
        {"contents": contents.talk(1)[:-1]}, contents.response(contents.text("It prints 1.")),
    ),
    "bedrock-converse": (
        {"messages": converse.talk(1)[:-1]}, converse.response(converse.text("It prints 1.")),
    ),
    "ai-sdk": (
        {"messages": ui_messages.talk(1)},
        ui_messages.ui("a9", "assistant", ui_messages.text("It prints 1.")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", OPENAI.values(), ids=OPENAI)
def test_all_of_a_logged_request_is_found(row: Record) -> None:
    assert detected(row) == "openai-chat"
    found = read("openai-chat", row)
    definition, *said, newest = found.effective
    assert isinstance(definition.parts[0], ToolDefinitionPart)
    assert len(said) == len(MESSAGES)
    assert texts((newest,)) == ["It prints 1."]
    assert newest.locks.immutable_reason == "the logged answer to the request"
    assert newest.role == "assistant"
    assert (found.session.model or "").startswith("gpt-4o")
    (request,) = find_requests(found.effective, lambda _: 1.0)
    assert (request.context, newest.usage and newest.usage.output) == (900, 4)
    assert (found.unread.fields, found.warnings, found.opaque) == ({}, (), ())


@pytest.mark.parametrize("row", ANTHROPIC.values(), ids=ANTHROPIC)
def test_dialects_and_envelopes_go_together_as_they_like(row: Record) -> None:
    assert detected(row) == "anthropic-messages"
    found = read("anthropic-messages", row)
    assert texts(found.effective)[0] == "Be brief."
    assert texts(found.effective)[-1] == "It prints 1."
    assert [m.usage.context for m in found.effective if m.usage] == [900]
    assert "claude-sonnet-4-5" in (found.session.model or "")


@pytest.mark.parametrize("place", REQUEST_PATHS, ids=".".join)
@pytest.mark.parametrize("name", OTHERS)
def test_every_dialect_is_found_in_every_envelope(name: str, place: JsonPath) -> None:
    request, answer = OTHERS[name]
    row = request
    for step in reversed(place):
        row = {str(step): row}
    row = {**row, "response": answer}
    assert detected(row, row) == name
    found = read(name, row)
    assert texts(found.effective[-1:]) == ["It prints 1."]
    reported = [message.usage.context for message in found.effective if message.usage]
    assert reported == ([] if name == "ai-sdk" else [1000])
    assert (found.unread.fields, found.opaque) == ({}, ())


def test_batches_of_requests_are_conversations_each() -> None:
    line = {"method": "POST", "url": "/v1/chat/completions", "body": REQUEST}
    rows = [{"custom_id": f"r{number}", **line} for number in range(3)]
    assert detected(*rows) == "openai-chat"
    assert {m.conversation for m in read("openai-chat", *rows).effective} == {0, 1, 2}
    assert detected({"custom_id": "r", "params": PARAMS}) == "anthropic-messages"
    request = {"contents": contents.talk(1)}
    assert detected({"key": "r", "request": request}) == "gemini-api"


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (ANSWER, "openai-chat"),
        ({"id": "b", "custom_id": "r", "response": {"status_code": 200, "body": ANSWER}},
         "openai-chat"),
        ({"custom_id": "r", "result": {"type": "succeeded", "message": MESSAGE}},
         "anthropic-messages"),
    ],
)  # fmt: skip
def test_answers_alone_are_read_and_said_to_be_alone(
    row: Record, name: str, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "out.jsonl", row, row)
    found = scan_file(path)
    assert found.format == name
    assert texts(found.effective) == ["It prints 1."] * 2
    assert [m.usage.context for m in found.effective if m.usage] == [900, 900]
    (warning,) = found.warnings
    assert warning.startswith("2 answers are logged without the request")


def test_prompts_and_completions_are_conversations() -> None:
    found = read("openai-chat", {"prompt": MESSAGES, "completion": [SAID]})
    assert [message.record_path[0] for message in found.effective] == ["prompt"] * 4 + [
        "completion"
    ]


def test_an_answer_in_another_dialect_than_the_request_is_read() -> None:
    found = read("api-log", {"request": PARAMS, "response": ANSWER})
    assert texts(found.effective)[-1] == "It prints 1."
    assert texts(found.effective)[0] == "Be brief."


@pytest.mark.parametrize(
    "record",
    [
        {"role": "user", "content": "hi", "request": {"messages": [{"role": "user"}]}},
        {"role": "user", "content": "hi", "input": [{"role": "user", "content": "x"}]},
        {"role": "user", "content": "hi", "choices": [{"message": {"content": "x"}}]},
    ],
)
def test_a_message_is_no_envelope(record: Record) -> None:
    assert texts(read("openai-chat", record).effective) == ["hi"]


@pytest.mark.parametrize("usage", [{"input": 0}, {"input": "many"}, {}, None])
def test_usage_that_says_nothing_is_none(usage: object) -> None:
    found = read("openai-chat", {"input": MESSAGES, "output": SAID, "usage": usage})
    assert not any(message.usage for message in found.effective)


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("stages", [("summarize",), ("truncate",), ("prune",), ALL], ids="+".join)
@pytest.mark.parametrize("row", [*OPENAI.values(), *ANTHROPIC.values()], ids=[*OPENAI, *ANTHROPIC])
def test_a_request_is_compacted_and_restored_where_it_stands(
    row: Record, layout: Layout, stages: tuple[str, ...], tmp_path: Path
) -> None:
    text = "The cart adds the shipping twice when a voucher is used. " * 12
    more = [
        {"role": role, "content": f"{n} {text}"} for n in range(6) for role in ("user", "assistant")
    ]

    def longer(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: longer(inner) for key, inner in value.items()}
        return [*value, *more] if isinstance(value, list) and len(value) > 2 else value

    path = write_lines(tmp_path / "log.jsonl", longer(row), longer(row))
    before = len(load_file(path).transcript.effective)
    assert before > 2 * len(more)
    squeezed(path, stages, layout, tmp_path)


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_the_largest_request_of_a_log_is_measured_for_its_own_model(
    order: tuple[int, ...], tmp_path: Path
) -> None:
    """In whichever order rows stand, and whether the model is told by request or answer."""
    long = [*MESSAGES, {"role": "user", "content": "And how is the gate? " * 40}]
    rows: list[Record] = [
        {"request": {"model": "gemini-2.5-pro", "messages": MESSAGES}},
        {"request": {"messages": long}, "response": ANSWER},
        {"request": PARAMS, "response": MESSAGE},
    ]
    path = write_lines(tmp_path / "log.jsonl", *(rows[place] for place in order))
    found = scan_file(path)
    assert found.session.model == ANSWER["model"]
    (warning,) = (each for each in found.warnings if "models" in each)
    assert "3 models" in warning
    assert "--model" in warning


def test_versions_of_a_model_are_one_model(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    asked = {"request": {**REQUEST, "model": "openai/gpt-4o"}}
    write_lines(path, asked, {"request": REQUEST, "response": ANSWER})
    assert scan_file(path).warnings == ()
