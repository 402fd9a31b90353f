"""What a run that was killed has left of what it was about to append."""

from compactctl.commands.operations.history import OperationHistory
from compactctl.formats.records.decode import decode
from compactctl.model.appended import MARK, appended_by
from compactctl.store.files.lines import digest_of, split_lines


def operation_behind(line: bytes) -> str | None:
    """Return the operation that appended a line, None for any other line."""
    if MARK not in line:
        return None
    values, _ = decode(line)
    return appended_by(values[0]) if values and isinstance(values[0], dict) else None


def finished_part(history: OperationHistory) -> bytes | None:
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
    *whole, last = (operation_behind(line) == newest.id for line in rest)
    is_torn = not rest[-1].endswith(b"\n")
    return before if all(whole) and (last or (is_torn and whole)) else None
