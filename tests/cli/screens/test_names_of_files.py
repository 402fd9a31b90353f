"""The name of a file is shown on one line: it cannot pass for something that compactctl says."""

from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.store.archive.names import archive_folder

FAKE = "proven: all.jsonl"


@pytest.fixture
def named(ask: Ask, desk: Path) -> Path:
    path = desk.with_name(f"x\n{FAKE}")
    assert ask("compact", desk, "--target", "5k", "-o", path).code == 0
    archive_folder(path).chmod(0o777)
    return path


@pytest.mark.parametrize("command", ["log", "verify", "view", "stats", "rewind"])
def test_a_line_end_in_a_name_ends_no_line(ask: Ask, named: Path, command: str) -> None:
    shown = ask(command, named)
    lines = (shown.out + shown.err).splitlines()
    assert not [line for line in lines if line.startswith(FAKE)]
