"""The operations behind a transcript, those of its client, and what is missing."""

import shlex
from typing import Any, cast

import pytest
from unit.views.results.screens import shown, titles, words

from compactctl.commands.inspect.log import (
    ArchivedGroup,
    LogEntry,
    LogOptions,
    LogResult,
    StateCommand,
)
from compactctl.commands.operations.restorable import LostState
from compactctl.commands.operations.steps import OperationStep
from compactctl.commands.reading.transcript import InputOptions
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.message import MessageId
from compactctl.model.operation import Digest, Operation, OperationId, SizeChange, StageRecord
from compactctl.records import replace
from compactctl.views.results.log import log_document, log_messages, log_terminal

DIGEST = Digest(sha256="ab", n_bytes=7, n_lines=2)
SMALLER = Digest(sha256="cd", n_bytes=5, n_lines=2)


class Step:
    """A step of which only what the log shows is known."""

    id, parent, format, counter = OperationId("op1"), None, "codex", "chars/4"


def stage(before: int, after: int) -> StageRecord:
    return StageRecord(
        name="dedup", options={}, outcome="applied", tokens_before=before, tokens_after=after
    )


OPERATION = Operation(
    id=OperationId("op1"),
    parent=None,
    head=OperationId("op1"),
    kind="compact",
    before=DIGEST,
    after=SMALLER,
    format="codex",
    counter="chars/4",
    stages=(stage(8_000, 5_000), stage(5_000, 2_000)),
    size=SizeChange(before=9_000, after=3_000),
    recorded_at="2026-01-02T03:04:05+00:00",
)
GROUP = ArchivedGroup(id="g1", stage="dedup", messages=1_200, tokens=4_000, in_effect=True)
ENTRY = LogEntry(
    number=1,
    step=cast("OperationStep", Step()),
    operation=OPERATION,
    groups=(GROUP, ArchivedGroup(id="g2", in_effect=True)),
    in_effect=True,
    archive_bytes=2_500,
)
RESULT = LogResult(options=LogOptions(input=InputOptions(path="run.jsonl")), operations=(ENTRY,))
CLIENT = ClientCompaction(
    id=OperationId("c1"),
    client="codex",
    what="summarized",
    records=((6, ()), (4, ())),
    time=0,
    hidden=tuple(MessageId(str(number)) for number in range(1_200)),
    in_effect=True,
)


def only(**changes: Any) -> LogResult:
    return replace(RESULT, operations=(replace(ENTRY, **changes),))


def test_an_operation_is_a_row_and_each_of_its_groups() -> None:
    assert words(log_terminal(RESULT)) == [
        "# Operation When (UTC) Next request Archive",
        "─",
        "1 op1 2026-01-02 03:04 9,000 → 3,000 2.5 kB in effect",
        "",
        "Groups that rewind --group can restore",
        "Group Stage Messages Tokens Operation",
        "─",
        "g1 dedup 1,200 4,000 op1",
        "g2 op1",
    ]


@pytest.mark.parametrize(
    ("changes", "in_effect", "row"),
    [
        ({"appended": True}, True, "9,000 → 3,000 2.5 kB in effect, appended"),
        ({}, False, "9,000 → 3,000 2.5 kB"),
        ({"detail": "again\n without g"}, True, "2.5 kB in effect, again without g"),
        ({"size": None}, True, "2.5 kB in effect"),
        ({"kind": "rewind", "head": None}, False, "9,000 → 3,000 2.5 kB to the original"),
        (
            {"kind": "undo", "detail": "by its client on line 12"},
            True,
            "2.5 kB in effect, undo of a compaction by its client on line 12",
        ),
        (
            {"kind": "rewind", "head": "op0", "appended": True},
            False,
            "9,000 → 3,000 2.5 kB to op0, appended",
        ),
    ],
)
def test_the_state_of_an_operation_is_told(
    changes: dict[str, Any], row: str, *, in_effect: bool
) -> None:
    result = only(operation=replace(OPERATION, **changes), in_effect=in_effect, groups=())
    lines = words(log_terminal(result))
    assert lines[2:] == [f"1 op1 2026-01-02 03:04 {row}"]


