"""All session stores: look up a store, list and load sessions, resume and fork them.

A new store is a file ``store`` in the client's folder with its ``STORE``, its entry in
``ALL_STORES``, and the folders where its sessions lie in ``store/client_folders``.
"""

import json
import os
import shlex
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from compactctl.clients.claude_code import store as claude_code
from compactctl.clients.cline import roo_store as roo
from compactctl.clients.cline import store as cline
from compactctl.clients.codex import store as codex
from compactctl.clients.copilot_cli import store as copilot_cli
from compactctl.clients.fork import Fork, ForkIdentity
from compactctl.clients.gemini_cli import store as gemini_cli
from compactctl.clients.opencode import kilo_store as kilo
from compactctl.clients.opencode import store as opencode
from compactctl.clients.pi import store as pi
from compactctl.clients.qwen_code import store as qwen_code
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.clients.store import SessionStore
from compactctl.clients.unsupported import unsupported_client
from compactctl.clients.vscode_chat import store as vscode
from compactctl.errors import UsageError, suggestion
from compactctl.records import asdict, replace
from compactctl.store.cache import ResultCache, result_key
from compactctl.store.client_folders import UserEnvironment, store_containing

ALL_STORES: tuple[SessionStore, ...] = (
    claude_code.STORE,
    codex.STORE,
    opencode.STORE,
    kilo.STORE,
    pi.STORE,
    copilot_cli.STORE,
    gemini_cli.STORE,
    qwen_code.STORE,
    cline.STORE,
    roo.STORE,
    vscode.STORE,
)
_BY_NAME = {name: store for store in ALL_STORES for name in (store.client, store.alias)}
# How many sessions are looked up in the cache at once.
_CHUNK = 100


def find_store(name: str) -> SessionStore | None:
    """Return the store of a client by its name or alias, None if there is none."""
    return _BY_NAME.get(name.casefold())


def store_named(name: str) -> SessionStore:
    """Return the store of a client by its name or alias; UsageError if there is none."""
    store = find_store(name)
    if store is None:
        if other := unsupported_client(name):
            raise UsageError(other.statement)
        clients = ", ".join(store.client for store in ALL_STORES)
        hint = suggestion(name.casefold(), _BY_NAME, f"there are {clients}")
        raise UsageError(f"no client named {name!r}; {hint}")
    return store


def is_client(name: str) -> bool:
    """Return whether a client has this name or alias, supported or not; case is ignored."""
    return name.casefold() in _BY_NAME or unsupported_client(name) is not None


def newest_entries(
    machine: UserEnvironment, folders: FolderScanner, stores: Iterable[SessionStore] = ALL_STORES
) -> list[SessionEntry]:
    """Return the entries of some stores, newest first, without reading any session."""
    entries = [entry for store in stores for entry in store.entries(machine, folders)]
    return sorted(entries, key=lambda entry: (-entry.modified, entry.client, entry.id))


def load_sessions(
    entries: Iterable[SessionEntry], cache: ResultCache | None = None
) -> Iterator[Session]:
    """Yield the sessions of entries, in their order.

    A session that cannot be read, or no longer exists, only has the details of its entry. Details
    of files that have not changed are taken from the cache, which gets those of all others.
    """
    entries = iter(entries)
    while chunk := list(islice(entries, 1 if cache is None else _CHUNK)):
        keys = [None if cache is None else _details_key(entry) for entry in chunk]
        cached = {} if cache is None else cache.get_many(key for key in keys if key is not None)
        for entry, key in zip(chunk, keys, strict=True):
            details = _decode_details(cached[key]) if key in cached else None
            if details is None:
                details = _read_details(entry)
                if cache is not None and key is not None and details is not None:
                    cache.put(key, json.dumps(asdict(details)))
            details = _merge_details(details or SessionDetails(), entry.listing)
            yield Session(entry=entry, details=details)


def _read_details(entry: SessionEntry) -> SessionDetails | None:
    try:
        return _BY_NAME[entry.client].details(entry)
    except (OSError, ValueError, sqlite3.Error):
        return None


def _details_key(entry: SessionEntry) -> bytes | None:
    """Return the key of the details in the cache, None if they are not all in one file."""
    if entry.state is None or not _BY_NAME[entry.client].is_in_one_file:
        return None
    return result_key("session details", entry.client, entry.state)


def _decode_details(text: str) -> SessionDetails | None:
    """Return cached details; None if the text is not valid."""
    try:
        return SessionDetails(**json.loads(text))
    except (ValueError, TypeError):
        return None


def session_at(path: Path, machine: UserEnvironment) -> Session | None:
    """Return the session whose file this is, or None for a file outside of all stores."""
    if store_containing(path, machine) is None:
        return None
    real = os.path.realpath(path)
    folders = FolderScanner()
    entries = (entry for store in ALL_STORES for entry in store.entries(machine, folders))
    matches = (e for e in entries if e.n_bytes is not None and os.path.realpath(e.path) == real)
    return next(load_sessions(matches), None)


def resume_command(
    session: Session, fork_id: str = "", import_command: str = "", *, model: str = ""
) -> str | None:
    """Return the shell command that resumes a session, or None if its client has none.

    For an open session, return what to type in the client.

    Args:
        session: the session, or the original of a fork.
        fork_id: the id of the fork to resume instead.
        import_command: a command that has to run first.
        model: the model to request; ignored where the client takes none.
    """
    store = store_named(session.entry.client)
    session_id = shlex.quote(fork_id or session.id)
    if session.details.open and store.reload_command:
        return store.reload_command.format(id=session_id)
    if not store.resume_command or session.details.kind == "subagent":
        return None
    resume = store.resume_command + (store.resume_model if model else "")
    resume = resume.format(id=session_id, model=shlex.quote(model))
    command = " && ".join(filter(None, (import_command, resume)))
    project = session.details.project
    needs_folder = store.resumes_in_project_only and project
    return f"cd {shlex.quote(project)} && {command}" if needs_folder else command


def fork_session(session: Session, identity: ForkIdentity) -> Fork | None:
    """Return a fork; None for a subagent's session, or if the client's cannot be forked."""
    fork = _fork_of(session)
    return None if fork is None else fork(session, identity)


def may_fork(session: Session) -> bool:
    """Return whether a compacted session may become a new one; else it replaces the original."""
    return _fork_of(session) is not None


def _fork_of(session: Session) -> Callable[[Session, ForkIdentity], Fork | None] | None:
    return None if session.details.kind == "subagent" else _BY_NAME[session.entry.client].fork


def _merge_details(details: SessionDetails, listing: SessionDetails) -> SessionDetails:
    """Complete what was read by what the listing says; the listing's title takes precedence."""
    return replace(
        details,
        title=listing.title or details.title,
        project=details.project or listing.project,
        kind=listing.kind if details.kind == "main" else details.kind,
        open=details.open or listing.open,
    )
