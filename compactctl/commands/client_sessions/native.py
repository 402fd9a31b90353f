"""The records behind a session that make its client read it otherwise."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.reading.proof import expected_messages, prove_layout
from compactctl.commands.reading.transcript import TranscriptFile, parse
from compactctl.errors import IntegrityError, UsageError
from compactctl.formats.format import NativeAppend, Version
from compactctl.formats.records.decode import decode, is_wrapped
from compactctl.formats.registry import MAX_SNIFFED, native_append_of
from compactctl.model.operation import OperationId
from compactctl.model.tags import APPENDED_BYTES, appended_by
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import NewFile, NewLine
from compactctl.sessions.registry import session_at, store_named
from compactctl.store.client_folders import this_machine
from compactctl.store.files.locks import can_detect_writers, has_writer
from compactctl.store.files.source import digest_of, split_lines


class CannotAppendError(UsageError):
    """A session whose client would ignore what is appended, or nobody knows that it would not.

    ``reason`` says why, as a clause.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}; leave out --native")
        self.reason = reason


_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def version_of(transcript: Transcript, rules: NativeAppend) -> Version | None:
    """Return the version that tells what a session honours; None where none is told."""
    if rules.version_of == "file":
        return (
            None if transcript.session.file_version is None else (transcript.session.file_version,)
        )
    found = _NUMBERS.match(transcript.session.client_version or "")
    return tuple(map(int, found[0].split("."))) if found else None


def version_text(version: Version) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))


def _proven_text(rules: NativeAppend) -> str:
    """Return the versions that were seen to honor what is appended, as people write them."""
    both = dict.fromkeys((version_text(rules.oldest_tested), version_text(rules.newest_tested)))
    return " to ".join(both)


def check_supported(path: str, rules: NativeAppend, version: Version | None, *, force: bool) -> str:
    """Return a note on a version that is too old, "" for one that honors what is appended.

    Only the client that wrote a session last is known from it, and a newer one may well be the one
    that resumes it. CannotAppendError for files too old, and for what is too new and not forced.
    """
    wrote = "no known version" if version is None else f"version {version_text(version)}"
    what = (
        f"its {rules.version_of} is of {wrote}, and only {_proven_text(rules)} are known to honor "
    )
    what += "what is appended"
    if version is None or version > rules.newest_tested:
        if not force:
            raise CannotAppendError(path, f"{what} (--force appends anyway)")
    elif version < rules.oldest_tested:
        if rules.version_of == "file":
            raise CannotAppendError(path, what)
        return f"{what}: resume it with one of these"
    return ""


