import json
from typing import Any

import pytest
from formats.copilot_cli.sessions import (
    Record,
    accepted,
    answered,
    called,
    event,
    found,
    prompt,
    said,
    session,
)
from formats.jsonl import detected, raw_lines, read, texts
from formats.promises import check
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.copilot_cli.earlier import content_id
from compactctl.clients.registry import format_named
from compactctl.model.message import (
    MediaPart,
    Message,
    OmittedPart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)

BLOCKS = {"provider": "anthropic-messages", "blocks": [{"thinking": "so", "signature": "eyJ"}]}
# The first bytes of a PNG of 7 by 5 pixels, in base64.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAF"


def only(*events: Record) -> Message:
    messages = found(*events).effective
    assert len(messages) == 1
    return messages[0]


def test_the_conversation_is_what_was_sent() -> None:
    transcript = found(
        event("session.start", sessionId="s", context={"cwd": "/w"}),
        event("system.message", role="system", content="old prompt"),
        prompt("typed", transformedContent="typed, with a reminder"),
        event("assistant.turn_start", turnId="0"),
        called("c1", reasoningText="let me look", reasoningBlocks=BLOCKS),
        event("tool.execution_start", toolCallId="c1", toolName="view"),
        event("hook.start", hookType="postToolUse", input={"toolResult": "print(1)"}),
        answered("c1", "print(1)"),
        event("system.message", role="system", content="new prompt"),
        said("It prints 1."),
    )

    assert texts(transcript.effective) == [
        "new prompt",
        "typed, with a reminder",
        'let me look | view({"path":"c1"})',
        "print(1)",
        "It prints 1.",
    ]
    roles = ["system", "user", "assistant", "tool", "assistant"]
    assert [message.role for message in transcript.effective] == roles
    assert transcript.effective[3].results[0].tool == "view"
    assert len(transcript.messages) == 6
    assert transcript.session.cwd == "/w"
    assert sum(volume.count for volume in transcript.metadata.values()) == 4


def test_paths_lead_to_what_was_sent() -> None:
    records = session(prompt("a", transformedContent="b"), called("c1"), answered("c1", "r"))
    for message in read("copilot-cli", *records).effective:
        for part in message.parts:
            value: Any = records[message.line]
            for step in part.path:
                value = value[step]
            expected = (
                {"path": "c1"} if isinstance(part, ToolCallPart) else getattr(part, "text", None)
            )
            assert value == expected


@pytest.mark.parametrize(
    ("data", "typed"),
    [
        ({}, True),
        ({"source": "user"}, True),
        ({"source": ""}, True),
        ({"source": "immediate-prompt"}, True),
        # Prompts that a person types have it as well.
        ({"parentAgentTaskId": "t"}, True),
        ({"source": "system"}, False),
        ({"source": "skill-pdf"}, False),
        ({"isAutopilotContinuation": True}, False),
    ],
)
def test_a_prompt_starts_a_turn_when_a_person_wrote_it(data: Record, typed: bool) -> None:  # noqa: FBT001
    assert only(prompt("hi", **data)).starts_turn is typed


@pytest.mark.parametrize(
    ("envelope", "data"),
    [({"agentId": "a"}, {}), ({}, {"agentId": "a"}), ({}, {"parentToolCallId": "c"})],
)
def test_what_a_subagent_does_is_not_in_the_main_context(envelope: Record, data: Record) -> None:
    transcript = found(
        event("session.start", selectedModel="main-model"),
        event("system.message", content="main prompt"),
        prompt("go"),
        event("system.message", envelope=envelope, content="its prompt", **data),
        event("user.message", envelope=envelope, content="its task", **data),
        event("assistant.message", envelope=envelope, content="hm", model="small", **data),
        event("session.compaction_complete", envelope=envelope, success=True, **data),
    )

    assert texts(transcript.effective) == ["main prompt", "go"]
    assert transcript.session.model == "main-model"
    assert len(transcript.messages) == 5


def test_events_of_one_response_belong_together() -> None:
    transcript = found(
        said("first", apiCallId="r1", messageId="m1"),
        called("c1", apiCallId="r1", messageId="m2"),
        said("other", messageId="m3"),
        said("nameless"),
    )

    assert [m.response_id for m in transcript.effective] == ["r1", "r1", "m3", "e3"]


