"""All stores, and the sessions in them."""

import os
import shlex
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from compactctl.errors import UsageError, suggestion
from compactctl.sessions.clients import (
    claude_code,
    cline,
    codex,
    copilot_cli,
    gemini_cli,
    opencode,
    pi,
    roo,
    vscode,
)
from compactctl.sessions.clients import claude_code as as_claude_code
from compactctl.sessions.clients import cline as as_cline
from compactctl.sessions.clients import codex as as_codex
from compactctl.sessions.clients import copilot_cli as as_copilot_cli
from compactctl.sessions.clients import gemini_cli as as_gemini_cli
from compactctl.sessions.clients import opencode as as_opencode
from compactctl.sessions.clients import pi as as_pi
from compactctl.sessions.fork import Fork, ForkIdentity
from compactctl.sessions.reading.folders import FolderScanner
from compactctl.sessions.session import Session, SessionDetails, SessionEntry, SessionStore
from compactctl.store.client_folders import UserEnvironment, store_containing

ALL_STORES: tuple[SessionStore, ...] = (
    claude_code.STORE,
    codex.STORE,
    opencode.STORE,
    pi.STORE,
    copilot_cli.STORE,
    gemini_cli.STORE,
    cline.STORE,
    roo.STORE,
    vscode.STORE,
)
_BY_NAME = {name: store for store in ALL_STORES for name in (store.client, store.alias)}


def store_named(name: str) -> SessionStore:
    """Return the store of a client by its name or alias. UsageError with what there is."""
    found = _BY_NAME.get(name.casefold())
    if found is None:
        known = ", ".join(store.client for store in ALL_STORES)
        hint = suggestion(name.casefold(), _BY_NAME, f"there are {known}")
        raise UsageError(f"there is no client {name!r}; {hint}")
    return found


def is_client(name: str) -> bool:
    """Tell whether a client is called so."""
    return name.casefold() in _BY_NAME


def newest_entries(
    machine: UserEnvironment, folders: FolderScanner, stores: Iterable[SessionStore] = ALL_STORES
) -> list[SessionEntry]:
    """Return what lies in stores, the newest first; nothing of a session itself is read."""
    found = [entry for store in stores for entry in store.entries(machine, folders)]
    return sorted(found, key=lambda entry: (-entry.modified, entry.client, entry.id))


def load_sessions(entries: Iterable[SessionEntry]) -> Iterator[Session]:
    """Yield sessions with what can be told of them, in the order of the entries.

    What cannot be read, or is gone by now, has nothing told of it.
    """
    for entry in entries:
        try:
            details = _BY_NAME[entry.client].details(entry)
        except (OSError, ValueError, sqlite3.Error):
            details = SessionDetails()
        yield Session(entry=entry, details=_merge_details(details, entry.listing))


def session_at(path: Path, machine: UserEnvironment) -> Session | None:
    """Return the session that a file in a store is, None for any other file."""
    if store_containing(path, machine) is None:
        return None
    real = os.path.realpath(path)
    folders = FolderScanner()
    entries = (entry for store in ALL_STORES for entry in store.entries(machine, folders))
    same = (e for e in entries if e.n_bytes is not None and os.path.realpath(e.path) == real)
    return next(load_sessions(same), None)


def session_in_database(session_id: str, machine: UserEnvironment) -> Session | None:
    """Return the session of that id in OpenCode's database, None when there is none."""
    entries = opencode.STORE.entries(machine, FolderScanner())
    return next(load_sessions(entry for entry in entries if entry.id == session_id), None)


def resume_command(
    session: Session, fork_id: str = "", import_command: str = "", *, model: str = ""
) -> str | None:
    """Return the command that goes on with a session, None where a client has none.

    ``fork_id`` is that of a fork of it, ``import_command`` a command that must come before,
    ``model`` the one to ask for, where the client can be asked. Where the session is open, it is
    what its client is told.
    """
    store = store_named(session.entry.client)
    own = shlex.quote(fork_id or session.id)
    if session.details.open and store.reload_command:
        return store.reload_command.format(id=own)
    if not store.resume_command or session.details.kind == "subagent":
        return None
    resume = store.resume_command + (store.resume_model if model else "")
    commands = filter(None, (import_command, resume.format(id=own, model=shlex.quote(model))))
    command, project = " && ".join(commands), session.details.project
    is_elsewhere = store.resumes_in_project_only and project
    return f"cd {shlex.quote(project)} && {command}" if is_elsewhere else command


def _merge_details(details: SessionDetails, known: SessionDetails) -> SessionDetails:
    """Return what was read, completed by what the place tells; a given title counts more."""
    return replace(
        details,
        title=known.title or details.title,
        project=details.project or known.project,
        kind=known.kind if details.kind == "main" else details.kind,
        open=details.open or known.open,
    )


def fork_session(session: Session, fresh: ForkIdentity) -> Fork | None:
    """Return the fork of a session, None for a client that none is written for, and for helpers."""
    write = _WRITERS.get(session.entry.client)
    if write is None or session.details.kind == "subagent":
        return None
    return write(session, fresh)


_WRITERS: Mapping[str, Callable[[Session, ForkIdentity], Fork | None]] = {
    claude_code.NAME: as_claude_code.fork,
    codex.NAME: as_codex.fork,
    opencode.NAME: as_opencode.fork,
    pi.NAME: as_pi.fork,
    copilot_cli.NAME: as_copilot_cli.fork,
    gemini_cli.NAME: as_gemini_cli.fork,
    cline.NAME: as_cline.fork,
}
