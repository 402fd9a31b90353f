"""Where transcripts of real sessions are: none of them is in the repository.

COMPACTCTL_TRANSCRIPTS names their folder, which has to be there; empty, it says that there is none.
Without the variable they are looked for beside the checkout, and what needs them is skipped if they
are not there. Sessions that are written for the tests stand in for them, see ``real.choice``.
"""

import os
from pathlib import Path

import pytest

VARIABLE = "COMPACTCTL_TRANSCRIPTS"
_NAMED = os.environ.get(VARIABLE)
_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "transcripts"
FOLDER = _BESIDE if _NAMED is None else Path(_NAMED or os.devnull).resolve()
"""The folder; it is not there if there are no real transcripts."""

needs_real = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no real transcripts: {VARIABLE} can name their folder"
)


def check_folder() -> None:
    """Raise UsageError where the variable names a folder that is not there."""
    if _NAMED and not FOLDER.is_dir():
        raise pytest.UsageError(f"{VARIABLE} names {_NAMED}, which is not a folder")
