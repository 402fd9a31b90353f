"""Sessions of OpenCode under a new id, as documents that the client takes in."""

import json
import re
import shlex
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from compactctl.formats.records.json_values import list_or_empty, object_or_empty
from compactctl.sessions.fork import Fork, Fresh
from compactctl.sessions.session import Session
from compactctl.store.places import state_folder

# By the time they were made, by which the client sorts, and at random.
_ID = re.compile(r"((?:ses|msg|prt)_[0-9a-f]{12})[0-9A-Za-z]{14}")
_RANDOM = 14
_NAMED = ("id", "sessionID", "messageID", "parentID", "partID", "tail_start_id")


def fork(session: Session, fresh: Fresh) -> Fork:
    """Name the session, its messages and their parts anew: the client passes by ids it knows.

    Its database is not written to, so the session is a document that the client is told to import.
    """
    salt, old = f"{fresh.bits:x}", session.id
    new = _fresh(old, salt)
    path = state_folder(fresh.machine) / "opencode" / f"{new}.json"
    title = fresh.titled(session.details.title)

    def renamed(_: int, line: bytes) -> bytes:
        document = json.loads(line)
        document["info"] = {**_renamed(document["info"], salt), "title": title}
        for message in document["messages"]:
            message["info"] = _renamed(message["info"], salt)
            message["parts"] = [_renamed(part, salt) for part in list_or_empty(message["parts"])]
        return json.dumps(document).encode() + b"\n"

    return Fork(
        id=new,
        path=path,
        original=session,
        renamed=renamed,
        taken_in=f"opencode import {shlex.quote(str(path))}",
    )


def _renamed(facts: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """Return the facts of a session, a message or a part with new ids for all that they name."""
    named = {
        key: _fresh(facts[key], salt)
        for key in _NAMED
        if isinstance(facts.get(key), str) and facts[key]
    }
    undone = object_or_empty(facts.get("revert"))
    return {**facts, **named, **({"revert": _renamed(undone, salt)} if undone else {})}


def _fresh(name: str, salt: str) -> str:
    """Return a new id that sorts as the old one does."""
    digest = sha256(f"{salt} {name}".encode()).hexdigest()
    made = _ID.fullmatch(name)
    return f"{made[1]}{digest[:_RANDOM]}" if made else f"{name}{digest[:_RANDOM]}"
