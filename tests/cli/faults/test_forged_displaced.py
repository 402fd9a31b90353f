"""A file beside the archives that looks like one that was displaced, made by somebody else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.asking import Ask, archives

from compactctl.store.archive.names import archive_folder


def forged(path: Path) -> Path:
    """Return the name of the file that the first operation displaced, which is free."""
    operation = archives(path)[0].stem.split("-")[-1]
    place = archive_folder(path) / f"displaced-{operation}"
    place.unlink(missing_ok=True)
    return place


def link(place: Path) -> None:
    place.symlink_to("/dev/zero")


@pytest.mark.each_choice
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
@pytest.mark.parametrize("make", [link, os.mkfifo, Path.mkdir])
@pytest.mark.parametrize("command", [("rewind",), ("rewind", "--check")])
def test_what_never_ends_is_refused(
    ask: Ask, compacted: Path, make: Callable[[Path], None], command: tuple[str, ...]
) -> None:
    place, before = forged(compacted), compacted.read_bytes()
    make(place)
    shown = ask(*command, compacted)
    assert (shown.code, shown.err.count("\n")) == (6, 1)
    assert str(place) in shown.err
    assert compacted.read_bytes() == before


def test_a_link_to_a_transcript_brings_no_lines_of_it(
    ask: Ask, compacted: Path, desk: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_bytes(desk.read_bytes() + b'{"role":"user","content":"not mine"}\n')
    forged(compacted).symlink_to(other)
    shown = ask("rewind", compacted)
    assert (shown.code, "symbolic link" in shown.err) == (6, True)


def test_verify_names_it(ask: Ask, compacted: Path) -> None:
    place = forged(compacted)
    os.mkfifo(place)
    shown = ask("verify", compacted)
    assert (shown.code, shown.err) == (6, "")
    assert f"unknown: {place}: cannot be read" in shown.out