def check_not_open(
    path: str, rules: NativeAppend, version: Version | None, *, while_open: bool, way: str
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
        since = f" before {version_text(rules.lists_open_since)}" if rules.lists_open_since else ""
        raise UsageError(
            f"{path}: {title}{since} does not tell which sessions it has open; {insist}"
        )


def needs_while_open(path: str, rules: NativeAppend, version: Version | None) -> bool:
    """Tell whether nothing ever tells that a session is open, so that one has to insist."""
    return not _tells(rules, version) and session_at(Path(path), this_machine()) is not None


def _tells(rules: NativeAppend, version: Version | None) -> bool:
    """Tell whether a session that is open would be known to be."""
    if rules.keeps_file_open and can_detect_writers():
        return True
    return (
        rules.lists_open_since is not None
        and version is not None
        and version >= rules.lists_open_since
    )


def rules_of(loaded: TranscriptFile) -> NativeAppend:
    """Return how a session is changed by appending; UsageError where nobody knows."""
    found = native_append_of(loaded.format.name)
    if found is None:
        raise UsageError(
            f"{_name(loaded)}: nothing is known that could be appended to a {loaded.format.title}; "
            "leave out --native"
        )
    if any(map(is_wrapped, islice(loaded.lines, MAX_SNIFFED))):
        raise UsageError(
            f"{_name(loaded)}: its lines are those of a log, which no client reads; "
            "leave out --native"
        )
    return found


def without_superseded_records(loaded: TranscriptFile) -> TranscriptFile:
    """Return a session without records that do not count any more, as if it were new.

    The digest stays that of what was read. CannotAppendError where it would read otherwise.
    """
    lines = rules_of(loaded).normalized(loaded.lines)
    if lines is loaded.lines:
        return loaded
    transcript = parse(lines, loaded.format)
    if _said(transcript) != _said(loaded.transcript):
        raise cannot_be_appended(_name(loaded))
    return replace(loaded, source=replace(loaded.source, lines=lines), transcript=transcript)


def with_block(whole: TranscriptFile, wanted: Sequence[bytes], operation: OperationId) -> NewFile:
    """Return a session with the records behind it that make it read as ``wanted`` does."""
    return NewFile(whole.lines, _lines(whole, records_to_append(whole, wanted, operation)))


def records_to_append(
    whole: TranscriptFile, wanted: Sequence[bytes], operation: OperationId
) -> tuple[bytes, ...]:
    """Return these records as lines, the first behind the end of an unterminated one.

    CannotAppendError where the client would not read all that is to be sent.
    """
    try:
        found = rules_of(whole).lines_to_append(whole.lines, wanted, operation)
    except UsageError as error:
        raise CannotAppendError(_name(whole), str(error)) from None
    if found and whole.source.ends_mid_line:
        found[0] = b"\n" + found[0]
    return tuple(found)


def _lines(whole: TranscriptFile, block: Sequence[bytes]) -> Iterator[NewLine]:
    yield from (NewLine(line, index, is_unchanged=True) for index, line in enumerate(whole.lines))
    yield from (NewLine(line, None) for line in block)


def undo_needs_while_open(whole: TranscriptFile) -> bool:
    """Tell whether undoing takes ``--while-open``, since nothing shows if a session is open."""
    rules = rules_of(whole)
    return needs_while_open(_name(whole), rules, version_of(whole.transcript, rules))


def check_read_as(whole: TranscriptFile, wanted: Transcript, now: Iterable[bytes]) -> None:
    """Raise CannotAppendError unless the session, as ``now`` says, reads as ``wanted`` does."""
    try:
        prove_layout(now, whole.format, expected_messages(wanted.effective), _name(whole))
    except IntegrityError:
        raise cannot_be_appended(_name(whole)) from None


def cannot_be_appended(path: str) -> CannotAppendError:
    """Return the error for a session of which a client would send something else."""
    return CannotAppendError(
        path, "what is appended would not make its client send exactly what is left"
    )


def _said(transcript: Transcript) -> list[bytes]:
    return [each.content for each in expected_messages(transcript.effective)]


def _name(loaded: TranscriptFile) -> str:
    return str(loaded.source.path or "standard input")


def operation_of_line(line: bytes) -> str | None:
    """Return the operation that appended a line, None for any other line."""
    if APPENDED_BYTES not in line:
        return None
    values, _ = decode(line)
    return appended_by(values[0]) if values and isinstance(values[0], dict) else None


def before_interrupted_append(history: OperationHistory) -> bytes | None:
    """Return a session without the part of a block that ends it, None where nothing is amiss.

    The operation is the newest one then, and its block is not all there; the last line of it may be
    torn. What a client has said since stays, and with it the part.
    """
    newest = history.archived[-1].operation if history.archived else None
    if newest is None or not newest.appended or history.current == newest:
        return None
    size = newest.before.n_bytes
    before, rest = history.data[:size], split_lines(history.data[size:].lstrip(b"\n"))
    if not rest or digest_of(before) != newest.before:
        return None
    *whole, last = (operation_of_line(line) == newest.id for line in rest)
    is_torn = not rest[-1].endswith(b"\n")
    return before if all(whole) and (last or (is_torn and whole)) else None
