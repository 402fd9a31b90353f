"""Answers an agent's questions about the sessions of its project, read-only and bounded in size.

Whoever asks may have been told to by a text that it read. So a session is only found by its id
among those of this project: by no path, no title, and no id of another project.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.session import Session, SessionEntry
from compactctl.clients.stores import newest_entries, store_named
from compactctl.commands.inspect.stats import StatsOptions, stats
from compactctl.commands.inspect.view import ViewedMessage, ViewOptions, ViewScope, view
from compactctl.commands.measuring.session_size import session_size
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.session_finder import path_of, shown
from compactctl.commands.sessions import MIN_ID_CHARS
from compactctl.errors import NoInputError, UsageError
from compactctl.model.message import FilePart
from compactctl.records import Record
from compactctl.secrets.mask import mask_secrets
from compactctl.store.client_folders import UserEnvironment
from compactctl.tokens.meter import part_texts

MAX_SESSIONS = 20
PAGE = 10
"""Matches per page of a search."""
EXCERPT = 600
"""Characters shown of each match."""
PIECE = 16_000
"""Characters of a message shown at once: about 4,000 tokens."""
_LINE = 200
"""Maximum characters of a single line of output, and of a search text."""
_TOOLS = 10

Document = dict[str, Any]


class ProjectHistory(Record):
    """The sessions that were started in the folder ``here``, or all on the machine if requested.

    Each answer reflects the stores at that time. Errors are CompactctlError; those about a session
    do not reveal whether another project has it.
    """

    machine: UserEnvironment
    here: Path
    all_projects: bool = False

    def sessions(self) -> Document:
        """Return the newest sessions, each with its id, title, age and size."""
        allowed = [*self._allowed()]
        return {
            "project": None if self.all_projects else str(self.here),
            "sessions": [self._row(session) for session in allowed[:MAX_SESSIONS]],
            "more": max(0, len(allowed) - MAX_SESSIONS),
        }

    def stats(self, session: str = "") -> Document:
        """Return where the context of a session goes, in tokens."""
        chosen = self._chosen(session)
        result = stats(StatsOptions(input=InputOptions(path=_path(chosen))))
        return {
            "session": chosen.id,
            "tokensOfNextRequest": result.usage.tokens,
            "tokensNotInTranscript": result.next_request.unseen,
            "window": result.measure.budget.window,
            "messages": result.messages,
            "turns": result.counts.turns,
            "categories": {name: n for name, n in result.categories.items() if n},
            "tools": [
                {"tool": _line(use.tool), "tokens": use.result_tokens}
                for use in result.breakdown.tools[:_TOOLS]
            ],
        }

    def search(self, text: str, session: str = "", page: int = 1) -> Document:
        """Return messages that are no longer sent and contain every word of ``text``, in any case.

        Raises UsageError without a word, or for a page before the first.
        """
        words = text[:_LINE].casefold().split()
        if not words or page < 1:
            raise UsageError("pass at least one word to search for, and a page from 1")
        chosen = self._chosen(session)
        hidden = _messages(chosen, "archived")
        matching = [viewed for viewed in hidden if _has(_text(viewed), words)]
        shown_now = matching[(page - 1) * PAGE : page * PAGE]
        return {
            "session": chosen.id,
            "found": len(matching),
            "page": page,
            "messages": [
                {**_head(viewed), "excerpt": _excerpt(mask_secrets(_text(viewed)), words[0])}
                for viewed in shown_now
            ],
        }

    def show(self, message: str, session: str = "", offset: int = 0) -> Document:
        """Return a message by its id, as it was before anything replaced it.

        A long one is returned in pieces, from the character ``offset`` on. Raises UsageError if the
        session does not have it.
        """
        chosen = self._chosen(session)
        messages = _messages(chosen, "all")
        versions = [viewed for viewed in messages if viewed.message.id == message]
        if not versions:
            raise UsageError(f"the session has no message {_line(message)!r}; search returns ids")
        version = next((viewed for viewed in versions if viewed.hidden is not None), versions[0])
        text = mask_secrets(_text(version))
        start = max(0, offset)
        end = start + PIECE
        return {
            "session": chosen.id,
            **_head(version),
            "text": text[start:end],
            "characters": len(text),
            "nextOffset": end if end < len(text) else None,
        }

    def _row(self, session: Session) -> Document:
        details, size = session.details, session_size(session)
        is_bound = size is not None and size.certainty == "at least"
        return {
            "id": session.id,
            "client": session.entry.client,
            "title": _line(details.title),
            "changed": int(session.entry.modified),
            "contextTokens": None if size is None or is_bound else size.tokens,
            **({"contextAtLeast": size.tokens} if size is not None and is_bound else {}),
            **({"project": _line(details.project)} if self.all_projects else {}),
        }

    def _chosen(self, reference: str) -> Session:
        """Return the session with this id or the only one with this prefix; "" for the newest.

        One that the user archived is never the newest.
        """
        candidates = [s for s in self._allowed() if reference != "" or not s.entry.archived]
        if reference:
            exact = [candidate for candidate in candidates if candidate.id == reference]
            long_enough = len(reference) >= MIN_ID_CHARS
            candidates = exact or [
                candidate
                for candidate in candidates
                if long_enough and candidate.id.startswith(reference)
            ]
        if not candidates or (reference and len(candidates) > 1):
            where = "on this machine" if self.all_projects else "of this project"
            why = "several sessions" if candidates else "no session"
            what = f" whose id is or begins with {_line(reference)!r}" if reference else ""
            raise NoInputError(f"there is {why} {where}{what}; list the sessions for their ids")
        return candidates[0]

    def _allowed(self) -> Iterator[Session]:
        """Yield the sessions that may be read, newest first."""
        entries = newest_entries(self.machine, FolderScanner())
        if self.all_projects:
            return shown(entries)
        names = self._names()
        near = (e for e in entries if any(_may_be_of(e, name) for name in names))
        return (session for session in shown(near) if _is_of(session, names))

    def _names(self) -> frozenset[str]:
        """Return the names of this folder: its real path, and the one by which it was entered."""
        real_path, entered_path = os.path.realpath(self.here), self.machine.environ.get("PWD", "")
        is_same = bool(entered_path) and os.path.realpath(entered_path) == real_path
        return frozenset({real_path, os.path.normpath(entered_path)} if is_same else {real_path})


def _may_be_of(entry: SessionEntry, folder: str) -> bool:
    return store_named(entry.client).may_be_in_project(entry, Path(folder))


def _is_of(session: Session, names: Collection[str]) -> bool:
    """Return whether a session was started in a folder, by the name that the folder had then.

    A folder that is a symbolic link to this one now may have been another project; and a file that
    is a link may lead to a session of another project.
    """
    project = session.details.project
    return (
        bool(project) and os.path.normpath(project) in names and not session.entry.path.is_symlink()
    )


def _path(session: Session) -> str:
    """Return the path by which the session is read. NoInputError if a file has that name."""
    path = path_of(session)
    if session.entry.n_bytes is None and os.path.lexists(path):
        raise NoInputError(f"a file in this folder is named {_line(path)!r}, like the session")
    return path


def _messages(session: Session, what: ViewScope) -> tuple[ViewedMessage, ...]:
    return view(ViewOptions(input=InputOptions(path=_path(session)), what=what)).messages


def _head(viewed: ViewedMessage) -> Document:
    message = viewed.message
    return {
        "id": message.id,
        "role": message.role,
        "hidden": viewed.hidden is not None,
        "tools": [_line(call.tool) for call in message.calls[:_TOOLS]],
    }


def _text(viewed: ViewedMessage) -> str:
    """Return the text of a message, with its calls and file paths."""
    texts: list[str] = []
    for part in viewed.message.parts:
        texts += [part.file_path] if isinstance(part, FilePart) else []
        texts += part_texts(part)
    return "\n".join(texts)


def _has(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _excerpt(text: str, word: str) -> str:
    """Return the beginning of a text, or the surroundings of a word that comes later."""
    start = max(0, _place(text, word) - EXCERPT // 3)
    before, after = "…" if start else "", "…" if start + EXCERPT < len(text) else ""
    return f"{before}{text[start : start + EXCERPT]}{after}"


def _place(text: str, word: str) -> int:
    """Return the position of a word in a text, in any case and in the text's own characters, or 0.

    Case folding may lengthen a text: "ß" becomes "ss", so positions differ.
    """
    folded_pos = max(0, text.casefold().find(word))
    ends = accumulate(len(character.casefold()) for character in text)
    return next((index for index, end in enumerate(ends) if end > folded_pos), 0)


def _line(text: str) -> str:
    return " ".join(mask_secrets(text[:_LINE]).split())
