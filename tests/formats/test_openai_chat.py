import json
from typing import Any

import pytest
from formats.jsonl import read, texts
from formats.openai_talk import TALK, answered, called, say

from compactctl.history.pairs import find_orphans
from compactctl.model.message import MediaPart, ReasoningPart, ToolDefinitionPart
from compactctl.model.transcript import Transcript

SAID = ["Be brief.", "Read a.py", 'read_file({"path":"a.py"})', "print(1)", "It prints 1."]


def chat(*records: object) -> Transcript:
    return read("openai-chat", *records)


def test_the_same_messages_are_read_from_every_container() -> None:
    bare = chat(*TALK)
    document = chat({"messages": TALK})
    array = chat(TALK)

    assert texts(bare.effective) == texts(document.effective) == texts(array.effective) == SAID
    assert bare.effective[1].record_path == ()
    assert bare.effective[1].parts[0].path == ("content",)
    assert document.effective[1].record_path == ("messages", 1)
    assert document.effective[1].parts[0].path == ("messages", 1, "content")
    assert array.effective[1].record_path == (1,)
    assert array.effective[1].parts[0].path == (1, "content")


def test_every_line_with_messages_is_a_conversation_of_its_own() -> None:
    found = chat({"messages": TALK}, {"messages": TALK[:2]}, TALK[:1])

    assert [m.conversation for m in found.effective] == [0] * 5 + [1] * 2 + [2]
    assert len({m.id for m in found.messages}) == 8


def test_roles_of_older_and_newer_apis() -> None:
    found = chat(say("developer", "rules"), say("function", "1", name="f"))

    assert [m.role for m in found.effective] == ["system", "tool"]


def test_content_parts_of_all_kinds() -> None:
    found = chat(
        say("user", [
            {"type": "text", "text": "a"},
            {"type": "text", "value": "b"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}},
            {"type": "image_url", "image_url": "https://example.org/cat.png"},
            {"type": "input_audio", "input_audio": {"data": "aGVsbG8=", "format": "wav"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,aGVsbG8="}},
            {"type": "refusal", "refusal": "no"},
            "plain",
            {"type": "novel", "x": 1},
        ]),
    )  # fmt: skip

    assert texts(found.effective)[0].split(" | ") == [
        "a", "b", "<image/png>", "<image/unknown>", "<audio/wav>", "<application/pdf>", "no",
        "plain", '{"type":"novel","x":1}',
    ]  # fmt: skip
    media = [p for p in found.effective[0].parts if isinstance(p, MediaPart)]
    assert [part.n_bytes for part in media] == [5, 0, 5, 5]
    assert found.effective[0].parts[1].path == ("content", 1, "value")


def test_blocks_of_another_provider_are_understood() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}}
    found = chat(
        say("user", "go"),
        say("assistant", [{"type": "text", "text": "Sure."}, call]),
        say("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]),
    )

    assert texts(found.effective) == ["go", 'Sure. | Read({"path":"a"})', "x"]
    assert found.effective[2].role == "tool"
    assert found.effective[2].results[0].tool == "Read"
    assert find_orphans(found.effective) == frozenset()


def test_thinking_is_read_under_any_name_and_counted_once() -> None:
    thought = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    found = chat(
        say("assistant", "a", reasoning_content="hm", thinking_blocks=thought),
        say("assistant", "b", reasoning="hm", reasoning_details=details),
        say("assistant", "c", thinking_blocks=thought),
        say("assistant", "d", reasoning_details=details),
        say("assistant", [{"type": "reasoning", "value": "hm"}, {"type": "text", "value": "e"}]),
    )

    thinking = [[p for p in m.parts if isinstance(p, ReasoningPart)] for m in found.effective]
    assert [[part.text for part in parts] for parts in thinking] == [["hm"]] * 3 + [[""], ["hm"]]
    assert thinking[3][0].opaque
    assert thinking[2][0].path == ("thinking_blocks", 0, "thinking")


def test_a_call_repeated_in_content_counts_once() -> None:
    repeated = {"type": "tool_call", "tool_call_id": "c1", "name": "read_file", "arguments": "{}"}
    found = chat(
        say("assistant", [repeated], tool_calls=[called("c1")]),
        answered("c1", [{"type": "tool_output", "text": "x"}]),
    )

    assert texts(found.effective) == ["read_file({})", "x"]
    assert found.effective[1].parts[0].path == ("content",)


def test_calls_in_content_alone_are_paired_in_order() -> None:
    calls = [{"name": "f", "arguments": {"x": 1}}, {"name": "g", "arguments": "{}"}]
    found = chat(
        say("assistant", [{"type": "tool_call", "value": json.dumps(calls)}]),
        say("tool", [{"type": "text", "value": "one"}]),
        say("tool", [{"type": "text", "value": "two"}]),
    )

    assert texts(found.effective) == ['f({"x":1}) | g({})', "one", "two"]
    assert [m.results[0].tool for m in found.effective[1:]] == ["f", "g"]
    assert find_orphans(found.effective) == frozenset()


def test_the_old_function_call_is_paired_by_name() -> None:
    found = chat(
        say("assistant", None, function_call={"name": "f", "arguments": "{"}),
        say("function", "1", name="f"),
    )

    assert texts(found.effective) == ["f({)", "1"]
    assert find_orphans(found.effective) == frozenset()


def test_derived_call_ids_differ_between_conversations() -> None:
    talk = [say("assistant", None, function_call={"name": "f", "arguments": "{}"})]
    found = chat({"messages": talk}, {"messages": talk})

    assert len({m.calls[0].call_id for m in found.effective}) == 2


def test_arguments_that_are_no_json_stay_as_they_are() -> None:
    found = chat(say("assistant", None, tool_calls=[called("c", arguments='{"path": "a')]))

    assert found.effective[0].calls[0].arguments == '{"path": "a'


def test_tool_definitions_stand_in_front_and_stay() -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "d"}}
    found = chat(
        {"messages": TALK, "tools": [tool]}, {"messages": TALK, "tools": json.dumps([tool])}
    )

    first = found.effective[0]
    assert first.role == "system"
    assert first.locks.immutable_reason == "it defines tools the model may call"
    assert first.parts == (
        ToolDefinitionPart(name="f", text='{"description":"d"}', path=("tools", 0)),
    )
    assert isinstance(found.effective[6].parts[0], ToolDefinitionPart)
    assert found.effective[6].conversation == 1


