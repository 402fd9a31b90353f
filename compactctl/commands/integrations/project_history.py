"""What an agent may look up of the sessions of its project: nothing is written, all is bounded.

Whoever asks may have been told to by a text that it read. So a session is named by its id among
those of this project and by nothing else: no path, no title, and no id of another project.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from compactctl.commands.inspect.stats import StatsOptions, stats
from compactctl.commands.inspect.view import ViewedMessage, ViewOptions, ViewScope, view
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.session_finder import path_of, shown
from compactctl.commands.sessions import SHORTEST, least_size
from compactctl.errors import NoInputError, UsageError
from compactctl.model.message import FilePart
from compactctl.sessions.reading.folders import FolderScanner
from compactctl.sessions.registry import newest_entries, store_named
from compactctl.sessions.session import Session, SessionEntry
from compactctl.store.client_folders import UserEnvironment
from compactctl.summaries.by_model.secrets import mask_secrets
from compactctl.tokens.meter import part_texts

MOST_SESSIONS = 20
PAGE = 10
"""Messages on a page of what a search finds."""
EXCERPT = 600
"""Characters that are shown of a message that was found."""
PIECE = 16_000
"""Characters of a message that are shown at once: some 4,000 tokens."""
_LINE = 200
"""Characters of anything that stands on a line, and of what is searched for."""
_TOOLS = 10

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectHistory:
    """The sessions that were begun in the folder ``here``, or all on the machine if asked for.

    Each question is answered from what the stores hold when it is asked. Errors are of
    CompactctlError; those about a session do not tell whether another project has it.
    """

    machine: UserEnvironment
    here: Path
    all_projects: bool = False

    def sessions(self) -> Document:
        """Return the newest sessions, each with its id, title, age and size."""
        found = [*self._allowed()]
        return {
            "project": None if self.all_projects else str(self.here),
            "sessions": [self._row(each) for each in found[:MOST_SESSIONS]],
            "more": max(0, len(found) - MOST_SESSIONS),
        }

    def stats(self, session: str = "") -> Document:
        """Return where the context of a session goes, in tokens."""
        chosen = self._chosen(session)
        found = stats(StatsOptions(input=InputOptions(path=_path(chosen))))
        return {
            "session": chosen.id,
            "tokensOfNextRequest": found.usage.tokens,
            "tokensNotInTranscript": found.next_request.unseen,
            "window": found.measure.budget.window,
            "messages": found.messages,
            "turns": found.counts.turns,
            "categories": {name: n for name, n in found.categories.items() if n},
            "tools": [
                {"tool": _line(each.tool), "tokens": each.result_tokens}
                for each in found.breakdown.tools[:_TOOLS]
            ],
        }

    def search(self, text: str, session: str = "", page: int = 1) -> Document:
        """Return messages that are no longer sent and have every word of ``text``, in any case.

        Raises UsageError without a word, or for a page before the first.
        """
        words = text[:_LINE].casefold().split()
        if not words or page < 1:
            raise UsageError("give at least one word to look for, and pages from 1 on")
        chosen = self._chosen(session)
        hidden = _messages(chosen, "archived")
        found = [each for each in hidden if _has(_text(each), words)]
        shown_now = found[(page - 1) * PAGE : page * PAGE]
        return {
            "session": chosen.id,
            "found": len(found),
            "page": page,
            "messages": [
                {**_head(each), "excerpt": _excerpt(mask_secrets(_text(each)), words[0])}
                for each in shown_now
            ],
        }

    def show(self, message: str, session: str = "", offset: int = 0) -> Document:
        """Return a message by its id, as it was before anything took its place.

        A long one is told in pieces, from the character ``offset`` on. Raises UsageError when the
        session has none.
        """
        chosen = self._chosen(session)
        there = _messages(chosen, "all")
        same = [each for each in there if each.message.id == message]
        if not same:
            raise UsageError(f"the session has no message {_line(message)!r}; search gives ids")
        first = next((each for each in same if each.hidden is not None), same[0])
        text = mask_secrets(_text(first))
        start = max(0, offset)
        end = start + PIECE
        return {
            "session": chosen.id,
            **_head(first),
            "text": text[start:end],
            "characters": len(text),
            "nextOffset": end if end < len(text) else None,
        }

    def _row(self, session: Session) -> Document:
        details, least = session.details, least_size(session)
        return {
            "id": session.id,
            "client": session.entry.client,
            "title": _line(details.title),
            "changed": int(session.entry.modified),
            "contextTokens": details.context if least is None else None,
            **({} if least is None else {"contextAtLeast": least}),
            **({"project": _line(details.project)} if self.all_projects else {}),
        }

    def _chosen(self, reference: str) -> Session:
        """Return the session with this id, or the only one whose id begins so; "" the newest."""
        found = [*self._allowed()]
        if reference:
            same = [each for each in found if each.id == reference]
            long_enough = len(reference) >= SHORTEST
            found = same or [e for e in found if long_enough and e.id.startswith(reference)]
        if not found or (reference and len(found) > 1):
            where = "on this machine" if self.all_projects else "of this project"
            why = "several sessions" if found else "no session"
            what = f" whose id is or begins with {_line(reference)!r}" if reference else ""
            raise NoInputError(f"there is {why} {where}{what}; list them for their ids")
        return found[0]

    def _allowed(self) -> Iterator[Session]:
        """Yield the sessions that may be looked at, the newest first."""
        entries = newest_entries(self.machine, FolderScanner())
        if self.all_projects:
            return shown(entries)
        names = self._names()
        near = (e for e in entries if any(_may_be_of(e, name) for name in names))
        return (session for session in shown(near) if _is_of(session, names))

    def _names(self) -> frozenset[str]:
        """Return what this folder is called: its path, and the one by which it was entered."""
        own, told = os.path.realpath(self.here), self.machine.environ.get("PWD", "")
        is_same = bool(told) and os.path.realpath(told) == own
        return frozenset({own, os.path.normpath(told)} if is_same else {own})


def _may_be_of(entry: SessionEntry, folder: str) -> bool:
    return store_named(entry.client).may_be_in_project(entry, Path(folder))


def _is_of(session: Session, names: Collection[str]) -> bool:
    """Tell whether a session was begun in a folder, by the name that the folder had then.

    A folder that is a link to this one by now may have been another project; and a file that is a
    link may lead to a session of one.
    """
    own = session.details.project
    return bool(own) and os.path.normpath(own) in names and not session.entry.path.is_symlink()


def _path(session: Session) -> str:
    """Return how the session is read. NoInputError where a file of that name would be instead."""
    path = path_of(session)
    if session.entry.n_bytes is None and os.path.lexists(path):
        raise NoInputError(f"a file of this folder is called {_line(path)!r}, as the session is")
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
    """Return what a message says, its calls and the paths of its files too."""
    texts: list[str] = []
    for part in viewed.message.parts:
        texts += [part.file_path] if isinstance(part, FilePart) else []
        texts += part_texts(part)
    return "\n".join(texts)


def _has(text: str, words: Sequence[str]) -> bool:
    found = text.casefold()
    return all(word in found for word in words)


def _excerpt(text: str, word: str) -> str:
    """Return the beginning of a text, or what stands around a word that comes later in it."""
    at = max(0, _place(text, word) - EXCERPT // 3)
    before, after = "…" if at else "", "…" if at + EXCERPT < len(text) else ""
    return f"{before}{text[at : at + EXCERPT]}{after}"


def _place(text: str, word: str) -> int:
    """Return where a text has a word in any case, in its own characters; 0 where it has not.

    A text without case may be longer than it was: "ß" becomes "ss".
    """
    at = max(0, text.casefold().find(word))
    ends = accumulate(len(character.casefold()) for character in text)
    return next((index for index, end in enumerate(ends) if end > at), 0)


def _line(text: str) -> str:
    return " ".join(mask_secrets(text[:_LINE]).split())
