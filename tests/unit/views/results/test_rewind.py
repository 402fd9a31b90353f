"""The state that a rewind restored, and how to go back from it."""

from typing import Any

import pytest
from unit.views.results.screens import words

from compactctl.commands.client_sessions.write import Written
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.rewind.result import KeptBytes, RewindOptions, RewindResult
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.message import MessageId
from compactctl.model.operation import Digest, OperationId, StateChange
from compactctl.records import replace
from compactctl.views.results.rewind import rewind_document, rewind_messages, rewind_terminal

BEFORE = Digest(sha256="ab", n_bytes=500, n_lines=1)
AFTER = Digest(sha256="cd", n_bytes=2_500, n_lines=1_200)
OPTIONS = RewindOptions(input=InputOptions(path="my run.jsonl"))
RESULT = RewindResult(
    options=OPTIONS,
    layout="split",
    change=StateChange(before=BEFORE, after=AFTER, operation=None),
    undone=("op2", "op1"),
    in_effect=(),
    written=Written(output="my run.jsonl", archive="x", undo_name="my run.jsonl"),
)
CLIENT = ClientCompaction(
    id=OperationId("c1"),
    client="codex",
    what="summarized",
    records=((1_203, ()),),
    time=None,
    hidden=(MessageId("m1"),),
    in_effect=True,
)


def lines(options: RewindOptions = OPTIONS, **changes: Any) -> list[str]:
    return words(rewind_terminal(replace(RESULT, options=options, **changes)))


def test_the_restored_state_is_named_with_its_size() -> None:
    assert lines() == ["restored the original: 1,200 lines, 2.5 kB, SHA-256 verified"]
    assert lines(replace(OPTIONS, check=True)) == [
        "can restore the original: 1,200 lines, 2.5 kB, SHA-256 verified"
    ]


def test_what_stays_in_effect_and_what_is_kept_is_told() -> None:
    kept = KeptBytes(carried=2_500, late=900)
    assert lines(in_effect=("op0", "op9"), appended=kept, undone=()) == [
        "restored the state of op9: 1,200 lines, 2.5 kB, SHA-256 verified",
        "in effect op0, op9",
        "kept 2.5 kB appended since the compaction",
        "merged 900 B that a program wrote to the replaced file",
    ]


@pytest.mark.parametrize(("in_effect", "said"), [((), "nothing"), (("op3", "op4"), "op3, op4")])
def test_a_group_comes_back_alone(in_effect: tuple[str, ...], said: str) -> None:
    assert lines(replace(OPTIONS, group="g1"), in_effect=in_effect) == [
        "restored the messages of group g1: 1,200 lines, 2.5 kB, SHA-256 verified",
        f"in effect {said}",
    ]


def test_an_appended_undo_changes_no_line() -> None:
    grown = replace(AFTER, n_bytes=AFTER.n_bytes + 12_345)
    change = StateChange(before=AFTER, after=grown, operation=None)
    appended: dict[str, Any] = {"layout": "native", "change": change}
    assert lines(**appended) == [
        "the client reads the earlier state; no line was changed or removed"
    ]
    assert messages(written=Written(output="a", appended_lines=2), **appended) == [
        "appended  2 lines (12.3 kB) to a; existing bytes unchanged"
    ]
    checked: dict[str, Any] = {**appended, "options": replace(OPTIONS, check=True), "written": None}
    assert lines(**checked) == [
        "the client can read the earlier state; no line is changed or removed"
    ]
    assert messages(**checked) == [
        "checked only: nothing was written",
        "appends   12,345 bytes to my run.jsonl; existing bytes unchanged",
    ]


@pytest.mark.parametrize(("check", "verb"), [(True, "can be sent again"), (False, "sent again")])
def test_compactions_of_the_client_are_undone(check: bool, verb: str) -> None:  # noqa: FBT001 - a case of the table
    more = replace(CLIENT, hidden=(MessageId("m1"), MessageId("m2")), what="cleared")
    assert lines(replace(OPTIONS, check=check), by_client=(CLIENT, more), in_effect=("op",)) == [
        f"3 messages {verb}",
        "undone 1 message summarized by codex on line 1,204",
        "undone 2 messages cleared by codex on line 1,204",
        "in effect op",
    ]
    assert len(lines(by_client=(CLIENT,))) == 2


def test_what_was_never_compacted_is_said_plainly() -> None:
    same = StateChange(before=AFTER, after=AFTER, operation=None)
    assert lines(change=same, undone=(), was_compacted=False) == [
        "my run.jsonl was never compacted; nothing to undo"
    ]


@pytest.mark.parametrize(
    ("changes", "moved"),
    [
        ({}, True),
        ({"undone": ()}, True),
        ({"change": StateChange(before=AFTER, after=AFTER, operation=None)}, True),
        ({"change": StateChange(before=AFTER, after=AFTER, operation=None), "undone": ()}, False),
    ],
)
def test_a_state_that_is_there_already_is_left(changes: dict[str, Any], *, moved: bool) -> None:
    found = lines(**changes)
    nothing = ["my run.jsonl: already in that state; nothing to undo"]
    assert (found != nothing) is moved
    assert rewind_document(replace(RESULT, **changes))["moved"] is moved


def messages(**changes: Any) -> list[str]:
    return list(rewind_messages(replace(RESULT, **changes)))


def test_what_was_written_comes_with_ways_back() -> None:
    assert messages(warnings=("odd",), redo_options="--to op2") == [
        "warning: odd",
        "wrote     my run.jsonl",
        "redo      compactctl rewind 'my run.jsonl' --to op2",
    ]
    session = Written(output="a", forked_from="s1", forked_to="s2", continue_with="codex resume s2")
    assert messages(written=session) == [
        "wrote     a",
        "session   s1 (not changed)",
        "new       s2",
        "continue  codex resume s2",
    ]


@pytest.mark.parametrize("written", [None, Written(output="-")])
def test_without_a_file_nothing_is_said_of_one(written: Written | None) -> None:
    assert messages(written=written, redo_options="--to op2") == []
    checked = replace(OPTIONS, check=True)
    assert messages(options=checked, written=None) == ["checked only: nothing was written"]


def test_a_document_has_both_states() -> None:
    document = rewind_document(replace(RESULT, appended=KeptBytes(carried=5)))
    assert (document["layout"], document["checked"], document["carriedBytes"]) == (
        "split",
        False,
        5,
    )
    assert (document["undone"], document["inEffect"]) == (["op2", "op1"], [])
    assert document["before"] == {"sha256": "ab", "bytes": 500, "lines": 1}
    assert document["after"]["lines"] == 1_200
