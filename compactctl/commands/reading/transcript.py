"""Reads a transcript for the other commands: whole, or line by line."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path

from compactctl.asks import INPUT, MAY, ask, flag
from compactctl.clients.databases import (
    database_store,
    export_session,
    imported_document,
    is_in_database,
)
from compactctl.clients.detection import MAX_SNIFFED, detect, incomplete, recognizes
from compactctl.clients.format import Format
from compactctl.clients.records.decode import decode, decode_lines, is_cut_off, is_value
from compactctl.clients.records.order import restore_order
from compactctl.clients.registry import ALL_FORMATS, format_named
from compactctl.clients.unsupported import feed_command, join_advice, jq_hint
from compactctl.errors import NoInputError, NotUnderstoodError, UsageError
from compactctl.history.unread import describe_unread
from compactctl.history.usage.counted_twice import without_double_counts
from compactctl.model.json_paths import value_at
from compactctl.model.message import Message
from compactctl.model.tags import METADATA_MARK, read_metadata
from compactctl.model.transcript import RawLine, RecordOrder, SessionLines, Transcript
from compactctl.records import Record, replace
from compactctl.store.archive.names import archive_folder
from compactctl.store.client_folders import this_machine
from compactctl.store.files.filesystem import PRIVATE_FILE
from compactctl.store.files.limits import NO_LIMITS, READ_LIMITS, ReadLimits
from compactctl.store.files.source import STANDARD_STREAM, Source, digest_of, open_input, read_lines


def read_from_database(path: str, limits: ReadLimits) -> bytes:
    """Return a session as one line of JSON. NoInputError if it is missing, locked or too large."""
    import sqlite3

    from compactctl.store.files.modes import note_mode

    note_mode(PRIVATE_FILE)
    try:
        document = export_session(path, this_machine(), limits)
    except sqlite3.Error as error:
        store = database_store(path)
        wait = f"run it again when {store.title} rests"
        advice = {
            sqlite3.SQLITE_BUSY: wait,
            sqlite3.SQLITE_LOCKED: wait,
            sqlite3.SQLITE_TOOBIG: "allow more with --max-line",
        }.get(getattr(error, "sqlite_errorcode", 0), f"name what {store.client} export wrote")
        raise NoInputError(
            f"{path}: {store.title}'s database cannot be read ({error}); {advice}"
        ) from error
    if document is None:
        raise NoInputError(f"{path}: no such session; see compactctl sessions")
    return document


_IN_ORDER = "in-order.jsonl"
# Like tac, which macOS lacks, and which joins two lines if the last one is unterminated.
_REVERSE = "awk '{line[NR] = $0} END {for (n = NR; n; n--) print line[n]}'"
_STANDS = {
    "newest first": "its records are newest first",
    "shuffled": "its records are not in the order in which they were written",
}
# How many sessions are named.
_NAMED = 3


def check_one_session(transcript: Transcript, path: str) -> None:
    """Raise NotUnderstoodError for several sessions in one file, and for records out of order."""
    if transcript.session_lines:
        raise NotUnderstoodError(f"{path}: {_of_several(transcript.session_lines, path)}")
    if transcript.order:
        turned = f"turn it around: {feed_command(_REVERSE, path)} > {_IN_ORDER}"
        reexport = "export it again in that order; compactctl stats measures it as it is"
        what = _STANDS[transcript.order]
        advice = turned if transcript.order == "newest first" else reexport
        raise NotUnderstoodError(f"{path}: {what}; {advice}")


def order_warning(order: RecordOrder) -> str:
    """Return the warning that a session is measured in another order than the file's."""
    return (
        f"{_STANDS[order]}; they are read in the order of their ids and times, and lines are "
        "numbered in it"
    )


def _of_several(sessions: tuple[SessionLines, ...], path: str) -> str:
    """Describe the sessions in a file, and how to split it."""
    labels = ", ".join(
        f"{session.id} from line {session.first + 1}" for session in sessions[:_NAMED]
    )
    more = f" and {len(sessions) - _NAMED} more" if len(sessions) > _NAMED else ""
    several = f"holds {len(sessions)} sessions ({labels}{more})"
    in_turn = all(before.last < after.first for before, after in pairwise(sessions))
    if in_turn:
        starts = " ".join(str(session.first + 1) for session in sessions[1:])
        return f"{several}; split it: {feed_command('csplit -f session-', path, starts)}"
    first_id = sessions[0].id
    chosen = shlex.quote(f'select((.sessionId // .session_id) == "{first_id}")')
    extract = feed_command(f"jq -c {chosen}", path)
    return f"{several}; take each out: {extract} > {shlex.quote(first_id)}.jsonl"


