"""A transcript that its client wrote anew after it was compacted, so that no digest fits it."""

import hashlib
from collections import Counter

from compactctl.commands.loading.load import loaded_from, parse
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.errors import NotUnderstoodError
from compactctl.formats.registry import format_named
from compactctl.model.message import Message
from compactctl.store.files.lines import Source, digest_of
from compactctl.tokens.meter import part_texts


def newest_compaction(history: OperationHistory) -> ArchivedStep | None:
    """Return the newest archived operation that took anything out, None without one."""
    made = [step for step in history.archived if step.operation.kind != "rewind"]
    return made[-1] if made else None


def is_written_anew(source: Source, path: str, step: ArchivedStep) -> bool:
    """Tell whether everything that an operation left as it was is still in a transcript.

    A message counts as left where a record of its id is there, or one that says the same: clients
    give ids to records of older versions, and order the fields of others anew. What goes on behind
    the very bytes that the operation left or found was not written anew.
    """
    states = (step.operation.before, step.operation.after)
    if any(digest_of(source.data[: state.n_bytes]) == state for state in states):
        return False
    rows = tuple(step.rows())
    kept = {row for row, line in enumerate(rows) if line.fate == "kept"}
    before = parse((line.raw for line in rows), format_named(step.format))
    try:
        now = loaded_from(source, path, step.format).transcript
    except NotUnderstoodError:
        return False
    ids = {message.id for message in now.messages}
    said = Counter(_content(message) for message in now.messages)
    left = [message for message in before.messages if message.line in kept]
    gone = Counter(_content(message) for message in left if message.id not in ids)
    return bool(left) and gone <= said


def _content(message: Message) -> bytes:
    digest = hashlib.sha256(message.role.encode())
    for part in message.parts:
        for text in part_texts(part):
            digest.update(text.encode("utf-8", "surrogatepass"))
            digest.update(b"\0")
    return digest.digest()
