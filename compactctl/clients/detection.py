"""The detection of a file's format."""

import codecs
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from compactctl.clients.apis.api_format import Ambiguous, ApiFormat, ApiLog
from compactctl.clients.format import Format
from compactctl.clients.records.decode import Decoded, complete_value
from compactctl.clients.registry import ALL_FORMATS, ANY_DIALECT, format_names
from compactctl.clients.unsupported import (
    describe_chunks,
    describe_file,
    describe_non_json,
    describe_records,
    docker_advice,
    guess_messages_field,
    join_advice,
    prefix_advice,
)
from compactctl.errors import NotATranscriptError, NotUnderstoodError
from compactctl.model.json_parser import TOO_DEEP

_JSON_TYPES = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
}

_UTF_16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Enough to get past leading metadata records, and few enough to answer at once.
MAX_SNIFFED = 50


def recognizes(candidate: Format, lines: Iterable[Decoded]) -> bool:
    """Whether a format recognizes the records on some lines; True if there are no records."""
    records = _objects([value for line in lines for value in line.values])
    return not records or candidate.sniff(records)


def detect(lines: Iterable[Decoded], where: str, head: bytes = b"") -> Format:
    """Return the first format that recognizes the first records.

    ``head`` is the start of the file, from which the error describes a file that is not JSON.

    Raises:
        NotATranscriptError: no format fits.
        NotUnderstoodError: the file is of an unsupported format, or was truncated or overwritten.
    """
    lines = iter(lines)
    first_line = [line for line in islice(lines, 1) if line.values or line.damage]
    pieces: list[Decoded] = []
    lines = _collect_pieces(chain(first_line, lines), pieces)
    first_values = list(islice((value for line in lines for value in line.values), MAX_SNIFFED))
    records = _objects(first_values)
    foreign = (
        describe_file(head, where) or describe_records(records) or describe_chunks(first_values)
    )
    if foreign is not None:
        advice = foreign.hint(where) or f"--format forces one of {format_names()}"
        raise NotUnderstoodError(f"{where}: {foreign.description}; {advice}")
    match = _match_format(first_values)
    if isinstance(match, Ambiguous):
        raise NotUnderstoodError(f"{where}: {match.description}")
    if match is not None:
        return match
    for line in pieces:
        joining = join_advice(line.damage, where)
        advice = joining or "take that value out, or name another file"
        raise NotUnderstoodError(f"{where}: line {line.index + 1}: {line.damage}; {advice}")
    problem = None if first_values else prefix_advice(head, where) or docker_advice(head, where)
    if problem is not None:
        raise NotUnderstoodError(f"{where}: {problem}")
    whole = (line.values[0] for line in first_line if not line.damage)
    if not any(isinstance(value, Mapping | list) for value in whole):
        _check_not_truncated(head, where)
    if not first_values:
        raise NotATranscriptError(f"{where}: {describe_non_json(head, where)}")
    if all(value in ([], {}) for value in first_values):
        raise NotATranscriptError(f"{where}: contains no messages, only empty JSON")
    content = _describe_content(first_values, records)
    field = next(filter(None, map(guess_messages_field, records[:1])), None)
    if field is not None:
        advice = f"messages seem to stand at {field}: --messages-at {shlex.quote(field)}"
    else:
        advice = f"name one with --format ({format_names()})"
    raise NotATranscriptError(f"{where}: {content}; {advice}")


def _collect_pieces(lines: Iterable[Decoded], pieces: list[Decoded]) -> Iterator[Decoded]:
    """Yield lines; add the first one that is a piece of a cut line or too deep to ``pieces``."""
    for line in lines:
        if not pieces and (line.damage == TOO_DEEP or join_advice(line.damage, "") is not None):
            pieces.append(line)
        yield line


def _match_format(values: Sequence[Any]) -> Format | Ambiguous | None:
    """Return the first format that recognizes these values; all dialects are tried together."""
    records = _objects(values)
    # A stray array among records is damage; the file is not one of arrays.
    is_array = not any(isinstance(value, Mapping) for value in values)
    for candidate in ALL_FORMATS:
        if isinstance(candidate, ApiFormat | ApiLog):
            continue
        if (candidate.reads_arrays or not is_array) and candidate.sniff(records):
            return candidate
    return ANY_DIALECT.classify(_objects(values, deep=True))


def _check_not_truncated(head: bytes, where: str) -> None:
    """Raise NotUnderstoodError if a file starts with JSON that was truncated or overwritten."""
    if b"\0" in head and not head.startswith(_UTF_16_BOMS):
        raise NotUnderstoodError(
            f"{where}: contains NUL bytes: damaged, or not text; if it is a transcript, name its "
            f"format with --format ({format_names()})"
        )
    if complete_value(head):
        raise incomplete(head, where)


def incomplete(head: bytes, where: str) -> NotUnderstoodError:
    """Return the error for a file that starts with ``head`` and is not whole."""
    value = complete_value(head)
    match = _match_format([value]) if value else None
    begins = f"begins as {match.name} and " if isinstance(match, Format) else ""
    return NotUnderstoodError(
        f"{where}: {begins}is incomplete JSON, cut off or overwritten; restore it from a backup"
    )


def _objects(values: Sequence[Any], *, deep: bool = False) -> list[Mapping[str, Any]]:
    """Return the objects among values and in arrays; with ``deep`` also in arrays of arrays."""
    items = (item for value in values for item in (value if isinstance(value, list) else [value]))
    if deep:
        items = (
            item for value in items for item in (value if isinstance(value, list) else [value])
        )
    return list(islice((item for item in items if isinstance(item, Mapping)), MAX_SNIFFED))


def _describe_content(values: list[Any], records: list[Mapping[str, Any]]) -> str:
    if not records:
        return f"its lines are JSON of type {_JSON_TYPES[type(values[0])]}, not records"
    keys = ", ".join(sorted(map(str, records[0]))[:6]) or "no keys"
    return f"no known transcript format fits (first record has: {keys})"