_FIELD = "format"
_RECORDED = re.compile(rb'%b\\*": ?\\*"([a-z-]+:[^"\\]+)' % _FIELD.encode())


def format_field(name: str) -> dict[str, str]:
    """Return the metadata that records a format with a field; a detectable one is not recorded."""
    return {_FIELD: name} if ":" in name else {}


def recorded_format(lines: Iterable[bytes]) -> str | None:
    """Return the format recorded in these lines, None if there is none."""
    for line in lines:
        match = _RECORDED.search(line) if METADATA_MARK.search(line) else None
        if match is not None:
            name = match.group(1).decode(errors="replace")
            try:
                format_named(name)
            except UsageError:
                continue
            return name
    return None


def with_usage_once(transcript: Transcript) -> Transcript:
    """Correct usage that counts cached tokens twice, and add a warning if some did."""
    corrected, growth = without_double_counts(transcript, lambda: _size(transcript.session.model))
    if growth is None:
        return transcript
    warning = (
        f"the reported usage counts cached tokens twice ({growth:.2f} reported for each counted "
        "token), as some proxies write it; each is counted once"
    )
    return replace(corrected, warnings=(*corrected.warnings, warning))


def _size(name: str | None) -> Callable[[Message], float]:
    """Return a function that measures a model's messages, without the user's model table."""
    from compactctl.tokens.counters.selection import best_counter
    from compactctl.tokens.meter import Meter
    from compactctl.tokens.models.lookup import resolve_model
    from compactctl.tokens.overhead import RequestMeter, overhead_for

    model = resolve_model(name)
    counter = best_counter(model)
    return RequestMeter(Meter(counter), overhead_for(model, counter)).total


# Enough of a file to tell what it is if it is not JSON, or a truncated transcript.
HEAD_BYTES = 1 << 18
_OPENINGS = (b"{", b"[")
_CLOSINGS = (b"}", b"]")


_FORMATS = ", ".join(format_.name for format_ in ALL_FORMATS)


class InputOptions(Record):
    """What to read: a file, ``-`` for standard input, or a session in a client's database.

    In ``format``, ``:FIELD`` follows the name for API logs whose messages are in that field. For
    several files, ``path`` is set for each of them by ``at``. ``session`` is the shortest id of the
    session at ``path``, if the user named a session.
    """

    path: str = ""
    session: str | None = None
    format: str | None = ask(
        None,
        f"Read the transcript as this format instead of detecting it ({_FORMATS}).",
        INPUT,
        MAY,
        metavar="NAME",
        check=format_named,
        complete="complete_format",
    )
    limits: ReadLimits = READ_LIMITS
    strict: bool = flag(
        "Exit 4 if a line, or more than 10% of the text, is not recognized.", INPUT, MAY
    )

    @property
    def reference(self) -> str:
        """What the user types to name this input again."""
        return self.path if self.session is None else self.session

    def at(self, path: str) -> "InputOptions":
        """Return these options for one of several files."""
        return replace(self, path=path)


class TranscriptFile(Record):
    """A transcript and the source it was read from."""

    source: Source
    format: Format
    transcript: Transcript

    @property
    def lines(self) -> Sequence[bytes]:
        """The raw lines; a document over several lines is one."""
        return self.source.lines


def load(options: InputOptions) -> TranscriptFile:
    """Read a transcript with its lines. Raises NoInputError, NotUnderstoodError."""
    source = open_transcript(options.path, options.limits)
    return loaded_from(source, options.path, options.format, options.limits)


def _in_order(options: InputOptions) -> Transcript:
    """Read a transcript whose records may stand in another order. Raises as ``load`` does."""
    source = open_transcript(options.path, options.limits)
    lines, chosen = split(source.lines, options.path, options.format, options.limits)
    transcript = parse(lines, chosen)
    order = transcript.order
    if order and not transcript.session_lines:
        raw = (RawLine(index, line) for index, line in enumerate(lines))
        transcript = with_usage_once(chosen.read(restore_order([*decode_lines(raw)], order)))
        warnings = (order_warning(order), *transcript.warnings)
        transcript = replace(transcript, warnings=warnings)
    return _checked(transcript, options.path, _first_lines_if_named(lines, options.format))


def open_transcript(path: str, limits: ReadLimits = READ_LIMITS) -> Source:
    """Open a file, standard input, or a session in a client's database.

    Raises NoInputError, and NotUnderstoodError for damaged compressed data.
    """
    if not is_in_database(path):
        return open_input(path, limits)
    lines = (read_from_database(path, limits),)
    archive, digest = archive_folder(imported_document(path, this_machine())), digest_of(lines)
    return Source(path=None, lines=lines, digest=digest, limits=limits, archive=archive, name=path)


