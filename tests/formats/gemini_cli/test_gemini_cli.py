import json
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file
from formats.gemini_cli.talks import (
    CONTEXT,
    PNG,
    SESSION,
    answered,
    gemini,
    logged,
    session,
    talk,
    tokens,
    tool,
    user,
)
from formats.jsonl import decoded, read, texts, write_lines
from formats.squeeze import compacted, squeezed

from compactctl.clients.gemini_cli.format import GeminiCli
from compactctl.history.pairs import find_orphans
from compactctl.history.reads import find_file_reads
from compactctl.history.usage.requests import find_requests
from compactctl.model.message import (
    MediaPart,
    Message,
    ReportedUsage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.tokens.counters.estimates import CharsCounter
from compactctl.tokens.meter import Meter

PICTURE = {"inlineData": {"mimeType": "image/png", "data": PNG}}


def only(*records: dict[str, Any]) -> Message:
    (message,) = session(*records).effective
    return message


def test_a_session_is_read_with_its_folder_and_model() -> None:
    found = session(user("u0", CONTEXT), user("u1", "hi"), gemini("g1", "hello"))

    assert [(m.id, m.role, m.origin.is_injected) for m in found.messages] == [
        ("u0", "user", True),
        ("u1", "user", False),
        ("g1", "assistant", False),
    ]
    assert texts(found.effective)[1:] == ["hi", "hello"]
    assert (found.session.cwd, found.session.model) == ("/work/app", "gemini-2.5-pro")
    assert found.messages[0].locks.immutable_reason
    assert found.messages[1].starts_turn


def test_a_document_says_the_same_as_a_log() -> None:
    document = read("gemini-cli", {**SESSION, "messages": talk(2)})

    assert texts(document.effective) == texts(read("gemini-cli", *logged(2)).effective)
    assert [m.record_path for m in document.messages][:2] == [("messages", 0), ("messages", 1)]


def test_a_tool_call_holds_its_result() -> None:
    asked = tool(
        "c1", "read_file", {"path": "a.py"}, answered("c1", "read_file", output="print(1)")
    )
    message = only(gemini("g1", "I read", asked))

    said, call, result = message.parts
    at = ("toolCalls", 0)
    assert said == TextPart(text="I read", path=("content",))
    assert call == ToolCallPart(
        call_id=message.calls[0].call_id,
        tool="read_file",
        arguments='{"path":"a.py"}',
        path=(*at, "args"),
    )
    assert result == ToolResultPart(
        call_id=message.calls[0].call_id,
        tool="read_file",
        text="print(1)",
        outcome="ok",
        path=(*at, "result", 0, "functionResponse", "response", "output"),
    )
    assert find_orphans((message,)) == frozenset()
    assert [read.path for read in find_file_reads((message,))] == ["a.py"]


def test_calls_in_the_content_are_not_sent_twice() -> None:
    called = {"functionCall": {"id": "c1", "name": "ls", "args": {"path": "."}}}
    thought = {"text": "**Plan** look around", "thought": True}
    listed = tool("c1", "ls", {"path": "."}, answered("c1", "ls", output="a.py"))
    message = only(gemini("g1", [thought, {"text": "I look"}, called], listed))

    assert texts((message,)) == ['I look | ls({"path":"."}) | a.py']


@pytest.mark.parametrize(
    ("result", "text", "is_error"),
    [
        ("plain text", "plain text", False),
        ([answered("c1", "ls", error="no such folder")], "no such folder", True),
        ([answered("c1", "ls", output={"files": 2})], '{"files":2}', False),
        ([answered("c1", "ls", answers={"0": "No"})], '{"answers":{"0":"No"}}', False),
        (answered("c1", "ls", output="one part"), "one part", False),
        ([{"functionResponse": {"id": "c1", "name": "ls"}}], "", False),
    ],
)
def test_results_of_every_shape_can_be_read_and_rewritten(
    result: object, text: str, *, is_error: bool
) -> None:
    record = gemini("g1", "", {"id": "c1", "name": "ls", "args": {}, "result": result})
    message = only(record)
    (found,) = message.results

    assert (found.text, found.has_failed) == (text, is_error)
    at: Any = record
    for step in found.path[:-1]:
        at = at[step]
    at[found.path[-1]] = GeminiCli().new_value(message, 1, at[found.path[-1]], "[cleared]")
    (again,) = only(record).results
    assert (again.text, again.call_id) == ("[cleared]", found.call_id)


def test_pictures_go_with_the_answer_they_came_with() -> None:
    response = answered("c1", "shot", output="a picture")
    response["functionResponse"]["parts"] = [PICTURE]
    record = gemini("g1", "", tool("c1", "shot", {}, response))
    message = only(record)
    (found,) = message.results

    assert [(each.media_type, each.n_bytes) for each in found.media] == [("image/png", 8)]
    new = GeminiCli().new_value(message, 1, response["functionResponse"], "[cleared]")
    assert new == {"id": "c1", "name": "shot", "response": {"output": "[cleared]"}}


def test_pictures_and_files_of_people_are_media() -> None:
    file = {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://x"}}
    message = only(user("u1", "look", PICTURE, file, {"executableCode": {"code": "1"}}))

    assert [type(part) for part in message.parts] == [TextPart, MediaPart, MediaPart, TextPart]
    assert GeminiCli().new_value(message, 1, PICTURE, "gone") == {"text": "gone"}
    assert GeminiCli().new_value(message, 0, "look", "gone") == "gone"


@pytest.mark.parametrize("text", ["/compress", "?", "<hook_context>x</hook_context>", ""])
def test_what_is_said_to_the_client_is_not_sent(text: str) -> None:
    found = session(user("u1", text), user("u2", "hi"), {"id": "i", "type": "info", "content": "x"})

    assert texts(found.effective) == ["hi"]
    assert found.metadata["info that is not sent"].count == 1
    assert found.metadata["user that is not sent"].count == 1


def test_usage_is_that_of_the_whole_request() -> None:
    found = session(
        gemini("g1", "a", tokens=tokens(7_318, 32, 134)), gemini("g2", "b", tokens={"input": 0})
    )
    usage = found.messages[0].usage

    assert usage is not None
    assert (usage.context, usage.output, usage.reasoning) == (7_318, 166, 134)
    assert usage.cache_read == 40
    assert found.messages[1].usage == ReportedUsage(context=0, is_final=True)


def test_a_small_answer_is_as_large_as_reported() -> None:
    asked = tool("c1", "create_issue", {"summary": "The crane is broken, nobody knows since when."})
    found = session(user("u1", "hi"), gemini("g1", "a", asked, tokens=tokens(9_000, 10, 0)))
    (request,) = find_requests(found.effective, Meter(CharsCounter(1)).message)
    assert request.counted_output > 2 * request.answer == 2 * 10


def test_what_is_no_record_of_a_session_is_carried() -> None:
    found = session({"note": "x"}, [1], user("u1", "hi"))

    assert len(found.opaque) == 2
    assert texts(found.effective) == ["hi"]


def test_written_messages_have_the_shape_of_the_clients(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "session.jsonl", *logged())
    out = compacted(path, "summarize", "truncate")
    records = [json.loads(line) for line in out.read_text().splitlines()]

    (written,) = [record for record in records if "condenseId" in record]
    assert set(user("x")) <= set(written)
    assert (written["type"], list(written["content"][0])) == ("user", ["text"])


def test_older_versions_of_a_hidden_message_do_not_come_back(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "session.jsonl", *logged())
    out = compacted(path, "truncate")
    left = load_file(out).transcript

    assert "g0" not in out.read_text()
    assert left.metadata["earlier version of a message"].count < 6
    names = [message.id for message in left.messages if not message.origin.is_synthetic]
    assert names == [message["id"] for message in talk() if message["id"] in names]


def test_a_real_session_is_compacted_and_taken_back(real_transcripts: Path, tmp_path: Path) -> None:
    path = real_transcripts / "gemini-cli" / "gemini-session-a.json"
    result = squeezed(path, ("prune",), "split", tmp_path)

    assert result.outcome.after.tokens < result.outcome.before.tokens


def test_what_real_sessions_report(real_transcripts: Path) -> None:
    folder = real_transcripts / "gemini-cli"
    peaks = {}
    for path in sorted(folder.glob("*.json")):
        found = GeminiCli().read(decoded([path.read_bytes()]))
        peaks[path.stem] = max(m.usage.context for m in found.messages if m.usage)
    assert peaks == {"gemini-session-a": 8_716, "gemini-session-b": 6_542}
