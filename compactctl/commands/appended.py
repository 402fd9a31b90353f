"""What was appended to a transcript after an operation; a rewind keeps it."""

from collections.abc import Sequence
from itertools import pairwise

from compactctl.errors import ChangedError
from compactctl.model.operation import Operation
from compactctl.store.history import Archive, can_carry
from compactctl.store.lines import digest_of


def appended(
    archive: Archive, operation: Operation, data: bytes, chain: Sequence[Operation]
) -> bytes:
    """Return what was appended since ``operation``, which is in effect, in the order it came."""
    later = list(chain[chain.index(operation) :])
    pieces = [
        archive.undo(following.id)[earlier.after.n_bytes :]
        for earlier, following in pairwise(later)
    ]
    return b"".join((*pieces, data[later[-1].after.n_bytes :]))


def appended_since(archive: Archive, operation: Operation, data: bytes) -> bytes:
    """Return what was appended after an operation that is no longer in effect."""
    current, suffix = archive.current(data)
    operations = list(archive.operations)
    # The same step may have been taken before, even within the second that is recorded.
    last = max((i for i, each in enumerate(operations) if each == current), default=-1)
    last = len(operations) - 1 if last < 0 else last
    first = max(i for i in range(last + 1) if operations[i].id == operation.id)
    pieces: list[bytes] = []
    for earlier, following in pairwise(operations[first : last + 1]):
        before = archive.undo(following.id)
        if digest_of(before[: earlier.after.n_bytes]).sha256 != earlier.after.sha256:
            return suffix
        pieces.append(before[earlier.after.n_bytes :])
    return b"".join((*pieces, suffix))


def require_carried(state: bytes, carry: bytes) -> None:
    """Raise ChangedError when ``carry`` would grow into the last line of ``state``."""
    if not can_carry(state, carry):
        raise ChangedError(
            "the restored state ends in an unterminated line, which the lines appended since would "
            "run into; take them out of the transcript first, or restore with -o"
        )
