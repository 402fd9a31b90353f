"""Compactions in a file: the client's own and ours, each with what it lost and what it cost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from asked import asked
from unit.commands.client_sessions import clients

from compactctl.commands.compact.compact import CompactOptions, compact
from compactctl.commands.inspect.audit import (
    AuditedCompaction,
    AuditGate,
    AuditOptions,
    AuditResult,
    audit,
)
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions
from compactctl.history.references import SourceRef
from compactctl.pipeline.layout import Layout

Session = Callable[[], bytes]
LINES = (clients.claude_code, clients.pi_session, clients.codex_cli, clients.copilot_cli)
# Says how much there was, and nothing about what.
COUNTED = CompactOptions(
    input=InputOptions(path=""),
    recipe=Recipe(
        plan=PlanOptions(stages=("window",), settings={"window": {"max": 1, "min_keep_turns": 0}}),
        protect=ProtectOptions(keep_turns=0),
    ),
)


def audited(data: bytes, folder: Path, *fail_on: AuditGate) -> AuditResult:
    path = folder / "session.jsonl"
    path.write_bytes(data)
    return audit(AuditOptions(input=InputOptions(path=str(path)), fail_on=fail_on))


def only(result: AuditResult) -> AuditedCompaction:
    (compaction,) = result.compactions
    return compaction


@pytest.mark.parametrize("session", [*LINES, clients.opencode_session])
def test_a_clients_compaction_is_compared_with_what_it_stands_for(
    session: Session, tmp_path: Path
) -> None:
    compaction = only(audited(session(), tmp_path))
    found = compaction.audit
    assert found is not None
    assert compaction.compaction.verdict == "audited"
    assert compaction.tokens_before > compaction.tokens_after > compaction.summary_tokens - 9 > 0
    assert [each.text for each in found.lost_of("read")] == ["src/settings.py"]
    assert [each.mentioned_again is not None for each in found.lost_of("read")] == [True]
    assert [each.text for each in found.invented or ()] == ["4711"]
    assert [each.what for each in found.rereads] in (
        ["src/settings.py"],
        ["cat /w/src/settings.py"],
    )
    assert found.rereads[0].tokens == found.read_tokens > 100


@pytest.mark.parametrize("session", [clients.claude_code, clients.pi_session])
def test_a_rule_that_the_summary_leaves_out_is_lost(session: Session, tmp_path: Path) -> None:
    found = only(audited(session(), tmp_path)).audit
    assert found is not None
    assert [each.text for each in found.lost_of("rule")] == [clients.RULE]


@pytest.mark.parametrize(
    ("session", "spots"),
    [
        (clients.claude_code, (SourceRef(6), SourceRef(2), SourceRef(8), SourceRef(3))),
        (clients.pi_session, (SourceRef(7), SourceRef(3), SourceRef(9), SourceRef(4))),
        (
            clients.opencode_session,
            (SourceRef(4, "M"), SourceRef(2, "M"), SourceRef(6, "M"), SourceRef(2, "M")),
        ),
    ],
)
def test_places_are_lines_of_a_file_and_messages_of_a_document(
    session: Session, spots: tuple[SourceRef, ...], tmp_path: Path
) -> None:
    compaction = only(audited(session(), tmp_path))
    found = compaction.audit
    assert found is not None
    lost, again = found.lost_of("read")[0], found.rereads[0]
    assert (compaction.spot, lost.ref, again.ref, again.first_seen) == spots


def test_of_a_sealed_summary_only_the_second_look_is_told(tmp_path: Path) -> None:
    compaction = only(audited(clients.codex_sealed(), tmp_path))
    assert compaction.compaction.verdict == "sealed"
    assert compaction.audit is not None
    assert (compaction.audit.invented, compaction.audit.lost) == (None, ())
    assert len(compaction.audit.rereads) == 1


def test_a_compaction_whose_originals_are_gone_is_told_and_not_judged(tmp_path: Path) -> None:
    lines = clients.claude_code().splitlines(keepends=True)
    compaction = only(audited(b"".join(lines[4:]), tmp_path))
    assert (compaction.compaction.verdict, compaction.audit) == ("gone", None)


def test_what_was_never_compacted_has_nothing_to_audit(tmp_path: Path) -> None:
    lines = clients.claude_code().splitlines(keepends=True)
    result = audited(b"".join(lines[:4]), tmp_path, "lost-rules", "unaudited")
    assert (result.compactions, result.failed) == ((), ())


def test_each_of_several_is_audited_up_to_the_next(tmp_path: Path) -> None:
    first, second = clients.claude_code(), clients.claude_code()
    for old in (b'"u', b'"a', b'"b', b'"s'):
        second = second.replace(old + b"1", old + b"11").replace(old + b"2", old + b"12")
        second = second.replace(old + b"3", old + b"13").replace(old + b"4", old + b"14")
    later = second.replace(
        b'"parentUuid": null, "isSidechain": false, "type": "user"',
        b'"parentUuid": "u4", "isSidechain": false, "type": "user"',
    )
    result = audited(first + later, tmp_path)
    assert [each.spot for each in result.compactions] == [SourceRef(6), SourceRef(15)]
    assert [len(each.audit.rereads) if each.audit else 0 for each in result.compactions] == [1, 1]


@pytest.mark.parametrize(
    ("gate", "fails"),
    [
        ("lost-rules", True), ("lost-reads", True), ("lost-files", False), ("lost-tasks", False),
        ("lost-errors", False), ("lost-identifiers", False), ("invented", True),
        ("reread", True), ("unaudited", False),
    ],
)  # fmt: skip
def test_gates(gate: AuditGate, fails: bool, tmp_path: Path) -> None:  # noqa: FBT001
    result = audited(clients.claude_code(), tmp_path, gate)
    assert result.failed == ((gate,) if fails else ())


def test_what_cannot_be_audited_fails_only_if_asked_to(tmp_path: Path) -> None:
    gates: tuple[AuditGate, ...] = ("lost-rules", "invented", "unaudited")
    assert audited(clients.codex_sealed(), tmp_path, *gates).failed == ("unaudited",)


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_ours_is_compared_with_its_originals_in_the_archive_or_the_file(
    layout: Layout, tmp_path: Path
) -> None:
    path, output = tmp_path / "session.jsonl", tmp_path / "out.jsonl"
    lines = clients.claude_code().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]))
    done = compact(asked(COUNTED, path=str(path), output=str(output), layout=layout))
    with output.open("ab") as stream:
        tail = [line.replace(b'"s1"', b'"a2"') for line in lines[6:]]
        stream.writelines(tail)
    compaction = only(audit(AuditOptions(input=InputOptions(path=str(output)))))
    found = compaction.audit
    assert found is not None
    assert (compaction.compaction.writer, compaction.compaction.operation) == (
        "compactctl",
        done.change.operation,
    )
    assert compaction.compaction.stages == (("window",) if layout == "split" else ())
    assert [each.text for each in found.lost_of("rule")] == [clients.RULE]
    assert [each.what for each in found.rereads] == ["src/settings.py"]
    assert found.invented == ()


def test_a_clients_compaction_under_ours_is_told_first(tmp_path: Path) -> None:
    path, output = tmp_path / "session.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(clients.claude_code() + clients.claude_talk())
    compact(asked(COUNTED, path=str(path), output=str(output)))
    found = audit(AuditOptions(input=InputOptions(path=str(output)))).compactions
    assert [each.compaction.writer for each in found] == ["claude-code", "compactctl"]
