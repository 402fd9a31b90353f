from formats.anthropic_talk import RESULT, TALK
from formats.jsonl import detected, read, texts

from compactctl.history.pairs import find_orphans
from compactctl.model.message import FilePart, MediaPart, ReasoningPart, ToolDefinitionPart
from compactctl.model.transcript import Transcript

SAID = ["Read a.py", 'Sure. | Read({"file_path":"a.py"})', "print(1)", "It prints 1."]


def anthropic(*records: object) -> Transcript:
    return read("anthropic-messages", *records)


def test_the_same_messages_are_read_from_every_container() -> None:
    for found in (anthropic(*TALK), anthropic({"messages": TALK}), anthropic(TALK)):
        assert texts(found.effective) == SAID
        assert [m.role for m in found.effective] == ["user", "assistant", "tool", "assistant"]
        assert found.effective[2].results[0].tool == "Read"
        assert find_orphans(found.effective) == frozenset()


def test_a_request_opens_with_its_tools_and_system_prompt() -> None:
    tools = [{"name": "Read", "description": "d", "input_schema": {}}]
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    found = anthropic(
        {"model": "m-1", "system": system, "tools": tools, "messages": TALK, "max_tokens": 9}
    )

    definitions, prompt = found.effective[:2]
    assert isinstance(definitions.parts[0], ToolDefinitionPart)
    assert texts((prompt,)) == ["Be brief."]
    assert [m.role for m in (definitions, prompt)] == ["system", "system"]
    assert definitions.locks.immutable_reason
    assert prompt.locks.immutable_reason
    assert found.session.model == "m-1"


def test_a_system_prompt_may_be_text() -> None:
    assert texts(anthropic({"system": "Be brief.", "messages": TALK}).effective)[0] == "Be brief."


def test_usage_and_model_of_raw_responses() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 200,
        "cache_creation_input_tokens": 3_000,
        "output_tokens": 7,
    }
    whole = {**TALK[3], "usage": usage, "stop_reason": "end_turn", "model": "m-1"}
    torn = {**TALK[3], "usage": usage, "stop_reason": None}
    found = anthropic(whole, torn)

    assert [(m.usage.context, m.usage.output) for m in found.effective if m.usage] == [
        (3_210, 7),
        (3_210, None),
    ]
    assert found.session.model == "m-1"


def test_a_logged_answer_is_part_of_the_conversation() -> None:
    found = anthropic({"messages": TALK[:3], "response": TALK[3]})

    assert texts(found.effective) == SAID
    assert found.effective[-1].locks.immutable_reason == "the logged answer to the request"


def test_blocks_of_all_kinds() -> None:
    notes = {"type": "text", "media_type": "text/plain", "data": "notes"}
    image = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
    found = anthropic(
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "thinking", "thinking": "", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
        ]},
        {"role": "user", "content": [
            {"type": "image", "source": image},
            {"type": "document", "source": notes},
            {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}},
            {"type": "novel", "x": 1},
            "loose",
        ]},
        {"role": "user", "content": [{**RESULT, "is_error": True, "content": [
            {"type": "text", "text": "see"}, {"type": "image", "source": image}, RESULT,
        ]}]},
    )  # fmt: skip

    thinking, mixed, result = found.effective
    assert [(p.text, p.opaque) for p in thinking.parts if isinstance(p, ReasoningPart)] == [
        ("hm", False),
        ("", True),
        ("", True),
    ]
    assert texts((mixed,)) == [
        '<image/png> | notes | <application/pdf> | {"type":"novel","x":1} | loose'
    ]
    assert isinstance(mixed.parts[0], MediaPart)
    assert isinstance(mixed.parts[1], FilePart)
    assert mixed.parts[1].path == ("content", 1, "source", "data")
    assert len(result.results) == 1
    assert result.results[0].has_failed
    assert result.results[0].text.startswith("see\n")
    assert "print(1)" in result.results[0].text
    assert len(result.results[0].media) == 1


def test_reminders_start_no_turn_where_the_request_shows_whose_they_are() -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": f"<{tag}>\nx\n</{tag}>"}]}
        for tag in ("system-reminder", "environment_context")
    ]
    prompt = "You are Claude Code, Anthropic's official CLI for Claude."
    request = {"model": "claude", "max_tokens": 1, "system": prompt, "messages": messages}

    assert [m.starts_turn for m in anthropic(request).effective[1:]] == [False, True]
    assert [m.starts_turn for m in anthropic(*messages).effective] == [True, True]
    assert anthropic(request).session.client == "Claude Code"
    assert anthropic(*messages).session.client == ""


def test_a_message_shows_no_client() -> None:
    claim = {"role": "user", "content": "You are Claude Code, Anthropic's official CLI."}
    system = {"role": "system", "content": "You are Claude Code, Anthropic's official CLI."}
    reminder = {"role": "user", "content": "<system-reminder>x</system-reminder>"}

    assert anthropic(claim, system, reminder).session.client == ""


def test_a_response_is_told_by_what_it_reports() -> None:
    asked = {"role": "user", "content": "Hello"}
    reported = {"stop_reason": "end_turn", "usage": {"input_tokens": 900, "output_tokens": 7}}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Hello."}], **reported}
    for records in ([asked, answer], [{"messages": [asked], "response": answer}]):
        assert detected(*records) == "anthropic-messages"
        [usage] = [message.usage for message in anthropic(*records).effective if message.usage]
        assert (usage.context, usage.output) == (900, 7)


def test_cache_marks_are_named_wherever_the_api_takes_them() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    text = {"type": "text", "text": "Be brief."}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [{**text, **mark}], **mark}
    request = {
        "system": [text, {**text, **mark}],
        "tools": [{"name": "Read", "description": "d", "input_schema": {}, **mark}],
        "messages": [
            {"role": "user", "content": [{**text, "cache_control": None}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "Read"}]},
            {"role": "user", "content": [result]},
        ],
    }
    found = anthropic(request)

    assert [message.cache_marks for message in found.effective] == [
        (("tools", 0, "cache_control"),),
        (("system", 1, "cache_control"),),
        (),
        (),
        (
            ("messages", 2, "content", 0, "cache_control"),
            ("messages", 2, "content", 0, "content", 0, "cache_control"),
        ),
    ]
