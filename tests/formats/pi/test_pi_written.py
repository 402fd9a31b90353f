import json
import re
from pathlib import Path

import pytest
from formats.jsonl import file_lines, texts
from formats.pi.sessions import HEADER, Record, answered, called, chained, entry, prompt, said
from formats.written import STUB, SUMMARY, Case, compacted, halved, load

from compactctl.clients.registry import format_named
from compactctl.history.apply import net_edits
from compactctl.history.pairs import find_orphans
from compactctl.pipeline.layout import Layout, LayoutOptions, lay_out

TURNS = [
    prompt("one"), called("a"), answered("a", "1"), said("first done"),
    prompt("two"), called("b"), answered("b", "2"), said("second done"),
]  # fmt: skip
COMPACTION = entry("compaction", summary="before", tokensBefore=9)
CASES = (
    Case("list", [HEADER, *TURNS], range(4), 6),
    Case("tree", [HEADER, *chained(*TURNS)], range(4), 6),
    Case(
        "list with compaction",
        [
            *(HEADER, prompt("zero"), *TURNS[:3]),
            *(COMPACTION | {"firstKeptEntryIndex": 2}, *TURNS[3:]),
        ],
        range(1, 4),
        7,
    ),
    Case(
        "tree with compaction",
        [
            HEADER,
            *chained(
                prompt("zero"), *TURNS[:3], COMPACTION | {"firstKeptEntryId": "e1"}, *TURNS[3:]
            ),
        ],
        range(2, 5),
        7,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("layout", ["split", "inline"])
def test_the_new_file_says_what_the_edits_say(case: Case, layout: Layout) -> None:
    _, again, expected = compacted(case, layout)

    assert texts(again.effective) == expected
    assert SUMMARY in expected
    assert STUB in expected
    assert find_orphans(again.effective) == frozenset()
    assert (again.warnings, again.opaque) == ((), ())
    ours = [each for each in again.effective if each.origin.is_synthetic]
    assert [(each.origin.is_summary, each.starts_turn) for each in ours] == [(True, False)]


def test_a_written_entry_of_a_tree_continues_it() -> None:
    lines, _, _ = compacted(CASES[1], "split")
    written, follower = json.loads(lines[1]), json.loads(lines[2])

    assert list(written)[:5] == ["type", "id", "parentId", "timestamp", "message"]
    assert re.fullmatch("[0-9a-f]{8}", written["id"])
    assert written["parentId"] is None
    assert follower["parentId"] == written["id"]
    assert written["message"] == {
        "role": "user",
        "content": [{"type": "text", "text": SUMMARY}],
        "timestamp": 1_767_323_045_678,
    }


def test_a_written_entry_of_a_list_has_no_id() -> None:
    lines, _, _ = compacted(CASES[0], "split")

    assert list(json.loads(lines[1]))[:3] == ["type", "timestamp", "message"]


@pytest.mark.parametrize(
    ("stamp", "milliseconds"),
    [("2026-01-02T03:04:05", 1_767_323_045_000), ("yesterday", 0), (None, 0)],
)
def test_a_written_message_is_as_old_as_its_neighbor(stamp: object, milliseconds: int) -> None:
    case = Case(
        "stamps", [HEADER, *chained(*(t | {"timestamp": stamp} for t in TURNS))], range(4), 6
    )
    lines, _, _ = compacted(case, "split")

    assert json.loads(lines[1])["message"]["timestamp"] == milliseconds


@pytest.mark.parametrize("name", ["gjc-compaction-badline", "pi-v3-small"])
def test_the_client_still_walks_a_real_session(name: str, real_transcripts: Path) -> None:
    lines = file_lines(real_transcripts / f"pi/{name}.jsonl")
    before = load(lines)
    folded = net_edits(halved(list(before.effective)))
    new = tuple(lay_out(lines, before, folded, format_named("pi"), LayoutOptions(operation="op1")))
    data = [line.data for line in new]

    walked = walk(data)
    assert {each.line for each in load(data).effective} <= set(walked)
    assert len(walked) > len(before.effective) - len(folded.hidden)


def walk(lines: list[bytes]) -> list[int]:
    """Return the lines from the newest entry back to the root, over nothing but parent ids."""
    numbered = [(n, parsed(line)) for n, line in enumerate(lines)]
    entries = {each["id"]: (n, each["parentId"]) for n, each in numbered if "parentId" in each}
    at: str | None = next(reversed(entries))
    way = []
    while at in entries:
        line, at = entries[at]
        way.append(line)
    return way


def parsed(line: bytes) -> Record:
    try:
        return dict(json.loads(line))
    except ValueError:
        return {}