def test_hidden_reasoning_is_known_to_be_there() -> None:
    [thought] = found(said("", reasoningOpaque="eyJ")).messages

    assert thought.parts == (ReasoningPart(text="", opaque=True, path=("data", "reasoningOpaque")),)
    [seen] = found(said("", reasoningOpaque="eyJ", reasoningText="aha")).messages
    assert seen.parts == (ReasoningPart(text="aha", path=("data", "reasoningText")),)


def test_reasoning_is_sent_again_only_as_its_provider_recorded_it() -> None:
    transcript = found(
        said("one", reasoningText="aha", reasoningOpaque="eyJ"),
        said("two", reasoningText="so", reasoningBlocks=BLOCKS),
        said("three", reasoningBlocks=BLOCKS),
    )

    path = ("data", "reasoningText")
    hidden = ReasoningPart(text="", opaque=True, sealed=3, path=("data", "reasoningBlocks"))
    assert [message.parts[0] for message in transcript.effective] == [
        OmittedPart(
            noun="reasoning block", detail="that its provider cannot read again", path=path
        ),
        ReasoningPart(text="so", sealed=3, path=path),
        hidden,
    ]


def test_an_empty_response_is_an_answer_without_parts() -> None:
    [answer] = found(said("", model="m")).effective
    assert (answer.parts, answer.role, answer.model) == ((), "assistant", "m")


def test_arguments_may_be_a_text() -> None:
    request = {"toolCallId": "c", "name": "apply_patch", "arguments": "*** Begin Patch"}
    call = only(event("assistant.message", content="", toolRequests=[request])).calls[0]

    assert call.arguments == "*** Begin Patch"
    path = ("data", "toolRequests", 0, "arguments")
    assert call.path == path


def test_a_failure_is_answered_with_its_message() -> None:
    error = {"message": "Path does not exist", "code": "failure"}
    failed = event("tool.execution_complete", toolCallId="c", success=False, error=error)
    result = found(called("c"), failed).effective[1].results[0]

    assert (result.text, result.has_failed) == ("Path does not exist", True)
    path = ("data", "error", "message")
    assert result.path == path


def test_a_result_that_is_not_recorded_stays_as_it_is() -> None:
    message = found(called("c"), event("tool.execution_complete", toolCallId="c")).effective[1]

    assert message.locks.immutable_reason == "it records no result"


def test_what_a_user_ran_by_hand_is_sent_with_its_command() -> None:
    command = event("tool.user_requested", toolCallId="c", arguments={"command": "ls"})
    message = found(prompt("hi"), command, answered("c", isUserRequested=True)).effective[1]

    assert (message.role, message.starts_turn) == ("user", False)
    path = ("data", "result", "content")
    assert message.parts == (TextPart(text="ok", typed="", added="ls", path=path),)


def test_a_skill_is_sent_with_the_text_of_an_earlier_event() -> None:
    skill = event("skill.invoked", content="How to read a gauge.")
    name = content_id("How to read a gauge.")
    named = event("skill.context_delivered_ref", contentId=name, prefix="<x>", suffix="</x>")
    transcript = found(prompt("hi"), skill, named)

    assert texts(transcript.effective) == ["hi", "<x>How to read a gauge.</x>"]
    assert transcript.effective[1].locks.immutable_reason == "its text is in another event"
    assert transcript.unread.fields == {}


def test_a_text_that_a_later_event_names_stays() -> None:
    delivered = event("skill.context_delivered", content="How to read a gauge.")
    name = content_id("How to read a gauge.")
    again = event("skill.context_delivered_ref", contentId=name)

    assert found(delivered).effective[0].locks.immutable_reason is None
    assert found(delivered, again).effective[0].locks.immutable_reason
    lost = accepted(session(again)[0] | {"data": {"contentId": name, "source": "skill-x"}})
    [refused] = read("copilot-cli", lost).refused
    assert refused.reason.endswith("names a text of a skill that is in no event before it")


def test_media_of_a_result_count_and_go_with_it() -> None:
    binary = [{"type": "image", "data": PNG, "mimeType": "image/png"}]
    answer = answered(
        "c", result={"content": "seen", "binaryResultsForLlm": binary, "contents": []}
    )
    message = found(called("c", "view"), answer).effective[1]
    result = message.results[0]

    assert [(m.media_type, m.width, m.height) for m in result.media] == [("image/png", 7, 5)]
    assert result.path == ("data", "result")
    replaced = format_named("copilot-cli").new_value(message, 0, answer["data"]["result"], "gone")
    assert replaced == {"content": "gone"}