def loaded_from(
    source: Source,
    path: str,
    format_name: str | None = None,
    limits: ReadLimits = NO_LIMITS,
    *,
    is_log: bool = True,
) -> TranscriptFile:
    """Read the transcript in a source that was opened as ``path``. Raises NotUnderstoodError.

    Without ``is_log`` the lines are one conversation, in the order they stand in.
    """
    lines, chosen = split(source.lines, path, format_name, limits)
    chosen = chosen if is_log else chosen.for_list()
    transcript = _checked(parse(lines, chosen), path, _first_lines_if_named(lines, format_name))
    if transcript.format != chosen.name:
        chosen = format_named(transcript.format)
        chosen = chosen if is_log else chosen.for_list()
    return TranscriptFile(source=replace(source, lines=lines), format=chosen, transcript=transcript)


def split(
    lines: Sequence[bytes],
    where: str,
    format_name: str | None,
    limits: ReadLimits = NO_LIMITS,
) -> tuple[Sequence[bytes], Format]:
    """Return the raw lines and the format; a document over several lines is one raw line."""
    document = document_of(lines, where, limits)
    if document is not None:
        lines = (document,)
    elif _are_objects_over_lines(lines):
        raise NotUnderstoodError(
            f"{where}: holds several JSON values, each over several lines; {jq_hint('.', where)}"
        )
    elif _is_start_of_document(lines):
        raise incomplete(_head(lines), where)
    name = format_name or recorded_format(islice(lines, MAX_SNIFFED))
    if name is not None:
        chosen = format_named(name)
    else:
        raw = (RawLine(index, line) for index, line in enumerate(lines))
        chosen = detect(decode_lines(raw), where, _head(lines))
    if document is None and _is_damaged_document(lines):
        raise incomplete(_head(lines), where)
    return lines, chosen


def _are_objects_over_lines(lines: Iterable[bytes]) -> bool:
    """Return whether lines are JSON values one after another, the first with indentation."""
    stripped = (line.rstrip() for line in lines)
    if next(stripped, b"") not in _OPENINGS:
        return False
    solid = (line for line in stripped if line)
    return any(
        line in _CLOSINGS and after.startswith(_OPENINGS) and (len(after) == 1 or is_value(after))
        for line, after in pairwise(solid)
    )


def _is_start_of_document(lines: Sequence[bytes]) -> bool:
    """Return whether lines are a document that ends early, though its last line may be JSON."""
    head = _head(lines)
    if not is_cut_off(head) or is_value(_first_solid(lines)):
        return False
    return len(head) < HEAD_BYTES or is_cut_off(b"".join(lines))


def _is_damaged_document(lines: Sequence[bytes]) -> bool:
    """Return whether lines are elements of a document, some of which may be JSON."""
    first = _first_solid(lines).strip()
    if first in _OPENINGS:
        return any(line.rstrip().endswith(b",") for line in lines)
    return first.endswith(b",") and is_value(first[:-1])


def _first_solid(lines: Iterable[bytes]) -> bytes:
    """Return the first line that is not blank, b"" if all are."""
    return next((line for line in lines if line.strip()), b"")


def document_of(
    lines: Iterable[bytes], where: str = "", limits: ReadLimits = NO_LIMITS
) -> bytes | None:
    """Return the single JSON value that spans these lines, None if each line has its own.

    Raises NoInputError if they begin like a single value and exceed the limit of a line.
    """
    start = list(islice((line for line in lines if line.strip()), 2))
    if len(start) <= 1 or is_value(start[0]):
        return None
    pieces: list[bytes] = []
    size = 0
    for line in lines:
        size += len(line)
        if size > limits.max_line_bytes and start[0].strip() not in _OPENINGS:
            return None
        limits.check_line(size, where, 1)
        pieces.append(line)
    data = b"".join(pieces)
    return data if is_value(data) else None


def parse(lines: Iterable[bytes], chosen: Format) -> Transcript:
    """Read messages from raw lines."""
    raw = (RawLine(index, line) for index, line in enumerate(lines))
    return with_usage_once(chosen.read(decode_lines(raw)))


def is_tagged(lines: Sequence[bytes], where: str) -> bool:
    """Return whether records show that compactctl wrote them. Raises NotUnderstoodError."""
    lines, chosen = split(lines, where, None)
    return is_compacted(lines, parse(lines, chosen))


