"""A record without a message that the provider refuses is named, until it is answered."""

from typing import Any

import pytest
from formats.jsonl import read

from compactctl.model.transcript import RefusedRecord

Json = dict[str, Any]
ASKED = {"role": "user", "content": "Where is the ferry?"}
AGAIN = {"role": "user", "content": "And now?"}
EMPTY = {"role": "assistant", "content": None}
REQUEST = {"model": "gpt-5", "messages": [ASKED, EMPTY, AGAIN]}
SAID = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}
STORED = {"type": "item_reference", "id": "rs_1"}


def refused(name: str, *records: object) -> tuple[RefusedRecord, ...]:
    return read(name, *records).refused


@pytest.mark.parametrize(
    ("name", "client", "key", "empty", "asked"),
    [
        ("openai-chat", "OpenAI", "messages", EMPTY, ASKED),
        ("openai-chat", "OpenAI", "messages", {"role": "user", "content": []}, ASKED),
        ("anthropic-messages", "Anthropic", "messages", {"role": "user", "content": []}, ASKED),
        (
            "bedrock-converse",
            "Bedrock",
            "messages",
            {"role": "assistant", "content": []},
            {"role": "user", "content": [{"text": "Where is the ferry?"}]},
        ),
        (
            "gemini-api",
            "Gemini",
            "contents",
            {"role": "model", "parts": []},
            {"role": "user", "parts": [{"text": "Where is the ferry?"}]},
        ),
    ],
)
def test_a_message_without_content_is_refused(
    name: str, client: str, key: str, empty: Json, asked: Json
) -> None:
    [fault] = refused(name, {key: [asked, empty, asked]})
    assert (fault.client, fault.rule, fault.line) == (client, "message-empty", 0)
    assert (fault.path, fault.is_sent, fault.values) == ((key, 1), False, ())
    assert [fault.line for fault in refused(name, asked, empty, asked)] == [1]
    assert refused(name, {key: [asked, asked]}) == ()


def test_an_answer_that_has_not_begun_may_be_empty() -> None:
    assert refused("openai-chat", ASKED, EMPTY) == ()
    assert refused("anthropic-messages", {"messages": [ASKED, {**EMPTY, "content": []}]}) == ()
    assert len(refused("openai-chat", ASKED, EMPTY, EMPTY)) == 1


def test_what_was_answered_was_accepted() -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "At the pier."}}]}
    assert refused("openai-chat", {"request": REQUEST, "response": answer}) == ()
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    assert refused("openai-chat", {"request": REQUEST, "response": {"usage": usage}}) == ()


def test_other_servers_accept_an_empty_answer() -> None:
    assert len(refused("openai-chat", {**REQUEST, "model": "openai/gpt-5-mini"})) == 1
    assert refused("openai-chat", {**REQUEST, "model": "qwen3-coder"}) == ()


def test_only_the_newest_request_counts() -> None:
    sound = {**REQUEST, "messages": [ASKED, AGAIN]}
    assert [fault.line for fault in refused("openai-chat", REQUEST, REQUEST)] == [1]
    assert refused("openai-chat", REQUEST, sound) == ()


def test_a_reference_needs_a_stored_item() -> None:
    request = {"model": "gpt-5", "instructions": "Be brief.", "input": [SAID, STORED, SAID]}
    [fault] = refused("openai-responses", {**request, "store": False})
    assert (fault.client, fault.rule, fault.path) == ("OpenAI", "item-reference", ("input", 1))
    assert refused("openai-responses", request) == ()
    assert refused("openai-responses", {**request, "store": True}) == ()
