"""Whether a session may be appended to: its client honours it, and nobody goes on with it now."""

import re
from pathlib import Path

from compactctl.errors import UsageError
from compactctl.formats.format import Appending, Version
from compactctl.model.transcript import Transcript
from compactctl.sessions.registry import session_at, store_named
from compactctl.store.files.open_writers import has_writer
from compactctl.store.places import this_machine

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def version_of(transcript: Transcript) -> Version | None:
    """Return the version of the client that wrote the newest record; None where none is told."""
    found = _NUMBERS.match(transcript.client_version or "")
    return tuple(map(int, found[0].split("."))) if found else None


def version_text(version: Version) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))


def check_loose(
    path: str, rules: Appending, version: Version | None, *, while_open: bool, way: str
) -> None:
    """Raise UsageError where a client has a session open, or where nothing tells.

    What is in no store is open where a program holds the file. ``while_open`` allows it anyway;
    ``way`` is what else can be done.
    """
    if while_open:
        return
    session = session_at(Path(path), this_machine())
    insist = f"end it there, {way}, or insist with --while-open"
    if has_writer(Path(path)) or (session is not None and session.details.open):
        what = "its client" if session is None else store_named(session.entry.client).title
        raise UsageError(f"{path}: is open in {what}, which would not see the change; {insist}")
    if session is not None and (version is None or version < rules.notes_open):
        title = store_named(session.entry.client).title
        raise UsageError(
            f"{path}: {title} before {version_text(rules.notes_open)} does not tell which sessions "
            f"it has open; {insist}"
        )
