"""What pi does with the messages of a session before it sends them."""

from typing import Any

from formats.jsonl import read, texts
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

from compactctl.model.message import TextPart, ToolCallPart, ToolResultPart
from compactctl.model.transcript import Transcript


def edit(target: str, replacement: Any) -> Record:
    return entry("context_edit", targetId=target, replacement=replacement)


def system(**fields: object) -> Record:
    return message("system", **{"content": "", **fields})


def left_out(transcript: Transcript) -> list[tuple[str, str]]:
    return [(omission.noun, omission.detail) for omission in transcript.omissions]


def test_an_edit_replaces_the_content_of_a_message() -> None:
    transcript = found(
        prompt("long question"),
        called("c"),
        answered("c", "long result"),
        said("long answer"),
        edit("e0", {"content": "asked"}),
        edit("e2", {"content": "short"}),
        edit("e3", {"content": [{"type": "text", "text": "older"}]}),
        edit("e3", {"content": [{"type": "text", "text": "newer"}]}),
    )

    assert texts(transcript.effective) == ["asked", 'read({"path":"c"})', "short", "newer"]
    assert texts(transcript.messages)[0] == "long question"
    assert left_out(transcript) == [("message", "replaced by a context edit")] * 3
    # What stands in the edit cannot be replaced in the message.
    parts = [part for each in transcript.effective for part in each.parts]
    movable = [part for part in parts if isinstance(part, TextPart | ToolCallPart | ToolResultPart)]
    assert [part.embedded for part in movable] == [
        True,
        False,
        True,
        True,
    ]
    assert not transcript.effective[0].words(parts[0])


def test_an_edit_may_remove_a_message_of_any_kind() -> None:
    shell = message("bashExecution", command="ls", output="a.py")
    transcript = found(prompt("one"), shell, said("two"), edit("e1", None), edit("e2", None))

    assert texts(transcript.effective) == ["one"]
    assert len(transcript.history) == 3
    assert left_out(transcript) == [("block", "removed by a context edit")] * 3


def test_only_content_of_messages_is_replaced() -> None:
    shell = message("bashExecution", command="ls", output="a.py")
    branch = entry("branch_summary", summary="went astray", fromId="x")
    replacement = {"content": "other"}
    transcript = found(shell, branch, edit("e0", replacement), edit("e1", replacement))

    assert texts(transcript.effective) == ["Ran `ls` | a.py", "went astray"]
    assert transcript.omissions == ()


def test_an_edit_on_another_branch_does_not_count() -> None:
    transcript = found(prompt("one"), edit("e0", None), said("two") | {"parentId": "e0"})

    assert texts(transcript.effective) == ["one", "two"]


def test_usage_from_before_an_edit_says_nothing() -> None:
    transcript = found(
        prompt("one"),
        said("two", usage={"input": 500}),
        edit("e0", None),
        prompt("three"),
        said("four", usage={"input": 100}),
    )

    assert [each.usage is not None for each in transcript.effective] == [False, False, True]


def test_system_messages_are_replayed() -> None:
    tools = [{"name": "read", "description": "Reads"}, {"name": "write", "description": "Writes"}]
    transcript = found(
        system(sections={"rules": "be brief", "skills": "none"}, toolsAdded=tools),
        prompt("hi"),
        system(
            sections={"rules": "be exact", "skills": None},
            toolsAdded=[{"name": "read", "description": "Reads well"}],
            toolsRemoved=[{"name": "write"}],
        ),
    )

    assert texts(transcript.effective) == [
        "hi",
        'be exact | <removal left out> | <removal left out> | {"description":"Reads well"}',
    ]
    assert left_out(transcript) == [
        ("section", "of an earlier prompt"),
        ("section", "of an earlier prompt"),
        ("tool definition", "of an earlier prompt"),
        ("tool definition", "of an earlier prompt"),
        ("removal", "of sections or tools"),
        ("removal", "of sections or tools"),
    ]
    assert transcript.session.holds_overhead
    [warning] = transcript.warnings
    assert warning.startswith("line 2: message/system: to some models the client also sends")


def test_a_compaction_has_a_system_message_of_its_own() -> None:
    compaction = entry(
        "compaction",
        summary="so far",
        firstKeptEntryId="e1",
        systemMessage={"role": "system", "content": "as it was", "toolsAdded": []},
    )
    transcript = found(
        prompt("zero"), prompt("one"), system(content="before"), compaction, system(content="new")
    )

    assert texts(transcript.effective) == ["as it was", "so far", "one", "new"]
    assert transcript.effective[0].locks.immutable_reason == "system prompt"


def test_a_session_without_system_messages_does_not_hold_the_prompt() -> None:
    transcript = found(prompt("hi"))

    assert not transcript.session.holds_overhead


def test_reasoning_of_another_model_is_not_sent() -> None:
    def thought(text: str, **fields: object) -> Record:
        block = {"type": "thinking", "thinking": text, "thinkingSignature": "s"}
        return message("assistant", content=[block], stopReason="stop", **fields)

    mine = {"provider": "p", "api": "a", "model": "m"}
    talk = [
        prompt("hi"),
        thought("mine", **mine),
        thought("other model", **{**mine, "model": "n"}),
        thought("other provider", **{**mine, "provider": "q"}),
        said("done", **mine),
    ]

    assert texts(found(*talk).effective) == ["hi", "mine", "done"]
    assert left_out(found(*talk)) == [("reasoning block", "of another model")] * 2
    chosen = entry("model_change", provider="p", modelId="n")
    assert texts(found(*talk, chosen).effective) == ["hi", "other model", "done"]


def test_a_result_behind_the_next_prompt_comes_too_late() -> None:
    transcript = found(called("c"), prompt("and?"), answered("c"))

    assert [call.added for each in transcript.effective for call in each.calls] == [
        "No result provided"
    ]
    assert texts(transcript.effective)[2:] == ["ok"]


def test_a_system_message_among_results_separates_nothing() -> None:
    transcript = found(called("c"), system(content="mind"), answered("c"))

    assert [call.added for each in transcript.effective for call in each.calls] == [""]


def test_usage_and_states_are_known() -> None:
    usage = entry("usage", usage={"input": 5}, note="a note " * 20)
    transcript = read("pi", HEADER, *chained(prompt("hi"), usage))

    assert not transcript.unread.fields
    assert transcript.metadata["usage"].count == 1
