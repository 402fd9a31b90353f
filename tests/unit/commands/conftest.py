from pathlib import Path

import pytest
from unit.commands.conversations import TALK, saved


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a transcript of a small talk."""
    return saved(tmp_path / "run.jsonl", TALK)
