"""A transcript to publish from and a name to publish to."""

from pathlib import Path

import pytest
from store.states import BEFORE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    path.write_bytes(BEFORE)
    path.chmod(0o640)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "run.compacted.jsonl"
