"""What is appended to a session is read by the client; a progress record never is."""

import json
from collections.abc import Sequence

import pytest
from formats.claude_code.sessions import (
    Record,
    answered,
    boundary,
    called,
    record,
    said,
    summarized,
    user,
)
from formats.jsonl import read

from compactctl.clients.claude_code.native import ClaudeNativeAppend
from compactctl.errors import UsageError


def _lines(records: Sequence[Record]) -> tuple[bytes, ...]:
    return tuple(f"{json.dumps(each)}\n".encode() for each in records)


def _shown(lines: Sequence[bytes]) -> list[str]:
    return [message.id for message in read("claude-code", *map(json.loads, lines)).effective]


def _session(runs: Sequence[int]) -> list[Record]:
    """Return a session of as many turns, each result behind so many progress records."""
    records: list[Record] = []
    parent: str | None = None
    for turn, run in enumerate(runs):
        records += [
            user(f"u{turn}", parent, f"question {turn}"),
            called(f"a{turn}", f"u{turn}", f"c{turn}"),
        ]
        parent = f"a{turn}"
        for number in range(run):
            records.append(record("progress", f"p{turn}.{number}", parent))
            parent = f"p{turn}.{number}"
        records += [
            answered(f"r{turn}", parent, f"c{turn}"),
            record("progress", f"q{turn}", f"r{turn}"),
            said(f"b{turn}", f"q{turn}", "fine"),
        ]
        parent = f"b{turn}"
        if run:
            records.append(record("progress", f"e{turn}", parent))
            parent = f"e{turn}"
    return records


@pytest.mark.parametrize("runs", [(1, 1, 1), (0, 2, 3), (3, 0, 1)])
@pytest.mark.parametrize("hidden", [0, 1])
def test_what_follows_progress_is_appended_with_another_parent(
    runs: Sequence[int], hidden: int
) -> None:
    now = _session(runs)
    gone = [f"{name}{hidden}" for name in "uarb"]
    # As a rewritten file has it: the progress records stay, and follow what is left.
    before = f"e{hidden - 1}" if hidden and runs[hidden - 1] else f"b{hidden - 1}"
    wanted = [
        {**each, "parentUuid": (before if hidden else None)} if each["parentUuid"] in gone else each
        for each in now
        if each["uuid"] not in gone
    ]
    lines, goal = _lines(now), _lines(wanted)
    block = ClaudeNativeAppend().lines_to_append(lines, goal, "0123456789ab")
    assert block
    assert "progress" not in {json.loads(line)["type"] for line in block}
    assert _shown((*lines, *block)) == _shown(goal)
    again = (*lines, *block)
    assert ClaudeNativeAppend().lines_to_append(again, goal, "0123456789ab") == []
    back = ClaudeNativeAppend().lines_to_append(again, lines, "ba9876543210")
    assert _shown((*again, *back)) == _shown(lines)


def test_a_hidden_record_that_the_client_would_go_on_from_is_named_no_more() -> None:
    pointer = {"type": "last-prompt", "lastPrompt": "x", "leafUuid": "b1", "sessionId": "s"}
    now = [*_session([0, 0]), pointer, *_session([0, 0, 0])[-5:]]
    gone = [f"{name}1" for name in "uarqb"]
    wanted = [
        {**each, "parentUuid": "b0"} if each["parentUuid"] in gone else each
        for each in now
        if each.get("uuid") and each["uuid"] not in gone
    ]
    lines, goal = _lines(now), _lines(wanted)
    block = ClaudeNativeAppend().lines_to_append(lines, goal, "0123456789ab")
    again = (*lines, *block)
    assert _shown(again) == _shown(goal)
    assert _shown((*again, *_lines([user("u3", "b2", "on")]))) == [*_shown(goal), "u3"]
    back = ClaudeNativeAppend().lines_to_append(again, lines, "ba9876543210")
    assert _shown((*again, *back)) == _shown(lines)


def test_of_a_large_file_nothing_before_the_clients_own_compaction_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = [user("u0", None, "hi"), said("b0", "u0", "ok")]
    compacted = [boundary("x", "b0"), summarized("s", "x", "short")]
    now = _lines([*start, *compacted, user("u1", "s", "on"), said("b1", "u1", "fine")])
    goal = _lines([*start, user("u1", "b0", "on"), said("b1", "u1", "fine")])
    block = ClaudeNativeAppend().lines_to_append(now, goal, "0123456789ab")
    assert _shown((*now, *block)) == ["u0", "b0", "u1", "b1"]
    size = sum(map(len, (*now, *block)))
    limit = "compactctl.clients.claude_code.chain._MAX_FULLY_READ"
    monkeypatch.setattr(limit, size)
    assert ClaudeNativeAppend().lines_to_append(now, goal, "0123456789ab") == block
    monkeypatch.setattr(limit, size - 1)
    with pytest.raises(UsageError, match=r"before its compaction on line 3$"):
        ClaudeNativeAppend().lines_to_append(now, goal, "0123456789ab")
    hidden = _lines([*start, *compacted, user("u1", "s", "on")])
    assert ClaudeNativeAppend().lines_to_append(now, hidden, "0123456789ab")


def test_appended_records_are_normalized_to_their_place() -> None:
    now = _lines(_session([0, 1]))
    wanted = _lines([user("n0", None, "first"), user("u0", "n0", "question 0")]) + now[1:]
    block = ClaudeNativeAppend().lines_to_append(now, wanted, "0123456789ab")
    assert ClaudeNativeAppend().normalized(now) is now
    normalized = ClaudeNativeAppend().normalized((*now, *block))
    assert [json.loads(line)["uuid"] for line in normalized] == [
        json.loads(line)["uuid"] for line in wanted
    ]


def test_what_would_be_sent_beside_a_replaced_record_is_blanked() -> None:
    answers = [called("a1", "u0", "c1", "m1"), called("a2", "a1", "c2", "m1")]
    results = [answered("r1", "a1", "c1"), answered("r2", "a2", "c2")]
    now = [user("u0", None, "go"), *answers, *results, said("b0", "r2", "fine")]
    wanted = [
        {**each, "parentUuid": "u0"} if each["uuid"] == "b0" else each
        for each in now
        if each["uuid"] in {"u0", "b0"}
    ]
    lines, goal = _lines(now), _lines(wanted)
    block = ClaudeNativeAppend().lines_to_append(lines, goal, "0123456789ab")
    assert _shown((*lines, *block)) == _shown(goal) == ["u0", "b0"]