@pytest.mark.parametrize(("in_effect", "state"), [(True, "in effect"), (False, "")])
def test_an_operation_without_an_archive_is_in_the_file(state: str, *, in_effect: bool) -> None:
    result = only(operation=None, in_effect=in_effect, groups=())
    lines = words(log_terminal(result))
    assert lines[-1] == f"1 op1 in the file {state}".rstrip()
    [entry] = log_document(result)["operations"]
    assert (entry["head"], entry["archiveBytes"], entry["stages"]) == ("op1", None, [])
    assert (entry["recordedAt"], entry["format"], entry["appended"]) == (None, "codex", False)
    assert entry["inEffect"] is in_effect


def test_what_is_lost_is_told() -> None:
    result = replace(RESULT, lost=(LostState(why="a: gone"), LostState(why="b: gone")))
    assert shown(log_terminal(result))[-3:] == ["", "lost: a: gone", "lost: b: gone"]


def test_what_was_appended_since_is_told() -> None:
    lines = shown(log_terminal(replace(RESULT, appended_bytes=2_500)))
    assert lines[-2:] == ["", "2.5 kB appended after the last operation"]


def test_a_transcript_that_was_never_compacted_says_so() -> None:
    nothing = replace(RESULT, operations=())
    assert shown(log_terminal(nothing)) == ["run.jsonl was never compacted"]
    missing = replace(nothing, archive_missing=True, advice="put it there")
    assert shown(log_terminal(missing)) == [
        "run.jsonl was compacted, but its archive was not found",
        "put it there to list its compactions and to rewind",
    ]


@pytest.mark.parametrize("archive_missing", [False, True])
def test_compactions_of_the_client_are_a_table_of_their_own(archive_missing: bool) -> None:  # noqa: FBT001 - a case of the table
    older = replace(CLIENT, id=OperationId("c0"), in_effect=False, time=None, hidden=())
    result = replace(
        RESULT, operations=(), by_client=(older, CLIENT), archive_missing=archive_missing
    )
    lines = words(log_terminal(result))
    assert lines[3 * archive_missing :] == [
        "Compactions by codex",
        "Compaction Line When (UTC) What Messages",
        "─",
        "c0 5 summarized 0 superseded",
        "c1 5 1970-01-01 00:00 summarized 1,200 in effect",
    ]


def test_each_state_has_the_command_that_restores_it() -> None:
    states = (
        StateCommand(state="", options="--all"),
        StateCommand(state="op0", options="--to op0"),
    )
    of_client = (StateCommand(state="", options="--client --all --in-place"),)
    path = f"{'long' * 20}/my run.jsonl"
    result = replace(
        RESULT,
        options=LogOptions(input=InputOptions(path=path)),
        states=states,
        client_states=of_client,
        by_client=(CLIENT,),
    )
    lines = shown(log_terminal(result))
    name = shlex.quote(path)
    assert lines[lines.index("Return to") :][:3] == [
        "Return to",
        f"  the original  compactctl rewind {name} --all",
        f"  op0           compactctl rewind {name} --to op0",
    ]
    assert lines[-1] == f"  the original  compactctl rewind {name} --client --all --in-place"
    document = log_document(result)
    assert document["states"][1] == {
        "state": "op0",
        "command": f"compactctl rewind {name} --to op0",
    }
    assert document["clientStates"][0]["state"] is None


def test_a_document_has_operations_and_warnings() -> None:
    document = log_document(replace(RESULT, warnings=("odd",)))
    [entry] = document["operations"]
    assert (entry["number"], entry["id"], entry["parent"], entry["kind"]) == (
        1,
        "op1",
        None,
        "compact",
    )
    assert (entry["inEffect"], entry["archiveBytes"]) == (True, 2_500)
    assert entry["groups"][0] == {
        "id": "g1", "stage": "dedup", "messages": 1_200, "tokens": 4_000, "inEffect": True,
    }  # fmt: skip
    assert "advice" not in document
    assert list(log_messages(replace(RESULT, warnings=("odd",)))) == ["warning: odd"]


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (64, ["# Operation When (UTC) Next request", "Group Stage Messages Tokens Operation"]),
        (55, ["# Operation Next request", "Group Stage Messages Tokens Operation"]),
        (40, ["# Operation Next request", "Group Stage Messages Tokens"]),
        (37, ["# Operation", "Group Stage Messages Tokens"]),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(width: int, shown_titles: list[str]) -> None:
    assert titles(log_terminal(RESULT), width) == shown_titles
    assert titles(log_terminal(RESULT), width + 1) != shown_titles
