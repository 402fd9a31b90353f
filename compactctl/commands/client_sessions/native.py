"""Native appends: records at the end of a session that change what its client reads."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Literal

from compactctl.clients.detection import MAX_SNIFFED
from compactctl.clients.format import NativeAppend
from compactctl.clients.records.decode import is_wrapped
from compactctl.clients.stores import session_at, store_named
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.reading.proof import expected_messages, prove_layout
from compactctl.commands.reading.transcript import TranscriptFile, parse
from compactctl.errors import OutputFaultError, UsageError
from compactctl.model.operation import OperationId
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import NewFile, NewLine
from compactctl.records import Record, replace
from compactctl.store.archive.archive_file import read_block
from compactctl.store.archive.growth import operation_of_line
from compactctl.store.client_folders import this_machine
from compactctl.store.files.locks import can_detect_writers, has_writer
from compactctl.store.files.source import digest_of, split_lines
from compactctl.store.publish.input_changes import changed_error
from compactctl.tokens.client_sizes import Version, version_text


class CannotAppendError(UsageError):
    """The client would ignore what is appended to a session, or it is unknown whether it would.

    ``reason`` is a clause for other messages.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}; leave out --native")
        self.reason = reason


_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def version_of(transcript: Transcript, rules: NativeAppend) -> Version | None:
    """Return the version that decides what a session honors, None if it is not recorded."""
    if rules.version_of == "file":
        return (
            None if transcript.session.file_version is None else (transcript.session.file_version,)
        )
    match = _NUMBERS.match(transcript.session.client_version or "")
    return tuple(map(int, match[0].split("."))) if match else None


_Support = Literal["tested", "untested", "older client", "older file"]

_UNSUPPORTED: Mapping[_Support, str] = {
    "untested": (
        "its {kind} is of {version}, and only {tested} are known to honor what is appended "
        "(--force appends anyway)"
    ),
    "older client": (
        "its {kind} is of {version}, and only {tested} are known to honor what is appended: "
        "resume it with one of these"
    ),
    "older file": (
        "its {kind} is of {version}, and only {tested} are known to honor what is appended"
    ),
}


def check_supported(path: str, rules: NativeAppend, version: Version | None, *, force: bool) -> str:
    """Return a note on a version that is too old, "" for a supported one.

    Only the client that wrote the session last is known; a newer one may resume it. Raises
    CannotAppendError for a file version that is too old or missing, and for too new ones unless
    forced.
    """
    support = _support_of(rules, version)
    if support == "tested" or (support == "untested" and force):
        return ""
    text = _UNSUPPORTED[support].format(
        kind=rules.version_of,
        version="no known version" if version is None else f"version {version_text(version)}",
        tested=_range_text(rules.oldest_tested, rules.newest_tested),
    )
    if support == "older client":
        return text
    raise CannotAppendError(path, text)


def _support_of(rules: NativeAppend, version: Version | None) -> _Support:
    """Return how a version compares with those that are known to honor what is appended."""
    if version is None:
        # A file without a version is older than all versions, and has no ids to refer to.
        return "older file" if rules.version_of == "file" else "untested"
    if version > rules.newest_tested:
        return "untested"
    if version < rules.oldest_tested:
        return "older file" if rules.version_of == "file" else "older client"
    return "tested"


def _range_text(oldest: Version, newest: Version) -> str:
    texts = dict.fromkeys((version_text(oldest), version_text(newest)))
    return " to ".join(texts)


def check_not_open(
    path: str, rules: NativeAppend, version: Version | None, *, while_open: bool, way: str
) -> None:
    """Raise the error of ``open_error``, if there is one; ``while_open`` skips the check."""
    error = None if while_open else open_error(path, rules, version, way)
    if error is not None:
        raise error


def open_error(
    path: str, rules: NativeAppend, version: Version | None, way: str
) -> UsageError | None:
    """Return the error for a session that is or may be open in a client, None for a closed one.

    A file outside of all stores is open if a program is writing to it. ``way`` is the alternative
    named in the error.
    """
    session = session_at(Path(path), this_machine())
    title = "its client" if session is None else store_named(session.entry.client).title
    advice = f"close the session, {way}, or use --while-open"
    if has_writer(Path(path)) or (session is not None and session.details.open):
        return UsageError(f"{path}: is open in {title}, which would not see the change; {advice}")
    if session is not None and not _tells(rules, version):
        since = f" before {version_text(rules.lists_open_since)}" if rules.lists_open_since else ""
        return UsageError(
            f"{path}: {title}{since} does not report which sessions it has open; {advice}"
        )
    return None


def needs_while_open(path: str, rules: NativeAppend, version: Version | None) -> bool:
    """Return whether open sessions cannot be detected, so that ``--while-open`` is required."""
    return not _tells(rules, version) and session_at(Path(path), this_machine()) is not None


def _tells(rules: NativeAppend, version: Version | None) -> bool:
    """Return whether an open session would be detected."""
    if rules.keeps_file_open and can_detect_writers():
        return True
    return (
        rules.lists_open_since is not None
        and version is not None
        and version >= rules.lists_open_since
    )


