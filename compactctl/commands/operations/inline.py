"""Compactions inside a transcript (inline layout): which it carries, and how one group goes."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.commands.reading.transcript import parse, split
from compactctl.errors import NotUnderstoodError
from compactctl.formats.records.decode import decode
from compactctl.model.json_paths import value_at
from compactctl.model.message import Message
from compactctl.model.operation import Digest, OperationId
from compactctl.model.tags import METADATA_MARK, read_metadata
from compactctl.model.transcript import Transcript
from compactctl.pipeline.inline import remove_groups
from compactctl.pipeline.quoted_json import escape
from compactctl.pipeline.record_splice import dump
from compactctl.store.archive.names import ID_PATTERN
from compactctl.store.files.content import ends_mid_line
from compactctl.store.files.source import split_lines

# What a line with a record of such a compaction has in it; most files need no parsing to tell.
_SEQUENCE = re.compile(rb'seq\\*":')
# Texts around a record that is written: one of a log driver, and two of a row.
_MAX_DEPTH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineOperation:
    """A compaction inside a transcript: its place in the sequence, its groups, and what it kept.

    ``n_bytes`` and ``sha256`` are those of the state before it, ``line`` the first line that it
    wrote. ``parent`` is the compaction in effect before, None when the record does not say.
    """

    id: OperationId
    seq: int
    groups: tuple[str, ...]
    n_bytes: int
    sha256: str
    line: int
    parent: OperationId | None = None


def inline_operations(
    lines: Sequence[bytes], transcript: Transcript
) -> tuple[InlineOperation, ...]:
    """Return the compactions that an inline transcript carries, oldest first."""
    found: dict[str, list[tuple[Message, Mapping[str, Any]]]] = {}
    values: dict[int, Any] = {}
    for message in transcript.messages:
        if (
            message.tags.operation
            and message.tags.hiding_ids
            and ID_PATTERN.fullmatch(message.tags.operation)
        ):
            if message.line not in values:
                values[message.line] = decode(lines[message.line])[0][0]
            own = _own(values[message.line], message)
            found.setdefault(message.tags.operation, []).append((message, own))
    operations = (_operation(name, records) for name, records in found.items())
    return tuple(sorted((o for o in operations if o.seq), key=lambda each: each.seq))


def operations_inside(
    lines: Sequence[bytes], where: str, format_name: str | None
) -> tuple[tuple[InlineOperation, ...], str]:
    """Return the compactions that a transcript carries, oldest first, and its format.

    The format may be empty where there are none.
    """
    if not any(map(may_hold_operation, lines)):
        return (), ""
    lines, chosen = split(lines, where, format_name)
    return inline_operations(lines, parse(lines, chosen)), chosen.name


def may_hold_operation(line: bytes) -> bool:
    """Tell whether it is worth looking for a compaction inside a transcript with this line."""
    return may_name_operation(line) and _SEQUENCE.search(line) is not None


def may_name_operation(data: bytes) -> bool:
    """Tell whether some bytes of a transcript may hold a record that names an operation."""
    return METADATA_MARK.search(data) is not None


def named_operations(
    lines: Sequence[bytes], where: str, format_name: str | None
) -> frozenset[OperationId]:
    """Return the operations that records of a transcript name; none where no format fits it."""
    try:
        lines, chosen = split(lines, where, format_name)
    except NotUnderstoodError:
        return frozenset()
    messages = parse(lines, chosen).messages
    return frozenset(OperationId(m.tags.operation) for m in messages if m.tags.operation)


def missing_archive_text(where: object, operations: Iterable[str]) -> str:
    """Return what is wrong with a transcript that names operations which nothing can undo."""
    what = ", ".join(sorted(operations))
    return (
        f"{where}: holds records of operation {what}, whose archive is not here; "
        "put it back beside the transcript"
    )


def inline_fields(
    lines: Sequence[bytes], transcript: Transcript, before: Digest, parent: OperationId | None
) -> dict[str, Any]:
    """Return what every record that the next inline operation writes says about it."""
    earlier = inline_operations(lines, transcript)
    sequence = earlier[-1].seq + 1 if earlier else 1
    return _fields(sequence, parent, before.n_bytes, before.sha256)


def without_group(
    data: bytes,
    where: str,
    format_name: str | None,
    operations: Sequence[InlineOperation],
    group: str,
) -> tuple[bytes, tuple[OperationId, ...]]:
    """Return a transcript without one group, and the operations that take the place of these.

    ``operations`` are, oldest first, those that it carries from the one that made the group on.
    What is left of each has another id, and records the state before it without the group.
    """
    lines, chosen = split(split_lines(data), where, format_name)
    transcript = parse(lines, chosen)
    restored = remove_groups(lines, transcript, {group})
    parent, renewed = operations[0].parent, []
    gone = b""
    for number, operation in enumerate(operations):
        later = {name for each in operations[number:] for name in each.groups}
        recorded = b"".join(remove_groups(lines, transcript, later))
        before = b"".join(remove_groups(restored, parse(restored, chosen), later))
        before = before[: len(before) - (len(recorded) - operation.n_bytes)]
        if set(operation.groups) == {group}:
            gone = before
            continue
        if ends_mid_line(gone) and before == gone + b"\n":
            # That line end was part of the outcome that is not there any more.
            before = gone
        n_bytes, sha256 = len(before), hashlib.sha256(before).hexdigest()
        name = _renewed_id(operation, sha256, group)
        old = _as_written(
            operation.seq, operation.parent, operation.n_bytes, operation.sha256, operation.id
        )
        new = _as_written(operation.seq, parent, n_bytes, sha256, name)
        restored = tuple(_with_replaced(line, old, new) for line in restored)
        parent = name
        renewed.append(name)
    return b"".join(restored), tuple(renewed)


def _fields(seq: int, parent: OperationId | None, n_bytes: int, sha256: str) -> dict[str, Any]:
    """Return what the records of an operation say beside its id, in the order they are written.

    They end what a compaction puts into ``LayoutStyle.own``, so that ``op`` follows ``sha256`` in a
    record. ``_as_written`` finds the part of a line by that.
    """
    above = {"parent": parent} if parent else {}
    return {"seq": seq, **above, "bytes": n_bytes, "sha256": sha256}


def _as_written(
    seq: int, parent: OperationId | None, n_bytes: int, sha256: str, name: OperationId
) -> str:
    """Return the part of a record that names its operation and the state before it.

    These stand in the order of ``_fields``, with ``op`` right behind, as the layout writes it.
    """
    return dump({**_fields(seq, parent, n_bytes, sha256), "op": name})[1:-1]


def _with_replaced(line: bytes, old: str, new: str) -> bytes:
    """Return a line with another part of its records, also of those inside texts."""
    for depth in range(_MAX_DEPTH + 1):
        line = line.replace(escape(old, depth).encode(), escape(new, depth).encode())
    return line


def _renewed_id(operation: InlineOperation, sha256: str, group: str) -> OperationId:
    content = f"regroup\n{operation.id}\n{sha256}\n{group}"
    return OperationId(hashlib.sha256(content.encode()).hexdigest()[:12])


def _own(value: object, message: Message) -> Mapping[str, Any]:
    return read_metadata(value_at(value, message.record_path))


def _operation(name: str, records: list[tuple[Message, Mapping[str, Any]]]) -> InlineOperation:
    own = records[0][1]
    names = dict.fromkeys(g for message, _ in records for g in message.tags.hiding_ids)
    parent = own.get("parent")
    return InlineOperation(
        id=OperationId(name),
        seq=_number(own.get("seq")),
        groups=tuple(names),
        n_bytes=_number(own.get("bytes")),
        sha256=str(own.get("sha256", "")),
        line=min(message.line for message, _ in records),
        parent=OperationId(parent)
        if isinstance(parent, str) and ID_PATTERN.fullmatch(parent)
        else None,
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
