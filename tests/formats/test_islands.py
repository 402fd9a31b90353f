"""What the next request does not send of a session is listed once: hidden, or on an island."""

from pathlib import Path
from typing import Any

import pytest
from formats.claude_code.sessions import answered, attached, boundary, called, record, said, user
from formats.claude_code.sessions import summarized as summarized_by_claude
from formats.codex import rollouts as codex
from formats.jsonl import write_lines
from formats.pi import sessions as pi
from transcripts import FOLDER, needs_real

from compactctl.commands.inspect.view import ViewOptions, ViewResult, view
from compactctl.commands.reading.transcript import InputOptions

Json = dict[str, Any]
LOST = "0b0b0b0b-0000-4000-8000-000000000000"
Shown = tuple[str, int, int, int, int]


def archived(path: Path) -> ViewResult:
    return view(ViewOptions(input=InputOptions(path=str(path)), what="archived"))


def islands(folder: Path, *records: object) -> list[Shown]:
    """Return the kind of each island, its first and last line, its messages and requests."""
    result = archived(write_lines(folder / "run.jsonl", *records))
    on_islands = [viewed for viewed in result.messages if viewed.island is not None]
    assert len(on_islands) == sum(len(island.messages) for island in result.islands)
    return [
        (one.kind, one.first + 1, one.last + 1, len(one.messages), one.requests)
        for one in result.islands
    ]


def answer(uuid: str, parent: str, tokens: int = 0) -> Json:
    usage = {"input_tokens": tokens, "output_tokens": 5} if tokens else {}
    return said(uuid, parent, "Aye.", inner={"usage": usage} if usage else {})


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [(900, 900, "cut off"), (0, 900, "cut off"), (900, 300, "context cleared")],
)
def test_claude_code_cut_off_by_a_lost_parent(
    before: int, after: int, kind: str, tmp_path: Path
) -> None:
    first = [user("u1", None, "Row out."), answer("a1", "u1", before)]
    second = [user("u2", LOST, "And back."), answer("a2", "u2", after)]
    assert islands(tmp_path, *first, *second) == [(kind, 1, 2, 2, 1)]
    # A compaction since then hides what followed the break, and no more.
    compacted = [boundary("b", "a2"), summarized_by_claude("s", "b", "All of it.")]
    shown = islands(tmp_path, *first, *second, *compacted, answer("a3", "s", 100))
    assert shown == [("before a compaction", 3, 4, 2, 1), (kind, 1, 2, 2, 1)]


def test_claude_code_branches_that_the_user_left(tmp_path: Path) -> None:
    shown = islands(
        tmp_path,
        user("u1", None, "Row out."),
        answer("a1", "u1"),
        user("u2", "a1", "Look twice."),
        called("c1", "u2", "one", "both"),
        called("c2", "c1", "two", "both"),
        answered("r1", "c1", "one"),
        answered("r2", "c2", "two"),
        attached("n1", "r2", "hook_additional_context", content=["High tide."]),
        answer("a2", "n1"),
        user("u3", "a2", "And back."),
        user("u4", "a2", "Or on."),
        answer("a4", "u4"),
        user("u5", "a1", "Stay here."),
        record("progress", "p1", "u5", data={}),
        answer("a5", "u5"),
    )
    # Two ended after a2: the newer one goes back to where they part.
    assert shown == [("other branch", 3, 12, 9, 2), ("other branch", 10, 10, 1, 1)]


def test_subagents_are_no_islands_of_claude_code(tmp_path: Path) -> None:
    side = [
        user("x1", None, "Look around.", isSidechain=True),
        said("x2", "x1", "Calm.", isSidechain=True),
    ]
    assert islands(tmp_path, user("u1", None, "Row out."), *side, answer("a1", "u1")) == []


def test_what_claude_code_compacted_is_listed_once(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "run.jsonl",
        user("u1", None, "Row out."),
        answer("a1", "u1"),
        user("w1", "u1", "Wait."),
        user("u2", "a1", "And back."),
        answer("a2", "u2"),
        boundary("b", "a2"),
        summarized_by_claude("s", "b", "They rowed."),
        answer("a3", "s"),
    )
    result = archived(path)
    shown = [(one.message.id, one.hidden is not None, one.island) for one in result.messages]
    assert shown == [
        ("u1", True, 0),
        ("a1", True, 0),
        ("w1", False, 1),
        ("u2", True, 0),
        ("a2", True, 0),
    ]
    kinds = [island.kind for island in result.islands]
    assert kinds == ["before a compaction", "other branch"]
    assert [line.index for line in result.lines] == [0, 1, 2, 3, 4]


