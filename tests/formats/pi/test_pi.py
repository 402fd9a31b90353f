from typing import Any

import pytest
from formats.jsonl import raw_lines, read, texts
from formats.pi.sessions import (
    HEADER,
    Record,
    answered,
    called,
    chained,
    entry,
    found,
    message,
    prompt,
    said,
)
from formats.promises import check
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.registry import format_named
from compactctl.history.pairs import find_orphans
from compactctl.model.message import Message, ReportedUsage, ToolCallPart, ToolResultPart

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAF"


def only(record: Record) -> Message:
    messages = found(record).effective
    assert len(messages) == 1
    return messages[0]


@pytest.mark.parametrize("linked", [True, False], ids=["version 3", "version 1"])
def test_the_conversation_is_what_was_sent(linked: bool) -> None:  # noqa: FBT001
    entries = [
        entry("model_change", provider="p", modelId="chosen"),
        entry("custom", customType="state", data={"not": "sent"}),
        entry("custom_message", customType="reminder", content="mind the gap"),
        prompt("Read a.py"),
        called("c1"),
        answered("c1", "print(1)", details={"not": "sent"}),
        said("It prints 1."),
        entry("label", targetId="e3", label="here"),
    ]
    transcript = read("pi", HEADER, *(chained(*entries) if linked else entries))

    assert texts(transcript.effective) == [
        "mind the gap",
        "Read a.py",
        'read({"path":"c1"})',
        "print(1)",
        "It prints 1.",
    ]
    assert [m.starts_turn for m in transcript.effective] == [False, True, False, False, False]
    assert (transcript.session.model, transcript.session.cwd) == ("chosen", "/w")
    assert sorted(transcript.metadata) == ["custom", "label", "model_change", "session"]
    assert len(transcript.chain.links) == (8 if linked else 0)


def test_paths_lead_to_what_was_sent() -> None:
    shell = message("bashExecution", command="ls", output="a.py")
    branch = entry("branch_summary", summary="went astray", fromId="x")
    records = chained(prompt("a"), called("c"), answered("c"), shell, branch)
    for each in read("pi", *records).effective:
        for part in each.parts:
            value: Any = records[each.line]
            for step in part.path:
                value = value[step]
            if isinstance(part, ToolCallPart):
                assert value == {"path": "c"}
            elif isinstance(part, ToolResultPart):
                assert value == [{"type": "text", "text": part.text}]
            else:
                assert getattr(part, "text", None) in (value, f"Ran `{value}`")


def test_blocks_of_every_kind() -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
        {"type": "thinking", "thinking": "", "thinkingSignature": "sig", "redacted": True},
        {"type": "text", "text": "look"},
        {"type": "unheard of", "x": 1},
    ]
    parts = only(message("assistant", content=content, stopReason="stop")).parts

    assert [getattr(part, "opaque", None) for part in parts] == [False, True, None, None]
    assert [getattr(part, "text", None) for part in parts] == [
        "hm",
        "",
        "look",
        '{"type":"unheard of","x":1}',
    ]


def test_an_image_in_a_result_goes_with_it() -> None:
    content = [
        {"type": "text", "text": "Read image file"},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
    ]
    transcript = found(called("c"), answered("c", content=content))
    result = transcript.effective[1].results[0]

    assert [(m.media_type, m.width, m.height) for m in result.media] == [("image/png", 7, 5)]
    assert result.text == "Read image file"
    replaced = format_named("pi").new_value(transcript.effective[1], 0, content, "gone")
    assert replaced == [{"type": "text", "text": "gone"}]


@pytest.mark.parametrize("role", ["custom", "hookMessage", "developer"])
def test_what_an_extension_says_is_not_typed_by_a_person(role: str) -> None:
    said_so = only(message(role, content="by the way"))

    assert (said_so.role, said_so.origin.is_injected, said_so.starts_turn) == ("user", True, False)


@pytest.mark.parametrize("role", ["branchSummary", "compactionSummary"])
def test_summaries_among_messages(role: str) -> None:
    summary = only(message(role, summary="so far"))

    assert (texts((summary,)), summary.origin.is_summary) == (["so far"], True)


def test_a_command_that_a_person_ran_is_sent_with_its_output() -> None:
    ran = only(message("bashExecution", command="ls", output="a.py\n", exitCode=0))

    assert [getattr(part, "text", None) for part in ran.parts] == ["Ran `ls`", "a.py\n"]
    assert [getattr(part, "embedded", None) for part in ran.parts] == [True, False]
    assert not ran.starts_turn
    silent = only(message("bashExecution", command="true", output="", exitCode=0))
    assert texts((silent,)) == ["Ran `true`"]


def test_a_command_can_be_kept_from_the_model() -> None:
    secret = message("bashExecution", command="ls", output="x", excludeFromContext=True)

    assert list(found(secret).metadata) == ["session", "message/bashExecution kept from the model"]


