"""What is reported of an answer for which a model was asked more than once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from compactctl.model.message import Message, ReportedUsage


def sum_usages(usages: Sequence[ReportedUsage]) -> ReportedUsage:
    """Return what the requests for one answer come to; there is at least one, oldest first.

    The context is what was sent first. All that came after it belongs to the answer, though most of
    it was billed as input: results of the provider's tools, and the answer so far once more.
    """
    first, newest = usages[0], usages[-1]
    if len(usages) == 1:
        return first
    grown = newest.answer
    return ReportedUsage(
        context=first.context,
        output=_sum(usage.output for usage in usages),
        growth=None if grown is None else newest.context + grown - first.context,
        reasoning=sum(usage.reasoning for usage in usages),
        cache_read=first.cache_read,
        cache_write=first.cache_write,
        cache_write_1h=first.cache_write_1h,
        is_sum=first.is_sum,
        resent=ReportedUsage(
            context=sum(usage.context for usage in usages[1:]),
            cache_read=_sum(usage.cache_read for usage in usages[1:]),
            cache_write=_sum(usage.cache_write for usage in usages[1:]),
            cache_write_1h=sum(usage.cache_write_1h for usage in usages[1:]),
        ),
    )


def _sum(numbers: Iterable[int | None]) -> int | None:
    """Return a sum, None where a number in it is not known."""
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


@dataclass(frozen=True, slots=True)
class NewestReport:
    """The newest usage in a conversation, with the response and the line that it stands on."""

    usage: ReportedUsage
    response_id: str
    line: int
    time: float | None


def find_newest_report(messages: Sequence[Message]) -> NewestReport | None:
    """Return the newest usage of a request; None where nothing was reported."""
    for message in reversed(messages):
        usage, name = message.usage, message.response_id
        if usage is not None and usage.context > 0 and name is not None:
            return NewestReport(usage, name, message.line, message.timestamp)
    return None


def without_reports(
    messages: Iterable[Message], is_before: Callable[[Message], bool]
) -> tuple[Message, ...]:
    """Return messages without the usage of those before a clearing, which held the content."""
    return tuple(
        replace(message, usage=None) if message.usage and is_before(message) else message
        for message in messages
    )
