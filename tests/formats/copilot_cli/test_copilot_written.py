import json
from itertools import pairwise
from pathlib import Path

import pytest
from formats.copilot_cli.sessions import (
    Record,
    answered,
    called,
    event,
    prompt,
    said,
    session,
)
from formats.jsonl import file_lines, texts
from formats.written import STUB, SUMMARY, Case, compacted, halved, load

from compactctl.clients.registry import format_named
from compactctl.history.apply import net_edits
from compactctl.history.pairs import find_orphans
from compactctl.pipeline.layout import Layout, LayoutOptions, lay_out

TALK = session(
    event("session.start", sessionId="s"),
    event("system.message", content="prompt"),
    prompt("one"),
    event("assistant.turn_start"),
    called("a"),
    event("tool.execution_start", toolCallId="a"),
    answered("a", "1"),
    said("first done"),
    event("assistant.turn_end"),
    prompt("two"),
    called("b"),
    answered("b", "2"),
    said("second done"),
)
CASE = Case("copilot", TALK, range(1, 5), 7)


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_the_new_file_says_what_the_edits_say(layout: Layout) -> None:
    _, again, expected = compacted(CASE, layout)

    assert texts(again.effective) == expected == ["prompt", SUMMARY, "two", *expected[3:]]
    assert STUB in expected
    assert find_orphans(again.effective) == frozenset()
    assert (again.warnings, again.opaque) == ((), ())
    ours = [message for message in again.effective if message.origin.is_synthetic]
    assert [(m.origin.is_summary, m.starts_turn) for m in ours] == [(True, False)]


def test_a_written_event_has_the_whole_envelope() -> None:
    lines, _, _ = compacted(CASE, "split")
    written = json.loads(lines[2])

    assert list(written)[:5] == ["type", "data", "id", "timestamp", "parentId"]
    assert (written["type"], written["parentId"]) == ("user.message", "e1")
    assert written["timestamp"] == TALK[2]["timestamp"]
    assert [len(piece) for piece in written["id"].split("-")] == [8, 4, 4, 4, 12]


def test_events_stay_a_plain_list() -> None:
    lines, _, _ = compacted(CASE, "split")

    assert_list([json.loads(line) for line in lines])


def assert_list(events: list[Record]) -> None:
    assert events[0]["parentId"] is None
    assert all(after["parentId"] == before["id"] for before, after in pairwise(events))


def test_a_real_session_stays_a_plain_list(real_transcripts: Path) -> None:
    lines = file_lines(real_transcripts / "copilot-cli/copilot-cli-1.0.64.jsonl")
    before = load(lines)
    folded = net_edits(halved(list(before.effective)))
    style = LayoutOptions(operation="op1")
    new = tuple(lay_out(lines, before, folded, format_named("copilot-cli"), style))

    assert_list([json.loads(line.data) for line in new])
    assert len(new) == len(lines) - len(folded.hidden) + 1
