"""``compactctl verify`` says what it found, on a screen and as JSON, and ends with its code."""

import shutil
from pathlib import Path

from cli.asking import Ask

from compactctl.store.archive.names import archive_folder
from compactctl.views.terminal.text import size_text


def test_a_folder_is_proven(ask: Ask, compacted: Path) -> None:
    shown = ask("verify", compacted.parent)

    assert shown.code == 0
    (archive,) = archive_folder(compacted).glob("*.parquet")
    size = size_text(archive.stat().st_size)
    assert f"ok  {compacted}  1 compaction, {size} archived" in shown.out
    assert size in ask("log", compacted).out
    assert "1 transcript verified" in shown.out


def test_the_archive_folder_stands_for_its_transcript(ask: Ask, compacted: Path) -> None:
    assert f"ok  {compacted}" in ask("verify", archive_folder(compacted)).out


def test_what_is_to_be_repaired_is_repaired_as_the_screen_says(ask: Ask, compacted: Path) -> None:
    archive_folder(compacted).chmod(0o755)
    shown = ask("verify", compacted.parent)
    command = shown.out.partition("repair    compactctl ")[2].split()

    assert shown.code == 1
    assert "other users may read it" in shown.out
    assert "repaired: " in ask(*command).out
    assert ask("verify", compacted).code == 0


def test_a_missing_archive_is_damage(ask: Ask, compacted: Path) -> None:
    shutil.rmtree(archive_folder(compacted))
    shown = ask("verify", compacted, "--json")
    found = shown.json

    assert (shown.code, found["exitCode"]) == (7, 7)
    assert found["verdicts"]["damaged"] == 1
    assert "archive is not here" in found["transcripts"][0]["findings"][0]["text"]


def test_the_worst_decides(ask: Ask, compacted: Path) -> None:
    other = compacted.with_name("other.jsonl")
    assert ask("compact", compacted, "--stages", "truncate", "-o", other).code == 0
    other.write_bytes(other.read_bytes()[10:])
    archive_folder(compacted).chmod(0o755)

    assert ask("verify", compacted).code == 1
    assert ask("verify", compacted.parent).code == 8


def test_what_was_never_compacted_is_no_input(ask: Ask, desk: Path) -> None:
    shown = ask("verify", desk.parent)

    assert (shown.code, shown.out) == (3, "")
    assert "no compacted transcript found" in shown.err


def test_a_name_cannot_give_commands_to_a_terminal(ask: Ask, compacted: Path) -> None:
    (archive_folder(compacted) / "\x1b[2Jnotes").write_text("")

    assert "\x1b" not in ask("verify", compacted).out
