"""Answers that are logged as streams: they read like the answers that are not streamed."""

import json
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, rewind_file, stats_of_file
from formats.jsonl import raw_lines, write_lines
from formats.logs.streamed import (
    CHAT,
    CONTAINERS,
    PROMPT,
    REQUESTS,
    Cuts,
    anthropic,
    cutters,
    gemini,
    read_row,
    responses,
    said,
    server_sent,
)
from formats.written import load
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.records.streams import assemble_answer
from compactctl.commands.inspect.view import ViewOptions, records_of, view
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import NotUnderstoodError
from compactctl.model.message import TextPart


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("api", REQUESTS)
@given(cut=cutters())
def test_a_streamed_answer_reads_like_the_whole(api: str, container: str, cut: Cuts) -> None:
    request, make = REQUESTS[api]
    whole, events = make(cut)
    for answer_key in ("response", "response_body"):
        plain = read_row({"request": request, answer_key: whole})
        streamed = read_row({"request": request, answer_key: CONTAINERS[container](events)})
        assert said(streamed.effective) == said(plain.effective)
        assert streamed.format == plain.format
        assert streamed.session.model == plain.session.model
        assert streamed.unread.n_bytes == plain.unread.n_bytes == 0
        (answer,) = (m for m in streamed.effective if m.origin.is_logged_answer)
        assert answer.locks.immutable_reason
        assert answer.record_path == (answer_key,)


@pytest.mark.parametrize("key", ["chunks", "events", "response_chunks"])
@pytest.mark.parametrize("api", REQUESTS)
def test_a_stream_may_stand_beside_its_request(api: str, key: str) -> None:
    request, make = REQUESTS[api]
    whole, events = make(lambda text: [text[:30], text[30:]])
    plain = read_row({"request": request, "response": whole})
    for row in ({"request": request, key: events}, {**request, key: events}):
        assert said(read_row(row).effective) == said(plain.effective)


def test_other_events_beside_a_request_are_no_answer() -> None:
    clicks = [{"name": "click", "text": "The user clicked on the button to send it."}] * 3
    history = read_row({**CHAT, "events": clicks}).effective
    assert [message.role for message in history] == ["user"]


@pytest.mark.parametrize("container", ["list", "chunks", "sse"])
@pytest.mark.parametrize("api", REQUESTS)
def test_a_log_with_a_stream_is_compacted_shown_and_restored(
    api: str, container: str, tmp_path: Path
) -> None:
    request, make = REQUESTS[api]
    _, events = make(lambda text: [text[:30], text[30:]])
    key = next(name for name in ("messages", "contents", "input") if name in request)
    asked = (
        request[key] if isinstance(request[key], list) else [{"role": "user", "content": PROMPT}]
    )
    row = {"request": {**request, key: asked * 40}, "response": CONTAINERS[container](events)}
    path, output = write_lines(tmp_path / "log.jsonl", row), tmp_path / "out.jsonl"
    compact_file(path, output=output, plan=PlanOptions(keep=0.7))
    assert output.read_bytes() != path.read_bytes()
    assert json.loads(output.read_text())["response"] == row["response"]
    shown = view(ViewOptions(input=InputOptions(path=str(output)), what="effective"))
    assert list(records_of(shown))
    rewind_file(output, output=tmp_path / "back.jsonl", all=True)
    assert (tmp_path / "back.jsonl").read_bytes() == path.read_bytes()


def test_the_complete_response_at_the_end_of_a_stream_counts() -> None:
    whole, events = responses(lambda text: [text])
    end = {**whole, "usage": {"input_tokens": 90, "output_tokens": 30}}
    items = [
        {"type": "response.output_item.done", "output_index": n, "item": item}
        for n, item in enumerate(whole["output"])
    ]
    for last in ({**end}, {**end, "output": []}):
        done = [*events, *items, {"type": "response.completed", "response": last}]
        assert assemble_answer(done) == end


