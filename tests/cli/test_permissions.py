"""A file that may not be read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    assert outcome.err == (
        f"compactctl: {desk}: no permission to read it; change its mode or user\n"
    )
