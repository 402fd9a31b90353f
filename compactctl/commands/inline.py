"""Rewinds a transcript that carries its own originals (inline layout)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compactctl.commands.reading import parse, split
from compactctl.errors import IntegrityError, UsageError
from compactctl.formats.decode import decode
from compactctl.formats.format import Format
from compactctl.model.message import Message
from compactctl.model.operation import Digest
from compactctl.model.tags import OWN_KEY
from compactctl.model.transcript import Transcript
from compactctl.pipeline.inline import take_back


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineOperation:
    """A compaction inside a transcript: its place in the sequence, its groups, and what it kept.

    ``n_bytes`` and ``sha256`` are those of the state before it.
    """

    id: str
    seq: int
    groups: tuple[str, ...]
    n_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineRewound:
    """The state restored from an inline transcript, and what that undid."""

    data: bytes
    undone: tuple[str, ...]
    in_effect: tuple[str, ...]
    carried: int


def inline_operations(
    lines: tuple[bytes, ...], transcript: Transcript
) -> tuple[InlineOperation, ...]:
    """Return the compactions that an inline transcript carries, oldest first."""
    found: dict[str, list[tuple[Message, Mapping[str, Any]]]] = {}
    values: dict[int, Any] = {}
    for message in transcript.messages:
        if message.tags.operation and message.tags.ids:
            if message.line not in values:
                values[message.line] = decode(lines[message.line])[0][0]
            own = _own(values[message.line], message)
            found.setdefault(message.tags.operation, []).append((message, own))
    operations = (_operation(name, records) for name, records in found.items())
    return tuple(sorted((o for o in operations if o.seq), key=lambda each: each.seq))


def inline_compactions(data: bytes, path: str) -> tuple[InlineOperation, ...]:
    """Return the compactions that the transcript ``data`` carries, oldest first."""
    lines, chosen = split(data, path, None)
    return inline_operations(lines, parse(lines, chosen))


def own_fields(lines: tuple[bytes, ...], transcript: Transcript, before: Digest) -> dict[str, Any]:
    """Return what every record that the next inline operation writes says about it."""
    earlier = inline_operations(lines, transcript)
    sequence = earlier[-1].seq + 1 if earlier else 1
    return {"seq": sequence, "bytes": before.n_bytes, "sha256": before.sha256}


def rewind_inline(
    data: bytes, path: str, *, group: str | None, everything: bool
) -> InlineRewound | None:
    """Undo the newest compaction, all of them, or one group; None when there is none.

    Raises IntegrityError when the bytes are not those recorded, UsageError for an unknown group.
    """
    lines, chosen = split(data, path, None)
    operations = inline_operations(lines, parse(lines, chosen))
    if not operations:
        return None
    if group is not None:
        return _without_group(lines, chosen, operations, group)
    kept = () if everything else operations[:-1]
    carried = 0
    for operation in reversed(operations[len(kept) :]):
        lines = take_back(lines, parse(lines, chosen), operation.groups)
        carried = _check(b"".join(lines), operation, path)
    return InlineRewound(
        data=b"".join(lines),
        undone=tuple(each.id for each in reversed(operations[len(kept) :])),
        in_effect=tuple(each.id for each in kept),
        carried=carried,
    )


def _without_group(
    lines: tuple[bytes, ...], chosen: Format, operations: tuple[InlineOperation, ...], group: str
) -> InlineRewound:
    names = [name for each in operations for name in each.groups]
    if group not in names:
        raise UsageError(f"no group is named {group!r}; there are {', '.join(names)}")
    restored = b"".join(_renewed(lines, chosen, operations, group))
    left = tuple(each.id for each in operations if set(each.groups) - {group})
    undone = tuple(each.id for each in operations if each.id not in left)
    return InlineRewound(data=restored, undone=undone, in_effect=left, carried=0)


def _renewed(
    lines: tuple[bytes, ...], chosen: Format, operations: tuple[InlineOperation, ...], group: str
) -> tuple[bytes, ...]:
    """Take a group back; later operations then record the state before them without it."""
    at = next(n for n, operation in enumerate(operations) if group in operation.groups)
    transcript = parse(lines, chosen)
    restored = take_back(lines, transcript, {group})
    for number, operation in enumerate(operations[at + 1 :], at + 1):
        groups = {name for each in operations[number:] for name in each.groups}
        recorded = b"".join(take_back(lines, transcript, groups))
        before = b"".join(take_back(restored, parse(restored, chosen), groups))
        n_bytes = len(before) - (len(recorded) - operation.n_bytes)
        sha256 = hashlib.sha256(before[:n_bytes]).hexdigest()
        old, new = _state(operation.n_bytes, operation.sha256), _state(n_bytes, sha256)
        restored = tuple(line.replace(old, new) for line in restored)
    return restored


def _state(n_bytes: int, sha256: str) -> bytes:
    """Return a state as the records of the operation after it say it."""
    return f'"bytes":{n_bytes},"sha256":"{sha256}"'.encode()


def _check(data: bytes, operation: InlineOperation, path: str) -> int:
    """Prove the restored state and return how many bytes were appended to it since."""
    if hashlib.sha256(data[: operation.n_bytes]).hexdigest() != operation.sha256:
        raise IntegrityError(
            f"{path}: taking back operation {operation.id} does not give the recorded bytes; the "
            "file was edited since, restore it from a backup or take groups back one by one"
        )
    return len(data) - operation.n_bytes


def _own(value: Any, message: Message) -> Mapping[str, Any]:  # noqa: ANN401 - JSON is any value
    for step in message.element:
        value = value[step]
    own = value.get(OWN_KEY)
    return own if isinstance(own, Mapping) else {}


def _operation(name: str, records: list[tuple[Message, Mapping[str, Any]]]) -> InlineOperation:
    own = records[0][1]
    names = dict.fromkeys(g for message, _ in records for g in message.tags.ids)
    return InlineOperation(
        id=name,
        seq=_number(own.get("seq")),
        groups=tuple(names),
        n_bytes=_number(own.get("bytes")),
        sha256=str(own.get("sha256", "")),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
