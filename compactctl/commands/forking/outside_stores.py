"""Keeps compacted copies out of clients' stores, where they would be taken for the original."""

from pathlib import Path

from compactctl.commands.loading.database_path import is_in_database
from compactctl.errors import UsageError
from compactctl.sessions.registry import session_at, store_named
from compactctl.store.places import store_holding, this_machine


def check_outside_stores(path: str, target: Path, *, named: bool) -> None:
    """Raise UsageError when a compacted copy of ``path`` would lie in a store as another session.

    Clients tell sessions by ids inside of the file: Codex goes on in the copy when the original is
    resumed, Claude Code appends to the original what was said to the copy. ``named`` says that
    people chose the target.
    """
    if is_in_database(path) and not named:
        raise UsageError(
            f"{path}: is in a database, which is only read; name the file to write with -o"
        )
    store = store_of(target)
    if store is not None:
        raise UsageError(
            f"{target}: would be a copy among a client's sessions ({store}), which the client "
            "takes for the original; name a file elsewhere with -o, or replace the session with "
            "--in-place"
        )


def check_is_honoured(path: str) -> None:
    """Raise UsageError where the client of a session would send what tags hide in it."""
    session = session_at(Path(path), this_machine())
    if session is None:
        return
    store = store_named(session.entry.client)
    if not store.honours_tags:
        raise UsageError(
            f"{path}: {store.title} would send all of it, as it passes over the tags of --layout "
            "inline; leave that out, name a file elsewhere with -o, or insist with --force"
        )


def store_of(target: Path) -> Path | None:
    """Return the folder of a client's sessions that a path lies in, None outside of all."""
    return store_holding(target, this_machine())
