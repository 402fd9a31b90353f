"""What Claude Code leaves out of a request, rule by rule, and what a compaction makes of it."""

import base64
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from file_commands import stats_of_file
from formats.claude_code.sessions import (
    Record,
    answered,
    attached,
    called,
    read,
    record,
    response_line,
    said,
    user,
)
from formats.jsonl import raw_lines
from formats.squeeze import squeezed
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.claude_code.request import (
    INTERRUPTED,
    MISSING,
    REQUEST_STEPS,
    pair_results,
)
from compactctl.commands.inspect.explain import ExplainOptions, explain_message
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.omissions import sent_messages
from compactctl.model.message import Message, OmittedPart, ReasoningPart, ToolCallPart
from compactctl.model.transcript import Transcript
from compactctl.views.results.explain import explain_document
from compactctl.views.results.stats import stats_document, stats_terminal

_PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 30).decode()


def ids(transcript: Transcript) -> list[str]:
    return [message.id for message in transcript.effective]


def left_out(transcript: Transcript) -> dict[str, int]:
    counts: dict[str, int] = {}
    for omission in transcript.omissions:
        what = f"{omission.noun} {omission.detail}"
        counts[what] = counts.get(what, 0) + omission.count
    return counts


def thought(uuid: str, parent: str, text: str, response: str, **inner: Any) -> Record:
    block = {"type": "thinking", "thinking": text, "signature": "s" * 40}
    return response_line(uuid, parent, block, response, inner=inner)


def pictures(uuid: str, parent: str | None, number: int) -> Record:
    source = {"type": "base64", "media_type": "image/png", "data": _PICTURE}
    blocks = [{"type": "image", "source": source} for _ in range(number)]
    return user(uuid, parent, [{"type": "text", "text": f"look {uuid}"}, *blocks])


def test_a_cut_replaces_the_result_of_its_call() -> None:
    cut = attached("x", "r", "tool_results_cut", callIds=["c", "d"], standIn="[cut]")
    found = read(
        user("u", None, "go"),
        called("a", "u", "c"),
        answered("r", "a", "c", "a long result"),
        cut,
        called("b", "x", "d"),
        answered("s", "b", "d", "tiny"),
        said("e", "s", "done"),
    )

    results = [result for message in found.effective for result in message.results]
    assert [(result.text, result.cleared) for result in results] == [
        ("[cut]", True),
        ("tiny", False),
    ]
    assert left_out(found) == {"result replaced by a note": 1}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"scope": "all"}, ["three"]),
        ({"scope": "partial", "from": {"messageId": "B", "thinkingIndex": 0}}, ["one", "three"]),
        ({"scope": "partial", "from": {"messageId": "Z", "thinkingIndex": 0}}, ["three"]),
    ],
)
def test_reasoning_before_a_strip_is_left_out(fields: dict[str, Any], expected: list[str]) -> None:
    found = read(
        user("u", None, "go"),
        thought("t1", "u", "one", "A"),
        said("a1", "t1", "1", "A"),
        user("v", "a1", "on"),
        thought("t2", "v", "two", "B"),
        said("a2", "t2", "2", "B"),
        attached("x", "a2", "thinking_stripped", **fields),
        user("w", "x", "on"),
        thought("t3", "w", "three", "C"),
        said("a3", "t3", "3", "C"),
    )

    parts = [part for message in found.effective for part in message.parts]
    assert [part.text for part in parts if isinstance(part, ReasoningPart)] == expected


def test_reasoning_of_another_model_is_left_out_unless_only_its_date_differs() -> None:
    found = read(
        user("u", None, "go"),
        thought("t1", "u", "one", "A", model="claude-opus-4-5-20251101"),
        said("a1", "t1", "1", "A", inner={"model": "claude-opus-4-5-20251101"}),
        thought("t2", "a1", "two", "B", model="claude-sonnet-4-5-20250929"),
        said("a2", "t2", "2", "B", inner={"model": "claude-sonnet-4-5-20250929"}),
        thought("t3", "a2", "three", "C", model="claude-sonnet-4-5"),
        said("a3", "t3", "3", "C", inner={"model": "claude-sonnet-4-5"}),
    )

    assert ids(found) == ["u", "a1", "t2", "a2", "t3", "a3"]
    assert left_out(found) == {"reasoning block of another model": 1}


def test_what_is_only_shown_is_left_out() -> None:
    shown = {"subtype": "local_command", "content": "<local-command-stdout>x", "level": "info"}
    found = read(
        user("u", None, "go"),
        said("v", "u", "shown", isVirtual=True),
        record("system", "s", "v", isDisplayOnly=True, **shown),
        said("a", "s", "done"),
    )

    assert ids(found) == ["u", "a"]
    assert left_out(found) == {"message that is only shown": 2}


def test_rows_whose_calls_all_lack_results_are_left_out_but_for_the_newest_answer() -> None:
    both = [{"type": "text", "text": "look"}, {"type": "tool_use", "id": "c", "name": "Read"}]
    found = read(
        user("u", None, "go"),
        response_line("a", "u", both[0], "A", inner={"content": both}),
        user("v", "a", "again"),
        called("b", "v", "d"),
    )

    assert ids(found) == ["u", "v", "b"]
    assert found.effective[-1].calls[0].added == INTERRUPTED
    assert left_out(found) == {
        "block beside a call without a result": 1,
        "call without a result": 1,
    }


def test_an_answer_of_reasoning_or_white_space_is_left_out() -> None:
    found = read(
        user("u", None, "go"),
        thought("t", "u", "hm", "A"),
        user("v", "t", "again"),
        said("a", "v", "\n\n"),
        user("w", "a", "again"),
        said("b", "w", "done"),
    )

    assert ids(found) == ["u", "v", "w", "b"]
    assert left_out(found) == {"block of an empty answer": 2}


