"""What is appended to a session is read by the client; a progress record never is."""

import json
from collections.abc import Sequence

import pytest
from formats.claude_code.sessions import Record, answered, called, record, said, user
from formats.jsonl import read

from compactctl.formats.claude_code.native import ClaudeNativeAppend


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
