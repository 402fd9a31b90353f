"""What every test of faults stands on."""

import pytest

from compactctl.commands.batch import one_file


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file take no time, so that two runs of a batch write the same report."""
    monkeypatch.setattr(one_file, "monotonic", lambda: 0.0)