def is_compacted(lines: Sequence[bytes], transcript: Transcript) -> bool:
    """Return whether records of a transcript show that compactctl wrote them.

    They do by tags, or by any other field of the ``compactctl`` object, such as that of restated
    usage.
    """
    tags = (message.tags for message in transcript.messages)
    if any(t.operation or t.through for t in tags):
        return True
    marked = {
        index: decode(line)[0] for index, line in enumerate(lines) if METADATA_MARK.search(line)
    }
    records = (record for values in marked.values() for record in values)
    elements = (
        value_at(marked[message.line][0], message.record_path)
        for message in transcript.messages
        if message.record_path and marked.get(message.line)
    )
    return any(isinstance(t, Mapping) and read_metadata(t) for t in (*records, *elements))


def scan(options: InputOptions) -> Transcript:
    """Read messages without keeping the file's bytes. Raises as ``load`` does.

    Records out of order are sorted first, with a warning.
    """
    path = options.path
    if path == STANDARD_STREAM or is_in_database(path):
        return _in_order(options)
    lines = read_lines(path, options.limits)
    start = list(islice(lines, MAX_SNIFFED))
    first = list(decode_lines(start))
    solid = next((line for line in first if line.values or line.damage), None)
    if first and (solid is None or solid.damage is not None):
        return _in_order(options)
    name = options.format or recorded_format(line.data for line in start)
    chosen = format_named(name) if name else detect(first, path)
    transcript = with_usage_once(chosen.read(chain(first, decode_lines(lines))))
    return (
        _in_order(options)
        if transcript.order
        else _checked(
            transcript, path, _first_lines_if_named([line.data for line in start], options.format)
        )
    )


def _first_lines_if_named(
    lines: Sequence[bytes], format_name: str | None
) -> Sequence[bytes] | None:
    """Return the first lines if the user named the format, None if it was detected."""
    return None if format_name is None else lines[:MAX_SNIFFED]


def _checked(transcript: Transcript, path: str, asked: Sequence[bytes] | None) -> Transcript:
    """Check that a transcript can be processed. Raises NotUnderstoodError."""
    _check_pieces(transcript, path)
    check_one_session(transcript, path)
    if asked is not None:
        _check_understood(transcript, asked, path)
    if path == STANDARD_STREAM or is_in_database(path):
        return transcript
    warning = format_named(transcript.format).warning_beside(Path(path), transcript)
    return replace(transcript, warnings=(*transcript.warnings, warning)) if warning else transcript


def _check_pieces(transcript: Transcript, where: str) -> None:
    """Raise NotUnderstoodError if lines were truncated: the largest requests would be missing."""
    for opaque in transcript.opaque:
        joining = join_advice(opaque.damage, where)
        if joining is not None:
            raise NotUnderstoodError(f"{where}: line {opaque.line + 1}: {opaque.damage}; {joining}")


def _check_understood(transcript: Transcript, start: Sequence[bytes], where: str) -> None:
    """Raise NotUnderstoodError if no record is of the format that the user named.

    ``start`` holds the first lines.
    """
    if transcript.messages:
        return
    raw = (RawLine(index, line) for index, line in enumerate(start))
    first = next(iter(transcript.opaque), None)
    name = transcript.format
    if first is None and recognizes(format_named(name), decode_lines(raw)):
        return
    why = "" if first is None else f" (line {first.line + 1}: {first.damage})"
    option = "--messages-at" if ":" in name else "--format"
    raise NotUnderstoodError(
        f"{where}: contains no {name}{why}; name another with {option}, or leave it out"
    )


def check_strict(transcript: Transcript, options: InputOptions) -> None:
    """With ``strict``, raise NotUnderstoodError for content that is not understood.

    It names the first such lines, or the fields that hold much text.
    """
    if not options.strict:
        return
    name = Path(options.path).name
    if transcript.opaque:
        shown = ", ".join(f"line {o.line + 1}: {o.damage}" for o in transcript.opaque[:5])
        n_more = len(transcript.opaque) - 5
        more = f" and {n_more} more" if n_more > 0 else ""
        raise NotUnderstoodError(
            f"{name}: {shown}{more}; leave out --strict to keep them unchanged"
        )
    unread = describe_unread(transcript.unread)
    if unread:
        raise NotUnderstoodError(f"{name}: {unread}; leave out --strict to measure the rest")


def _head(lines: Iterable[bytes]) -> bytes:
    """Return the first HEAD_BYTES of a file."""
    head = bytearray()
    for line in lines:
        head += line[:HEAD_BYTES]
        if len(head) >= HEAD_BYTES:
            break
    return bytes(head[:HEAD_BYTES])
