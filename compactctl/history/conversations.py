"""The conversations in a history: one as a rule, many in a file of dialogs."""

from collections import defaultdict
from collections.abc import Sequence

from compactctl.model.message import Message


def conversations_of(messages: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    """Split an effective history into its conversations, in order."""
    found: dict[int, list[Message]] = defaultdict(list)
    for message in messages:
        found[message.conversation].append(message)
    return tuple(tuple(found[number]) for number in sorted(found))
