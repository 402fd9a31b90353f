"""The compactions in effect behind a transcript."""

from compactctl.model.operation import Operation
from compactctl.store.history import Archive


def chain_of(archive: Archive, data: bytes) -> tuple[Operation, ...]:
    """Return the compactions in effect, oldest first; () when there is none.

    Raises ChangedError when the transcript is in no state the archive knows.
    """
    current, _ = archive.current(data)
    by_id = {operation.id: operation for operation in archive.operations}
    chain: list[Operation] = []
    head = current.head if current else None
    while head is not None and head in by_id:
        chain.append(by_id[head])
        head = by_id[head].parent
    return tuple(reversed(chain))
