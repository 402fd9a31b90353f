"""Calls and results without their other half."""

from collections import Counter

from compactctl.history.pairs import find_orphans
from compactctl.model.message import Message


def parted(messages: tuple[Message, ...]) -> Counter[str]:
    """Count the calls without a result and the results without a call.

    Where a format has no call ids, those derived may change.
    """
    return Counter(orphan.kind for orphan in find_orphans(messages))
