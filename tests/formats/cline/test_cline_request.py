"""What Cline's SDK does with the messages of a session before it sends them."""

import json
from pathlib import Path
from typing import Any

import pytest
from formats.jsonl import read as read_lines
from formats.jsonl import texts, write_lines

from compactctl.clients.registry import format_named
from compactctl.history.omissions import sent_messages
from compactctl.library.transcripts import load
from compactctl.model.message import ToolResultPart
from compactctl.model.transcript import Transcript

Json = dict[str, Any]
_LINES = "".join(f"{number}\n" for number in range(4_000))


def read(*messages: Json, format_name: str = "cline") -> Transcript:
    document = {"version": 1, "agent": "lead", "sessionId": "1_a", "messages": list(messages)}
    return read_lines(format_name, document)


def user(*content: str | Json, **fields: Any) -> Json:
    return {"role": "user", "content": list(map(block, content)), **fields}


def answer(*content: str | Json, **fields: Any) -> Json:
    return {"role": "assistant", "content": list(map(block, content)), **fields}


def block(content: str | Json) -> Json:
    return {"type": "text", "text": content} if isinstance(content, str) else content


def call(name: str, *paths: str, tool: str = "read_files") -> Json:
    files = [{"path": path} for path in paths]
    return {"type": "tool_use", "id": name, "name": tool, "input": {"files": files}}


def result(name: str, *entries: tuple[str, str], **fields: Any) -> Json:
    content = [{"query": query, "result": text} for query, text in entries]
    return {"type": "tool_result", "tool_use_id": name, "content": content, **fields}


def results(transcript: Transcript) -> list[ToolResultPart]:
    return [result for message in transcript.effective for result in message.results]


def left_out(transcript: Transcript) -> list[tuple[str, str, int]]:
    return [(each.noun, each.detail, each.count) for each in transcript.omissions]


def test_long_texts_of_a_result_are_cut_in_the_middle() -> None:
    transcript = read(
        user("hi"),
        answer(call("c", "a", "b")),
        user(result("c", ("a", _LINES[:8_000]), ("b", _LINES))),
    )

    [part] = results(transcript)
    first, second = map(json.loads, part.text.split("\n"))
    assert first["result"] == _LINES[:8_000]
    assert len(second["result"]) <= 8_000
    head, mark, tail = second["result"].partition("\n\n...[truncated ")
    assert (mark, _LINES.startswith(head), _LINES.endswith(tail[-3_000:])) != ("", False, False)
    assert left_out(transcript) == [("part", "in the middle of long results", 1)]
    # An edit replaces the content that is stored.
    assert part.path == ("messages", 2, "content", 0, "content")


def test_tasks_of_the_extension_and_of_roo_code_are_read_as_they_are() -> None:
    messages = [user("hi"), answer(call("c", "a")), user(result("c", ("a", _LINES)))]
    task = read_lines("cline", messages)

    assert json.loads(results(task)[0].text)["result"] == _LINES
    assert json.loads(results(read(*messages, format_name="roo"))[0].text)["result"] == _LINES
    assert (task.omissions, task.with_omitted) == ((), ())


def test_what_is_displayed_only_is_not_sent() -> None:
    transcript = read(
        user("hi"), answer("failed", metadata={"displayOnly": True}), user("again"), answer("ok")
    )

    assert texts(transcript.effective) == ["hi", "again", "ok"]
    assert len(transcript.history) == 4
    assert left_out(transcript) == [("message", "that is only shown", 1)]


def test_a_call_without_a_result_is_answered() -> None:
    transcript = read(user("hi"), answer(call("c", "a"), call("", tool="")))

    assert [each.added for message in transcript.effective for each in message.calls] == [
        "Tool execution was interrupted before a result was produced. Tool: read_files.",
        "Tool execution was interrupted before a result was produced.",
    ]


def reads_of(path: str, count: int) -> list[Json]:
    return [
        message
        for number in range(count)
        for message in (
            answer(call(f"c{number}", path.partition(":")[0])),
            user(result(f"c{number}", (path, f"{number} {_LINES[:7_900]}"))),
        )
    ]


def test_what_was_read_again_is_outdated() -> None:
    transcript = read(user("hi"), *reads_of("a", 10), answer("ok"))

    notes = [
        json.loads(part.text)["result"].startswith("[outdated") for part in results(transcript)
    ]
    assert notes == [True] * 9 + [False]
    assert left_out(transcript) == [("result", "of a file that was read again", 1)] * 9
    few = read(user("hi"), *reads_of("a", 6), answer("ok"))
    assert not any("[outdated" in part.text for part in results(few))


