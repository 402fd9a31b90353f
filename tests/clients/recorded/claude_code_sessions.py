"""Small sessions of Claude Code, one for each side of each rule by which it makes a request.

A function writes one session; its name is the name of the session. The rules are those of Claude
Code 2.1.332, with the functions of its code.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from clients.recorded.claude_code_drafts import (
    MISSING,
    OTHER_MODEL,
    Draft,
    call,
    image,
    result,
    text,
    thinking,
)
from clients.recorded.rules import Rule

Write = Callable[[Draft], object]
_rule = partial(Rule[Draft], draft=Draft)

PROGRESS = _rule(
    name="progress",
    about="progress rows are left out and their followers hang on what was before (processEntry)",
)


@PROGRESS
def between_question_and_answer(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.row("progress", data={"type": "bash_progress", "output": "P1 half"}, toolUseID="t")
    draft.row("progress", data={"type": "bash_progress", "output": "P2 more"}, toolUseID="t")
    draft.answer("A1 answer")
    draft.turn("next")


@PROGRESS
def at_the_end(draft: Draft) -> None:
    draft.turn("first")
    draft.row("progress", data={"type": "bash_progress", "output": "P1 half"}, toolUseID="t")


NEWEST_RECORD = _rule(
    name="newest_record", about="of several records with one uuid the last one counts"
)


@NEWEST_RECORD
def answer_twice(draft: Draft) -> None:
    question = draft.user("Q1 ask")
    answer = draft.answer("A1 old")
    draft.turn("next")
    end = draft.last
    draft.answer("A1 new", parent=question, uuid=answer)
    draft.answer("A2 end", parent=end)


CHOSEN_LEAF = _rule(
    name="chosen_leaf",
    about="a last-prompt with explicit ends the conversation at its leafUuid, with null there is"
    " none; rewound and cutUuid alone do nothing; a later row of the conversation cancels it",
)


def _two_turns(draft: Draft) -> tuple[str, str, str]:
    _, first = draft.turn("first")
    question, answer = draft.turn("undone")
    return first, question, answer


@CHOSEN_LEAF
def rewound(draft: Draft) -> None:
    first, question, _ = _two_turns(draft)
    draft.pointer(first, rewound=True, cutUuid=question, explicit=True)


@CHOSEN_LEAF
def only_rewound(draft: Draft) -> None:
    first, _, _ = _two_turns(draft)
    draft.pointer(first, rewound=True)


@CHOSEN_LEAF
def only_cut(draft: Draft) -> None:
    first, question, _ = _two_turns(draft)
    draft.pointer(first, cutUuid=question)


@CHOSEN_LEAF
def only_explicit(draft: Draft) -> None:
    first, _, _ = _two_turns(draft)
    draft.pointer(first, explicit=True)


@CHOSEN_LEAF
def to_nothing(draft: Draft) -> None:
    draft.turn("first")
    draft.pointer(None, explicit=True)


@CHOSEN_LEAF
def to_nothing_rewound(draft: Draft) -> None:
    question, _ = draft.turn("first")
    draft.pointer(None, explicit=True, rewound=True, cutUuid=question)


@CHOSEN_LEAF
def to_nothing_then_more(draft: Draft) -> None:
    question, _ = draft.turn("first")
    draft.pointer(None, explicit=True, rewound=True, cutUuid=question)
    draft.branch(None)
    draft.turn("later")


@CHOSEN_LEAF
def rewound_then_more_from_there(draft: Draft) -> None:
    first, question, _ = _two_turns(draft)
    draft.pointer(first, rewound=True, cutUuid=question, explicit=True)
    draft.branch(first)
    draft.turn("later")


@CHOSEN_LEAF
def rewound_then_more_on_the_old_branch(draft: Draft) -> None:
    first, question, _ = _two_turns(draft)
    draft.pointer(first, rewound=True, cutUuid=question, explicit=True)
    draft.turn("later")


@CHOSEN_LEAF
def rewound_then_a_sidechain(draft: Draft) -> None:
    first, question, _ = _two_turns(draft)
    draft.pointer(first, rewound=True, cutUuid=question, explicit=True)
    draft.user("W1 aside", parent=None, isSidechain=True)


@CHOSEN_LEAF
def rewound_then_an_attachment(draft: Draft) -> None:
    first, question, _ = _two_turns(draft)
    draft.pointer(first, rewound=True, cutUuid=question, explicit=True)
    draft.attachment("thinking_stripped", scope="all")


@CHOSEN_LEAF
def rewound_then_a_plain_pointer(draft: Draft) -> None:
    first, question, answer = _two_turns(draft)
    draft.pointer(first, rewound=True, cutUuid=question, explicit=True)
    draft.pointer(answer)


@CHOSEN_LEAF
def rewound_to_a_missing_row(draft: Draft) -> None:
    _, question, _ = _two_turns(draft)
    draft.pointer(MISSING, rewound=True, cutUuid=question, explicit=True)


@CHOSEN_LEAF
def rewound_then_the_same_pointer(draft: Draft) -> None:
    first, question, _ = _two_turns(draft)
    draft.pointer(first, rewound=True, cutUuid=question, explicit=True)
    draft.pointer(first)


@CHOSEN_LEAF
def rewound_then_an_ancestor(draft: Draft) -> None:
    first, question, _ = _two_turns(draft)
    draft.pointer(first, rewound=True, cutUuid=question, explicit=True)
    draft.pointer("00000001-aaaa-4bbb-8ccc-000000000001")


@CHOSEN_LEAF
def rewound_then_a_gap(draft: Draft) -> None:
    first, question, _ = _two_turns(draft)
    draft.pointer(first, rewound=True, cutUuid=question, explicit=True)
    draft.user("Q2 later", parent=MISSING, seconds=2)
    draft.answer("A2 later")


@CHOSEN_LEAF
def rewound_before_results_beside(draft: Draft) -> None:
    question = draft.user("Q1 ask")
    draft.answer("A1 looks", call("toolu_01"))
    draft.user(result("toolu_01", "R1 undone"))
    draft.answer("A2 undone")
    draft.pointer(
        question, rewound=True, cutUuid="00000002-aaaa-4bbb-8ccc-000000000002", explicit=True
    )
    draft.branch(question)
    draft.answer("A1 looks again", call("toolu_01"))
    draft.user("Q2 ask")
    draft.answer("A2 answer")


STALE_POINTER = _rule(
    name="stale_pointer",
    about="a last-prompt without flags counts only if it is no ancestor of the last row",
)


@STALE_POINTER
def ancestor_of_the_last_row(draft: Draft) -> None:
    _, first = draft.turn("first")
    draft.turn("later")
    draft.pointer(first)


@STALE_POINTER
def on_another_branch(draft: Draft) -> None:
    _, first = draft.turn("first")
    _, other = draft.turn("other")
    draft.branch(first)
    draft.turn("later")
    draft.pointer(other)


@STALE_POINTER
def on_another_branch_before_the_last_row(draft: Draft) -> None:
    _, first = draft.turn("first")
    _, other = draft.turn("other")
    draft.branch(first)
    draft.user("Q2 later")
    draft.pointer(other)
    draft.answer("A2 later")


@STALE_POINTER
def on_another_branch_before_a_boundary(draft: Draft) -> None:
    _, first = draft.turn("first")
    _, other = draft.turn("other")
    draft.branch(first)
    draft.turn("later")
    draft.pointer(other)
    draft.compaction()
    draft.turn("next")


@STALE_POINTER
def newer_time_on_an_earlier_line(draft: Draft) -> None:
    _, first = draft.turn("first")
    draft.user("Q2 newer in time", seconds=600)
    draft.answer("A2 newer in time")
    draft.user("Q3 later line", seconds=-400, parent=first)
    draft.answer("A3 later line")


@STALE_POINTER
def then_a_new_root(draft: Draft) -> None:
    _, first = draft.turn("first")
    draft.pointer(first)
    draft.branch(None)
    draft.turn("new root")


PRESERVED = _rule(
    name="preserved",
    about="the rows that the newest boundary preserves count only if each of them exists, else"
    " nothing is relinked (relinkPreserved, kRr)",
)


def _preserved(draft: Draft, *more: str, **lists: list[str]) -> tuple[str, str]:
    draft.turn("first")
    kept = draft.user("K1 kept"), draft.answer("K2 kept")
    draft.turn("gone")
    draft.compaction(metadata={"preservedMessages": {"uuids": [kept[0], *more, kept[1]], **lists}})
    return kept


@PRESERVED
def all_there(draft: Draft) -> None:
    _preserved(draft)
    draft.turn("next")


@PRESERVED
def one_missing(draft: Draft) -> None:
    _preserved(draft, MISSING)
    draft.turn("next")


@PRESERVED
def none_listed(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction(metadata={"preservedMessages": {"uuids": []}})
    draft.turn("next")


@PRESERVED
def a_segment(draft: Draft) -> None:
    draft.turn("first")
    head, tail = draft.user("K1 kept"), draft.answer("K2 kept")
    draft.compaction(metadata={"preservedSegment": {"headUuid": head, "tailUuid": tail}})
    draft.turn("next")


@PRESERVED
def a_segment_without_its_head(draft: Draft) -> None:
    draft.turn("first")
    draft.user("K1 kept")
    tail = draft.answer("K2 kept")
    draft.compaction(metadata={"preservedSegment": {"headUuid": MISSING, "tailUuid": tail}})
    draft.turn("next")


@PRESERVED
def more_in_all_uuids(draft: Draft) -> None:
    draft.turn("first")
    kept = draft.user("K1 kept"), draft.answer("K2 kept")
    listed = {"uuids": [kept[0]], "allUuids": [*kept]}
    draft.compaction(metadata={"preservedMessages": listed})
    draft.turn("next")


@PRESERVED
def then_a_plain_boundary(draft: Draft) -> None:
    _preserved(draft)
    draft.turn("between")
    draft.compaction("S2 summary")
    draft.turn("next")


BEFORE_BOUNDARY = _rule(
    name="before_boundary",
    about="with a preserved list the rows before the boundary are deleted, and what followed them"
    " hangs on the last preserved one",
)


@BEFORE_BOUNDARY
def straggler_after_a_preserved_list(draft: Draft) -> None:
    draft.turn("first")
    kept = draft.user("K1 kept"), draft.answer("K2 kept")
    _, gone = draft.turn("gone")
    draft.compaction(metadata={"preservedMessages": {"uuids": [*kept]}})
    draft.branch(gone)
    draft.turn("straggler")


@BEFORE_BOUNDARY
def straggler_on_a_preserved_row(draft: Draft) -> None:
    kept = _preserved(draft)
    draft.branch(kept[0])
    draft.turn("straggler")


@BEFORE_BOUNDARY
def straggler_after_a_broken_list(draft: Draft) -> None:
    draft.turn("first")
    kept = draft.user("K1 kept"), draft.answer("K2 kept")
    _, gone = draft.turn("gone")
    draft.compaction(metadata={"preservedMessages": {"uuids": [*kept, MISSING]}})
    draft.branch(gone)
    draft.turn("straggler")


@BEFORE_BOUNDARY
def straggler_after_a_plain_boundary(draft: Draft) -> None:
    _, first = draft.turn("first")
    draft.turn("gone")
    draft.compaction()
    draft.branch(first)
    draft.turn("straggler")


@BEFORE_BOUNDARY
def two_boundaries(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction()
    draft.turn("second")
    draft.compaction("S2 summary")
    draft.turn("third")


@BEFORE_BOUNDARY
def a_summary_alone(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction()


@BEFORE_BOUNDARY
def a_summary_without_boundary(draft: Draft) -> None:
    draft.turn("first")
    draft.user("S1 summary", isCompactSummary=True)
    draft.turn("next")


@BEFORE_BOUNDARY
def a_microcompact_boundary(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.read("toolu_01", "R1 " + "line " * 200)
    draft.answer("A2 seen")
    facts = {"trigger": "auto", "preTokens": 1000, "tokensSaved": 200}
    cleared = {"compactedToolIds": ["toolu_01"], "clearedAttachmentUUIDs": []}
    draft.system(
        "microcompact_boundary",
        "Context microcompacted",
        isMeta=False,
        level="info",
        microcompactMetadata={**facts, **cleared},
    )
    draft.turn("next")


TIME_BRIDGE = _rule(
    name="time_bridge",
    about="where a parent is missing the chain goes on at the newest row at most 5 seconds older on"
    " the same side, from any branch, never at a file_snapshot; else it ends there (Vrn)",
)


@TIME_BRIDGE
def gap_of_4_seconds(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("A2 answer", parent=MISSING, seconds=4)
    draft.turn("next")


@TIME_BRIDGE
def gap_of_5_seconds(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("A2 answer", parent=MISSING, seconds=5)


@TIME_BRIDGE
def gap_of_6_seconds(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("A2 answer", parent=MISSING, seconds=6)
    draft.turn("next")


@TIME_BRIDGE
def newest_on_an_abandoned_branch(draft: Draft) -> None:
    question, _ = draft.turn("first")
    draft.user("X1 abandoned", parent=question)
    draft.answer("A2 answer", parent=MISSING, seconds=2)
    draft.turn("next")


@TIME_BRIDGE
def newest_on_a_later_line(draft: Draft) -> None:
    draft.turn("first")
    end = draft.answer("A2 answer", parent=MISSING)
    draft.user("X1 a second before, on a later line", parent=None, seconds=-1)
    draft.answer("A3 end", parent=end)


@TIME_BRIDGE
def file_snapshot_between(draft: Draft) -> None:
    draft.turn("first")
    draft.system("file_snapshot", "F1 snapshot", seconds=1)
    draft.user("Q2 ask", parent=MISSING, seconds=2)
    draft.answer("A2 answer")


@TIME_BRIDGE
def sidechain_between(draft: Draft) -> None:
    draft.turn("first")
    draft.user("W1 aside", parent=None, isSidechain=True)
    draft.user("Q2 ask", parent=MISSING, seconds=2)
    draft.answer("A2 answer")


@TIME_BRIDGE
def attachment_between(draft: Draft) -> None:
    draft.turn("first")
    draft.attachment("output_style", style="O1 style")
    draft.user("Q2 ask", parent=MISSING, seconds=2)
    draft.answer("A2 answer")


@TIME_BRIDGE
def cycle(draft: Draft) -> None:
    draft.turn("first")
    question = draft.user("Q2 ask", parent="00000004-aaaa-4bbb-8ccc-000000000004")
    draft.answer("A2 answer", parent=question)


@TIME_BRIDGE
def cycle_2_seconds_after(draft: Draft) -> None:
    draft.turn("first")
    question = draft.user("Q2 ask", parent="00000004-aaaa-4bbb-8ccc-000000000004", seconds=2)
    draft.answer("A2 answer", parent=question, seconds=1)


@TIME_BRIDGE
def over_a_boundary(draft: Draft) -> None:
    draft.turn("first")
    draft.compaction()
    draft.user("Q2 ask", parent=MISSING, seconds=2)
    draft.answer("A2 answer")


@TIME_BRIDGE
def file_snapshot_at_the_end(draft: Draft) -> None:
    draft.turn("first")
    draft.system("file_snapshot", "F1 snapshot")


@TIME_BRIDGE
def without_parents(draft: Draft) -> None:
    for name in ("one", "two", "three"):
        draft.branch(None)
        draft.user(f"Q1 {name}")
        draft.branch(None)
        draft.answer(f"A1 {name}")


@TIME_BRIDGE
def sidechain_in_the_file(draft: Draft) -> None:
    _, first = draft.turn("first")
    draft.user("W1 aside", parent=None, isSidechain=True)
    draft.answer("W2 aside", isSidechain=True)
    draft.branch(first)
    draft.turn("next")


RESULTS_BESIDE = _rule(
    name="results_beside",
    about="results that stand beside the path are found by their parent, by"
    " sourceToolAssistantUUID and by the id of their call (RRr)",
)


def _two_calls(draft: Draft) -> tuple[str, str]:
    draft.user("Q1 ask")
    first = draft.answer("A1 looks", call("toolu_01"), response="msg_x")
    return first, draft.answer(call("toolu_02"), response="msg_x")


def _beside(draft: Draft, first: dict[str, Any]) -> None:
    end = draft.user(result("toolu_02", "R2 on the path"))
    draft.user(result("toolu_01", "R1 beside"), **first)
    draft.branch(end)
    draft.answer("A2 seen")
    draft.turn("next")


@RESULTS_BESIDE
def by_parent(draft: Draft) -> None:
    first, _ = _two_calls(draft)
    _beside(draft, {"parent": first})


@RESULTS_BESIDE
def by_source(draft: Draft) -> None:
    first, _ = _two_calls(draft)
    _beside(draft, {"parent": MISSING, "sourceToolAssistantUUID": first})


@RESULTS_BESIDE
def by_call_id(draft: Draft) -> None:
    _two_calls(draft)
    _beside(draft, {"parent": "00000001-aaaa-4bbb-8ccc-000000000001"})


@RESULTS_BESIDE
def by_call_id_without_parent(draft: Draft) -> None:
    _two_calls(draft)
    _beside(draft, {"parent": MISSING})


@RESULTS_BESIDE
def by_call_id_at_the_root(draft: Draft) -> None:
    _two_calls(draft)
    _beside(draft, {"parent": None})


@RESULTS_BESIDE
def response_id_of_all(draft: Draft) -> None:
    """Some proxies give each response the same id."""
    question = draft.user("Q1 ask")
    first = draft.answer("A1 answer", response="msg_x")
    draft.user("Q2 left")
    draft.answer("A2 left", response="msg_x")
    draft.branch(first)
    draft.user("Q3 goes on")
    draft.answer("A3 answer", response="msg_x")
    draft.branch(question)
    draft.answer("A4 beside", response="msg_x", isSidechain=True)
    draft.branch("00000006-aaaa-4bbb-8ccc-000000000006")
    draft.user("Q5 end")
    draft.answer("A5 answer", response="msg_y")


@RESULTS_BESIDE
def call_beside(draft: Draft) -> None:
    question = draft.user("Q1 ask")
    draft.answer("A1 looks", call("toolu_01"), response="msg_x")
    draft.branch(question)
    draft.answer(call("toolu_02"), response="msg_x")
    end = draft.user(result("toolu_02", "R2 on the path"))
    draft.user(result("toolu_01", "R1 beside"), parent="00000002-aaaa-4bbb-8ccc-000000000002")
    draft.branch(end)
    draft.answer("A2 seen")


@RESULTS_BESIDE
def three_calls_while_results_come_in(draft: Draft) -> None:
    draft.user("Q1 ask")
    first = draft.answer(call("toolu_01"), response="msg_x")
    second = draft.answer(call("toolu_02"), response="msg_x")
    draft.user(result("toolu_01", "R1 on the path"), parent=first)
    third = draft.answer(call("toolu_03"), response="msg_x")
    draft.user(result("toolu_02", "R2 beside"), parent=second)
    draft.user(result("toolu_03", "R3 on the path"), parent=third)
    draft.answer("A2 seen")


@RESULTS_BESIDE
def of_an_abandoned_answer(draft: Draft) -> None:
    question = draft.user("Q1 ask")
    draft.read("toolu_01")
    draft.answer("A2 abandoned")
    draft.branch(question)
    draft.answer("A1 anew")
    draft.turn("next")


@RESULTS_BESIDE
def of_another_side(draft: Draft) -> None:
    first, _ = _two_calls(draft)
    _beside(draft, {"parent": first, "isSidechain": True})


RETRACTED = _rule(
    name="retracted",
    about="retractedMessageUuids of a row on the path takes rows off it (mUn)",
)


@RETRACTED
def by_a_question(draft: Draft) -> None:
    draft.turn("first")
    rows = [*draft.turn("refused")]
    draft.user("Q2 again", retractedMessageUuids=rows)
    draft.answer("A2 again")


@RETRACTED
def by_an_answer(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    row = draft.answer("X1 refused")
    draft.answer("A2 again", retractedMessageUuids=[row])


@RETRACTED
def by_a_change_of_model(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    row = draft.answer("X1 refused")
    draft.system(
        "model_refusal_fallback",
        "M1 another model",
        retractedMessageUuids=[row],
        originalModel=OTHER_MODEL,
        fallbackModel="claude-sonnet-4-5-20250929",
        level="info",
    )
    draft.answer("A2 again")


@RETRACTED
def from_another_branch(draft: Draft) -> None:
    _, first = draft.turn("first")
    rows = [*draft.turn("stays")]
    end = draft.last
    draft.user("X1 elsewhere", parent=first, retractedMessageUuids=rows)
    draft.branch(end)
    draft.turn("next")


RESULTS_CUT = _rule(
    name="results_cut",
    about="the attachment tool_results_cut puts its text in the place of results (Vco, Yco)",
)
_CUT = "[cut]"


def _cut(draft: Draft, tool: str = "Read", content: Any = "", **facts: Any) -> None:
    draft.user("Q1 ask")
    arguments = {"command": "ls"} if tool == "Bash" else {"file_path": "/x/1"}
    draft.answer("A1 looks", call("toolu_01", tool, **arguments))
    draft.user(result("toolu_01", content or "R1 " + "word " * 40, **facts.pop("block", {})))
    draft.answer("A2 seen")
    draft.attachment("tool_results_cut", **{"callIds": ["toolu_01"], "standIn": _CUT, **facts})
    draft.turn("next")


@RESULTS_CUT
def of_read(draft: Draft) -> None:
    _cut(draft)


@RESULTS_CUT
def of_bash(draft: Draft) -> None:
    _cut(draft, "Bash")


@RESULTS_CUT
def of_edit(draft: Draft) -> None:
    _cut(draft, "Edit")


@RESULTS_CUT
def of_an_unknown_tool(draft: Draft) -> None:
    _cut(draft, "mcp__quay__tide")


@RESULTS_CUT
def with_a_cause(draft: Draft) -> None:
    _cut(draft, cause="withdrawn_by_tool")


@RESULTS_CUT
def with_an_unknown_cause(draft: Draft) -> None:
    _cut(draft, cause="for no reason")


@RESULTS_CUT
def of_a_failure(draft: Draft) -> None:
    _cut(draft, block={"is_error": True})


@RESULTS_CUT
def of_a_short_result(draft: Draft) -> None:
    _cut(draft, content="R1")


@RESULTS_CUT
def of_a_picture(draft: Draft) -> None:
    _cut(draft, content=[image()])


@RESULTS_CUT
def of_text_blocks(draft: Draft) -> None:
    _cut(draft, content=[text("R1 " + "word " * 40)])


@RESULTS_CUT
def without_a_stand_in(draft: Draft) -> None:
    _cut(draft, standIn="")


@RESULTS_CUT
def twice(draft: Draft) -> None:
    _cut(draft)
    draft.attachment("tool_results_cut", callIds=["toolu_01"], standIn="[cut again]")


@RESULTS_CUT
def before_its_result(draft: Draft) -> None:
    draft.attachment("tool_results_cut", callIds=["toolu_01"], standIn=_CUT)
    draft.user("Q1 ask")
    draft.read("toolu_01", "R1 " + "word " * 40)
    draft.answer("A2 seen")


@RESULTS_CUT
def on_another_branch_cut(draft: Draft) -> None:
    draft.user("Q1 ask")
    _, seen = draft.read("toolu_01", "R1 " + "word " * 40)
    draft.attachment("tool_results_cut", callIds=["toolu_01"], standIn=_CUT)
    draft.branch(seen)
    draft.answer("A2 seen")


THINKING_STRIPPED = _rule(
    name="thinking_stripped",
    about="the attachment thinking_stripped removes thinking before it, all or from a place on",
)


def _thought(draft: Draft, number: int, **more: Any) -> str:
    draft.user(f"Q{number} ask")
    answer = thinking(f"T{number} thought"), text(f"A{number} answer")
    draft.answer(*answer, response=f"msg_t{number}", **more)
    return f"msg_t{number}"


@THINKING_STRIPPED
def of_all(draft: Draft) -> None:
    _thought(draft, 1)
    _thought(draft, 2)
    draft.attachment("thinking_stripped", scope="all")
    _thought(draft, 3)


@THINKING_STRIPPED
def without_a_scope(draft: Draft) -> None:
    _thought(draft, 1)
    draft.attachment("thinking_stripped")
    _thought(draft, 2)


@THINKING_STRIPPED
def from_a_message_on(draft: Draft) -> None:
    _thought(draft, 1)
    second = _thought(draft, 2)
    _thought(draft, 3)
    draft.attachment("thinking_stripped", **{"from": {"messageId": second, "thinkingIndex": 0}})
    _thought(draft, 4)


@THINKING_STRIPPED
def from_the_second_block_on(draft: Draft) -> None:
    _thought(draft, 1)
    draft.user("Q2 ask")
    blocks = thinking("T2 first"), text("A2 half"), thinking("T2 second"), text("A2 rest")
    draft.answer(*blocks, response="msg_two")
    draft.attachment("thinking_stripped", **{"from": {"messageId": "msg_two", "thinkingIndex": 1}})
    _thought(draft, 3)


@THINKING_STRIPPED
def from_a_missing_message_on(draft: Draft) -> None:
    _thought(draft, 1)
    draft.attachment("thinking_stripped", **{"from": {"messageId": "msg_no", "thinkingIndex": 0}})
    _thought(draft, 2)


@THINKING_STRIPPED
def after_idle(draft: Draft) -> None:
    _thought(draft, 1)
    draft.attachment("thinking_stripped", scope="all", cause="return_after_idle")
    _thought(draft, 2)


@THINKING_STRIPPED
def a_report_of_dropped_thinking(draft: Draft) -> None:
    _thought(draft, 1)
    draft.attachment("thinking_drop", model="claude-sonnet-4-5-20250929", blockHashes=["0abc"])
    _thought(draft, 2)


@THINKING_STRIPPED
def lone_thinking_stripped(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(thinking("T1 alone"))
    draft.attachment("thinking_stripped", scope="all")
    _thought(draft, 2)


OTHER_MODEL_THINKING = _rule(
    name="other_model_thinking",
    about="thinking of another model than the current one is left out, signed or redacted",
)


@OTHER_MODEL_THINKING
def earlier_model(draft: Draft) -> None:
    _thought(draft, 1, model=OTHER_MODEL)
    _thought(draft, 2)


@OTHER_MODEL_THINKING
def newest_answer_of_another_model(draft: Draft) -> None:
    _thought(draft, 1)
    _thought(draft, 2, model=OTHER_MODEL)


@OTHER_MODEL_THINKING
def redacted(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer({"type": "redacted_thinking", "data": "c2VhbGVk"}, "A1 answer", model=OTHER_MODEL)
    draft.user("Q2 ask")
    draft.answer({"type": "redacted_thinking", "data": "c2VhbGVk"}, "A2 answer")


@OTHER_MODEL_THINKING
def alone_of_another_model(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(thinking("T1 alone"), model=OTHER_MODEL)
    _thought(draft, 2)


@OTHER_MODEL_THINKING
def before_a_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(thinking("T1 thought"), call("toolu_01"), model=OTHER_MODEL)
    draft.user(result("toolu_01", "R1 lines"))
    draft.answer("A2 seen")


@OTHER_MODEL_THINKING
def unsigned(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(thinking("T1 unsigned", ""), "A1 answer")
    draft.turn("next")


@OTHER_MODEL_THINKING
def alone(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(thinking("T1 alone"))
    draft.turn("next")


@OTHER_MODEL_THINKING
def alone_at_the_end(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer(thinking("T2 alone"))


@OTHER_MODEL_THINKING
def at_the_end_of_an_answer(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 answer", thinking("T1 behind"))
    draft.turn("next")


NEVER_SENT = _rule(
    name="never_sent",
    about="isVirtual is never sent, nor a local_command with isDisplayOnly (yu); other flags that"
    " a row may have",
)


def _flagged(draft: Draft, flag: str, *, typed: bool = False) -> None:
    draft.turn("first")
    flags: dict[str, Any] = {flag: True}
    if typed:
        draft.user("X1 flagged", **flags)
    else:
        draft.user("Q2 ask")
        draft.answer("X1 flagged", **flags)
    draft.turn("next")


@NEVER_SENT
def virtual_answer(draft: Draft) -> None:
    _flagged(draft, "isVirtual")


@NEVER_SENT
def virtual_question(draft: Draft) -> None:
    _flagged(draft, "isVirtual", typed=True)


@NEVER_SENT
def handed_off(draft: Draft) -> None:
    _flagged(draft, "handedOff")


@NEVER_SENT
def abandoned_by_retry(draft: Draft) -> None:
    _flagged(draft, "abandonedByStreamRetry")


@NEVER_SENT
def in_transcript_only(draft: Draft) -> None:
    _flagged(draft, "isVisibleInTranscriptOnly", typed=True)


@NEVER_SENT
def in_queue_only(draft: Draft) -> None:
    _flagged(draft, "queueTranscriptOnly", typed=True)


@NEVER_SENT
def meta(draft: Draft) -> None:
    _flagged(draft, "isMeta", typed=True)


@NEVER_SENT
def local_commands(draft: Draft) -> None:
    draft.turn("first")
    draft.system("local_command", "<command-name>/cost</command-name> L1", level="info")
    draft.system(
        "local_command",
        "<local-command-stdout>L2 shown only</local-command-stdout>",
        isDisplayOnly=True,
        level="info",
    )
    draft.turn("next")


@NEVER_SENT
def informational(draft: Draft) -> None:
    draft.turn("first")
    draft.system("informational", "I1 told", level="warning")
    draft.turn("next")


@NEVER_SENT
def other_subtypes(draft: Draft) -> None:
    draft.turn("first")
    subtypes = (
        "files_persisted local_command_output read_divider task_list_statuses thinking"
        " ui_focus ui_invalidate ui_log ui_notify ui_notify_cancel ui_panes ui_placed ui_scroll"
        " ui_status ui_toast upgrade_relay_marker"
    )
    for subtype in subtypes.split():
        draft.system(subtype, f"I1 {subtype}", level="info")
    draft.turn("next")


@NEVER_SENT
def failed_answer(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("X1 error", model="<synthetic>", isApiErrorMessage=True)
    draft.turn("next")


@NEVER_SENT
def failed_answer_at_the_end(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("X1 error", model="<synthetic>", isApiErrorMessage=True)


@NEVER_SENT
def synthetic_answer(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("X1 synthetic", model="<synthetic>")
    draft.turn("next")


@NEVER_SENT
def interruption(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.user(text("[Request interrupted by user]"))
    draft.turn("next")


UNRESOLVED = _rule(
    name="unresolved",
    about="an answer whose calls all lack results is left out with its text, and at the end it gets"
    " a result that the client makes up",
)


@UNRESOLVED
def at_the_end_with_text(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer("A2 looks", call("toolu_01"))


@UNRESOLVED
def at_the_end_alone(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer(call("toolu_01"))


@UNRESOLVED
def at_the_end_one_of_two(draft: Draft) -> None:
    _two_calls(draft)
    draft.user(result("toolu_01", "R1 lines"))


@UNRESOLVED
def at_the_end_two(draft: Draft) -> None:
    _two_calls(draft)


@UNRESOLVED
def at_the_end_with_thinking(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(thinking("T1 thought"), response="msg_x")
    draft.answer("A1 looks", response="msg_x")
    draft.answer(call("toolu_01"), response="msg_x")


@UNRESOLVED
def in_the_middle_with_text(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 looks", call("toolu_01"))
    draft.turn("next")


@UNRESOLVED
def in_the_middle_in_rows(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 looks", response="msg_x")
    draft.answer(call("toolu_01"), response="msg_x")
    draft.turn("next")


@UNRESOLVED
def in_the_middle_one_of_two(draft: Draft) -> None:
    _two_calls(draft)
    draft.user(result("toolu_01", "R1 lines"))
    draft.turn("next")


@UNRESOLVED
def in_the_middle_one_of_two_in_a_row(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 looks", call("toolu_01"), call("toolu_02"))
    draft.user(result("toolu_01", "R1 lines"))
    draft.turn("next")


@UNRESOLVED
def question_at_the_end(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 unanswered")


@UNRESOLVED
def result_at_the_end(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.read("toolu_01")


PAIRED_RESULTS = _rule(
    name="paired_results",
    about="a second call with one id and its result, a second result, a result without call and a"
    " server's call without result are left out (ensureToolResultPairing)",
)


@PAIRED_RESULTS
def call_id_twice(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.read("toolu_01", "R1 first")
    draft.answer("A2 looks again", call("toolu_01"))
    draft.user(result("toolu_01", "R2 second"))
    draft.answer("A3 seen")


@PAIRED_RESULTS
def call_id_twice_alone(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.read("toolu_01", "R1 first")
    draft.answer(call("toolu_01"))
    draft.user(result("toolu_01", "R2 second"))
    draft.answer("A3 seen")


@PAIRED_RESULTS
def result_twice_in_rows(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.read("toolu_01", "R1 first")
    draft.user(result("toolu_01", "R2 second"))
    draft.answer("A2 seen")


@PAIRED_RESULTS
def result_twice_in_a_row(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 looks", call("toolu_01"))
    draft.user(result("toolu_01", "R1 first"), result("toolu_01", "R2 second"))
    draft.answer("A2 seen")


@PAIRED_RESULTS
def result_alone_after_an_answer(draft: Draft) -> None:
    draft.turn("first")
    draft.user(result("toolu_09", "R9 no call"))
    draft.answer("A2 answer")


@PAIRED_RESULTS
def result_alone_at_the_beginning(draft: Draft) -> None:
    draft.user(result("toolu_09", "R9 no call"))
    draft.answer("A1 answer")
    draft.turn("next")


@PAIRED_RESULTS
def result_alone_at_the_end(draft: Draft) -> None:
    draft.turn("first")
    draft.user(result("toolu_09", "R9 no call"))


@PAIRED_RESULTS
def result_alone_beside_text(draft: Draft) -> None:
    draft.turn("first")
    draft.user(result("toolu_09", "R9 no call"), "Q2 beside")
    draft.answer("A2 answer")


@PAIRED_RESULTS
def result_late(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 looks", call("toolu_01"))
    draft.turn("between")
    draft.user(result("toolu_01", "R1 late"))
    draft.answer("A2 seen")


@PAIRED_RESULTS
def result_before_its_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.user(result("toolu_01", "R1 early"))
    draft.answer("A1 looks", call("toolu_01"))
    draft.turn("next")


@PAIRED_RESULTS
def result_behind_text(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 looks", call("toolu_01"))
    draft.user("Q2 meanwhile")
    draft.user(result("toolu_01", "R1 lines"))
    draft.answer("A2 seen")


@PAIRED_RESULTS
def server_call_without_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    asked = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search"}
    draft.answer({**asked, "input": {"query": "q"}}, "A1 answer")
    draft.turn("next")


@PAIRED_RESULTS
def server_call_with_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    asked = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search"}
    told = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    draft.answer({**asked, "input": {"query": "q"}}, told, "A1 answer")
    draft.turn("next")


@PAIRED_RESULTS
def after_a_boundary(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 looks", call("toolu_01"))
    draft.compaction()
    draft.user(result("toolu_01", "R1 lines"))
    draft.answer("A2 seen")
    draft.turn("next")


MEDIA_CAP = _rule(
    name="media_cap",
    about="at most 100 pictures and documents are sent to a model with the usual window; at each"
    " overflow the oldest go until 80 are left (ano)",
    limit=0,
)


@MEDIA_CAP
def pictures_120(draft: Draft) -> None:
    for number in range(12):
        draft.user(f"Q{number} look", *[image() for _ in range(10)])
        draft.answer(f"A{number} seen")


@MEDIA_CAP
def pictures_99(draft: Draft) -> None:
    for number in range(11):
        draft.user(f"Q{number} look", *[image() for _ in range(9)])
        draft.answer(f"A{number} seen")


@MEDIA_CAP
def pictures_of_results_120(draft: Draft) -> None:
    draft.user("Q1 look")
    for number in range(12):
        draft.answer(call(f"toolu_{number:02}"))
        draft.user(result(f"toolu_{number:02}", [image() for _ in range(10)]))
    draft.answer("A1 seen")


LARGE_FILE = _rule(
    name="large_file", about="of a file above 5 MiB only the end behind its last boundary is read"
)


def _large(draft: Draft, name: str) -> None:
    """Add a turn whose result has details of 2 MiB, which are never sent."""
    draft.user(f"Q1 {name}")
    draft.answer(call(f"toolu_{name}"))
    details = {"type": "text", "stdout": "x" * (2 << 20)}
    draft.user(result(f"toolu_{name}", f"R1 {name}"), toolUseResult=details)
    draft.answer(f"A1 {name}")


@LARGE_FILE
def large_without_boundary(draft: Draft) -> None:
    for name in ("one", "two", "three"):
        _large(draft, name)


@LARGE_FILE
def large_with_boundary(draft: Draft) -> None:
    for name in ("one", "two", "three"):
        _large(draft, name)
    draft.compaction()
    draft.turn("next")


@LARGE_FILE
def large_with_straggler(draft: Draft) -> None:
    for name in ("one", "two", "three"):
        _large(draft, name)
    end = draft.last
    draft.compaction()
    draft.branch(end)
    draft.turn("straggler")


@LARGE_FILE
def large_with_preserved_rows(draft: Draft) -> None:
    for name in ("one", "two", "three"):
        _large(draft, name)
    kept = draft.user("K1 kept"), draft.answer("K2 kept")
    draft.compaction(metadata={"preservedMessages": {"uuids": [*kept]}})
    draft.turn("next")


@LARGE_FILE
def small_with_straggler(draft: Draft) -> None:
    _, end = draft.turn("one")
    draft.compaction()
    draft.branch(end)
    draft.turn("straggler")


CONTENT_REPLACEMENT = _rule(
    name="content_replacement",
    about="content-replacement is loaded, and not applied when resumed without a screen",
)


@CONTENT_REPLACEMENT
def of_a_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.read("toolu_01", "R1 " + "word " * 40)
    draft.answer("A2 seen")
    shown = {"kind": "tool-result", "toolUseId": "toolu_01", "replacement": "N1 replaced"}
    draft.state(type="content-replacement", replacements=[shown])


@CONTENT_REPLACEMENT
def huge_result(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.read("toolu_01", "R1 " + "word " * 60_000)
    draft.answer("A2 seen")


REFUSED = _rule(
    name="refused", about="sessions that the client does not resume, and what it prints instead"
)


@REFUSED
def no_rows(draft: Draft) -> None:
    draft.state(type="custom-title", customTitle="nothing")


@REFUSED
def empty_file(draft: Draft) -> None:
    draft.raw(b"")


@REFUSED
def only_a_sidechain(draft: Draft) -> None:
    draft.user("W1 aside", isSidechain=True)
    draft.answer("W2 aside", isSidechain=True)


@REFUSED
def only_a_file_snapshot(draft: Draft) -> None:
    draft.system("file_snapshot", "F1 snapshot")


@REFUSED
def only_an_attachment(draft: Draft) -> None:
    draft.attachment("output_style", style="O1 style")


@REFUSED
def only_system_rows(draft: Draft) -> None:
    draft.system("informational", "I1 told", level="info")


@REFUSED
def only_damaged_lines(draft: Draft) -> None:
    draft.raw(b'{"type":"user","message":{"role":"user"\n')


@REFUSED
def only_a_cycle(draft: Draft) -> None:
    draft.user("Q1 ask", parent="00000002-aaaa-4bbb-8ccc-000000000002")
    draft.answer("A1 answer")


COMPACTS_AT = _rule(
    name="compacts_at",
    about="the client compacts before the prompt where the newest answer reports so many tokens",
    compacts=True,
)


def _used(draft: Draft, model: str, count: int) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    usage = {"input_tokens": count, "output_tokens": 10}
    draft.answer("A2 answer", model=model, fields={"usage": usage})


@COMPACTS_AT
def opus_4_8_at_960_000(draft: Draft) -> None:
    _used(draft, "claude-opus-4-8", 960_000)


@COMPACTS_AT
def opus_4_8_at_968_000(draft: Draft) -> None:
    _used(draft, "claude-opus-4-8", 968_000)


@COMPACTS_AT
def opus_4_6_at_160_000(draft: Draft) -> None:
    _used(draft, "claude-opus-4-6", 160_000)


@COMPACTS_AT
def opus_4_6_at_168_000(draft: Draft) -> None:
    _used(draft, "claude-opus-4-6", 168_000)


ATTACHMENTS = _rule(
    name="attachments",
    about="what is sent of attachments that have no texts as they were sent: which of the marks in"
    " their fields are in the request",
)
_ATTACHMENTS: Mapping[str, Mapping[str, Any]] = {
    "invoked_skills": {"skills": [{"name": "Z01", "path": "/Z02", "content": "Z03 skill"}]},
    "relevant_memories": {
        "memories": [{"path": "/Z01", "content": "Z02 memory", "mtimeMs": 1_761_000_000_000}]
    },
    "hook_blocking_error": {
        "hookName": "Z01",
        "hookEvent": "Stop",
        "toolUseID": "t",
        "blockingError": {"blockingError": "Z02 blocked", "command": "Z03"},
    },
    "hook_stopped_continuation": {
        "hookName": "Z01",
        "hookEvent": "Stop",
        "toolUseID": "t",
        "message": "Z02 stopped",
    },
    "plan_file_reference": {"planFilePath": "/Z01", "planContent": "Z02 plan"},
    "plan_mode_reentry": {"planFilePath": "/Z01"},
    "task_status": {
        "taskId": "Z01",
        "taskType": "local_bash",
        "status": "completed",
        "description": "Z02 task",
        "deltaSummary": "Z03 delta",
        "outputFilePath": "/Z04",
    },
    "critical_system_reminder": {"content": "Z01 reminder"},
    "mcp_resource": {
        "server": "Z01",
        "uri": "Z02",
        "name": "Z03",
        "description": "Z04",
        "content": {"contents": [{"uri": "Z05", "mimeType": "text/plain", "text": "Z06 text"}]},
    },
    "async_hook_response": {
        "processId": "p",
        "hookName": "Z01",
        "hookEvent": "PostToolUse",
        "response": {
            "systemMessage": "Z02 message",
            "hookSpecificOutput": {
                "hookEventName": "PostToolUse",
                "additionalContext": "Z03 context",
            },
        },
        "stdout": "Z04",
        "stderr": "Z05",
    },
    "selected_lines_in_ide": {
        "ideName": "Z01",
        "lineStart": 1,
        "lineEnd": 2,
        "filename": "/Z02",
        "content": "Z03 selected",
        "displayPath": "Z04",
    },
    "opened_file_in_ide": {"filename": "/Z01"},
    "diagnostics": {
        "files": [
            {
                "uri": "file:///Z01",
                "diagnostics": [
                    {
                        "message": "Z02 broken",
                        "severity": "Error",
                        "source": "Z03",
                        "code": "Z04",
                        "range": {
                            "start": {"line": 1, "character": 1},
                            "end": {"line": 1, "character": 2},
                        },
                    }
                ],
            }
        ],
        "isNew": True,
    },
    "directory": {"path": "/Z01", "content": "Z02 entries", "displayPath": "Z03"},
    "pdf_reference": {
        "filename": "/Z01.pdf",
        "pageCount": 3,
        "fileSize": 10,
        "displayPath": "Z02",
    },
    "agent_mention": {"agentType": "Z01"},
    "output_style": {"style": "Z01"},
    # Those that are read here, or that are never sent.
    "file": {
        "filename": "/Z01",
        "content": {
            "type": "text",
            "file": {
                "filePath": "/Z02",
                "content": "Z03 file",
                "numLines": 1,
                "startLine": 1,
                "totalLines": 1,
            },
        },
        "displayPath": "Z04",
    },
    "edited_text_file": {"filename": "/Z01", "snippet": "Z02 snippet"},
    "nested_memory": {
        "path": "/Z01",
        "content": {"path": "/Z02", "type": "Project", "content": "Z03 memory"},
        "displayPath": "Z04",
    },
    "compact_file_reference": {"filename": "/Z01", "displayPath": "Z02"},
    "queued_command": {"prompt": "Z01 typed meanwhile", "commandMode": "prompt"},
    "hook_additional_context": {
        "content": ["Z01 context"],
        "hookName": "Z02",
        "hookEvent": "PreToolUse",
        "toolUseID": "t",
    },
    "hook_success": {
        "content": "Z01 success",
        "hookName": "Z02",
        "hookEvent": "SessionStart",
        "toolUseID": "t",
        "stdout": "Z03",
        "stderr": "Z04",
        "exitCode": 0,
    },
    "hook_success_elsewhere": {
        "type": "hook_success",
        "content": "Z01 success",
        "hookName": "Z02",
        "hookEvent": "PostToolUse",
        "toolUseID": "t",
        "stdout": "Z03",
        "stderr": "Z04",
        "exitCode": 0,
    },
    "hook_system_message": {
        "content": "Z01 message",
        "hookName": "Z02",
        "hookEvent": "Stop",
        "toolUseID": "t",
    },
    "hook_non_blocking_error": {
        "hookName": "Z01",
        "hookEvent": "Stop",
        "toolUseID": "t",
        "stderr": "Z02",
        "stdout": "Z03",
        "exitCode": 1,
    },
    "todo_reminder": {
        "content": [{"content": "Z01 to do", "status": "pending", "activeForm": "Z02"}],
        "itemCount": 1,
    },
    "task_reminder": {
        "content": [{"id": "1", "subject": "Z01 task", "status": "pending", "description": "Z02"}],
        "itemCount": 1,
    },
    "date_change": {"newDate": "Z01"},
    "plan_mode": {"reminderType": "full", "isSubAgent": False, "planFilePath": "/Z01"},
    "plan_mode_exit": {"planFilePath": "/Z01", "planExists": True},
    "skill_listing": {"content": "- Z01: Z02", "skillCount": 1, "isInitial": True},
    "deferred_tools_delta": {
        "addedNames": ["Z01"],
        "addedLines": ["Z02"],
        "removedNames": ["Z03"],
    },
    "mcp_instructions_delta": {
        "addedNames": ["Z01"],
        "addedBlocks": ["Z02 instructions"],
        "removedNames": ["Z03"],
    },
    "agent_listing_delta": {
        "addedTypes": ["Z01"],
        "addedLines": ["- Z02: agent"],
        "removedTypes": ["Z03"],
        "isInitial": True,
        "showConcurrencyNote": False,
    },
    "total_tokens_reminder": {"text": "Z01 tokens"},
    "goal_status": {"content": "Z01"},
    "dynamic_skill": {"skillDir": "/Z01", "skillNames": ["Z02"], "displayPath": "Z03"},
    "teammate_mailbox": {
        "messages": [{"from": "Z01", "text": "Z02 mail", "timestamp": "2026-11-01T10:00:00Z"}]
    },
    "structured_output": {"data": {"answer": "Z01"}},
}


def _attached(kind: str, fields: Mapping[str, Any]) -> Write:
    def write(draft: Draft) -> None:
        draft.user("Q1 ask")
        draft.row("attachment", attachment={"type": kind, **fields})
        draft.answer("A1 answer")
        draft.turn("next")

    return write


@ATTACHMENTS
def file_over_the_limit(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.attachment("file", **_ATTACHMENTS["file"], overTokenLimit=True)
    draft.answer("A1 answer")


@ATTACHMENTS
def file_over_the_limit_withdrawn(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.attachment("file", **_ATTACHMENTS["file"], overTokenLimit=True)
    draft.attachment("whole_texts_withdrawn")
    draft.answer("A1 answer")


@ATTACHMENTS
def recorded_texts(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.row(
        "attachment",
        attachment={"type": "critical_system_reminder", "content": "Z01 reminder"},
        rendered=[{"content": "<system-reminder>Z02 as it was sent</system-reminder>"}],
        renderedRole="user",
    )
    draft.answer("A1 answer")


@ATTACHMENTS
def recorded_as_nothing(draft: Draft) -> None:
    draft.user("Q1 ask")
    attachment = {"type": "critical_system_reminder", "content": "Z01 reminder"}
    draft.row("attachment", attachment=attachment, rendered=[])
    draft.answer("A1 answer")


ATTACHMENTS.writers.update({kind: _attached(kind, fields) for kind, fields in _ATTACHMENTS.items()})


TEXTS = _rule(name="texts", about="contents that are sent in another way than they stand there")


@TEXTS
def plain(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.read("toolu_01")
    draft.answer("A2 seen")


@TEXTS
def empty_texts(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("   ")
    draft.user("Q2 ask")
    draft.answer(*())
    draft.user("")
    draft.answer("A3 answer")


@TEXTS
def empty_block_beside_a_call(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(text(""), call("toolu_01"))
    draft.user(result("toolu_01", ""))
    draft.answer("A2 seen")


@TEXTS
def blocks_of_a_question(draft: Draft) -> None:
    draft.user(text("Q1 first"), text("Q1 second"))
    draft.answer(text("A1 first"), text("A1 second"))


@TEXTS
def plain_string_of_an_answer(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 ask")
    draft.answer(fields={"content": "A2 string"})
    draft.turn("next")


@TEXTS
def two_questions(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.user("Q2 ask")
    draft.answer("A1 answer")


@TEXTS
def an_answer_at_the_beginning(draft: Draft) -> None:
    draft.answer("A0 before")
    draft.turn("first")


@TEXTS
def an_answer_in_rows(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(thinking("T1 thought"), response="msg_x")
    draft.answer("A1 first", response="msg_x")
    draft.answer(call("toolu_01"), response="msg_x")
    draft.user(result("toolu_01", "R1 lines"))
    draft.answer("A2 seen")


@TEXTS
def an_answer_in_two_places(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer("A1 first", call("toolu_01"), response="msg_x")
    draft.user(result("toolu_01", "R1 lines"))
    draft.answer("A1 second", call("toolu_02"), response="msg_x")
    draft.user(result("toolu_02", "R2 lines"))
    draft.answer("A2 seen")


@TEXTS
def document(draft: Draft) -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "D1 text"}
    draft.user("Q1 ask", {"type": "document", "source": source})
    draft.answer("A1 answer")


@TEXTS
def inputs_as_they_were_sent(draft: Draft) -> None:
    draft.user("Q1 ask")
    sent = {"toolu_01": {"file_path": "/x/sent"}}
    draft.answer(call("toolu_01", file_path="/x/shown"), wireToolInputs=sent)
    draft.user(result("toolu_01", "R1 lines"))
    draft.answer("A2 seen")


@TEXTS
def task_notification(draft: Draft) -> None:
    draft.turn("first")
    told = "<task-notification>N1 done</task-notification>"
    draft.user(told, origin={"kind": "task-notification"})
    draft.answer("A2 seen")


@TEXTS
def torn_last_line(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 torn")
    draft.raw(draft.lines.pop()[:-40])


@TEXTS
def damaged_line_between(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 damaged")
    draft.raw(draft.lines.pop()[:-40] + b"\n")
    draft.answer("A2 after")
    draft.turn("next")


@TEXTS
def zero_bytes_before_a_line(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 after zeros")
    draft.raw(b"\0" * 16 + draft.lines.pop())
    draft.answer("A2 answer")


@TEXTS
def two_records_on_a_line(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 before")
    draft.answer("A2 glued")
    draft.raw(draft.lines.pop(-2).rstrip(b"\n") + draft.lines.pop())
    draft.user("Q3 behind")
    draft.answer("A3 answer")


@TEXTS
def record_behind_a_torn_one(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 torn")
    draft.answer("A2 glued")
    draft.raw(draft.lines.pop(-2)[:40] + draft.lines.pop())
    draft.user("Q3 behind")
    draft.answer("A3 answer")


@TEXTS
def byte_order_mark(draft: Draft) -> None:
    draft.turn("first")
    draft.lines[0] = b"\xef\xbb\xbf" + draft.lines[0]
    draft.turn("second")


@TEXTS
def spaces_before_a_line(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 after spaces")
    draft.raw(b"  \t" + draft.lines.pop())
    draft.answer("A2 answer")


@TEXTS
def invalid_bytes(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 xyz")
    draft.raw(draft.lines.pop().replace(b"xyz", b"\xff\xfe"))
    draft.answer("A2 answer")


@TEXTS
def lone_surrogate(draft: Draft) -> None:
    draft.turn("first")
    draft.user("Q2 \ud83d half")
    draft.answer("A2 answer")


@TEXTS
def tool_reference(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.answer(call("toolu_01", "ToolSearch", query="select:WebFetch"))
    draft.user(result("toolu_01", [{"type": "tool_reference", "tool_name": "WebFetch"}]))
    draft.answer("A2 seen")


RULES = tuple(rule for rule in globals().values() if isinstance(rule, Rule))
