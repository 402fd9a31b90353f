"""What was reported of a context that the client has cleared content of since."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from compactctl.model.message import Message, ReportedUsage


@dataclass(frozen=True, slots=True)
class NewestReport:
    """The newest usage in a conversation, with the response and the line that it stands on."""

    usage: ReportedUsage
    response_id: str
    line: int
    time: float | None


def newest_report(messages: Sequence[Message]) -> NewestReport | None:
    """Return the newest usage of a request; None where nothing was reported."""
    for message in reversed(messages):
        usage, name = message.usage, message.response_id
        if usage is not None and usage.context > 0 and name is not None:
            return NewestReport(usage, name, message.line, message.time)
    return None


def without_reports(
    messages: Iterable[Message], is_before: Callable[[Message], bool]
) -> tuple[Message, ...]:
    """Return messages without the usage of those before a clearing, which held the content."""
    return tuple(
        replace(message, usage=None) if message.usage and is_before(message) else message
        for message in messages
    )
