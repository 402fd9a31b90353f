"""The operation that records a rewind, so that it can be undone as well."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from compactctl import __version__
from compactctl.commands.operations.steps import OperationStep
from compactctl.model.operation import Digest, Operation, OperationId


def rewind_operation(
    before: Digest,
    after: Digest,
    chain: Sequence[OperationStep],
    head: OperationId | None,
    appended_as: OperationId | None = None,
) -> Operation:
    """Return the operation that records a rewind from ``chain``; ``head`` is in effect then.

    ``appended_as`` is its id where records that were appended are marked with it.
    """
    content = f"rewind\n{before.sha256}\n{after.sha256}\n{head}"
    return Operation(
        id=appended_as or OperationId(hashlib.sha256(content.encode()).hexdigest()[:12]),
        parent=chain[-1].id if chain else None,
        head=head,
        kind="rewind",
        before=before,
        after=after,
        format=chain[-1].format if chain else "",
        counter=chain[-1].counter if chain else "",
        appended=appended_as is not None,
        tool_version=__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