def test_attachments_are_sent_beside_the_text() -> None:
    attachments = [
        "damaged",
        {"type": "file", "path": "/w/a.py", "taggedFilesEntry": "* /w/a.py (3 lines)"},
        {"type": "file", "path": "/w/b.png", "assetId": "sha256:b"},
        {"type": "blob", "data": PNG, "mimeType": "image/png"},
        {"type": "file", "path": "/w/c.pdf", "assetId": "x", "mimeType": "application/pdf"},
        {"type": "selection", "text": "in the text already"},
    ]
    asset = event("session.binary_asset", assetId="sha256:b", data=PNG, mimeType="image/png")
    parts = only(asset, prompt("look", attachments=attachments)).parts

    assert [type(part) for part in parts] == [TextPart, TextPart, MediaPart, MediaPart, MediaPart]
    assert [(p.width, p.height) for p in parts if isinstance(p, MediaPart)][:2] == [(7, 5), (7, 5)]
    path = ("data", "attachments", 2)
    assert parts[2].path == path


def test_an_image_is_replaced_by_a_line_of_text() -> None:
    image = {"type": "blob", "name": "b", "data": PNG, "mimeType": "image/png"}
    message = only(prompt("look", attachments=[image]))
    value = format_named("copilot-cli").new_value(message, 1, image, "an image was here")
    assert value == {"type": "file", "name": "b", "taggedFilesEntry": "an image was here"}
    assert texts((only(prompt("look", attachments=[value])),)) == ["look | an image was here"]


def test_transcripts_of_vs_code_are_not_taken_for_it() -> None:
    start = event("session.start", vscodeVersion="1.99.0")

    assert not format_named("copilot-cli").sniff(session(start, prompt("hi")))
    assert detected(*session(event("session.start"), prompt("hi"))) == "copilot-cli"


def test_what_is_no_event_is_carried() -> None:
    transcript = read("copilot-cli", *session(prompt("hi")), {"type": "x"}, [], b"{torn")

    assert [opaque.line for opaque in transcript.opaque] == [1, 2, 3]


def test_an_event_on_a_damaged_line_is_not_sent_and_what_it_follows_stays() -> None:
    first, second = session(prompt("one"), prompt("two"))
    transcript = read("copilot-cli", first, b"\0" + json.dumps(second).encode())

    assert texts(transcript.effective) == ["one"]
    assert transcript.effective[0].locks.unmovable_reason == "a record on a damaged line follows it"
    assert transcript.messages[1].locks.immutable_reason
    assert [link.id for link in transcript.chain.links] == ["e0", "e1"]


def test_only_texts_and_arguments_can_be_replaced() -> None:
    call = found(called("c")).effective[0]

    with pytest.raises(ValueError, match="Expecting value"):
        format_named("copilot-cli").new_value(call, 0, {"path": "c"}, "x")
    assert format_named("copilot-cli").new_value(call, 0, {"path": "c"}, '{"a": 1}') == {"a": 1}
    assert format_named("copilot-cli").new_value(call, 0, "patch", "x") == "x"


_SCALARS = st.none() | st.booleans() | st.integers(-5, 2**70) | st.sampled_from(["", "e1", "x"])
_NAMES = """
    content transformedContent toolRequests toolCallId result error success source attachments
    agentId apiCallId summaryContent initialMessage upToEventId messagesRemovedDuringTruncation
    inputTokens assetId binaryResultsForLlm context tokenLimit currentTokens
"""
_KINDS = """
    user.message assistant.message system.message tool.execution_complete session.truncation
    session.compaction_complete session.snapshot_rewind session.context_cleared session.shutdown
    assistant.usage session.binary_asset session.usage_record session.compaction_start abort
    skill.invoked skill.context_delivered skill.context_delivered_ref system.notification
"""
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["content", "name", "data", "cwd"]), inner)
    ),
    max_leaves=8,
)
_EVENTS = st.tuples(
    st.sampled_from(_KINDS.split()), st.dictionaries(st.sampled_from(_NAMES.split()), _VALUES)
)


@given(st.lists(_EVENTS, max_size=8))
def test_any_events_are_read_without_losing_a_line(events: list[tuple[str, Record]]) -> None:
    records = session(*(event(kind) | {"data": data} for kind, data in events))

    check(format_named("copilot-cli"), raw_lines(*records))