def test_no_tools_are_no_message() -> None:
    assert (
        len(chat({"messages": TALK, "tools": []}, {"messages": TALK, "tools": "[]"}).messages) == 10
    )


def test_a_logged_request_has_its_answer_and_usage() -> None:
    response = {
        "model": "m-1",
        "choices": [{"message": say("assistant", "It prints 1.")}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 9, "total_tokens": 909},
    }
    found = chat({"messages": TALK[:4], "response": response, "context_window": 32_000})

    answer = found.effective[-1]
    assert texts(found.effective) == SAID
    assert answer.locks.immutable_reason == "the logged answer to the request"
    assert answer.usage is not None
    assert (answer.usage.context, answer.usage.output) == (900, 9)
    assert (found.session.model, found.session.window) == ("m-1", 32_000)


@pytest.mark.parametrize(
    ("more", "cache"),
    [
        ({}, (None, None)),
        ({"prompt_tokens_details": {"cached_tokens": 500}}, (500, None)),
        ({"prompt_tokens_details": None, "prompt_cache_hit_tokens": 500}, (500, None)),
        ({"cache_read_input_tokens": 500, "cache_creation_input_tokens": 300}, (500, 300)),
    ],
)
def test_what_a_cache_had_to_do_with_a_request(
    more: dict[str, Any], cache: tuple[int | None, int | None]
) -> None:
    usage = {"prompt_tokens": 900, "completion_tokens": 9, **more}
    answer = chat({"role": "user", "content": "hi"}, {**TALK[4], "usage": usage}).messages[1]
    assert answer.usage is not None
    assert (answer.usage.context, answer.usage.output) == (900, 9)
    assert (answer.usage.cache_read, answer.usage.cache_write) == cache


@pytest.mark.parametrize(
    ("completion", "reasoning", "output"), [(550, 500, 550), (50, 500, 550), (50, 0, 50)]
)
def test_reasoning_is_billed_whether_it_is_in_the_output_or_beside_it(
    completion: int, reasoning: int, output: int
) -> None:
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": completion,
        "total_tokens": 900 + output,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    answer = chat({"role": "user", "content": "hi"}, {**TALK[4], "usage": usage}).messages[1]
    assert answer.usage is not None
    assert (answer.usage.output, answer.usage.answer) == (output, 50)


def test_usage_beside_the_messages_is_that_of_the_newest_answer_stored_or_not() -> None:
    usage = {"prompt_tokens": 900, "completion_tokens": 9}
    found = chat({"messages": TALK, "usage": usage}, {"messages": TALK[:4], "usage": usage})

    assert [m.usage.context for m in found.effective if m.usage] == [900, 900]
    assert found.effective[4].usage is not None
    assert (found.effective[-1].parts, found.effective[-1].role) == ((), "assistant")


def test_tags_hide_what_a_summary_stands_for() -> None:
    own = {"compactctl": {"op": "o1"}}
    found = chat(
        say("system", "Be brief."),
        say("user", "Earlier: all of it.", condenseId="g1", **own),
        say("user", "one", condenseParent="g1"),
        say("assistant", "1", condenseParent="g1"),
        say("user", "[cut]", truncationId="g2", isTruncationMarker=True, **own),
        say("user", "two", truncationParent="g2"),
        say("user", "three", condenseParent="gone"),
    )

    shown = found.effective
    assert texts(shown) == ["Be brief.", "Earlier: all of it.", "[cut]", "three"]
    assert [m.origin.is_summary for m in shown] == [False, True, False, False]
    assert [m.origin.is_synthetic for m in shown] == [False, True, True, False]
    assert [m.starts_turn for m in shown] == [False, False, False, True]
    assert len(found.messages) == 7
    assert found.warnings


def test_what_is_no_message_is_carried() -> None:
    found = chat(say("narrator", "x"), [say("user", "hi"), 5, {"a": 1}], "text")

    assert texts(found.effective) == ["hi"]
    assert [(o.line, o.n_bytes) for o in found.opaque] == [(0, 37), (1, 1), (1, 7), (2, 7)]


def test_messages_that_say_nothing_are_counted_apart() -> None:
    found = chat(say("assistant", None), say("user", ""), {"messages": []})

    assert found.messages == ()
    assert {k: v.count for k, v in found.metadata.items()} == {
        "empty message": 2,
        "empty conversation": 1,
    }