@pytest.mark.parametrize("api", REQUESTS)
def test_a_stream_that_was_cut_keeps_what_arrived(api: str) -> None:
    request, make = REQUESTS[api]
    _, events = make(lambda text: [text[:50], text[50:]])
    text = server_sent(events)
    for end in range(len(text) // 2, len(text), max(1, len(text) // 20)):
        transcript = read_row({"request": request, "response": text[:end]})
        texts = [p.text for m in transcript.effective for p in m.parts if isinstance(p, TextPart)]
        assert not any("data:" in part for part in texts)


@pytest.mark.parametrize(
    "text",
    [
        'data: {"note": "The text of an event of an API that nobody knows yet."}\n\n' * 9,
        '{"note": "The text of an event of an API that nobody knows yet."}\n' * 9,
    ],
)
def test_events_of_an_unknown_api_are_unread_in_a_body(text: str, tmp_path: Path) -> None:
    row = {"request": CHAT, "response_body": text}
    stats = stats_of_file(write_lines(tmp_path / "log.jsonl", row))
    assert stats.size.total < 30
    assert stats.transcript.unread.n_bytes > 0 or stats.transcript.opaque
    words = read_row({"request": CHAT, "response": text})
    assert said(words.effective) == [
        [("user", [TextPart(text=PROMPT)])],
        [TextPart(text=text)],
        [],
        {None},
    ]


@pytest.mark.parametrize("container", ["list", "sse"])
@pytest.mark.parametrize("api", REQUESTS)
def test_the_texts_of_streams_that_follow_one_another_are_all_read(
    api: str, container: str
) -> None:
    request, make = REQUESTS[api]
    _, events = make(lambda text: [text[:50], text[50:]])
    other = json.loads(json.dumps(events).replace("disk of", "fan of").replace('"r1"', '"r2"'))
    answer = read_row({"request": request, "response": CONTAINERS[container]([*events, *other])})
    text = "".join(p.text for m in answer.effective for p in m.parts if isinstance(p, TextPart))
    assert (text.count("disk of node"), text.count("fan of node")) == (6, 6)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@pytest.mark.parametrize("container", ["list", "sse", "bytes"])
@pytest.mark.parametrize("api", REQUESTS)
@given(data=st.data())
def test_events_may_have_values_of_any_type(api: str, container: str, data: st.DataObject) -> None:
    request, make = REQUESTS[api]
    _, events = make(lambda text: [text[:50], text[50:]])
    holder: Any = data.draw(st.sampled_from([event for event in events if event]))
    while True:
        keys = [*holder] if isinstance(holder, dict) else range(len(holder))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(holder[key], dict | list) or not holder[key] or data.draw(st.booleans()):
            break
        holder = holder[key]
    holder[key] = data.draw(ANY)
    read_row({"request": request, "response": CONTAINERS[container](events)})


def test_calls_at_one_index_are_as_many_as_their_ids() -> None:
    """Some servers give all parallel calls the index 0, others a new id to each piece of one."""
    function = {"name": "read", "arguments": '{"a":'}
    first = {"index": 0, "id": "t1", "function": function}
    rest = {"index": 0, "id": "x", "function": {"name": None, "arguments": " 1}"}}
    calls = [first, rest, {**first, "id": "t2"}, rest]
    answer = assemble_answer([{"choices": [{"delta": {"tool_calls": [call]}}]} for call in calls])
    assert answer is not None
    (choice,) = answer["choices"]
    assert choice["message"]["tool_calls"] == [
        {"id": name, "function": {"name": "read", "arguments": '{"a": 1}'}} for name in ("t1", "t2")
    ]


def test_an_unknown_event_in_a_stream_is_unread() -> None:
    _, events = anthropic(lambda text: [text])
    secret = "words of an event that came with a newer version of the API " * 40
    strange = {"type": "novel_delta", "delta": {"novel": secret}}
    row = {"request": REQUESTS["anthropic"][0], "response": [*events[:4], strange, *events[4:]]}
    unread = read_row(row).unread
    assert unread.n_bytes >= len(secret) - 1


@pytest.mark.parametrize(
    "text",
    [
        "data: the raw figures\nevent: a party",
        'He wrote {"a": 1}\n{"b": 2}',
        'data: {"choices": []} is what you get',
        '{"answer": 42}',
        "",
    ],
)
def test_prose_and_single_values_are_no_stream(text: str) -> None:
    assert assemble_answer(text) is None


def test_a_list_of_messages_or_items_is_no_stream() -> None:
    whole, _ = responses(lambda text: [text])
    assert assemble_answer(whole["output"]) is None
    assert assemble_answer([{"role": "assistant", "content": "done"}]) is None
    assert assemble_answer({"messages": [], "events": [{"name": "click"}]}) is None


def test_an_array_that_gemini_streamed_is_one_answer(tmp_path: Path) -> None:
    whole, chunks = gemini(lambda text: [text[:40], text[40:]])
    path = tmp_path / "stream.json"
    path.write_text(json.dumps(chunks))
    streamed = stats_of_file(path).transcript
    assert said(streamed.effective) == said(load(raw_lines(whole)).effective)


@pytest.mark.parametrize(
    ("api", "container"),
    [
        (api, container)
        for api in REQUESTS
        for container in ("list", "sse", "lines")
        # What Gemini streams is an array.
        if (api, container) != ("gemini", "list")
    ],
)
def test_a_file_that_is_only_a_stream_is_refused_with_a_reason(
    api: str, container: str, tmp_path: Path
) -> None:
    _, events = REQUESTS[api][1](lambda text: [text[:50], text[50:]])
    value = CONTAINERS[container](events)
    path = tmp_path / "stream.jsonl"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    with pytest.raises(NotUnderstoodError):
        stats_of_file(path)
