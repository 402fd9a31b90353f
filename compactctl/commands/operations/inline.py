"""Compactions inside a transcript (inline layout): reading them, and removing one group."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from compactctl.clients.records.decode import decode
from compactctl.commands.reading.transcript import parse, split
from compactctl.errors import ChangedError, NotUnderstoodError
from compactctl.model.json_paths import value_at
from compactctl.model.message import Message
from compactctl.model.operation import ID_PATTERN, Digest, OperationId
from compactctl.model.tags import METADATA_MARK, read_metadata
from compactctl.model.transcript import Transcript
from compactctl.pipeline.document_records import array_path, fingerprint, read_records
from compactctl.pipeline.inline import remove_groups
from compactctl.pipeline.quoted_json import escape
from compactctl.pipeline.record_splice import dump
from compactctl.records import Record
from compactctl.store.files.content import ends_mid_line
from compactctl.store.files.source import split_lines

# Every line with a record of an inline compaction matches, so most files need no parsing.
_SEQUENCE_KEY = re.compile(rb'seq\\*":')
# The levels of JSON strings around a record: one of a log driver, and two of a row.
_MAX_DEPTH = 3


class InlineOperation(Record):
    """A compaction inside a transcript: its position in the sequence, and the groups it made.

    ``n_bytes`` and ``sha256`` describe the state before it, ``n_records`` and ``records_sha256``
    the records of a document; ``line`` is the first line it wrote.
    ``parent`` is the compaction in effect before, None if the record does not name it.
    """

    id: OperationId
    seq: int
    groups: tuple[str, ...]
    n_bytes: int
    sha256: str
    line: int
    parent: OperationId | None = None
    n_records: int = 0
    records_sha256: str = ""


def inline_operations(
    lines: Sequence[bytes], transcript: Transcript
) -> tuple[InlineOperation, ...]:
    """Return the compactions inside a transcript, oldest first."""
    records_by_operation: dict[str, list[tuple[Message, Mapping[str, Any]]]] = {}
    values: dict[int, tuple[Any, ...]] = {}
    for message in transcript.messages:
        if (
            message.tags.operation
            and message.tags.hiding_ids
            and re.fullmatch(ID_PATTERN, message.tags.operation)
        ):
            if message.line not in values:
                values[message.line] = decode(lines[message.line])[0]
            metadata = _metadata_of(values[message.line], message)
            records_by_operation.setdefault(message.tags.operation, []).append((message, metadata))
    copied_ids = _copied_ids(transcript)
    operations = (
        _operation_of(name, records, copied_ids) for name, records in records_by_operation.items()
    )
    return tuple(
        sorted(
            (operation for operation in operations if operation.seq),
            key=lambda operation: operation.seq,
        )
    )


def operations_inside(
    lines: Sequence[bytes], where: str, format_name: str | None
) -> tuple[tuple[InlineOperation, ...], str]:
    """Parse a transcript; return the compactions inside it, oldest first, and its format.

    The format may be "" if there are none.
    """
    if not may_hold_operation(lines):
        return (), ""
    lines, chosen_format = split(lines, where, format_name)
    return inline_operations(lines, parse(lines, chosen_format)), chosen_format.name


def may_hold_operation(lines: Iterable[bytes]) -> bool:
    """Return whether lines may hold an inline compaction; cheap, but may be wrong."""
    rest = iter(lines)
    first = next(rest, b"")
    if first.strip() in (b"[", b"{"):
        # A record of a document over several lines may be on several lines, too.
        pieces: Iterable[bytes] = (b"".join((first, *rest)),)
    else:
        pieces = chain((first,), rest)
    return any(may_name_operation(piece) and _SEQUENCE_KEY.search(piece) for piece in pieces)


def may_name_operation(data: bytes) -> bool:
    """Return whether bytes of a transcript may contain a record that names an operation."""
    return METADATA_MARK.search(data) is not None


def named_operations(
    lines: Sequence[bytes], where: str, format_name: str | None
) -> frozenset[OperationId]:
    """Return the operations named by records of a transcript; none if no format recognizes it."""
    try:
        lines, chosen_format = split(lines, where, format_name)
    except NotUnderstoodError:
        return frozenset()
    messages = parse(lines, chosen_format).messages
    return frozenset(
        OperationId(message.tags.operation) for message in messages if message.tags.operation
    )


def missing_archive_text(where: object, operations: Iterable[str]) -> str:
    """Return the error text for a transcript with operations whose archive is missing."""
    names = sorted(operations)
    what = f"operation {names[0]}, whose archive is not here; put it back"
    if len(names) > 1:
        what = f"operations {', '.join(names)}, whose archives are not here; put them back"
    return f"{where}: holds records of {what} beside the transcript"


def inline_fields(
    lines: Sequence[bytes], transcript: Transcript, before: Digest, parent: OperationId | None
) -> dict[str, Any]:
    """Return the metadata for each record of the next inline operation."""
    earlier = inline_operations(lines, transcript)
    sequence = earlier[-1].seq + 1 if earlier else 1
    records = read_records(lines, array_path(lines, transcript))
    digests = records.digests if records else ()
    fields = {"records": len(digests), "recordsSha256": fingerprint(digests)} if digests else {}
    return {**fields, **_state_fields(sequence, parent, before.n_bytes, before.sha256)}


def without_group(
    data: bytes,
    where: str,
    format_name: str | None,
    operations: Sequence[InlineOperation],
    group: str,
) -> tuple[bytes, tuple[OperationId, ...]]:
    """Remove one group; return the transcript and the new ids of the operations that remain.

    ``operations`` are those inside it, oldest first, from the one that made the group. Each of the
    others gets a new id, and records the state before it without the group. Raises ChangedError if
    a client wrote the file anew since.

        operations A (groups a1, a2) and B, removing a1:  A' (a2, same state before), B' (new hash)
    """
    lines, chosen_format = split(split_lines(data), where, format_name)
    transcript = parse(lines, chosen_format)
    restored = remove_groups(lines, transcript, {group})
    parent, new_ids = operations[0].parent, []
    removed_state = b""
    for index, operation in enumerate(operations):
        later = {name for remaining in operations[index:] for name in remaining.groups}
        recorded = b"".join(remove_groups(lines, transcript, later))
        if hashlib.sha256(recorded[: operation.n_bytes]).hexdigest() != operation.sha256:
            raise ChangedError(
                f"{where}: group {group} cannot be restored alone: the file was written anew "
                "since; undo the whole compaction"
            )
        before = b"".join(remove_groups(restored, parse(restored, chosen_format), later))
        before = before[: len(before) - (len(recorded) - operation.n_bytes)]
        if set(operation.groups) == {group}:
            removed_state = before
            continue
        if ends_mid_line(removed_state) and before == removed_state + b"\n":
            # That line end was part of the outcome that is removed.
            before = removed_state
        n_bytes, sha256 = len(before), hashlib.sha256(before).hexdigest()
        new_id = _derive_id(operation, sha256, group)
        old = _fields_text(
            operation.seq, operation.parent, operation.n_bytes, operation.sha256, operation.id
        )
        new = _fields_text(operation.seq, parent, n_bytes, sha256, new_id)
        restored = tuple(_replace_fields(line, old, new) for line in restored)
        parent = new_id
        new_ids.append(new_id)
    return b"".join(restored), tuple(new_ids)


def _state_fields(
    seq: int, parent: OperationId | None, n_bytes: int, sha256: str
) -> dict[str, Any]:
    """Return the metadata of an operation except its id, in the order it is written.

    They end ``LayoutOptions.extra_metadata``, so that ``op`` follows ``sha256`` in a record;
    ``_fields_text`` relies on that to find this part of a line.
    """
    parent_field = {"parent": parent} if parent else {}
    return {"seq": seq, **parent_field, "bytes": n_bytes, "sha256": sha256}


def _fields_text(
    seq: int, parent: OperationId | None, n_bytes: int, sha256: str, operation_id: OperationId
) -> str:
    """Return the part of a record that names its operation and the state before it.

    The order is that of ``_state_fields``, with ``op`` right after, as the layout writes it:

        "seq": 2, "parent": "ab..", "bytes": 900, "sha256": "cd..", "op": "ef.."
    """
    return dump({**_state_fields(seq, parent, n_bytes, sha256), "op": operation_id})[1:-1]


def _replace_fields(line: bytes, old: str, new: str) -> bytes:
    """Replace a part of the records in a line, also in records nested in JSON strings."""
    for depth in range(_MAX_DEPTH + 1):
        line = line.replace(escape(old, depth).encode(), escape(new, depth).encode())
    return line


def _derive_id(operation: InlineOperation, sha256: str, group: str) -> OperationId:
    content = f"regroup\n{operation.id}\n{sha256}\n{group}"
    return OperationId(hashlib.sha256(content.encode()).hexdigest()[:12])


def _metadata_of(values: Iterable[Any], message: Message) -> Mapping[str, Any]:
    """Return the metadata of a message from the values of its line, several if it is damaged."""
    records = (value_at(value, message.record_path) for value in values)
    metadata = (read_metadata(record) for record in records if isinstance(record, Mapping))
    return next((fields for fields in metadata if fields.get("op") == message.tags.operation), {})


def _copied_ids(transcript: Transcript) -> Mapping[str | None, frozenset[str]]:
    """Return, by group of rewrites, the ids that rewritten records have from their originals.

    A client's summary (condenseId=c) was rewritten by g: the summary has editParent=g, and the new
    record editId=g and condenseId=c, which is not a group of the operation.
    """
    ids_by_group: dict[str | None, frozenset[str]] = {}
    for message in transcript.messages:
        group = message.tags.edit_parent
        if group and message.tags.hiding_ids:
            ids_by_group[group] = ids_by_group.get(group, frozenset()) | {*message.tags.hiding_ids}
    return ids_by_group


def _operation_of(
    operation_id: str,
    records: list[tuple[Message, Mapping[str, Any]]],
    copied_ids: Mapping[str | None, frozenset[str]],
) -> InlineOperation:
    metadata = records[0][1]
    groups = dict.fromkeys(
        group
        for message, _ in records
        for group in message.tags.hiding_ids
        if group not in copied_ids.get(message.tags.edit_id, ())
    )
    parent = metadata.get("parent")
    return InlineOperation(
        id=OperationId(operation_id),
        seq=_positive_or_zero(metadata.get("seq")),
        groups=tuple(groups),
        n_bytes=_positive_or_zero(metadata.get("bytes")),
        sha256=str(metadata.get("sha256", "")),
        n_records=_positive_or_zero(metadata.get("records")),
        records_sha256=str(metadata.get("recordsSha256", "")),
        line=min(message.line for message, _ in records),
        parent=OperationId(parent)
        if isinstance(parent, str) and re.fullmatch(ID_PATTERN, parent)
        else None,
    )


def _positive_or_zero(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
