"""A home of one's own for lists of sessions."""

from pathlib import Path

import pytest
from sessions.homes import Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return an empty home, which is the user's as long as the test runs."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    return Home(root=tmp_path)
