"""The archive of one operation: the operation, and every line of the state before it.

Restoring needs the columns ``raw``, ``sha256`` and ``seq`` and parses no line. With the other
columns any Parquet reader can tell what was hidden, by which stage, and how large it was.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from compactctl.errors import ArchiveError, IntegrityError, LargeArchiveError
from compactctl.model.operation import ArchivedLine, Digest, LineFate, Operation
from compactctl.store.archive.operation_codec import decode_operation, encode_operation
from compactctl.store.archive.parquet import (
    COLUMNS,
    GROUP_BYTES,
    ParquetRow,
    RowLimits,
    Sink,
    read_metadata,
    read_parquet,
    write_parquet,
)
from compactctl.store.files.limits import NO_LIMITS, ReadLimits

OPERATION = "compactctl.operation"
CHECKSUM = "compactctl.operation.sha256"
NUMBER = "compactctl.number"
BLOCK = "compactctl.block"
GROUP_ROWS = 1 << 16
TEXT_BYTES = 16 << 20
_LINE_TEXT = 1 << 10
_STATE_TEXT = 8
"""The limit for the columns beside ``raw``: this many bytes, plus this many per line, plus this
many times both states. They describe the lines and hold their replacements, in real archives a
tenth of the state before. JSON escapes enlarge a text at most threefold."""
FATES = frozenset(get_args(LineFate))
LINE_COLUMNS = ArchivedLine.__struct_fields__


def encode_archive(
    operation: Operation,
    rows: Iterable[ArchivedLine],
    out: Sink,
    number: int = 0,
    block: bytes = b"",
) -> None:
    """Write the archive of ``operation`` to ``out``; ``rows`` are all lines of its before state.

    ``number`` is its number in its folder, 0 outside of one. ``block`` are the first bytes of what
    the operation appends.
    """
    record = encode_operation(operation)
    checksum = hashlib.sha256(record).hexdigest().encode("ascii")
    own_number = {NUMBER: str(number).encode("ascii")} if number else {}
    own_number |= {BLOCK: block.hex().encode("ascii")} if block else {}
    write_parquet(out, _groups(rows), {OPERATION: record, CHECKSUM: checksum, **own_number})


def read_operation(path: Path, limits: ReadLimits = NO_LIMITS) -> Operation:
    """Read the operation of an archive; raises as ``read_numbered`` does."""
    return read_numbered(path, limits)[1]


def read_numbered(path: Path, limits: ReadLimits = NO_LIMITS) -> tuple[int, Operation]:
    """Read the number and the operation of an archive from its metadata alone.

    The number is 0 in archives of version 0.1.0.

    Raises ArchiveError if the file is missing, unreadable, of an unknown version or restores a
    state larger than ``limits``, and IntegrityError if the operation is damaged.
    """
    metadata = read_metadata(path)
    record = metadata.get(OPERATION.encode())
    if record is None:
        raise ArchiveError(f"{path}: is not an archive of compactctl; move it out of the folder")
    if metadata.get(CHECKSUM.encode()) != hashlib.sha256(record).hexdigest().encode("ascii"):
        raise IntegrityError(f"{path}: its operation is damaged; restore the file from a backup")
    operation = decode_operation(record, str(path))
    _check_state(path, operation.before, limits)
    number = metadata.get(NUMBER.encode(), b"0")
    return int(number) if number.isdigit() else 0, operation


def read_block(path: Path) -> bytes:
    """Return the first bytes of what an operation appends; empty if its archive does not tell."""
    with suppress(ValueError):
        return bytes.fromhex(read_metadata(path).get(BLOCK.encode(), b"").decode("ascii"))
    return b""


def read_rows(
    path: Path, columns: Sequence[str] = tuple(COLUMNS), limits: ReadLimits = NO_LIMITS
) -> Iterator[ParquetRow]:
    """Yield the rows as dicts of these columns, by default all, without checking digests.

    Raises IntegrityError if there are more rows or bytes than the operation says, and
    LargeArchiveError if they exceed ``limits``.
    """
    operation = read_operation(path, limits)
    states = operation.before.n_bytes + operation.after.n_bytes
    text = TEXT_BYTES + _LINE_TEXT * operation.before.n_lines + _STATE_TEXT * states
    for rows in read_parquet(
        path, columns, RowLimits(state=operation.before, text=text, limits=limits)
    ):
        yield from rows


def archived_lines(path: Path, limits: ReadLimits = NO_LIMITS) -> Iterator[ArchivedLine]:
    """Yield the archived lines in order, each checked against its digest."""
    for row in _checked_rows(path, tuple(COLUMNS), limits):
        if row["fate"] not in FATES or (row["after_line"] or 0) < 0:
            raise _damaged(path, row["seq"])
        yield ArchivedLine(**{name: row[name] for name in LINE_COLUMNS})


def raw_lines(path: Path, limits: ReadLimits = NO_LIMITS) -> Iterator[bytes]:
    """Yield the raw lines of the state before; IntegrityError at the first damaged one.

    Only after the last one is the state as a whole verified: a missing line shows at the end.
    """
    expected = read_operation(path).before
    digest = hashlib.sha256()
    for row in _checked_rows(path, ("seq", "raw", "sha256"), limits):
        digest.update(row["raw"])
        yield row["raw"]
    if digest.hexdigest() != expected.sha256:
        raise IntegrityError(
            f"{path}: archive damaged; it does not restore the original; use a backup"
        )


def restore(path: Path, limits: ReadLimits = NO_LIMITS) -> bytes:
    """Return the state before the operation, verified by its digest."""
    return b"".join(raw_lines(path, limits))


def _groups(rows: Iterable[ArchivedLine]) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of each row group."""
    group: list[ArchivedLine] = []
    seq = size = 0
    for line in rows:
        if group and (size + len(line.raw) > GROUP_BYTES or len(group) == GROUP_ROWS):
            yield _columns(seq, group)
            seq, group, size = seq + len(group), [], 0
        group.append(line)
        size += len(line.raw)
    if group:
        yield _columns(seq, group)


def _columns(seq: int, group: Sequence[ArchivedLine]) -> dict[str, list[Any]]:
    return {
        "seq": list(range(seq, seq + len(group))),
        "sha256": [_sha256(line.raw) for line in group],
        **{name: [_storable(getattr(line, name)) for line in group] for name in LINE_COLUMNS},
    }


def _storable(value: bytes | str | int | None) -> bytes | str | int | None:
    """Escape lone surrogates, which JSON can express and UTF-8 cannot."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _check_state(path: Path, state: Digest, limits: ReadLimits) -> None:
    if state.n_bytes > limits.max_bytes or state.n_lines > limits.max_lines:
        raise LargeArchiveError(
            f"{path}: leads back to {state.n_bytes:,} bytes in {state.n_lines:,} lines, which "
            "is more than is read; allow more with --max-unpacked if you trust it"
        )


def _checked_rows(path: Path, columns: Sequence[str], limits: ReadLimits) -> Iterator[ParquetRow]:
    for seq, row in enumerate(read_rows(path, columns, limits)):
        raw = row["raw"]
        if row["seq"] != seq or raw is None or _sha256(raw) != row["sha256"]:
            raise _damaged(path, seq)
        yield row


def _damaged(path: Path, seq: int) -> IntegrityError:
    return IntegrityError(f"{path}: row {seq + 1} is damaged; restore the file from a backup")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
