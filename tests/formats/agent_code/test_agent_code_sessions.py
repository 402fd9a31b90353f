"""Sessions of agent-code: what is sent of them, and what is written into them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from file_commands import compact_file
from formats.agent_code.sessions import (
    NOTE,
    TALK,
    result,
    said,
    session,
    text,
    usage,
    use,
    user,
)
from formats.jsonl import read, texts
from formats.squeeze import pretty

from compactctl.clients.agent_code.format import AgentCode
from compactctl.commands.planning.plan import PlanOptions
from compactctl.history.pairs import find_orphans
from compactctl.model.message import GroupId, MediaPart, MessageId, Synthetic, SyntheticKind
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import InsertionContext


def agent_code(*messages: Mapping[str, Any]) -> Transcript:
    return read("agent-code", session(*messages))


def test_messages_are_read_and_notes_are_not_sent() -> None:
    found = agent_code(NOTE, *TALK)
    assert texts(found.effective) == [
        "Read both files",
        'Reading. | FileRead({"file_path":"a"}) | FileRead({"file_path":"b"})',
        "content of a | content of b",
        "Both are read.",
        "Now the third",
        'FileRead({"file_path":"c"})',
        "content of c",
        "It is read.",
    ]
    assert [m.role for m in found.effective[:3]] == ["user", "assistant", "tool"]
    assert sum(m.starts_turn for m in found.effective) == 2
    assert found.effective[2].results[1].tool == "FileRead"
    assert (found.session.model, found.session.cwd) == ("claude-sonnet-4-5", "/work/app")
    assert found.metadata["note"].count == 1
    assert find_orphans(found.effective) == frozenset()


def test_a_summary_and_a_reminder_start_no_turn() -> None:
    found = agent_code(
        user("s1", text("All of it"), is_meta=True, is_compact_summary=True),
        user("s2", text("Go on."), is_meta=True),
        user("u1", text("Next")),
    )
    assert [m.origin.is_summary for m in found.effective] == [True, False, False]
    assert [m.starts_turn for m in found.effective] == [False, False, True]


def test_pictures_and_documents_are_counted_by_size() -> None:
    picture = {"type": "image", "media_type": "image/png", "data": "aGVsbG8="}
    document = {
        "type": "document",
        "media_type": "application/pdf",
        "data": "aGVsbG8=",
        "title": "T",
    }
    shown = result("c1", "a picture", extra_content=[picture])
    found = agent_code(
        user("u1", picture, document, text("See")), said("a1", use("c1", "Shot")), user("r1", shown)
    )
    first, second, _ = found.effective[0].parts
    assert isinstance(first, MediaPart)
    assert isinstance(second, MediaPart)
    assert (first.media_type, second.media_type, first.n_bytes) == (
        "image/png",
        "application/pdf",
        5,
    )
    # What stands beside a result is not sent.
    assert found.effective[2].results[0].media == ()
    assert AgentCode().new_value(found.effective[0], 0, picture, "gone") == text("gone")


def test_usage_of_a_record_without_an_id_is_that_of_a_response() -> None:
    bare = {name: value for name, value in TALK[5].items() if name != "uuid"}
    [*_, reported, _, _] = agent_code(*TALK[:5], {**bare, **usage(20_000, 50)}, *TALK[6:]).messages
    assert reported.usage is not None
    assert reported.response_id == reported.id


def test_recorded_usage_counts_and_is_restated_after_a_compaction(tmp_path: Path) -> None:
    first, *earlier = TALK[:5]
    long = said("a0", text("I look for both files. " * 20))
    talk = [first, long, *earlier, {**TALK[5], **usage(20_000, 50)}, *TALK[6:]]
    path = pretty(session(*talk), tmp_path / "in.json")
    plan = PlanOptions(
        stages=("summarize",), settings={"summarize": {"keep_min": 3, "min_messages": 2}}
    )
    compact_file(path, output=tmp_path / "out.json", plan=plan)
    written = json.loads((tmp_path / "out.json").read_text())["messages"]
    (told,) = (each["usage"] for each in written if "usage" in each)
    assert 19_000 < sum(told.values()) < 20_000
    reported = [m.usage for m in agent_code(*written).effective if m.usage]
    assert reported == [agent_code(*talk).effective[6].usage]


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("summary", "user"), ("marker", "user"), ("result", "user"), ("call", "assistant")],
)
def test_written_messages_are_the_client_s_own(kind: SyntheticKind, wanted: str) -> None:
    message = Synthetic(
        id=MessageId(f"{kind}-g"), kind=kind, role="user", text="…", group=GroupId("g"), tool="Bash"
    )
    beside = InsertionContext(anchor=agent_code(*TALK).effective[0], neighbor=TALK[0])
    written = AgentCode().new_record(message, beside)
    assert (written["type"], written["timestamp"]) == (wanted, TALK[0]["timestamp"])
    assert str(UUID(written["uuid"])) == written["uuid"]
    assert written.get("is_compact_summary", False) == (kind == "summary")
    (read_back,) = agent_code(written).messages
    assert [result.has_failed for result in read_back.results] == [False] * (kind == "result")
