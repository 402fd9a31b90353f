"""Whether a session may be appended to: its client honors it, and nobody goes on with it now."""

import re
from pathlib import Path

from compactctl.errors import UsageError
from compactctl.formats.format import Appending, Version
from compactctl.model.transcript import Transcript
from compactctl.sessions.registry import session_at, store_named
from compactctl.store.files.open_writers import has_writer, tells_writers
from compactctl.store.places import this_machine


class CannotAppendError(UsageError):
    """A session whose client would ignore what is appended, or nobody knows that it would not.

    ``reason`` says why, as a clause.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}; leave out --native")
        self.reason = reason


_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def version_of(transcript: Transcript, rules: Appending) -> Version | None:
    """Return the version that tells what a session honours; None where none is told."""
    if rules.of == "file":
        return None if transcript.file_version is None else (transcript.file_version,)
    found = _NUMBERS.match(transcript.client_version or "")
    return tuple(map(int, found[0].split("."))) if found else None


def version_text(version: Version) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))


def _proven_text(rules: Appending) -> str:
    """Return the versions that were seen to honor what is appended, as people write them."""
    both = dict.fromkeys((version_text(rules.oldest), version_text(rules.newest)))
    return " to ".join(both)


def check_proven(path: str, rules: Appending, version: Version | None, *, force: bool) -> str:
    """Return a note on a version that is too old, "" for one that honors what is appended.

    Only the client that wrote a session last is known from it, and a newer one may well be the one
    that resumes it. CannotAppendError for files too old, and for what is too new and not forced.
    """
    wrote = "no known version" if version is None else f"version {version_text(version)}"
    what = f"its {rules.of} is of {wrote}, and only {_proven_text(rules)} are known to honor "
    what += "what is appended"
    if version is None or version > rules.newest:
        if not force:
            raise CannotAppendError(path, f"{what} (--force appends anyway)")
    elif version < rules.oldest:
        if rules.of == "file":
            raise CannotAppendError(path, what)
        return f"{what}: resume it with one of these"
    return ""


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
    if session is not None and not _tells(rules, version):
        title = store_named(session.entry.client).title
        since = f" before {version_text(rules.notes_open)}" if rules.notes_open else ""
        raise UsageError(
            f"{path}: {title}{since} does not tell which sessions it has open; {insist}"
        )


def has_to_insist(path: str, rules: Appending, version: Version | None) -> bool:
    """Tell whether nothing ever tells that a session is open, so that one has to insist."""
    return not _tells(rules, version) and session_at(Path(path), this_machine()) is not None


def _tells(rules: Appending, version: Version | None) -> bool:
    """Tell whether a session that is open would be known to be."""
    if rules.holds_files and tells_writers():
        return True
    return rules.notes_open is not None and version is not None and version >= rules.notes_open
