"""Archives of sessions in a list, and what was found in them."""

from pathlib import Path
from typing import Any

import pytest
from unit.views.results.screens import shown, styles, words

from compactctl.commands.archives import ArchivesOptions, ArchivesResult, SessionArchive
from compactctl.commands.verify.archives import Finding
from compactctl.commands.verify.transcript import VerifiedTranscript
from compactctl.commands.verify.verify import VerifyResult
from compactctl.records import replace
from compactctl.store.client_folders import UserEnvironment
from compactctl.views.results.archives import (
    archives_document,
    archives_messages,
    archives_terminal,
    verify_document,
    verify_terminal,
)

NOW = 1_700_000_000.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "there.jsonl").write_text("")
    return tmp_path


def archive(home: Path, name: str, **changes: Any) -> SessionArchive:
    return SessionArchive(
        folder=home / f"{name}.archive",
        session=home / name,
        operations=1_200,
        n_bytes=2_500,
        modified=NOW - 60,
        **changes,
    )


def result_of(home: Path, *archives: SessionArchive, **options: Any) -> ArchivesResult:
    return ArchivesResult(
        options=ArchivesOptions(now=NOW, **options),
        machine=UserEnvironment(home=home),
        archives=archives,
        warnings=("odd",),
    )


def three(home: Path) -> tuple[SessionArchive, ...]:
    return (
        archive(home, "there.jsonl"),
        archive(home, "gone.jsonl"),
        archive(home, "moved.jsonl", may_be_elsewhere=True),
    )


def test_archives_are_rows_with_what_became_of_the_session(home: Path) -> None:
    result = result_of(home, *three(home))
    assert result.folder.startswith(str(home))
    below = f"~{result.folder.removeprefix(str(home))}"
    assert words(archives_terminal(result)) == [
        f"3 archives, 7.5 kB in {below}",
        "",
        "Session Written Operations Size Note",
        "─",
        "~/there.jsonl 1 minute ago 1,200 2.5 kB",
        "~/gone.jsonl 1 minute ago 1,200 2.5 kB session deleted",
        "~/moved.jsonl 1 minute ago 1,200 2.5 kB session moved",
        "",
        "1 session no longer exists",
        "delete compactctl archive --dead --forget",
    ]
    assert list(archives_messages(result)) == ["warning: odd"]
    assert words(archives_terminal(result_of(home))) == [f"no archives in {below}"]


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        (["there.jsonl"], 0),
        (["gone.jsonl"], 1),
        (["gone.jsonl", "lost.jsonl"], 1),
    ],
)
def test_sessions_that_are_gone_are_counted(home: Path, names: list[str], lines: int) -> None:
    result = result_of(home, *(archive(home, name) for name in names))
    found = shown(archives_terminal(result))[len(names) + 4 :]
    assert len(found) == 3 * lines
    exist = {1: "1 session no longer exists", 2: "2 sessions no longer exist"}
    assert found[1:2] == [exist[len(names)]] * lines


@pytest.mark.parametrize(
    ("dry_run", "said"),
    [
        (True, "3 archives would be deleted (dry run), 7.5 kB"),
        (False, "3 archives deleted, 7.5 kB"),
    ],
)
def test_what_is_forgotten_is_told(home: Path, dry_run: bool, said: str) -> None:  # noqa: FBT001 - a case of the table
    result = result_of(home, *three(home), forget=True, dry_run=dry_run)
    lines = words(archives_terminal(result))
    assert lines[:2] == [said, ""]
    assert lines[5:] == [
        "~/gone.jsonl 1 minute ago 1,200 2.5 kB", "~/moved.jsonl 1 minute ago 1,200 2.5 kB",
    ]  # fmt: skip
    document = archives_document(result)
    assert (document["forgotten"], document["dryRun"]) == (not dry_run, dry_run)
    assert [each["sessionExists"] for each in document["archives"]] == [None] * 3


def test_a_document_has_each_archive(home: Path) -> None:
    document = archives_document(result_of(home, *three(home)))
    assert [each["sessionExists"] for each in document["archives"]] == [True, False, True]
    assert document["archives"][0]["writtenAt"] == "2023-11-14T22:12:20+00:00"
    assert (document["bytes"], document["forgotten"], document["warnings"]) == (
        7_500,
        False,
        ["odd"],
    )


PROVEN = VerifiedTranscript(
    path="my run.jsonl", verdict="proven", operations=1, n_bytes=9_000, on_disk=2_500, findings=()
)
REPAIRABLE = replace(
    PROVEN,
    verdict="repairable",
    operations=2,
    on_disk=0,
    findings=(
        Finding(severity="note", text="all\nis well"),
        Finding(severity="repairable", text="a draft", rename=(Path("a"), Path("b"))),
    ),
    repaired=("the name",),
)


def test_each_transcript_has_a_verdict_and_findings() -> None:
    damaged = replace(PROVEN, verdict="damaged", findings=(Finding(severity="damaged", text="x"),))
    result = VerifyResult(transcripts=(PROVEN, REPAIRABLE, damaged), looked_at=9)
    assert shown(verify_terminal(result)) == [
        "ok          my run.jsonl  1 compaction, 2.5 kB archived",
        "repairable  my run.jsonl  2 compactions",
        "  repaired: the name",
        "  note: all is well",
        "  repairable: a draft",
        "damaged     my run.jsonl  1 compaction, 2.5 kB archived",
        "  damaged: x",
        "3 transcripts: 1 damaged, 1 repairable, 1 ok",
        "repair    compactctl verify --repair 'my run.jsonl'",
    ]
    assert styles(verify_terminal(result)) == ["yellow", "yellow", "bold red", "bold red"]


def test_where_all_is_proven_there_is_nothing_to_repair() -> None:
    lines = shown(verify_terminal(VerifyResult(transcripts=(PROVEN,), looked_at=1)))
    assert lines[1:] == ["1 transcript verified"]


def test_a_document_has_findings_without_what_a_repair_renames() -> None:
    document = verify_document(VerifyResult(transcripts=(REPAIRABLE,), looked_at=9))
    assert (document["lookedAt"], document["exitCode"] > 0) == (9, True)
    [found] = document["transcripts"]
    assert (found["archivedBytes"], found["archiveBytes"]) == (9_000, 0)
    assert found["findings"][1] == {"severity": "repairable", "text": "a draft"}
