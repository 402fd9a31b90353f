import json
import re
from pathlib import Path
from typing import Any

import pytest
from formats.jsonl import read, texts
from formats.opencode.sessions import (
    CREATED,
    SESSION,
    assistant,
    opencode,
    session,
    text,
    tool,
    user,
)
from formats.squeeze import ALL, compacted, edited, pretty, squeezed

from compactctl.clients.opencode.format import OpenCode
from compactctl.history.pairs import find_orphans
from compactctl.history.reads import find_file_reads
from compactctl.model.message import (
    GroupId,
    MediaPart,
    Message,
    MessageId,
    ReasoningPart,
    ReportedUsage,
    Synthetic,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.pipeline.layout import Layout
from compactctl.pipeline.writer import InsertionContext

PIXEL = "data:image/png;base64,aGVsbG8="


def only(*parts: dict[str, Any]) -> Message:
    (message,) = opencode(assistant("msg_a", *parts)).effective
    return message


def test_a_session_is_read_with_its_folder_and_model() -> None:
    found = opencode(user("msg_u", text("hi")), assistant("msg_a", text("hello")))

    assert [(m.id, m.role) for m in found.messages] == [("msg_u", "user"), ("msg_a", "assistant")]
    assert [m.record_path for m in found.messages] == [("messages", 0), ("messages", 1)]
    assert texts(found.effective) == ["hi", "hello"]
    assert (found.session.cwd, found.session.model) == ("/work/app", "m-1")


def test_a_tool_part_is_a_call_and_its_result() -> None:
    message = only(tool("c1", "read", {"filePath": "a.py"}, output="print(1)"))

    call, result = message.parts
    assert call == ToolCallPart(
        call_id=message.calls[0].call_id,
        tool="read",
        arguments='{"filePath":"a.py"}',
        path=("messages", 0, "parts", 0, "state", "input"),
    )
    assert result == ToolResultPart(
        call_id=message.calls[0].call_id,
        tool="read",
        text="print(1)",
        outcome="ok",
        path=("messages", 0, "parts", 0, "state", "output"),
    )
    assert find_orphans((message,)) == frozenset()


def test_an_old_result_that_the_client_cleared_is_what_the_client_sends() -> None:
    picture = [{"type": "file", "mime": "image/png", "url": PIXEL}]
    time = {"start": 1, "end": 2, "compacted": 3}
    (result,) = only(
        tool("c1", "read", {}, output="x" * 99, time=time, attachments=picture)
    ).results

    assert (result.text, result.cleared, result.media) == (
        "[Old tool result content cleared]",
        True,
        (),
    )


def test_calls_that_failed_or_never_ended_have_a_result_too() -> None:
    failed, pending = only(
        tool("c1", "bash", {}, status="error", error="no such file"),
        tool("c2", "bash", {}, status="pending"),
    ).results

    assert (failed.text, failed.has_failed, failed.path[-1]) == ("no such file", True, "error")
    assert (pending.text, pending.has_failed, pending.cleared) == (
        "[Tool execution was interrupted]",
        True,
        True,
    )


def test_a_call_that_was_interrupted_has_the_output_it_had_until_then() -> None:
    metadata = {"interrupted": True, "output": "half of it"}
    part = tool("c1", "bash", {}, status="error", error="aborted", metadata=metadata)
    interrupted, without, unmarked = only(
        part,
        tool("c2", "bash", {}, status="error", error="aborted", metadata={"interrupted": True}),
        tool("c3", "bash", {}, status="error", error="aborted", metadata={"output": "half of it"}),
    ).results

    assert (interrupted.text, interrupted.outcome) == ("half of it", "interrupted")
    assert interrupted.path[-2:] == ("metadata", "output")
    assert (without.text, unmarked.text) == ("aborted", "aborted")
    session = opencode(assistant("msg_a", part))
    assert session.unread.lost == 0


KILO = {"version": "7.7.9"}


@pytest.mark.parametrize("more", [{}, KILO], ids=["opencode", "kilo"])
def test_ignored_texts_are_sent_only_in_answers_of_opencode(more: dict[str, str]) -> None:
    found = opencode(
        user("msg_u", text("hi"), text("for the screen", ignored=True), text("")),
        assistant("msg_a", text("hello"), text("a notice", ignored=True)),
        **more,
    )

    assert texts(found.effective) == ["hi", "hello" if more else "hello | a notice"]
    assert found.unread.lost == 0


def test_the_reasoning_of_another_model_is_sent_as_text() -> None:
    thought = {"type": "reasoning", "text": "hm"}
    blank = {"type": "reasoning", "text": " "}
    other = {"providerID": "p", "modelID": "m-2"}
    messages = [
        user("msg_1", text("one")),
        assistant("msg_2", thought, blank, text("first")),
        {"info": {**user("msg_3")["info"], "model": other}, "parts": [text("two")]},
        assistant("msg_4", thought, text("second"), modelID="m-2"),
    ]

    def kinds(**info: object) -> list[list[str]]:
        answers = opencode(*messages, **info).effective[1::2]
        return [[type(part).__name__ for part in answer.parts] for answer in answers]

    assert kinds() == [["TextPart", "TextPart"], ["ReasoningPart", "TextPart"]]
    # A session may name the model that was chosen last.
    assert kinds(model={"providerID": "p", "id": "m-1"}) == [
        ["ReasoningPart", "ReasoningPart", "TextPart"],
        ["TextPart", "TextPart"],
    ]


def test_call_ids_that_are_alike_or_missing_still_join_call_and_result() -> None:
    nameless = tool("", "bash", {}, output="3")
    nameless["id"] = ""
    message = only(
        tool("REDACTED", "bash", {}, output="1"), tool("REDACTED", "bash", {}, output="2"), nameless
    )

    assert find_orphans((message,)) == frozenset()
    assert all(part.call_id for part in message.results)


def test_what_is_only_for_the_screen_is_no_part() -> None:
    message = only(
        {"type": "step-start", "snapshot": "s"},
        text("hello"),
        {"type": "patch", "hash": "h", "files": ["a.py"]},
        {"type": "snapshot", "snapshot": "s"},
        {"type": "retry", "attempt": 1},
        {"type": "step-finish", "tokens": {"input": 1}},
    )

    assert texts((message,)) == ["hello"]


def test_thinking_is_read_and_its_encrypted_half_named() -> None:
    sealed = {"opencode": {"reasoningEncryptedContent": "x"}}
    message = only(
        {"type": "reasoning", "text": "hm", "metadata": sealed},
        {"type": "reasoning", "text": "plain"},
    )

    found = [(p.text, p.opaque) for p in message.parts if isinstance(p, ReasoningPart)]
    assert found == [("hm", False), ("", True), ("plain", False)]


def test_files_are_media_unless_the_client_sends_them_as_text() -> None:
    found = opencode(
        user(
            "msg_u",
            text("look"),
            {"type": "file", "mime": "text/plain", "url": "file:///a.py"},
            {"type": "file", "mime": "image/png", "url": PIXEL},
            text("ignored", ignored=True),
            {"type": "agent", "name": "plan"},
        )
    )

    (message,) = found.effective
    assert texts((message,)) == ["look | <image/png>"]
    assert isinstance(message.parts[1], MediaPart)
    assert message.parts[1].n_bytes == 5


@pytest.mark.parametrize(
    ("parts", "starts"),
    [
        ([text("hi")], True),
        ([text("file content", synthetic=True), text("hi")], True),
        ([{"type": "file", "mime": "image/png", "url": PIXEL}], True),
        ([text("Continue with your task.", synthetic=True)], False),
        ([{"type": "subtask", "prompt": "Review it.", "agent": "build"}], False),
    ],
)
def test_only_what_a_person_typed_starts_a_turn(
    parts: list[dict[str, Any]], *, starts: bool
) -> None:
    (message,) = opencode(user("msg_u", *parts)).effective

    assert message.starts_turn is starts


def test_usage_is_the_sum_of_what_was_sent_and_the_rest_of_the_total() -> None:
    cache = {"read": 7_000, "write": 40}
    tokens = {"input": 134, "output": 160, "reasoning": 66, "cache": cache}
    step = {"type": "step-finish", "tokens": tokens}
    later = {"type": "step-finish", "tokens": {**tokens, "input": 500, "output": 80}}
    found = opencode(
        assistant("msg_a", text("a"), step, tokens={**tokens, "total": 7_334}),
        assistant("msg_b", text("b"), step, tokens={**tokens, "total": 7_400}),
        assistant("msg_c", text("c"), step, tokens=tokens),
        assistant("msg_d", text("d"), step, later, tokens=later["tokens"]),
        assistant("msg_e", text("e"), tokens={"input": 0, "output": 0}),
    )

    usages = [(m.usage.context, m.usage.output) if m.usage else None for m in found.effective]
    assert usages == [(7_174, 160), (7_174, 226), (7_174, 160), (7_174, 240), (0, 0)]
    # An answer of several steps: what was sent again, and what the next request has more.
    usage = found.effective[3].usage
    assert usage is not None
    assert (usage.answer, usage.resent) == (
        500 + 7_040 + 80 - 7_174,
        ReportedUsage(context=7_540, cache_read=7_000, cache_write=40),
    )


def test_ids_that_were_redacted_do_not_make_messages_alike() -> None:
    second = assistant("REDACTED", text("b"), time={"created": CREATED + 1_000})
    found = opencode(assistant("REDACTED", text("a")), second)

    assert len({m.id for m in found.messages}) == 2
    assert len({m.response_id for m in found.messages}) == 2
    again = opencode(second)
    assert again.messages[0].id == found.messages[1].id


def test_records_without_a_document_around_them_are_read_too() -> None:
    records = [user("msg_u", text("hi")), assistant("msg_a", text("hello"))]

    assert texts(read("opencode", records).effective) == ["hi", "hello"]
    assert texts(read("opencode", *records).effective) == ["hi", "hello"]


def test_what_is_no_message_is_carried() -> None:
    found = opencode(
        user("msg_a"),
        {"info": {"id": "msg_x", "role": "robot"}, "parts": []},
    )
    empty = read("opencode", {"info": SESSION, "messages": []})

    assert found.messages == ()
    assert found.metadata["empty message"].count == 1
    assert len(found.opaque) == 1
    assert empty.metadata["empty conversation"].count == 1


def test_several_documents_are_several_conversations() -> None:
    one = {"info": SESSION, "messages": [user("msg_u", text("hi"))]}
    found = read("opencode", one, one)

    assert [m.conversation for m in found.messages] == [0, 1]
    assert len({m.id for m in found.messages}) == 2


def test_records_that_no_edit_touches_keep_their_bytes(tmp_path: Path) -> None:
    path = pretty(session(), tmp_path / "session.json")
    out = compacted(path, "dedup")

    assert edited(path, out, ("messages",)) == [1, 4, 7, 10, 13]
    assert out.read_text().count("[File a.py - refer to latest read below]") == 5


def test_written_messages_sort_into_their_place_and_belong_to_the_session(tmp_path: Path) -> None:
    path = pretty(session(), tmp_path / "session.json")
    out = compacted(path, "summarize", "truncate")
    messages = json.loads(out.read_text())["messages"]

    names = [message["info"]["id"] for message in messages]
    assert names == sorted(names)
    assert len(set(names)) == len(names)
    (written,) = [message for message in messages if "condenseId" in message]
    info, (part,) = written["info"], written["parts"]
    assert re.fullmatch(r"msg_[0-9a-f]{12}[0-9A-Za-z]{14}", info["id"])
    assert {name: info[name] for name in ("role", "sessionID", "agent", "model")} == {
        "role": "user",
        "sessionID": "ses_1",
        "agent": "build",
        "model": {"providerID": "p", "modelID": "m-1"},
    }
    assert isinstance(info["time"]["created"], int)
    assert (part["messageID"], part["sessionID"]) == (info["id"], "ses_1")
    assert part["id"].startswith("prt_")
    assert (part["type"], part["synthetic"]) == ("text", True)


def test_a_message_written_before_an_answer_takes_its_model() -> None:
    marker = Synthetic(
        id=MessageId("truncation-g"), kind="marker", role="user", text="gone", group=GroupId("g")
    )
    like = assistant("REDACTED", text("x"))
    anchor = opencode(like).messages[0]
    record = OpenCode().new_record(marker, InsertionContext(anchor=anchor, neighbor=like))

    assert record["info"]["model"] == {"providerID": "p", "modelID": "m-1"}
    assert record["info"]["agent"] == "build"
    assert record["info"]["id"].startswith("REDACTED")
    assert record == OpenCode().new_record(marker, InsertionContext(anchor=anchor, neighbor=like))


def test_pictures_go_with_the_output_they_came_with() -> None:
    picture = {"type": "file", "mime": "image/png", "url": PIXEL}
    part = tool("c1", "read", {}, output="a picture", attachments=[picture], title="t")
    message = only(part)

    (result,) = message.results
    assert len(result.media) == 1
    new = OpenCode().new_value(message, 1, part["state"], "[cleared]")
    assert new == {k: v for k, v in part["state"].items() if k != "attachments"} | {
        "output": "[cleared]"
    }
    assert only({**part, "state": new}).results[0].media == ()


def test_attached_files_and_arguments_can_be_replaced_and_reasoning_cannot() -> None:
    picture = {"id": "prt_f", "type": "file", "mime": "image/png", "url": PIXEL}
    (message,) = opencode(user("msg_u", picture, text("look"))).effective

    assert OpenCode().new_value(message, 0, picture, "gone") == {
        "id": "prt_f",
        "type": "text",
        "text": "gone",
    }
    assert OpenCode().new_value(message, 1, "look", "gone") == "gone"
    ran = only(tool("c", "bash", {}, output=""))
    assert OpenCode().new_value(ran, 0, {}, '{"command": "ls"}') == {"command": "ls"}
    with pytest.raises(ValueError, match="ReasoningPart"):
        OpenCode().new_value(only({"type": "reasoning", "text": "hm"}), 0, "hm", "gone")


@pytest.mark.parametrize("layout", ["split", pytest.param("inline", marks=pytest.mark.long)])
def test_a_real_session_is_compacted_and_taken_back(
    layout: Layout, real_transcripts: Path, tmp_path: Path
) -> None:
    path = real_transcripts / "opencode/opencode-1.2.20-pruned.json"
    squeezed(path, ALL, layout, tmp_path)
    # With its example, distill keeps nine tenths, which later stages take for their own summary.
    result = squeezed(path, tuple(name for name in ALL if name != "distill"), layout, tmp_path)

    assert result.outcome.after.tokens < result.outcome.before.tokens // 9


def test_what_real_sessions_report(real_transcripts: Path) -> None:
    peaks = {}
    for name in ("opencode-1.2.20-pruned.json", "opencode-1.2.24-subagent.json"):
        document = json.loads((real_transcripts / "opencode" / name).read_text())
        found = read("opencode", document)
        reported = [m.usage.context for m in found.messages if m.usage and m.usage.context]
        cleared = sum(part.cleared for m in found.messages for part in m.results)
        shown = sum(isinstance(p, TextPart) for m in found.effective for p in m.parts)
        reads = len(find_file_reads(found.effective, cwd=found.session.cwd))
        peaks[name] = (len(reported), max(reported), cleared, shown, reads)

    assert peaks == {
        "opencode-1.2.20-pruned.json": (145, 154_417, 116, 34, 38),
        "opencode-1.2.24-subagent.json": (10, 170_563, 0, 2, 15),
    }