def rules_of(loaded: TranscriptFile) -> NativeAppend:
    """Return how a session is changed by appending; UsageError if its format allows none."""
    rules = loaded.format.native_append()
    if rules is None:
        raise UsageError(
            f"{_name(loaded)}: --native does not support the {loaded.format.title} format"
        )
    if any(map(is_wrapped, islice(loaded.lines, MAX_SNIFFED))):
        raise UsageError(
            f"{_name(loaded)}: --native does not support request logs, which no client reads"
        )
    return rules


def without_superseded_records(loaded: TranscriptFile) -> TranscriptFile:
    """Return a session without records that no longer count, as if it were new.

    The digest stays that of the file. Raises CannotAppendError if it would read differently.
    """
    lines = rules_of(loaded).normalized(loaded.lines)
    if lines is loaded.lines:
        return loaded
    transcript = parse(lines, loaded.format)
    if _said(transcript) != _said(loaded.transcript):
        raise cannot_be_appended(_name(loaded))
    return replace(loaded, source=replace(loaded.source, lines=lines), transcript=transcript)


def with_block(
    whole: TranscriptFile, desired_lines: Sequence[bytes], operation: OperationId
) -> NewFile:
    """Return the session plus the records that make it read as ``desired_lines`` do."""
    session = (NewLine(line, index, is_unchanged=True) for index, line in enumerate(whole.lines))
    block = (NewLine(line, None) for line in records_to_append(whole, desired_lines, operation))
    return NewFile(whole.lines, chain(session, block))


def records_to_append(
    whole: TranscriptFile, desired_lines: Sequence[bytes], operation: OperationId
) -> tuple[bytes, ...]:
    """Return these records as lines; the first begins with the end of an unterminated last line.

    Raises CannotAppendError if the client would not read everything that is to be sent.
    """
    try:
        records = rules_of(whole).lines_to_append(whole.lines, desired_lines, operation)
    except UsageError as error:
        raise CannotAppendError(_name(whole), str(error)) from None
    if records and whole.source.ends_mid_line:
        records[0] = b"\n" + records[0]
    return tuple(records)


class CarriedBlock(Record):
    """Records that an operation appends to the session at ``path``, as they follow later lines.

    ``rules`` are those of the session's format.
    """

    path: Path
    rules: NativeAppend
    lines: Sequence[bytes]
    operation: OperationId

    def __call__(self, grown: bytes) -> bytes:
        """Return the records that follow what the client has appended; else ChangedError."""
        with suppress(ValueError):
            return b"".join(self.rules.carry(self.lines, split_lines(grown), self.operation))
        raise changed_error(self.path)


def undo_option(whole: TranscriptFile, *, closed: bool) -> str:
    """Return the option that undoing takes where open sessions cannot be detected, "" elsewhere.

    ``closed`` means that the user said that the session is closed.
    """
    rules = rules_of(whole)
    if not needs_while_open(_name(whole), rules, version_of(whole.transcript, rules)):
        return ""
    return "--closed" if closed else "--while-open"


def check_read_as(whole: TranscriptFile, desired: Transcript, lines: Iterable[bytes]) -> None:
    """Raise CannotAppendError unless ``lines`` read as ``desired`` does."""
    try:
        prove_layout(lines, whole.format, expected_messages(desired.effective), _name(whole))
    except OutputFaultError:
        raise cannot_be_appended(_name(whole)) from None


def cannot_be_appended(path: str) -> CannotAppendError:
    """Return the error for a session whose client would send something else after the append."""
    return CannotAppendError(
        path, "the appended records would not make the client send exactly the rest"
    )


def _said(transcript: Transcript) -> list[tuple[bytes, bytes | None]]:
    return [(m.content, m.reasoning) for m in expected_messages(transcript.effective)]


def _name(loaded: TranscriptFile) -> str:
    return str(loaded.source.path or "standard input")


def before_interrupted_append(history: OperationHistory) -> bytes | None:
    """Return a session without the incomplete block at its end, None if there is none.

    It is incomplete if the newest operation appended, and the file ends within its block; the last
    line may be torn. If a client has appended records since, these and the block stay.
    """
    if not history.archived:
        return None
    newest, archive = history.archived[-1].operation, history.archived[-1].file.path
    if not newest.appended or history.timeline.current == newest:
        return None
    size = newest.before.n_bytes
    lines = split_lines(history.data[size:].lstrip(b"\n"))
    if not lines or digest_of(history.data[:size]) != newest.before:
        return None
    ours = [operation_of_line(line) == newest.id for line in lines]
    n_others = ours.index(True) if True in ours else len(lines) - 1
    *complete, last_is_complete = ours[n_others:]
    is_torn = not lines[-1].endswith(b"\n") and (complete or _begins(lines[-1], archive))
    if not (all(complete) and (last_is_complete or is_torn)):
        return None
    # The first line of a block may begin with the end of the line before it.
    n_torn = sum(map(len, lines[n_others:])) if n_others else len(history.data) - size
    return history.data[: len(history.data) - n_torn]


def _begins(torn: bytes, archive: Path) -> bool:
    """Return whether a torn line is the beginning of what an operation appends."""
    block = read_block(archive).lstrip(b"\r\n")
    return bool(block) and torn[: len(block)] == block[: len(torn)]
