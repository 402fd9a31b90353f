"""A kill or a refusal while a session is compacted in its client's store leaves it as it was.

The gate tries the calls around the move that makes the new session; COMPACTCTL_LONG_TESTS=1 all.
"""

import errno
import os
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from cli.asking import Ask
from cli.faults.old_or_new import points, quietly
from cli.faults.writing import disk, drafts
from forked import killed
from sessions.homes import Home, HomeAt
from sessions.long_sessions import SMALL, WRITERS
from store.faults import Failing, Killing, Watched

EACH = pytest.mark.parametrize("client", WRITERS)


def calls(home: Home, session: Path, ask: Ask) -> list[int]:
    watched = Watched()
    with disk(watched):
        assert ask("compact", session, *SMALL).code == 0
    assert new_sessions(home, session)
    return points(watched.log)


def new_sessions(home: Home, session: Path) -> list[Path]:
    """Return the sessions that a client would list beside the one that was compacted."""
    below = session.parents[len(session.relative_to(home.root).parts) - 2]
    found = (path for path in below.rglob("*.jsonl") if path.name[0] != ".")
    return [path for path in found if path not in (session, below / "session_index.jsonl")]


def files(home: Home) -> Counter[str]:
    """Return how many files of each kind the client has; a kill may leave an archive."""
    found = (path for path in home.root.rglob("*") if path.is_file() and ".local" not in path.parts)
    return Counter(path.suffix or path.name for path in found)


def whole(home: Home, session: Path, before: bytes, ask: Ask) -> None:
    """Check that the session is untouched, and that each new one can be taken back."""
    assert session.read_bytes() == before
    for each in new_sessions(home, session):
        assert ask("rewind", each, "--all", "--check").code == 0


@EACH
def test_killed_at_any_call(home_at: HomeAt, ask: Ask, client: str) -> None:
    counted = home_at("counted")
    for point in calls(counted, WRITERS[client](counted), ask):
        home = home_at(str(point))
        session = WRITERS[client](home)
        before = session.read_bytes()
        with disk(Killing(point)):
            assert killed(partial(quietly, ["compact", str(session), *SMALL]))
        whole(home, session, before, ask)
        published = new_sessions(home, session)
        outcome = ask("compact", session, *SMALL)
        assert outcome.code == 0
        assert ("already compacted as" in outcome.err) == bool(published)
        whole(home, session, before, ask)
        assert len(new_sessions(home, session)) == 1
        assert files(home) == files(counted)
        assert drafts(home.root) == []


@EACH
def test_refused_at_any_call(home_at: HomeAt, ask: Ask, client: str) -> None:
    counted = home_at("counted")
    for point in calls(counted, WRITERS[client](counted), ask):
        home = home_at(str(point))
        session = WRITERS[client](home)
        before = session.read_bytes()
        with disk(Failing(point, errno.ENOSPC)):
            outcome = ask("compact", session, *SMALL)
        whole(home, session, before, ask)
        assert drafts(home.root) == []
        made = new_sessions(home, session)
        assert outcome.code in {0, 74}
        assert outcome.code or made
        if outcome.code:
            assert f"{os.strerror(errno.ENOSPC)}; " in outcome.err
            assert ("nothing was " in outcome.err) == (not made), outcome.err