def test_what_is_outdated_depends_on_what_else_is_sent() -> None:
    chosen = format_named("cline")
    transcript = read(user("hi"), *reads_of("a:1-9", 10), answer("ok"))
    history = transcript.history[:-3]

    notes = [part for message in chosen.request(history) for part in message.results]
    assert ["[outdated" in part.text for part in notes] == [True] * 8 + [False]
    assert chosen.request(history[:5]) == sent_messages(chosen.mark_omitted(history[:5]))
    assert format_named("roo").mark_omitted(history) is history


def test_texts_that_name_no_file_are_replaced_as_a_whole() -> None:
    messages = [
        message
        for number in range(10)
        for message in (
            answer(call(f"c{number}", "a")),
            user({"type": "tool_result", "tool_use_id": f"c{number}", "content": _LINES[:7_900]}),
        )
    ]

    parts = results(read(user("hi"), *messages))
    assert [part.text.startswith("[outdated") for part in parts] == [True] * 9 + [False]


def test_pictures_above_the_limits_are_left_out() -> None:
    def image(size: int) -> Json:
        return {"type": "image", "data": "A" * size, "mediaType": "image/png"}

    mib = 2**20
    pictures = {"type": "tool_result", "tool_use_id": "c", "content": [image(4 * mib), image(4)]}
    transcript = read(
        user("hi", image(5 * mib), image(5 * mib + 4)), answer(call("c", "a")), user(pictures)
    )

    assert left_out(transcript) == [("image", "over the limit of a request", 1)] * 2
    assert len(results(transcript)[0].media) == 1


def warnings_beside(folder: Path, key: str, *, edited: str = "", count: int = 2) -> tuple[str, ...]:
    tags = {name: {"editId": "0123456789ab"} if name == edited else {} for name in ("m1", "m3")}
    messages = [user("hi", id="m1", **tags["m1"]), answer("ok", id="m2")]
    messages.append(user("more", id="m3", **tags["m3"]))
    document = {"version": 1, "agent": "lead", "sessionId": "s", "messages": messages}
    path = folder / "s.messages.json"
    path.write_text(json.dumps(document))
    state = {
        "version": 1,
        "source_message_count": count,
        "source_last_message_key": f"id:{key}",
        "messages": [],
    }
    (folder / "s.compaction.json").write_text(json.dumps(state, indent=2))
    return load(path).warnings


def test_what_the_client_compacted_is_in_a_file_beside(tmp_path: Path) -> None:
    [warning] = warnings_beside(tmp_path, "m2")

    assert warning.startswith("s.compaction.json has what the client compacted")
    assert warnings_beside(tmp_path, "gone") == ()
    # The client does not count on it if any message before that is another one.
    assert warnings_beside(tmp_path, "m2", edited="m1") == ()
    assert warnings_beside(tmp_path, "m2", count=3) == ()
    assert warnings_beside(tmp_path, "m2", edited="m3") == (warning,)
    (tmp_path / "s.compaction.json").write_text("{}")
    assert load(tmp_path / "s.messages.json").warnings == ()
    other = write_lines(tmp_path / "task.json", [user("hi"), answer("ok")])
    assert load(other, format="cline").warnings == ()


@pytest.mark.parametrize(
    "text", ["x" * 8_001, "x" * 24_000, "a" + "\U0001f6a2" * 9_000, "\n" * 9_000]
)
def test_a_long_new_result_is_not_cut(text: str) -> None:
    talk = [user("hi"), answer(call("c", "a")), user(result("c", ("a", _LINES)))]
    message = read(*talk).effective[2]
    talk[2]["content"][0]["content"] = format_named("cline").new_value(message, 0, [], text)
    again = read(*talk)

    assert results(again)[0].text == text
    assert again.omissions == ()


@pytest.mark.parametrize(
    ("metrics", "context"),
    [
        ({"inputTokens": 5_663, "cacheReadTokens": 1_000, "cacheWriteTokens": 0}, 5_663),
        ({"inputTokens": 9, "cacheReadTokens": 900}, 909),
        ({"inputTokens": 7}, 7),
    ],
)
def test_usage_of_the_sdk(metrics: Json, context: int) -> None:
    newest = read(user("hi"), answer("ok", metrics={**metrics, "outputTokens": 4})).effective[-1]

    assert newest.usage is not None
    assert (newest.usage.context, newest.usage.output) == (context, 4)
