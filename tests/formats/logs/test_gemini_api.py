"""Contents of the Gemini API and of Vertex AI: what is sent of them, and what is written."""

import base64
import json
import struct
from typing import Any

import pytest
from formats.jsonl import detected, read, texts
from formats.logs.contents import answer, call, model, response, snake, talk, text, user

from compactctl.clients.apis.gemini_api import GeminiApi
from compactctl.history.pairs import find_orphans, tool_pairs
from compactctl.history.usage.requests import find_requests
from compactctl.model.message import (
    CallId,
    GroupId,
    MediaPart,
    MessageId,
    ReasoningPart,
    ReportedUsage,
    Synthetic,
    SyntheticKind,
    ToolDefinitionPart,
    is_replaceable,
)
from compactctl.pipeline.writer import InsertionContext

# A width whose base64 has a character that is another one in the alphabet for URLs.
_HEADER = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIB", 13, b"IHDR", 1019, 120, 8)
PNG = base64.b64encode(_HEADER).decode()
DECLARED = {"functionDeclarations": [{"name": "read", "description": "Read a file."}]}


@pytest.mark.parametrize("spelled", [lambda m: m, snake], ids=["camel", "snake"])
@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize(
    "shape",
    [lambda m: m, lambda m: [m], lambda m: [{"contents": m}]],
    ids=["lines", "array", "doc"],
)
def test_contents_are_recognized_and_calls_joined(shape: Any, spelled: Any, *, ids: bool) -> None:
    records = spelled(shape(talk(2, ids=ids)))
    assert detected(*records) == "gemini-api"
    found = read("gemini-api", *records).effective
    assert [message.role for message in found] == ["user", "assistant", "tool", "assistant"] * 2
    assert sum(message.starts_turn for message in found) == 2
    assert not find_orphans(found)
    assert len(tool_pairs(found)) == 4
    assert [part.text[:5] for part in found[2].results] == ["LEVEL", "run 0"]


@pytest.mark.parametrize(
    "record",
    [
        {"role": "user", "parts": [{"type": "text", "text": "hi"}]},
        {"role": "user", "parts": [{"kind": "text", "text": "hi"}]},
        {"role": "bot", "parts": [{"text": "hi"}]},
        {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["hi"]}},
        {"role": "user", "parts": []},
    ],
)
def test_parts_of_others_are_not_taken_for_geminis(record: Any) -> None:
    assert not GeminiApi().sniff([record])


def test_answers_in_another_order_find_their_calls_by_name() -> None:
    found = read(
        "gemini-api",
        model(call("read"), call("shell"), call("read")),
        user(answer("shell", {"output": "2"}), answer("read", {"output": "1"})),
        user(answer("read", {"output": "3"})),
    ).effective
    calls = [part.call_id for part in found[0].calls]
    answers = [part.call_id for message in found[1:] for part in message.results]
    assert answers == [calls[1], calls[0], calls[2]]


@pytest.mark.parametrize("spelled", [lambda m: m, snake], ids=["camel", "snake"])
@pytest.mark.parametrize("around", ["top", "config"])
@pytest.mark.parametrize(
    "system", [{"parts": [text("Be brief.")]}, "Be brief.", [text("Be brief.")]]
)
def test_what_stands_beside_the_contents_is_sent_first(
    system: Any, around: str, spelled: Any
) -> None:
    beside = {"systemInstruction": system, "tools": [DECLARED, {"googleSearch": {}}]}
    fields = {"config": beside} if around == "config" else beside
    record = {"model": "models/gemini-2.5-pro", "contents": talk(1), **fields}
    found = read("gemini-api", spelled(record))
    tools, prompt, *_ = found.effective
    assert [part.name for part in tools.parts if isinstance(part, ToolDefinitionPart)] == [
        "read",
        "",
    ]
    assert texts((prompt,)) == ["Be brief."]
    assert tools.locks.immutable_reason
    assert prompt.locks.immutable_reason
    assert found.session.model == "models/gemini-2.5-pro"


def test_a_logged_response_is_the_newest_message_and_reports_the_request() -> None:
    said = response(text("Done."), thought=300)
    for record in (
        {"contents": talk(1)[:-1], "response": said},
        {"contents": talk(1)[:-1], **said},
    ):
        found = read("gemini-api", record)
        newest = found.effective[-1]
        assert texts((newest,)) == ["Done."]
        assert newest.locks.immutable_reason
        assert found.session.model == "gemini-2.5-pro"
        assert newest.usage == ReportedUsage(context=1000, output=350, growth=50, reasoning=300)


