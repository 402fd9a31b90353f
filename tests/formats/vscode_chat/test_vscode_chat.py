"""Chats of VS Code's Copilot Chat: what is sent of them, and what of an export is replaced."""

import json
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file
from formats.jsonl import detected, read, texts
from formats.squeeze import pretty, squeezed
from formats.vscode_chat.chats import (
    TALK,
    export,
    long_chat,
    replay,
    request,
    rounded,
)

from compactctl.clients.vscode_chat.format import VsCodeChat
from compactctl.commands.planning.plan import PlanOptions
from compactctl.history.pairs import find_orphans
from compactctl.model.message import GroupId, MessageId, ReasoningPart, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import Layout
from compactctl.pipeline.writer import InsertionContext

SAID = [
    "<environment_info>",
    "<userRequest>Read both",
    'Reading. | read_file({"filePath":"a"}) | read_file({"filePath":"a"})',
    "content of a",
    "first\nsecond",
    "Both are read.",
    "And the third",
    'Hm. | read_file({"filePath":"a"})',
    "one piece\nanother",
    "It is read.",
]


def vscode(*records: object) -> Transcript:
    return read("vscode-copilot-chat", *records)


def test_requests_rounds_and_results_are_messages_in_the_order_they_are_sent() -> None:
    found = vscode(export(*TALK))
    assert texts(found.effective) == SAID
    assert [m.role for m in found.effective[:5]] == ["user", "user", "assistant", "tool", "tool"]
    assert [m.starts_turn for m in found.effective[:2]] == [False, True]
    assert found.session.model == "gpt-4.1"
    assert isinstance(found.effective[7].parts[0], ReasoningPart)
    usage = found.effective[-1].usage
    assert usage is not None
    assert (usage.context, usage.output) == (9_000, 40)
    assert find_orphans(found.effective) == frozenset()


def test_a_chosen_model_is_told_by_its_title() -> None:
    asked = {**TALK[0], "modelId": "copilot/auto"}
    asked["result"] = {**asked["result"], "details": "Some Model • 1x"}
    assert vscode(export(asked)).session.model == "Some Model"


def test_what_a_person_took_back_is_not_sent() -> None:
    gone = {**TALK[1], "shouldBeRemovedOnSend": {"requestId": "q2"}}
    assert texts(vscode(export(TALK[0], gone)).effective) == SAID[:6]


def test_an_answer_of_which_only_the_screen_is_kept_counts_as_it_shows_it() -> None:
    bare = {
        "requestId": "q1",
        "message": "Hi",
        "response": [{"value": "Hello"}, {"kind": "thinking", "value": "x"}, {"value": " you."}],
    }
    assert texts(vscode(export(bare)).effective) == ["Hi", "Hello you."]


@pytest.mark.parametrize(
    "told",
    [
        {"summary": {"toolCallRoundId": "r1", "text": "All of it"}},
        {
            "summaries": [
                {"toolCallRoundId": "r0", "text": "x"},
                {"toolCallRoundId": "r1", "text": "All of it"},
            ]
        },
    ],
)
def test_a_summary_of_the_client_stands_for_all_up_to_its_round(told: dict[str, Any]) -> None:
    asked = json.loads(json.dumps(TALK[0]))
    asked["result"]["metadata"].update(told)
    found = vscode(export(asked, TALK[1]))
    assert texts(found.effective) == ["All of it", *SAID[5:]]
    assert found.effective[0].origin.is_summary
    assert found.compactions.by_client
    in_round = export(request("q1", "Hi", rounded("r1", "x", summary="All"), rounded("r2", "y")))
    assert texts(vscode(in_round).effective) == ["All", "y"]


def test_of_several_summaries_the_newest_stands_for_everything_before_it() -> None:
    both = export(
        request("q1", "Hi", rounded("r1", "x", summary="First"), rounded("r2", "y")),
        request("q2", "On", rounded("r3", "z"), rounded("r4", "v", summary="Second")),
        request("q3", "Then", rounded("r5", "w")),
    )
    assert texts(vscode(both).effective) == ["Second", "Then", "w"]
    at_the_end = export(request("q1", "Hi", rounded("r1", "x"), rounded("r2", "y", summary="All")))
    assert texts(vscode(at_the_end).effective) == ["All"]