@pytest.mark.parametrize("reason", ["error", "aborted"])
def test_a_response_that_was_broken_off_is_not_sent_again(reason: str) -> None:
    transcript = found(prompt("go"), called("c", stopReason=reason), prompt("again"), said("ok"))

    assert texts(transcript.effective) == ["go", "again", "ok"]
    assert len(transcript.messages) == 4
    assert find_orphans(transcript.effective) == frozenset()


def test_the_context_of_a_request_is_everything_that_was_sent() -> None:
    usage = {"input": 6, "output": 113, "cacheRead": 2_000, "cacheWrite": 500, "cost": {}}
    transcript = found(
        prompt("hi"),
        said("a", usage=usage, responseId="r", model="m"),
        said("b", usage={"input": 0, "output": 0}),
        said("c", usage={"input": 1, "output": None}),
    )

    answers = transcript.effective[1:]
    assert [each.usage for each in answers] == [
        ReportedUsage(context=2_506, output=113, cache_read=2_000, cache_write=500, is_sum=True),
        ReportedUsage(context=0, output=0, is_sum=True),
        ReportedUsage(context=1, is_sum=True),
    ]
    assert [each.response_id for each in answers] == ["r", "response-2", "response-3"]
    assert transcript.session.model == "m"


def test_the_total_is_the_size_of_the_context_where_other_counts_are_sums() -> None:
    sums = {"input": 12, "output": 300, "cacheRead": 9_000, "cacheWrite": 900}
    [_, answer, newest] = found(
        prompt("hi"),
        said("a", usage={**sums, "totalTokens": 2_000}),
        said("b", usage={**sums, "totalTokens": "250.0"}),
    ).effective

    assert answer.usage == ReportedUsage(
        context=1_700,
        output=300,
        growth=300,
        cache_read=1_700,
        cache_write=0,
        resent=ReportedUsage(context=8_212, cache_read=7_300, cache_write=900),
    )
    assert newest.usage is not None
    assert (newest.usage.context, newest.usage.answer) == (250, 0)


@pytest.mark.parametrize(
    ("entries", "model"),
    [
        ([entry("model_change", model="zai/glm")], "zai/glm"),
        ([entry("model_change", modelId="a"), entry("model_change", model="b", role="smol")], "a"),
        ([said("x", model="answering"), entry("model_change", modelId="next")], "next"),
        ([], "of the header"),
    ],
)
def test_the_model_in_force(entries: list[Record], model: str) -> None:
    header = HEADER | {"modelId": "of the header"}

    assert read("pi", header, *chained(*entries)).session.model == model


def test_content_that_the_client_evicted_is_known_as_such() -> None:
    evicted = answered("c", "[evicted]") | {"evictedContent": {"reason": "compacted_history"}}

    assert found(called("c"), evicted).effective[1].results[0].cleared


def test_messages_of_unknown_roles_are_carried() -> None:
    transcript = read("pi", HEADER, *chained(message("robot", content="x")), [], {"no": "type"})

    assert [opaque.line for opaque in transcript.opaque] == [1, 2, 3]
    assert transcript.effective == ()


def test_only_content_can_be_replaced() -> None:
    call = only(called("c"))

    with pytest.raises(ValueError, match="Expecting value"):
        format_named("pi").new_value(call, 0, {"path": "c"}, "x")
    assert format_named("pi").new_value(call, 0, {"path": "c"}, '{"path": "d"}') == {"path": "d"}
    assert format_named("pi").new_value(only(prompt("hi")), 0, "hi", "x") == "x"


_SCALARS = st.none() | st.booleans() | st.integers(-2, 2**70) | st.sampled_from(["", "e1", "x"])
_NAMES = """
    role content stopReason usage input toolCallId command output summary evictedContent
    firstKeptEntryId firstKeptEntryIndex modelId timestamp message
"""
_VALUES = st.recursive(
    _SCALARS | st.sampled_from(["user", "assistant", "toolResult", "bashExecution", "custom"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "data", "arguments"]), inner)
    ),
    max_leaves=8,
)
_FIELDS = st.dictionaries(st.sampled_from(_NAMES.split()), _VALUES)
_ENTRIES = st.builds(
    lambda kind, fields, inner, name, parent: {
        **fields, "type": kind, "message": inner, "id": name, "parentId": parent,
    },
    st.sampled_from(["message", "compaction", "branch_summary", "custom_message", "session"]),
    _FIELDS,
    _FIELDS,
    st.sampled_from(["e1", "e2", "e3", "e4", None]),
    st.sampled_from(["e1", "e2", "e3", "e4", "lost", None]),
)  # fmt: skip


@given(st.lists(_ENTRIES | st.just(b"{torn"), max_size=8))
def test_any_entries_are_read_without_losing_a_line(entries: list[Any]) -> None:
    check(format_named("pi"), raw_lines(*entries))


def test_a_call_without_a_result_is_sent_with_the_clients_words() -> None:
    messages = found(prompt("go"), called("a"), answered("a"), called("b"), prompt("on")).effective

    assert [call.added for m in messages for call in m.calls] == ["", "No result provided"]
    assert {orphan.call_id for orphan in find_orphans(messages)} == {"b"}
