"""Fixtures shared by all tests."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REAL = ROOT.parent / "shared" / "transcripts"


@pytest.fixture(scope="session")
def real_transcripts() -> Path:
    """Return the folder of real transcripts beside the checkout, or skip."""
    if not REAL.is_dir():
        pytest.skip(f"no real transcripts beside the checkout ({REAL.name} folder is absent)")
    return REAL