def test_codex_turns_that_were_rolled_back(tmp_path: Path) -> None:
    back = codex.event("thread_rolled_back", num_turns=1)
    shown = islands(
        tmp_path,
        codex.record("session_meta", id="s", base_instructions={"text": "base"}),
        codex.message("user", "Row out."),
        codex.message("assistant", "Aye."),
        codex.message("user", "Look."),
        codex.call("c1"),
        codex.output("c1", "calm"),
        back,
        codex.message("user", "Wait."),
        back,
        codex.message("user", "And back."),
    )
    assert shown == [("other branch", 4, 6, 3, 1), ("other branch", 8, 8, 1, 1)]


def test_what_codex_compacted_is_listed_once(tmp_path: Path) -> None:
    summary = codex.message("user", "They rowed.")["payload"]
    path = write_lines(
        tmp_path / "run.jsonl",
        codex.record("session_meta", id="s", base_instructions={"text": "base"}),
        codex.event("task_started", turn_id="one"),
        codex.message("user", "Row out."),
        codex.message("assistant", "Aye."),
        codex.event("task_started", turn_id="two"),
        codex.message("user", "Wait."),
        codex.event("thread_rolled_back", num_turns=1),
        codex.event("task_started", turn_id="three"),
        codex.message("user", "And back."),
        codex.record("compacted", message="", replacement_history=[summary]),
        codex.message("assistant", "Aye, aye."),
    )
    shown = [(one.message.line, one.island) for one in archived(path).messages]
    assert shown == [(2, 0), (3, 0), (5, 1), (8, 0)]


def test_branches_of_pi(tmp_path: Path) -> None:
    entries = pi.chained(
        pi.prompt("Row out."),
        pi.prompt("Look."),
        pi.said("Calm."),
        pi.prompt("Again.") | {"parentId": "e1"},
        pi.entry("label", targetId="e1") | {"parentId": "e3"},
        pi.prompt("And back.") | {"parentId": "e0"},
        pi.said("Aye."),
    )
    shown = islands(tmp_path, pi.HEADER, *entries)
    assert shown == [("other branch", 3, 5, 2, 2), ("other branch", 4, 4, 1, 0)]


def test_pi_cleared_or_cut_off(tmp_path: Path) -> None:
    old = [pi.prompt("Row out."), pi.said("Aye.")]
    reset = pi.chained(*old, pi.entry("reset_boundary"), pi.prompt("And back."))
    assert islands(tmp_path, pi.HEADER, *reset) == [("context cleared", 2, 3, 2, 1)]
    lost = pi.chained(*old, pi.prompt("And back.") | {"parentId": "gone"}, pi.said("Aye."))
    assert islands(tmp_path, pi.HEADER, *lost) == [("cut off", 2, 3, 2, 1)]


def test_what_pi_compacted_is_listed_once(tmp_path: Path) -> None:
    entries = pi.chained(
        pi.prompt("Row out."),
        pi.said("Aye."),
        pi.prompt("Wait.") | {"parentId": "e0"},
        pi.prompt("And back.") | {"parentId": "e1"},
        pi.entry("compaction", summary="They rowed.", tokensBefore=9, firstKeptEntryId="e3"),
    )
    result = archived(write_lines(tmp_path / "run.jsonl", pi.HEADER, *entries))
    shown = [(one.message.id, one.hidden is not None, one.island) for one in result.messages]
    assert shown == [("e0", True, 0), ("e1", True, 0), ("e2", False, 1)]


@needs_real
def test_a_session_of_which_nearly_all_is_cut_off() -> None:
    result = archived(FOLDER / "claude-code" / "cli-5d107d-0.jsonl")
    [island] = result.islands
    assert island.kind == "cut off"
    assert island.describe("record") == "211 records with 7 requests (lines 3\N{EN DASH}1,009)"
