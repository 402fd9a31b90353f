"""What a compaction lost, invented and had to look up again, in tables of limited length."""

from typing import Any, cast

import pytest
from unit.views.measurements import measured
from unit.views.results.screens import titles, words

from compactctl.audit.findings import Audit, Loss, LossKind, RepeatedRead, UnsupportedClaim
from compactctl.commands.inspect.audit import (
    AuditedCompaction,
    AuditOptions,
    AuditResult,
    FoundCompaction,
)
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.references import SourceRef
from compactctl.records import replace
from compactctl.views.results.audit import NOTE, audit_document, audit_messages, audit_terminal


def loss(kind: LossKind, number: int, **changes: Any) -> Loss:
    base = Loss(kind=kind, text=f"{kind} {number}", ref=SourceRef(number))
    return replace(base, **changes)


class Found:
    """A compaction of which only what is shown is known."""

    writer, operation, verdict = "codex", None, "audited"
    stages: tuple[str, ...] = ()

    def spot(self, conversation: int) -> SourceRef:
        return SourceRef(1_204, "M" if conversation else "L")


class Sealed(Found):
    """One whose summary cannot be read."""

    writer, verdict, stages = "compactctl", "sealed", ("drop", "summarize")


AUDIT = Audit(
    known_counts={"rule": 1_200, "task": 2, "file": 3, "error": 4, "identifier": 5, "read": 6},
    lost=(
        loss("rule", 1, note="said twice"),
        loss("rule", 2, mentioned_again=SourceRef(9, "M")),
        loss("rule", 3),
        loss("error", 4),
        loss("read", 5),
    ),
    invented=(UnsupportedClaim(kind="path", text="x\ny", line=1_200),) * 3,
    rereads=tuple(
        RepeatedRead(what=f"f{size}.py", ref=SourceRef(8), first_seen=SourceRef(7), tokens=size)
        for size in (1_100, 1_300, 1_200)
    ),
    read_calls=1_500,
    read_tokens=9_000,
)
COMPACTION = AuditedCompaction(
    compaction=cast("FoundCompaction", Found()),
    conversation=1,
    tokens_before=9_000,
    tokens_after=2_000,
    summary_tokens=0,
    restored_tokens=0,
    audit=AUDIT,
)


def result_of(*compactions: AuditedCompaction, top: int = 2, **changes: Any) -> AuditResult:
    options = AuditOptions(input=InputOptions(path="run.jsonl"), top=top)
    return AuditResult(
        options=options, format="codex", measure=measured(), compactions=compactions, **changes
    )


def lines(*compactions: AuditedCompaction, **changes: Any) -> list[str]:
    return words(audit_terminal(result_of(*compactions, **changes)))


HEAD = ["No By At Before After Rules Tasks Files Errors Names Invented Reread", "─"]


def test_a_compaction_is_a_row_and_its_findings() -> None:
    assert lines(COMPACTION) == [
        "run.jsonl: 1 compaction",
        "counted with o200k_base (exact)",
        "",
        *HEAD,
        "1 codex L1204 9,000 2,000 3/1,200 0/2 0/3 1/4 0/5 3 3/1,500",
        "Rules to Names: lost/known; Invented: without a source; Reread: repeated reads/reads",
        "",
        "1 codex at L1204",
        "tokens 9,000 → 2,000",
        "read files 1 of 6 are no longer named anywhere",
        "read again 3 of 1,500 reads afterwards, 3,600 of 9,000 tokens",
        "",
        "Lost At What Again",
        "─",
        "rule L1 rule 1 (said twice)",
        "rule L2 rule 2 M9",
        "error L4 error 4",
        "read file L5 read 5",
        "and 1 more; see --top and --json",
        "",
        "Invented Line What the summary says",
        "─",
        "path 1,200 x y",
        "path 1,200 x y",
        "found nowhere before the compaction; lines are those of the summary",
        "and 1 more; see --top and --json",
        "",
        "Line Before Tokens Read again",
        "─",
        "L8 L7 1,300 f1300.py",
        "L8 L7 1,200 f1200.py",
        "and 1 smaller ones; see --top and --json",
        "",
        NOTE,
    ]


