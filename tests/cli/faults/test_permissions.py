"""A file that may not be read, and archive folders that are not trusted."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli.asking import Ask

NOBODY = 65534


@contextmanager
def without_privileges() -> Iterator[None]:
    """Give up the rights of root, to whom every file is open, for a while."""
    owner = os.geteuid()
    if owner == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(owner)


def test_a_file_without_permission_is_told(ask: Ask, desk: Path) -> None:
    assert ask("stats", desk).code == 0  # nobody may not be allowed to import what this needs
    desk.chmod(0)
    with without_privileges():
        outcome = ask("stats", desk)
    assert outcome.code == 3
    assert outcome.err == (f"compactctl: {desk}: permission denied; check its mode and owner\n")


@pytest.mark.parametrize(
    "command",
    [("rewind",), ("rewind", "--check"), ("log",), ("view", "--all"), ("compact", "--in-place")],
)
def test_a_linked_archive_folder_is_refused_in_a_line(
    ask: Ask, compacted: Path, command: tuple[str, ...]
) -> None:
    folder = Path(f"{compacted}.archive")
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")
    before = compacted.read_bytes()
    outcome = ask(command[0], compacted, *command[1:])
    assert outcome.code == 6
    assert "is a symbolic link, which is not followed" in outcome.err
    assert outcome.err.count("\n") == 1
    assert compacted.read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        ("rewind",),
        ("rewind", "--check"),
        ("log",),
        ("view", "--all"),
        ("compact", "--in-place", "--target", "3k"),
    ],
    ids=" ".join,
)
def test_a_linked_archive_is_refused_in_a_line(
    ask: Ask, compacted: Path, command: tuple[str, ...]
) -> None:
    (archive,) = Path(f"{compacted}.archive").glob("*.parquet")
    archive.rename(compacted.with_name("elsewhere.parquet"))
    archive.symlink_to(compacted.with_name("elsewhere.parquet"))
    before = compacted.read_bytes()
    outcome = ask(command[0], compacted, *command[1:])
    assert outcome.code == 6
    assert f"{archive}: is a symbolic link, which is not followed" in outcome.err
    assert outcome.err.count("\n") == 1
    assert compacted.read_bytes() == before


def test_verify_does_not_read_a_linked_archive(ask: Ask, compacted: Path) -> None:
    (archive,) = Path(f"{compacted}.archive").glob("*.parquet")
    archive.rename(compacted.with_name("elsewhere.parquet"))
    archive.symlink_to(compacted.with_name("elsewhere.parquet"))
    outcome = ask("verify", compacted)
    assert outcome.code == 7
    assert "is a symbolic link, which is not followed" in outcome.out
