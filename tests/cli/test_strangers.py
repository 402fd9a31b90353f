"""Who reads an archive that other users may change is warned, in one line that says what to do."""

import os
from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.store.archive.names import archive_folder

READERS = (("log",), ("view", "--archived"), ("view", "--all"), ("rewind", "--check"))


def warnings_of(ask: Ask, reader: tuple[str, ...], path: Path) -> list[str]:
    """Return the warnings of a command in its document, which standard error tells as well."""
    shown = ask(*reader, path, "--json")
    assert shown.code == 0
    found: list[str] = shown.json["warnings"]
    told = [line for line in shown.err.splitlines() if line.startswith("warning: ")]
    assert told == [f"warning: {each}" for each in found]
    return found


@pytest.mark.parametrize("reader", READERS)
def test_a_private_archive_is_read_without_a_word(
    ask: Ask, compacted: Path, reader: tuple[str, ...]
) -> None:
    assert warnings_of(ask, reader, compacted) == []


@pytest.mark.each_choice
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_may_write_is_told(
    ask: Ask, compacted: Path, reader: tuple[str, ...], mode: int
) -> None:
    archive_folder(compacted).chmod(mode)
    (warning,) = warnings_of(ask, reader, compacted)
    assert warning.startswith(f"{archive_folder(compacted)}: other users can write there")
    assert "compactctl verify --repair" in warning


def test_an_archive_that_others_may_write_is_told_where_they_reach_it(
    ask: Ask, compacted: Path
) -> None:
    folder = archive_folder(compacted)
    for archive in folder.glob("*.parquet"):
        archive.chmod(0o666)
    assert warnings_of(ask, ("log",), compacted) == []
    folder.chmod(0o755)
    assert len(warnings_of(ask, ("log",), compacted)) == 1


def test_verify_tells_and_repairs_it(ask: Ask, compacted: Path) -> None:
    archive_folder(compacted).chmod(0o777)
    shown = ask("verify", compacted)
    assert (shown.code, "repairable: " in shown.out) == (1, True)
    assert "other users can write there" in shown.out
    assert ask("verify", "--repair", compacted).code == 0
    assert warnings_of(ask, ("log",), compacted) == []


def test_a_rewind_tells_it_too(ask: Ask, compacted: Path) -> None:
    archive_folder(compacted).chmod(0o777)
    shown = ask("rewind", compacted)
    assert (shown.code, "other users can write there" in shown.err) == (0, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("reader", READERS)
def test_an_archive_of_another_user_is_told(
    ask: Ask, compacted: Path, reader: tuple[str, ...]
) -> None:
    for path in (compacted, archive_folder(compacted)):
        os.chown(path, 1234, 1234)
    (warning,) = warnings_of(ask, reader, compacted)
    assert "belongs to another user (uid 1234)" in warning
    shown = ask("verify", compacted)
    assert (shown.code, "note: " in shown.out and "uid 1234" in shown.out) == (0, True)