def test_all_findings_are_shown_where_so_many_are_asked_for() -> None:
    assert not [line for line in lines(COMPACTION, top=3) if line.startswith("and ")]


def test_what_cannot_be_read_is_a_question_mark() -> None:
    sealed = replace(
        COMPACTION,
        compaction=cast("FoundCompaction", Sealed()),
        conversation=2,
        audit=None,
        summary_tokens=1_200,
        restored_tokens=1_300,
    )
    unread = replace(
        COMPACTION, audit=replace(AUDIT, invented=None, lost=(), rereads=(), read_calls=0)
    )
    found = lines(sealed, unread)
    assert found[0] == "run.jsonl: 2 compactions"
    assert found[5:7] == [
        "1 compactctl M1204 9,000 2,000 ? ? ? ? ? ? ?",
        "2 codex L1204 9,000 2,000 ? ? ? ? ? ? 0/0",
    ]
    assert found[9:] == [
        "1 compactctl (drop, summarize) at M1204",
        "verdict summary encrypted or not in the file; losses unknown",
        "tokens 9,000 → 2,000, 1,200 of them its summary",
        "restored 1,300 tokens by the client itself",
        "",
        "2 codex at L1204",
        "tokens 9,000 → 2,000",
        "",
        NOTE,
    ]


def test_without_a_compaction_there_is_nothing_to_audit() -> None:
    assert lines() == ["run.jsonl: no compactions"]


def test_a_document_has_what_was_known_and_lost_by_kind() -> None:
    document = audit_document(result_of(COMPACTION, warnings=("odd",)))
    [compaction] = document["compactions"]
    assert (compaction["line"], compaction["message"], compaction["verdict"]) == (
        1_204,
        None,
        "audited",
    )
    audit = compaction["audit"]
    assert audit["known"]["rules"] == 1_200
    assert [len(audit["lost"][name]) for name in ("rules", "errors", "reads", "tasks")] == [
        3,
        1,
        1,
        0,
    ]
    assert audit["lost"]["rules"][1]["again"] == {"line": None, "message": 9}
    assert (audit["invented"][0]["summaryLine"], audit["looks"], audit["lookTokens"]) == (
        1_200, 1_500, 9_000,
    )  # fmt: skip
    unread = audit_document(result_of(replace(COMPACTION, audit=replace(AUDIT, invented=None))))
    assert unread["compactions"][0]["audit"]["known"] is None
    assert unread["compactions"][0]["audit"]["lost"] is None
    assert list(audit_messages(result_of(COMPACTION, warnings=("odd",)))) == ["warning: odd"]


@pytest.mark.parametrize(("count", "reads"), [(1, "1 of 1 read"), (2, "1 of 2 reads")])
def test_reads_are_counted(count: int, reads: str) -> None:
    audit = replace(AUDIT, rereads=AUDIT.rereads[:1], read_calls=count, read_tokens=2_000)
    found = lines(replace(COMPACTION, audit=audit))
    assert f"read again {reads} afterwards, 1,100 of 2,000 tokens" in found


def test_gates_that_failed_are_named() -> None:
    result = result_of(COMPACTION)
    options = replace(
        result.options, fail_on=("lost-rules", "lost-tasks", "unaudited", "invented", "reread")
    )
    assert list(audit_messages(replace(result, options=options))) == [
        "the audit failed: lost-rules, invented, reread"
    ]
    unread = replace(COMPACTION, compaction=cast("FoundCompaction", Sealed()), audit=None)
    assert list(audit_messages(replace(result, options=options, compactions=(unread,)))) == [
        "the audit failed: unaudited"
    ]


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (87, ["No By At Before Rules Tasks Files Errors Names Invented Reread"]),
        (80, ["No At Before Rules Tasks Files Errors Names Invented Reread"]),
        (73, ["No At Rules Tasks Files Errors Names Invented Reread"]),
        (65, ["No At Rules Files Errors Names Invented Reread"]),
        (58, ["No At Rules Files Names Invented Reread"]),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(width: int, shown_titles: list[str]) -> None:
    assert titles(audit_terminal(result_of(COMPACTION)), width)[:1] == shown_titles
    assert titles(audit_terminal(result_of(COMPACTION)), width + 1)[:1] != shown_titles