def test_a_session_file_is_read_as_its_changes_leave_it() -> None:
    lines = [
        {"kind": 0, "v": {"version": 3, "sessionId": "s", "requests": [TALK[0]], "x": 1}},
        {"kind": 2, "k": ["requests"], "v": [request("q9", "No")]},
        {"kind": 2, "k": ["requests"], "v": [TALK[1]], "i": 1},
        {"kind": 1, "k": ["requests", 0, "message", "text"], "v": "other"},
        {"kind": 1, "k": ["requests", 9, "message"], "v": "nowhere"},
        {"kind": 3, "k": ["x"]},
    ]
    found = vscode(*lines)
    assert texts(found.effective) == SAID
    assert {m.line for m in found.messages} == {0}
    assert found.metadata["change"].count == 5
    again = vscode(*lines, {"kind": 0, "v": {"requests": [TALK[1]]}})
    assert texts(again.effective) == SAID[6:]
    assert again.metadata["older state"].count == 1


def test_a_log_of_requests_is_its_newest_large_request_and_the_answer() -> None:
    found = vscode(
        replay(
            {"role": 0, "content": [{"type": 1, "text": "You help."}]},
            {"role": 1, "content": [{"type": 1, "text": "Hi"}, {"type": 3, "cacheType": "e"}]},
            {
                "role": 2,
                "content": [],
                "toolCalls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            {"role": 3, "content": [{"type": 1, "text": "found"}], "toolCallId": "c1"},
            usage={"prompt_tokens": 700, "completion_tokens": 9},
            tools=[{"type": "function", "function": {"name": "f"}}],
        )
    )
    assert texts(found.effective)[1:] == ["You help.", "Hi", "f({})", "found", "Done.\nNext?"]
    assert found.session.model == "gpt-4.1"
    assert found.effective[-1].usage is not None
    assert find_orphans(found.effective) == frozenset()
    assert all(message.locks.immutable_reason for message in found.messages)


@pytest.mark.parametrize(
    "record",
    [
        export(*TALK),
        {"requests": [{"requestId": "q"}], "sessionId": "s"},
        {"kind": 0, "v": {"requests": []}},
        replay(),
    ],
)
def test_every_form_is_recognised(record: object) -> None:
    assert detected(record) == "vscode-copilot-chat"


@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize(
    "stages", [("prune",), ("strip",), ("limit",), ("prune", "strip", "summarize")]
)
def test_results_and_arguments_of_an_export_are_cleared_and_come_back(
    stages: tuple[str, ...], layout: Layout, tmp_path: Path
) -> None:
    path = pretty(export(*long_chat()), tmp_path / "in.json")
    outcome = squeezed(path, stages, layout, tmp_path)
    assert outcome.compacted
    assert len(vscode(json.loads(path.read_text())).effective) == 24


def test_what_the_editor_itself_keeps_is_read_and_never_edited(tmp_path: Path) -> None:
    path = pretty(export(*long_chat(), sessionId="s", version=3), tmp_path / "in.json")
    plan = PlanOptions(stages=("prune", "strip", "summarize"))
    result = compact_file(path, output=tmp_path / "out.json", plan=plan)
    assert not result.compacted
    assert all(
        "export the chat" in (m.locks.immutable_reason or "")
        for m in vscode(json.loads(path.read_text())).messages
    )


def test_a_tree_of_nodes_keeps_its_shape_around_another_text() -> None:
    message = vscode(export(*TALK)).effective[4]
    value: Any = VsCodeChat().new_value(
        message,
        0,
        TALK[0]["result"]["metadata"]["toolCallResults"]["c2"]["content"][0]["value"],
        "gone",
    )
    changed = json.loads(json.dumps(TALK[0]))
    changed["result"]["metadata"]["toolCallResults"]["c2"]["content"][0]["value"] = value
    assert texts(vscode(export(changed)).effective)[4] == "gone"
    assert value["node"]["ctorName"] == "X"


def test_no_message_is_ever_written_among_those_of_the_editor() -> None:
    message = Synthetic(
        id=MessageId("s"), kind="summary", role="user", text="x", group=GroupId("g")
    )
    beside = InsertionContext(anchor=vscode(export(*TALK)).effective[0], neighbor={})
    with pytest.raises(ValueError, match="takes no message"):
        VsCodeChat().new_record(message, beside)