REQUEST = {"systemInstruction": user(text("Be brief.")), "tools": [DECLARED]}
ASKED: dict[str, Any] = {**REQUEST, "contents": talk(2)[:-1]}
SAID = response(text("Done."))
ROWS: dict[str, Any] = {
    "batch": {"key": "r", "request": ASKED, "response": SAID},
    "Vertex AI batch": {"status": "", "processed_time": "t", "request": ASKED, "response": SAID},
    "Vertex AI log": {"model": "m", "full_request": ASKED, "full_response": SAID},
    "snake": snake({"request": ASKED, "response": SAID}),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_requests_are_found_in_rows(row: Any) -> None:
    assert detected(row, row) == "gemini-api"
    found = read("gemini-api", row)
    assert texts(found.effective[1:2]) == ["Be brief."]
    assert texts(found.effective[-1:]) == ["Done."]
    assert len(tool_pairs(found.effective)) == 4
    assert [message.usage.context for message in found.effective if message.usage] == [1000]
    assert (found.unread.fields, found.opaque) == ({}, ())


def test_a_request_to_count_is_one() -> None:
    row = {"generateContentRequest": {"model": "models/gemini-2.5-pro", **ASKED}}
    assert detected(row) == "gemini-api"
    assert read("gemini-api", row).session.model == "models/gemini-2.5-pro"


def test_an_answer_that_was_streamed_is_one_response_to_one_request() -> None:
    chunks = [response(text(word), said=n) for n, word in enumerate(("All ", "done."), start=1)]
    found = read("gemini-api", {"request": ASKED, "response": chunks}).effective
    assert texts(found[-1:]) == ["All done."]
    (request,) = find_requests(found, lambda _: 1.0)
    assert request.context == 1000


def test_usage_beside_a_conversation_is_that_of_its_newest_answer() -> None:
    record = {"contents": talk(1), "usageMetadata": response()["usageMetadata"]}
    newest = read("gemini-api", record).effective[-1]
    assert newest.usage == ReportedUsage(context=1000, output=50)


def test_thoughts_and_signatures_are_sent_again() -> None:
    thought = {"text": "So.", "thought": True, "thoughtSignature": "abc"}
    signed = {**call("read"), "thoughtSignature": "abcd"}
    (message,) = read(
        "gemini-api", model(thought, signed, {"text": "", "thoughtSignature": "ab"})
    ).effective
    thoughts = [part for part in message.parts if isinstance(part, ReasoningPart)]
    assert [(t.text, t.opaque, t.sealed) for t in thoughts] == [
        ("So.", False, 3), ("", True, 4), ("", True, 2),
    ]  # fmt: skip
    assert len(message.calls) == 1
    assert len(message.parts) == 4


def test_code_that_the_provider_ran_stays() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    ran = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    (message,) = read("gemini-api", model(code, ran, text("One."))).effective
    assert [is_replaceable(part) for part in message.parts] == [False, False, True]


@pytest.mark.parametrize("spelled", [lambda m: m, snake], ids=["camel", "snake"])
@pytest.mark.parametrize("data", [PNG, base64.urlsafe_b64encode(_HEADER).decode()])
def test_pictures_count_by_their_pixels_wherever_they_stand(data: str, spelled: Any) -> None:
    inline = {"inlineData": {"mimeType": "image/png", "data": data}}
    shown = answer("shoot", {"output": "see"}, parts=[inline])
    linked = {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://b/a.pdf"}}
    question, _, result = read(
        "gemini-api", spelled(user(inline, linked)), model(call("shoot")), spelled(user(shown))
    ).effective
    picture, pages = question.parts
    assert isinstance(picture, MediaPart)
    assert (picture.width, picture.height) == (1019, 120)
    assert isinstance(pages, MediaPart)
    assert (pages.media_type, pages.n_bytes) == ("application/pdf", 0)
    assert [(media.width, media.height) for media in result.results[0].media] == [(1019, 120)]


@pytest.mark.parametrize(
    ("response_value", "said", "is_error", "written"),
    [
        ({"output": "long"}, "long", False, "short"),
        ({"result": [1, 2]}, "[1,2]", False, "short"),
        ({"error": "no"}, "no", True, "short"),
        ({"rows": [1]}, '{"rows":[1]}', False, {"output": "short"}),
    ],
)
def test_an_answer_stays_an_object(
    response_value: Any, said: str, written: Any, *, is_error: bool
) -> None:
    record = user(answer("read", response_value))
    (message,) = read("gemini-api", record).effective
    (result,) = message.results
    assert (result.text, result.has_failed) == (said, is_error)
    current: Any = record
    for step in result.path:
        current = current[step]
    assert GeminiApi().new_value(message, 0, current, "short") == written


@pytest.mark.parametrize("call_id", ["call-0-1", "c9"])
@pytest.mark.parametrize("kind", ["call", "result"])
def test_a_missing_half_is_written_with_an_id_where_there_are_ids(
    kind: SyntheticKind, call_id: str
) -> None:
    (anchor,) = read("gemini-api", user(text("Go"))).effective
    half = Synthetic(
        id=MessageId("x"), kind=kind, role="assistant" if kind == "call" else "tool", text="gone",
        group=GroupId("g"), tool="read", call_id=CallId(call_id),
    )  # fmt: skip
    written = GeminiApi().new_record(
        half, InsertionContext(anchor=anchor, neighbor=user(text("Go")))
    )
    assert ("c9" in json.dumps(written)) == (call_id == "c9")
    assert "call-" not in json.dumps(written)
    (message,) = read("gemini-api", written).effective
    assert {part.tool for part in message.calls} | {part.tool for part in message.results} == {
        "read"
    }