def test_each_call_has_one_result_right_behind_it() -> None:
    found = read(
        user("u", None, "go"),
        answered("o", "u", "nobody's"),
        called("a", "o", "c"),
        answered("r", "a", "c", "first"),
        answered("s", "r", "c", "second"),
        called("b", "s", "c"),
        answered("t", "b", "c", "third"),
        said("e", "t", "done"),
    )

    assert ids(found) == ["u", "a", "r", "e"]
    assert left_out(found) == {
        "result without a matching call before it": 2,
        "result of a call that already has one": 1,
        "call with the id of an earlier one": 1,
    }


def test_a_result_that_comes_later_is_replaced_by_what_the_client_says() -> None:
    found = read(
        user("u", None, "go"),
        called("a", "u", "c"),
        user("v", "a", "meanwhile"),
        said("b", "v", "yes"),
        answered("r", "b", "c", "late"),
        said("e", "r", "done"),
    )

    assert ids(found) == ["u", "a", "v", "b", "e"]
    assert found.effective[1].calls[0].added == MISSING


@pytest.mark.parametrize(("number", "sent"), [(100, 100), (101, 80), (120, 99), (121, 100)])
def test_at_most_100_images_are_sent(number: int, sent: int) -> None:
    rows = [pictures("u", None, number), said("a", "u", "seen")]
    found = read(*rows)

    parts = found.effective[0].parts
    assert len(parts) == number + 1
    assert sum(not isinstance(part, OmittedPart) for part in parts) == sent + 1


def test_images_of_results_are_counted_too() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": _PICTURE}
    blocks = [{"type": "image", "source": source} for _ in range(101)]
    result = {"type": "tool_result", "tool_use_id": "c", "content": blocks}
    found = read(
        user("u", None, "go"), called("a", "u", "c"), user("r", "a", [result]), said("e", "r", "x")
    )

    assert len(found.effective[2].results[0].media) == 80
    assert left_out(found) == {"image over the limit of a request": 21}


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.just("")),
        st.tuples(st.just("say"), st.just("")),
        st.tuples(st.just("call"), st.sampled_from("cde")),
        st.tuples(st.just("answer"), st.sampled_from("cde")),
    ),
    max_size=12,
)


def talk(steps: Sequence[tuple[str, str]]) -> list[Record]:
    """Return a session of these rows, one after the other."""
    makers: dict[str, Callable[[str, str | None, str], Record]] = {
        "ask": lambda uuid, parent, _: user(uuid, parent, f"question {uuid}"),
        "say": lambda uuid, parent, _: said(uuid, parent, f"answer {uuid}"),
        "call": called,
        "answer": lambda uuid, parent, call: answered(uuid, parent, call, f"result {uuid} " * 40),
    }
    rows = [user("u0", None, "begin")]
    for number, (kind, call) in zip(count(1), steps, strict=False):
        rows.append(makers[kind](f"u{number}", rows[-1]["uuid"], call))
    return rows


@given(_STEPS)
def test_paired_calls_have_exactly_one_result(steps: list[tuple[str, str]]) -> None:
    messages = sent_messages(pair_results(read(*talk(steps)).history))
    calls: list[str] = []
    answers: list[str] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                calls.append(part.call_id)
                answers += [part.call_id] if part.added else []
        answers += [result.call_id for result in message.results]
    assert len(calls) == len(set(calls))
    assert sorted(answers) == sorted(calls)


@given(_STEPS)
def test_what_is_sent_is_sent_as_it_is(steps: list[tuple[str, str]]) -> None:
    messages: Sequence[Message] = read(*talk(steps)).history
    for step in REQUEST_STEPS:
        messages = step(messages)
        assert list(step(messages)) == list(messages)


DUPLICATES = talk(
    [
        ("call", "c"),
        ("answer", "c"),
        ("say", ""),
        ("ask", ""),
        ("call", "c"),
        ("answer", "c"),
        ("answer", "c"),
        ("call", "d"),
        ("ask", ""),
        *[("call", "e"), ("answer", "e"), ("say", ""), ("ask", "")] * 4,
        ("say", ""),
    ]
)


def _many_pictures() -> list[Record]:
    rows: list[Record] = []
    for number in range(12):
        parent = rows[-1]["uuid"] if rows else None
        rows.append(pictures(f"u{number}", parent, 10))
        rows.append(said(f"a{number}", f"u{number}", f"seen {number} " * 200))
    return rows


@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("stages", [("distill",), ("truncate",), ("prune",), ("summarize",)])
@pytest.mark.parametrize("rows", [DUPLICATES, _many_pictures()], ids=["duplicates", "pictures"])
def test_a_compaction_is_proven_and_restored(
    rows: list[Record], stages: tuple[str, ...], layout: Any, tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(raw_lines(*rows)))
    squeezed(path, stages, layout, tmp_path)


def test_stats_and_explain_say_what_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(raw_lines(*DUPLICATES)))
    result = stats_of_file(path)
    told = " ".join(str(item) for item in stats_terminal(result))

    assert "Claude Code leaves out " in told
    counts = {row["what"]: row["count"] for row in stats_document(result)["leftOut"]}
    assert counts == left_out(result.transcript)
    second = next(
        o.message
        for o in result.transcript.omissions
        if o.detail == "with the id of an earlier one"
    )
    explained = explain_message(
        ExplainOptions(input=InputOptions(path=str(path)), message=str(second))
    )
    assert explain_document(explained)["leftOut"] == [
        {"what": "call with the id of an earlier one", "count": 1}
    ]
    assert not explained.entry.is_sent
